"""Runs of a document: list them, read one, start one, stop one."""

from functools import partial
from typing import Any, ClassVar

from django.core.files.uploadedfile import UploadedFile as PostedFile
from django.http import HttpResponse, JsonResponse
from rest_framework.request import Request

from core.api.operations import operation
from core.api.v1 import V1Problem, respond
from core.errors import Invalid
from documents import browsing, services
from documents.api.bodies import DocumentForm
from documents.api.contents import fingerprint_of_form, read_form_without, upload_of_form
from documents.api.v1.bodies import V1Run, V1Runs, V1RunsQuery, V1RunStart
from documents.api.v1.documents import HEADERS, KEY, is_form
from documents.models import Run
from organizations.api.v1_doors import V1View
from organizations.idempotency import once

TAG = "Runs (v1)"
FORM: dict[str, Any] = {
    "application/json": V1RunStart,
    "multipart/form-data": {
        "type": "object",
        "properties": {
            "file": {"type": "string", "format": "binary", "description": "A new version of the document"},
            "kind": {"type": "string", "enum": ["reparse", "extract", "propose"]},
            "promptRevid": {"type": "string"},
        },
    },
}
EXAMPLE = {"kind": "reparse"}


class FileToRead(Invalid):
    code = "file_to_read"
    detail = "New bytes are read before anything else is done with them: send a file without a kind, or with reparse."


class V1RunsView(V1View):
    """What was done to a document, and what is being done."""

    rates: ClassVar[dict[str, str]] = {"POST": "upload"}

    @operation(
        "v1_list_runs", "List a document's runs, newest first", tag=TAG, answer=V1Runs, query=V1RunsQuery,
        errors=(400, 404), headers=HEADERS, problem=V1Problem,
    )  # fmt: skip
    def get(self, request: Request, document_id: str) -> V1Runs:
        asked = self.query(V1RunsQuery)
        found, has_more = browsing.browse_runs(
            actor=self.actor, document_id=document_id, after=asked.after, limit=asked.limit
        )
        shown = [V1Run.of(run) for run in found]
        return V1Runs(runs=shown, next_after=shown[-1].run_id if has_more else None)

    @operation(
        "v1_start_run", "Read a document again, run a prompt on it, or have an extraction set up", tag=TAG,
        answer=V1Run, body=FORM, errors=(400, 404, 409), example=EXAMPLE, headers=(KEY, *HEADERS), status=202,
        problem=V1Problem,
    )  # fmt: skip
    def post(self, request: Request, document_id: str) -> HttpResponse:
        asked, file = self._asked()
        if file is not None and asked.kind != "reparse":
            raise FileToRead()
        answer, _ = once(
            actor=self.actor,
            key=request.headers.get(KEY),
            route=f"v1_start_run {document_id}",
            fingerprint=self._fingerprint(asked, file),
            work=partial(self._started, document_id, asked, file),
        )
        return JsonResponse(answer, status=202)

    def _started(self, document_id: str, asked: V1RunStart, file: "PostedFile[Any] | None") -> dict[str, Any]:
        run = services.start_run(
            actor=self.actor,
            document_id=document_id,
            kind=asked.kind,
            prompt_revid=asked.prompt_revid,
            file=upload_of_form(DocumentForm(), file) if file is not None else None,
        )
        return V1Run.of(run).model_dump(mode="json")

    def _fingerprint(self, asked: V1RunStart, file: "PostedFile[Any] | None") -> bytes:
        if file is not None:
            return fingerprint_of_form(asked, file)
        return self.raw_body() if not is_form(self.plain_request) else asked.model_dump_json().encode()

    def _asked(self) -> "tuple[V1RunStart, PostedFile[Any] | None]":
        if not is_form(self.plain_request):
            return self.optional_body(V1RunStart), None
        return read_form_without(self.plain_request, V1RunStart)


class V1RunView(V1View):
    """One run."""

    @operation(
        "v1_get_run", "Read how a run stands", tag=TAG, answer=V1Run, errors=(400, 404), headers=HEADERS,
        problem=V1Problem,
    )  # fmt: skip
    def get(self, request: Request, document_id: str, run_id: str) -> V1Run:
        return V1Run.of(browsing.get_run_of(actor=self.actor, document_id=document_id, run_id=run_id))


class V1RunCancelView(V1View):
    """Stopping a run."""

    @operation(
        "v1_cancel_run", "Stop a run at its next page or model call", tag=TAG, answer=V1Run, errors=(400, 404, 409),
        headers=HEADERS, status=202, problem=V1Problem,
    )  # fmt: skip
    def post(self, request: Request, document_id: str, run_id: str) -> HttpResponse:
        run: Run = browsing.get_run_of(actor=self.actor, document_id=document_id, run_id=run_id)
        return respond(V1Run.of(services.cancel_run(actor=self.actor, run_id=run.pk)), 202)
