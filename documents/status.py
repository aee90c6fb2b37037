"""How far a document is, in a person's words: the badge, the progress, the reason. For pages and for the socket."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from documents.models import Document, Run
from organizations.actor import Actor
from organizations.gate import owned
from tags_app.models import Tag

Kind = Literal["", "ok", "busy", "wait", "bad"]

STATE_NAMES = (
    ("uploaded", "Waiting to be read"),
    ("ocr_processing", "Being read"),
    ("ocr_completed", "Read"),
    ("ocr_failed", "Could not be read"),
    ("llm_processing", "Being extracted"),
    ("llm_completed", "Extracted"),
    ("llm_failed", "Extraction failed"),
)
_NO_REASON = "Reading it failed."


@dataclass(frozen=True, slots=True)
class Status:
    """`done` of `total` pages while it is being read; `reason` when it could not be."""

    kind: Kind
    label: str
    done: int = 0
    total: int = 0
    reason: str = ""

    @property
    def is_failure(self) -> bool:
        return self.kind == "bad" and bool(self.reason)


@dataclass(frozen=True, slots=True)
class DocumentLine:
    """One row of the list of documents."""

    document: Document
    status: Status
    shown_tags: tuple[Tag, ...]
    kept_here: str

    @property
    def id(self) -> uuid.UUID:
        return self.document.id


def document_lines(*, actor: Actor, documents: Sequence[Document]) -> list[DocumentLine]:
    """Documents with what a list shows of them: one query for all runs. Units: tags must be prefetched."""
    runs = _latest_parses(actor, [document.pk for document in documents])
    return [
        DocumentLine(document, status_of(document, runs.get(document.pk)), shown_tags(document), kept_here(document))
        for document in documents
    ]


def shown_tags(document: Document) -> tuple[Tag, ...]:
    """The tags that are not in the trash."""
    return tuple(tag for tag in document.tags.all() if tag.deleted_at is None)


def kept_here(document: Document) -> str:
    """Why no model outside this server is told of the document; "" when nothing forbids it. Units: tags prefetched."""
    if document.never_send:
        return "It is marked: never send to a model outside this server."
    tag = next((tag for tag in shown_tags(document) if tag.never_send), None)
    return f"Its tag “{tag.name}” is marked: never send to a model outside this server." if tag else ""


def status_of(document: Document, parse: Run | None) -> Status:
    """The document's state as a sentence; `parse` is its newest parse run."""
    pages = document.current_version.page_count if document.current_version else None
    match document.state:
        case "uploaded":
            return Status("busy", "Waiting to be read")
        case "ocr_processing" if parse is not None and parse.pages_total:
            label = f"{parse.pages_done} of {count_of(parse.pages_total, 'page')}"
            return Status("busy", label, parse.pages_done, parse.pages_total)
        case "ocr_processing":
            return Status("busy", "Being read")
        case "ocr_failed" if parse is not None and parse.phase == Run.Phase.CANCELLED:
            return Status("bad", "Stopped", reason="Reading it was stopped.")
        case "ocr_failed":
            return Status("bad", "Could not be read", reason=(parse.error_message if parse else "") or _NO_REASON)
        case "llm_processing" if document.phase == Run.Phase.PROPOSING:
            return Status("busy", "Being set up")
        case "llm_processing":
            return Status("busy", "Being extracted")
        case "llm_completed" if document.auto_create_status == "proposed":
            return Status("wait", "Waits for review")
        case "llm_completed":
            return Status("ok", _with_pages("Extracted", pages))
        case _:
            return Status("ok", _with_pages("Read", pages))


def count_of(number: int, thing: str) -> str:
    """1 page, 2 pages."""
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def _with_pages(word: str, pages: int | None) -> str:
    return f"{word} · {count_of(pages, 'page')}" if pages else word


def _latest_parses(actor: Actor, document_ids: Sequence[uuid.UUID]) -> dict[uuid.UUID, Run]:
    rows = owned(Run, actor).filter(document_id__in=document_ids, kind=Run.Kind.PARSE)
    return {run.document_id: run for run in rows.order_by("document_id", "-created_at", "-id").distinct("document_id")}
