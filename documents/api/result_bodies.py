"""Results of prompts as the wire has them."""

from datetime import datetime
from typing import Any, Literal

from pydantic import Field, model_validator

from core.api.bodies import Answer, Body
from core.errors import Invalid
from core.ids import show_id
from documents.bulk import DocumentFilters, PromptToDo, ToDo
from documents.models import Extraction
from prompts_app.default import DEFAULT_CONTENT, DEFAULT_PROMPT_ID, DEFAULT_PROMPT_NAME, DEFAULT_PROMPT_VERSION

_TEXT_STOOD_HERE = "\n\n<the text of the document>"
_NAME_CHARS = 100


class PromptNeeded(Invalid):
    code = "validation"
    status = 422
    detail = "Either prompt_revid or prompt_id must be provided"


class RunQuery(Body):
    """Which prompt to run."""

    prompt_revid: str = Field(DEFAULT_PROMPT_ID, description='A prompt revision, or "default"')
    force: bool = Field(False, description="Run again where there is a result; it stays as history")


class ResultQuery(Body):
    """Which result to read."""

    prompt_revid: str | None = Field(None, description='A prompt revision, or "default"')
    prompt_id: str | None = Field(None, description="A prompt: the highest version that has a result")
    prompt_revid_fallback: bool = Field(False, description="Take another version of the prompt when this has none")
    fallback: bool = Field(False, description="The same, as earlier clients call it")

    @property
    def any_version(self) -> bool:
        return self.prompt_revid_fallback or self.fallback


class RevisionQuery(Body):
    """Which result to change."""

    prompt_revid: str = Field(description='A prompt revision, or "default"')


class ResultUpdate(Body):
    """A whole result, corrected: the names on its top are those of the model's answer."""

    updated_llm_result: dict[str, Any]
    is_verified: bool = False


class FieldError(Answer):
    """Where a result breaks the schema of its prompt."""

    path: str
    message: str


class RunAnswer(Answer):
    """`result` is what the model answered; what breaks the schema is said beside it."""

    status: Literal["success"] = "success"
    result_id: str
    result: dict[str, Any]
    validation_errors: list[FieldError]
    model_requested: str
    model_used: str

    @classmethod
    def of(cls, row: Extraction) -> "RunAnswer":
        """The row as an answer."""
        return cls(
            result_id=show_id(row.pk),
            result=row.llm_result,
            validation_errors=row.validation_errors,
            model_requested=row.model_requested,
            model_used=row.model_used,
        )


class RunDetails(Answer):
    """What was asked; the document's text is left out."""

    prompt: str | None
    match_values: dict[str, Any] | None = None
    match_document_ids: list[str] | None = None


class ResultAnswer(Answer):
    """One result. `llm_result` is what the model said, `updated_llm_result` what it was corrected to."""

    prompt_revid: str
    prompt_id: str
    prompt_version: int
    document_id: str
    llm_result: dict[str, Any]
    updated_llm_result: dict[str, Any]
    is_edited: bool
    is_verified: bool
    created_at: datetime
    updated_at: datetime
    prompt_display_name: str | None
    run: RunDetails | None
    validation_errors: list[FieldError]
    model_requested: str
    model_used: str

    @classmethod
    def of(cls, row: Extraction) -> "ResultAnswer":
        """The row as an answer."""
        revision = row.prompt_revision
        return cls(
            prompt_revid=show_id(revision.pk) if revision else DEFAULT_PROMPT_ID,
            prompt_id=show_id(revision.prompt_id) if revision else DEFAULT_PROMPT_ID,
            prompt_version=revision.version if revision else DEFAULT_PROMPT_VERSION,
            document_id=show_id(row.document_id),
            llm_result=row.llm_result,
            updated_llm_result=row.updated_llm_result,
            is_edited=row.is_edited,
            is_verified=row.is_verified,
            created_at=row.created_at,
            updated_at=row.updated_at,
            prompt_display_name=None if revision else DEFAULT_PROMPT_NAME,
            run=RunDetails(prompt=(revision.content if revision else DEFAULT_CONTENT) + _TEXT_STOOD_HERE),
            validation_errors=row.validation_errors,
            model_requested=row.model_requested,
            model_used=row.model_used,
        )


class Deleted(Answer):
    status: Literal["success"] = "success"
    message: str


class DownloadedMetadata(Answer):
    created_at: datetime
    updated_at: datetime
    is_edited: bool
    is_verified: bool


class DownloadedResult(Answer):
    """One result in the file of all of them."""

    prompt_revid: str
    prompt_name: str
    prompt_version: int
    extraction_result: dict[str, Any]
    metadata: DownloadedMetadata

    @classmethod
    def of(cls, row: Extraction) -> "DownloadedResult":
        """The row as an entry; its prompt is named by how its text begins."""
        revision = row.prompt_revision
        name = revision.content if revision else "Default Prompt"
        return cls(
            prompt_revid=show_id(revision.pk) if revision else DEFAULT_PROMPT_ID,
            prompt_name=f"{name[:_NAME_CHARS]}..." if len(name) > _NAME_CHARS else name,
            prompt_version=revision.version if revision else DEFAULT_PROMPT_VERSION,
            extraction_result=row.updated_llm_result,
            metadata=DownloadedMetadata.model_validate(row),
        )


class DownloadAnswer(Answer):
    """All results of a document, as a file."""

    document_id: str
    organization_id: str
    document_name: str
    extraction_date: datetime
    results: list[DownloadedResult]


class BulkFilters(Body):
    """Which documents; the names are those of the document list."""

    name_search: str | None = None
    metadata_search: str | None = None
    tag_ids: list[str] = []
    filters: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _read_list(cls, given: Any) -> Any:
        """Ids may come as the comma list of an address."""
        if isinstance(given, dict) and isinstance(ids := given.get("tag_ids"), str | None):
            return given | {"tag_ids": [part for part in (ids or "").split(",") if part]}
        return given

    def as_filters(self) -> DocumentFilters:
        """For the selectors."""
        return DocumentFilters(**self.model_dump())


class BulkBody(Body):
    """Which prompts (those of a tag) on which of the tag's documents."""

    tag_id: str
    mode: Literal["all", "missing", "outdated"] = "all"
    document_filters: BulkFilters | None = None


class Execution(Answer):
    document_id: str
    document_name: str

    @classmethod
    def of(cls, one: ToDo) -> "Execution":
        return cls(document_id=show_id(one.document_id), document_name=one.name)


class BulkGroup(Answer):
    """A prompt and the documents to run it on."""

    prompt_revid: str
    prompt_id: str
    prompt_version: int
    name: str
    executions: list[Execution]

    @classmethod
    def of(cls, group: PromptToDo) -> "BulkGroup":
        prompt = group.prompt
        return cls(
            prompt_revid=show_id(prompt.pk),
            prompt_id=show_id(prompt.prompt_id),
            prompt_version=prompt.version,
            name=prompt.prompt.name,
            executions=[Execution.of(one) for one in group.documents],
        )


class BulkAnswer(Answer):
    total_executions: int
    groups: list[BulkGroup]
