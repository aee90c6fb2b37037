"""Running prompts on documents and their results, over JSON."""

from django.http import HttpResponse
from django.utils import timezone
from rest_framework.request import Request

from core.api.operations import operation
from core.errors import Invalid
from core.ids import parse_id, show_id
from documents import bulk, results
from documents.api.result_bodies import (
    BulkAnswer,
    BulkBody,
    BulkFilters,
    BulkGroup,
    Deleted,
    DownloadAnswer,
    DownloadedResult,
    PromptNeeded,
    ResultAnswer,
    ResultQuery,
    ResultUpdate,
    RevisionQuery,
    RunAnswer,
    RunQuery,
)
from documents.errors import ExtractionNotFound
from documents.obtaining import obtain_result
from documents.selectors import get_document
from documents.withdrawal import delete_results
from organizations.api.doors import AsyncOrganizationView, OrganizationView
from prompts_app.default import DEFAULT_PROMPT_ID

TAG = "Extraction"
_UPDATE = {"updated_llm_result": {"invoice_number": "12345", "total_amount": 1234.56}, "is_verified": True}
_BULK = {
    "tag_id": "0198e2f0c0de7a6e8f00112233445566",
    "mode": "missing",
    "document_filters": {"name_search": "invoice"},
}


class RunView(AsyncOrganizationView):
    """One prompt on one document."""

    @operation(
        "run_llm_document", "Run a prompt on a document and wait for the result", tag=TAG, answer=RunAnswer,
        query=RunQuery, errors=(404, 409, 503),
    )  # fmt: skip
    async def post(self, request: Request, document_id: str) -> RunAnswer:
        asked = self.query(RunQuery)
        return RunAnswer.of(
            await obtain_result(
                actor=self.actor, document_id=document_id, prompt_revid=asked.prompt_revid, force=asked.force
            )
        )


class ResultView(OrganizationView):
    """The result of a prompt on a document."""

    @operation(
        "get_llm_result", "Read the result of a prompt", tag=TAG, answer=ResultAnswer, query=ResultQuery, errors=(404,)
    )
    def get(self, request: Request, document_id: str) -> ResultAnswer:
        asked = self.query(ResultQuery)
        if not (asked.prompt_revid or asked.prompt_id):
            raise PromptNeeded
        try:
            found = results.find_result(
                actor=self.actor,
                document_id=document_id,
                prompt_revid=asked.prompt_revid,
                prompt_id=asked.prompt_id,
                any_version=asked.any_version,
            )
        except ExtractionNotFound as problem:
            revid, prompt_id = _short(asked.prompt_revid), _short(asked.prompt_id)
            raise ExtractionNotFound(
                f"LLM result not found for document_id: {_short(document_id)} prompt_revid: {revid} "
                f"prompt_id: {prompt_id} prompt_revid_fallback: {asked.any_version}"
            ) from problem
        return ResultAnswer.of(found)

    @operation(
        "update_llm_result", "Correct a result, or mark it as checked", tag=TAG, answer=ResultAnswer, body=ResultUpdate,
        query=RevisionQuery, errors=(400, 404), example=_UPDATE,
    )  # fmt: skip
    def put(self, request: Request, document_id: str) -> ResultAnswer:
        revid, update = self.query(RevisionQuery).prompt_revid, self.body(ResultUpdate)
        try:
            saved = results.replace_values(
                actor=self.actor,
                document_id=document_id,
                prompt_revid=revid,
                values=update.updated_llm_result,
                verified=update.is_verified,
            )
        except ExtractionNotFound as problem:
            if revid != DEFAULT_PROMPT_ID:
                parse_id(revid, error=ExtractionNotFound)  # what is no id at all is not found
            raise Invalid(
                f"No existing LLM result found for document_id: {_short(document_id)}, prompt_revid: {_short(revid)}",
                code=problem.error_code,
            ) from problem
        return ResultAnswer.of(saved)

    @operation(
        "delete_llm_result", "Delete the results of a prompt revision", tag=TAG, answer=Deleted, query=RevisionQuery,
        errors=(404,),
    )  # fmt: skip
    def delete(self, request: Request, document_id: str) -> Deleted:
        revid = self.query(RevisionQuery).prompt_revid
        try:
            delete_results(actor=self.actor, document_id=document_id, prompt_revid=revid)
        except ExtractionNotFound as problem:
            raise ExtractionNotFound(
                f"LLM result not found for document_id: {_short(document_id)} and prompt_revid: {_short(revid)}"
            ) from problem
        return Deleted(message="LLM result deleted")


class DownloadView(OrganizationView):
    """All results of a document."""

    @operation("download_llm_results", "Download all results as a file", tag=TAG, answer=DownloadAnswer, errors=(404,))
    def get(self, request: Request, document_id: str) -> HttpResponse:
        document = get_document(actor=self.actor, document_id=document_id)
        rows = results.newest_results(actor=self.actor, document_id=document.pk)
        if not rows:
            raise ExtractionNotFound("No LLM results found for this document")
        now = timezone.now()
        answer = DownloadAnswer(
            document_id=show_id(document.pk),
            organization_id=show_id(document.organization_id),
            document_name=document.name,
            extraction_date=now,
            results=[DownloadedResult.of(row) for row in rows],
        )
        response = HttpResponse(answer.model_dump_json(indent=2), content_type="application/json")
        name = f"extractions_{show_id(document.pk)}_{now:%Y%m%d_%H%M%S}.json"
        response["Content-Disposition"] = f'attachment; filename="{name}"'
        return response


class BulkView(OrganizationView):
    """What there is to run."""

    @operation(
        "bulk_analyze_llm", "List which prompts of a tag are to be run on which documents", tag=TAG, answer=BulkAnswer,
        body=BulkBody, errors=(400,), example=_BULK,
    )  # fmt: skip
    def post(self, request: Request) -> BulkAnswer:
        body = self.body(BulkBody)
        filters = (body.document_filters or BulkFilters()).as_filters()
        groups = bulk.prompts_to_do(actor=self.actor, tag_id=body.tag_id, mode=body.mode, filters=filters)
        return BulkAnswer(
            total_executions=sum(len(group.documents) for group in groups),
            groups=[BulkGroup.of(group) for group in groups],
        )


def _short(text: str | None) -> str | None:
    return text[:100] if text else None
