"""Documents, runs and events as `/v1` has them."""

from typing import Annotated, Any, Literal

from pydantic import Field

from core.api.v1 import Millis, V1Answer, V1Body
from core.ids import show_id
from documents.api.bodies import DocumentForm, DocumentUpload, NeverSend
from documents.browsing import BrowsedDocument
from documents.models import Run
from documents.tagging import tag_ids_of_document

# --- Requests -------------------------------------------------------------------------------------------------------


class V1DocumentUpload(V1Body, DocumentUpload):
    """A file: its name, and its bytes as base64 or as a `data:` URL."""

    auto_create: bool | None = None


class V1DocumentForm(V1Body, DocumentForm):
    """What comes beside the file of a form; `tagIds` and `metadata` as JSON text."""

    auto_create: bool | None = None


class V1DocumentsQuery(V1Body):
    """Which page of the documents, newest first."""

    after: Annotated[str | None, Field(description="A documentId: those that are older")] = None
    limit: Annotated[int, Field(ge=1, le=100)] = 50


class V1RunsQuery(V1Body):
    """Which page of the runs, newest first."""

    after: Annotated[str | None, Field(description="A runId: those that are older")] = None
    limit: Annotated[int, Field(ge=1, le=1000)] = 100


class V1EventsQuery(V1Body):
    """Which events: those with a higher number than `after`."""

    after: Annotated[int, Field(ge=0, le=2**53)] = 0
    limit: Annotated[int, Field(ge=1, le=1000)] = 100


class V1RunStart(V1Body):
    """What to do: read again, run a prompt (its revision, or the built-in one), or have an extraction set up."""

    kind: Literal["reparse", "extract", "propose"] = "reparse"
    prompt_revid: str | None = None


# --- Answers --------------------------------------------------------------------------------------------------------

Phase = Literal["queued", "parsing", "indexing", "extracting", "proposing", "complete", "error", "cancelled"]


class V1DocumentMade(V1Answer):
    """A new document, and the run that reads it."""

    document_id: str
    run_id: str
    workflow_id: str
    phase: Phase
    updated_at: Millis


class V1AutoCreateState(V1Answer):
    """Whether the agent was asked to set the document up by itself, and how far that is."""

    status: str


class V1Document(V1Answer):
    """A document. `activeRunId`: what works on it, or else its newest run. `updatedAt` changes with its runs, too."""

    document_id: str
    name: str
    mime_type: str | None
    size_bytes: int | None
    page_count: int | None
    sha256: str | None
    tag_ids: list[str]
    metadata: dict[str, str]
    never_send: NeverSend
    phase: Phase
    active_run_id: str | None
    auto_create: V1AutoCreateState
    created_at: Millis
    updated_at: Millis

    @classmethod
    def of(cls, found: BrowsedDocument) -> "V1Document":
        """The row as an answer; its tags and its version are best fetched already."""
        document = found.document
        version = document.current_version
        return cls(
            document_id=show_id(document.pk),
            name=document.name,
            mime_type=version.mime_type if version else None,
            size_bytes=version.size_bytes if version else None,
            page_count=version.page_count if version else None,
            sha256=version.sha256 if version else None,
            tag_ids=tag_ids_of_document(document=document),
            metadata=document.metadata,
            never_send=document.never_send,
            phase=document.phase,
            active_run_id=show_id(found.active_run_id) if found.active_run_id else None,
            auto_create=V1AutoCreateState(status=document.auto_create_status),
            created_at=document.created_at,
            updated_at=found.updated_at,
        )


class V1Documents(V1Answer):
    """A page of documents; `nextAfter` leads to the next one."""

    documents: list[V1Document]
    next_after: str | None


class V1Progress(V1Answer):
    pages_done: int
    pages_total: int | None


class V1RunError(V1Answer):
    """Why a run ended without a result, and whether another try may help."""

    code: str
    message: str
    retryable: bool


class V1Run(V1Answer):
    """One processing of a document. `workflowId` is the same as `runId`. Units: US dollars."""

    run_id: str
    workflow_id: str
    document_id: str
    kind: Literal["parse", "extract", "propose"]
    phase: Phase
    progress: V1Progress
    created_at: Millis
    started_at: Millis | None
    updated_at: Millis
    completed_at: Millis | None
    error: V1RunError | None
    cost_usd: float

    @classmethod
    def of(cls, run: Run) -> "V1Run":
        """The row as an answer."""
        error = V1RunError(code=run.error_code, message=run.error_message, retryable=run.retryable)
        return cls(
            run_id=show_id(run.pk),
            workflow_id=show_id(run.pk),
            document_id=show_id(run.document_id),
            kind=run.kind,
            phase=run.phase,
            progress=V1Progress(pages_done=run.pages_done, pages_total=run.pages_total),
            created_at=run.created_at,
            started_at=run.started_at,
            updated_at=run.updated_at,
            completed_at=run.completed_at,
            error=error if run.error_code else None,
            cost_usd=float(run.cost_usd),
        )


class V1Runs(V1Answer):
    """A page of runs; `nextAfter` leads to the next one."""

    runs: list[V1Run]
    next_after: str | None


class V1Actor(V1Answer):
    """Who did it, and through which door."""

    user_id: str
    name: str
    via: str


class V1Event(V1Answer):
    """One thing that happened to a document. `seq` has no gaps."""

    seq: int
    type: str
    run_id: str | None
    turn_id: str | None
    actor: V1Actor | None
    data: dict[str, Any]
    at: Annotated[int, Field(description="Milliseconds since the epoch")]


class V1Events(V1Answer):
    """Events in order; ask again after `nextAfter`. `headSeq` is the newest there is."""

    events: list[V1Event]
    next_after: int
    head_seq: int
