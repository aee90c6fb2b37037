"""Documents and their text as the wire has them."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field

from core.api.bodies import Answer, Body, Paging
from core.ids import show_id
from documents.api.result_bodies import BulkFilters
from documents.models import Document
from documents.proposals import AutoCreateFacts
from documents.serving import PDF
from documents.tagging import tag_ids_of_document

AutoCreateWish = Annotated[
    bool | None, Field(description="The agent sets it up by itself; as the organization's setting says without")
]

NEVER_SEND = "No model outside this server is told of the document; a tag with the same mark does that, too"
NeverSend = Annotated[bool, Field(description=NEVER_SEND)]

# --- Requests -------------------------------------------------------------------------------------------------------


class DocumentUpload(Body):
    """A file: its name, and its bytes as base64 or as a `data:` URL."""

    name: str
    content: str
    tag_ids: list[str] = []
    metadata: dict[str, str] | None = None
    never_send: NeverSend = False


class DocumentsUpload(Body):
    """Files to become documents: all of them or none."""

    documents: list[DocumentUpload]
    auto_create: AutoCreateWish = None


class DocumentForm(Body):
    """What comes beside the file of a form; `tag_ids` and `metadata` as JSON text."""

    name: str | None = None
    tag_ids: str | None = None
    metadata: str | None = None
    never_send: NeverSend = False
    auto_create: AutoCreateWish = None


class DocumentUpdate(Body):
    """What is given replaces the whole value."""

    document_name: str | None = None
    tag_ids: list[str] | None = None
    metadata: dict[str, str] | None = None
    never_send: Annotated[bool | None, Field(description=NEVER_SEND)] = None


class DocumentsQuery(Paging):
    """Which documents, in which order."""

    limit: Annotated[int, Field(ge=1, le=1000)] = 10
    tag_ids: Annotated[str | None, Field(description="Ids separated by commas: documents that have all of them")] = None
    name_search: str | None = None
    metadata_search: Annotated[str | None, Field(description="key=value,key=value, each percent-encoded")] = None
    sort: Annotated[str | None, Field(description='JSON: [{"field", "sort": "asc" or "desc"}]')] = None
    filters: Annotated[str | None, Field(description='JSON: {"items": [{"field", "operator", "value"}]}')] = None


class DocumentQuery(Body):
    """Which of a document's files; anything but `pdf` is the original."""

    file_type: str = "original"
    include_content: bool = True


class FileQuery(Body):
    """Which of a document's files; anything but `pdf` is the original."""

    file_type: str = "pdf"


class DownloadQuery(Body):
    """`gzip` sends it packed, with the header that says so."""

    format: Literal["plain", "gzip"] = "plain"


class TextQuery(Body):
    """One page, counted from 1, or all of them."""

    page_num: int | None = None


class OcrRunQuery(Body):
    """`force` reads again what has text; `ocr_only` runs no prompts afterwards."""

    force: bool = True
    ocr_only: bool = False


class TablesQuery(Body):
    """One table, counted from 0 over the document, or all of them."""

    table_index: int | None = None


class OcrBulkAnalyze(Body):
    """What there is to read among some documents."""

    tag_id: str | None = None
    mode: Literal["all", "missing", "outdated"] = "missing"
    document_filters: BulkFilters | None = None


# --- Answers --------------------------------------------------------------------------------------------------------


class DocumentUploaded(Answer):
    document_name: str
    document_id: str
    tag_ids: list[str]
    metadata: dict[str, str]


class DocumentsUploaded(Answer):
    """In the order of the request."""

    documents: list[DocumentUploaded]


class OneDocumentUploaded(Answer):
    document: DocumentUploaded


class AutoCreateProblem(Answer):
    """Why an attempt to set up the document failed, and whether trying again may help."""

    code: str
    message: str
    retryable: bool


class AutoCreateState(Answer):
    """How it stands with what the agent sets up by itself.

    `status`: none, pending, running, proposed, accepted, rejected or failed. `thread_id`: the log of what it did.
    """

    status: str
    schema_revid: str | None
    prompt_revid: str | None
    done_at: datetime | None
    thread_id: str | None
    error: AutoCreateProblem | None
    decided_by: str | None
    decided_at: datetime | None

    @classmethod
    def of(cls, facts: AutoCreateFacts) -> "AutoCreateState":
        def shown(key: UUID | None) -> str | None:
            return show_id(key) if key else None

        error = AutoCreateProblem(code=facts.error_code, message=facts.error_message, retryable=facts.retryable)
        return cls(
            status=facts.status,
            schema_revid=shown(facts.schema_revid),
            prompt_revid=shown(facts.prompt_revid),
            done_at=facts.done_at,
            thread_id=shown(facts.thread_id),
            error=error if facts.error_code else None,
            decided_by=facts.decided_by or None,
            decided_at=facts.decided_at,
        )


class DocumentMetadata(Answer):
    """A document without its bytes. `pdf_id` is the id itself when the upload is a PDF."""

    id: str
    pdf_id: str
    document_name: str
    upload_date: datetime
    uploaded_by: str
    state: str
    tag_ids: list[str]
    type: str | None
    metadata: dict[str, str]
    never_send: NeverSend
    auto_create: AutoCreateState

    @classmethod
    def of(cls, document: Document, facts: AutoCreateFacts, *, type: str | None = None) -> "DocumentMetadata":
        """The row as an answer; its tags and its version are best fetched already."""
        version = document.current_version
        pdf = document if version is None or version.mime_type == PDF else version
        return cls(
            id=show_id(document.pk),
            pdf_id=show_id(pdf.pk),
            document_name=document.name,
            upload_date=document.created_at,
            uploaded_by=document.uploaded_by_name,
            state=document.state,
            tag_ids=tag_ids_of_document(document=document),
            type=type,
            metadata=document.metadata,
            never_send=document.never_send,
            auto_create=AutoCreateState.of(facts),
        )


class DocumentResponse(DocumentMetadata):
    """A document with its bytes as base64."""

    content: str | None


class DocumentsAnswer(Answer):
    """`total_count` with a search or filter is exact up to 2,000, and beyond always more than what came so far."""

    documents: list[DocumentMetadata]
    total_count: int
    skip: int


class ReadingMetadata(Answer):
    """`ocr_type`: where the words come from: `text_layer`, `ocr` or `mixed`."""

    n_pages: int
    ocr_date: str
    ocr_type: str | None


class ReadingQueued(Answer):
    status: str
    document_id: str


class ReadingToDo(Answer):
    document_id: str
    document_name: str
    reason: str


class OcrBulkAnswer(Answer):
    total_executions: int
    executions: list[ReadingToDo]
