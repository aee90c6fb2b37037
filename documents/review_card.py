"""What a page shows of auto-create: one sentence, the fields with where they stand, and what can be done now."""

from dataclasses import dataclass
from datetime import timedelta

from django.utils import timezone

from documents.errors import ExtractionNotFound
from documents.models import AutoCreate, Document, Extraction
from documents.panel import inner_schema
from documents.proposals import newest_attempt
from documents.result_form import Node, build_form
from documents.results import current_result, list_edits
from documents.status import count_of
from organizations.actor import Actor

_TOLD_FOR = timedelta(minutes=15)
"""How long a page says that somebody accepted."""
_LINES = 60


@dataclass(frozen=True, slots=True)
class FieldLine:
    """One value as it was read. `highlight` leads to its place on the page."""

    name: str
    value: str
    state: str = ""
    note: str = ""
    highlight: str = ""


@dataclass(frozen=True, slots=True)
class Review:
    """`lines` and the names are there while it is proposed."""

    document: Document
    attempt: AutoCreate
    lines: tuple[FieldLine, ...] = ()
    found: int = 0

    @property
    def status(self) -> str:
        return self.attempt.status

    @property
    def is_busy(self) -> bool:
        return self.status in ("pending", "running")

    @property
    def document_hex(self) -> str:
        return self.document.pk.hex

    @property
    def thread_hex(self) -> str:
        return self.attempt.thread_id.hex if self.attempt.thread_id else ""

    @property
    def field_count(self) -> str:
        return count_of(len(self.lines), "field")

    @property
    def standing(self) -> str:
        """How much of it is on the page, in words."""
        if not self.lines:
            return ""
        if self.found == len(self.lines):
            return "all found on the pages"
        return f"{self.found} of {len(self.lines)} found on the pages"


def review_card(*, actor: Actor, document_id: object) -> Review | None:
    """The card of a document; None where there is nothing to say. Raises: DocumentNotFound."""
    attempt = newest_attempt(actor=actor, document_id=document_id)
    if attempt is None or _is_old_news(attempt):
        return None
    return card_of(actor=actor, attempt=attempt)


def card_of(*, actor: Actor, attempt: AutoCreate) -> Review:
    """The card of an attempt that is read already."""
    result = _result_of(actor, attempt) if attempt.status == AutoCreate.Status.PROPOSED else None
    if result is None:
        return Review(attempt.document, attempt)
    lines = _lines(actor, attempt, result)
    found = sum(line.state in ("found", "ambiguous", "edited") for line in lines)
    return Review(attempt.document, attempt, lines, found)


def _is_old_news(attempt: AutoCreate) -> bool:
    decided = attempt.decided_at
    return attempt.status == AutoCreate.Status.ACCEPTED and (not decided or decided < timezone.now() - _TOLD_FOR)


def _result_of(actor: Actor, attempt: AutoCreate) -> Extraction | None:
    """What the prompt has found by now: somebody may have refined it in the chat."""
    if attempt.prompt_revision_id is None:
        return None
    try:
        return current_result(actor=actor, document_id=attempt.document_id, prompt_revid=attempt.prompt_revision_id.hex)
    except ExtractionNotFound:
        return None


def _lines(actor: Actor, attempt: AutoCreate, result: Extraction) -> tuple[FieldLine, ...]:
    """The fields that have a value; tables by how many rows they have."""
    edits = list_edits(actor=actor, document_id=attempt.document_id, extraction_id=result.pk)
    nodes = build_form(result, inner_schema(result), list(edits[:200]))
    lines = [line for node in nodes for line in _lines_of(node, "")]
    return tuple(line for line in lines if line.value)[:_LINES]


def _lines_of(node: Node, before: str) -> list[FieldLine]:
    name = f"{before}{node.name}"
    if node.shape == "field":
        return [FieldLine(name, node.value, node.state, node.note, node.highlight)]
    if node.shape == "table":
        return [FieldLine(name, count_of(len(node.rows), "row"), _state_of_rows(node), "")] if node.rows else []
    return [line for part in node.parts for line in _lines_of(part, f"{name} · ")]


def _state_of_rows(node: Node) -> str:
    """Found when every value that a row has stands on the page."""
    states = {cell.state for row in node.rows for cell in row if cell.value}
    return "found" if states and states <= {"found", "ambiguous", "edited"} else "not_found"
