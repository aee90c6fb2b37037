"""What the Extraction tab shows of a document: prompts to choose from, the result as a form, the run in progress."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Q

from documents.errors import ExtractionNotFound
from documents.models import Document, Extraction, ExtractionEdit, Run
from documents.result_form import Node, build_form, show_value
from documents.results import current_result, list_edits, list_results, response_format_of, result_history
from documents.selectors import get_document
from documents.status import count_of
from organizations.actor import Actor
from organizations.gate import owned
from prompts_app.default import DEFAULT_PROMPT_ID, DEFAULT_PROMPT_NAME, DEFAULT_RESPONSE_FORMAT
from prompts_app.selectors import latest_revisions, prompts_for_tags

MOST_PROMPTS = 200
_NOT_READY = ("uploaded", "ocr_processing", "ocr_failed")


@dataclass(frozen=True, slots=True)
class PromptChoice:
    """A prompt that can be run."""

    revid: str
    label: str


@dataclass(frozen=True, slots=True)
class EditLine:
    """One change, as a sentence is made of it."""

    by: str
    through_agent: bool
    path: str
    before: str
    after: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Panel:
    """`result` is None before the first run; `run` is the newest run of any prompt, while it runs or when it failed."""

    document: Document
    prompts: tuple[PromptChoice, ...]
    chosen: str
    result: Extraction | None
    form: tuple[Node, ...]
    run: Run | None
    edits: tuple[EditLine, ...]
    history: tuple[Extraction, ...]

    @property
    def is_ready(self) -> bool:
        return self.document.state not in _NOT_READY

    @property
    def is_running(self) -> bool:
        return self.run is not None and self.run.phase not in Run.ENDED

    @property
    def failure(self) -> str:
        """Why the newest run failed; nothing when it did not."""
        return self.run.error_message if self.run is not None and self.run.phase == Run.Phase.ERROR else ""

    @property
    def made_with(self) -> str:
        """The prompt of the result, with its version."""
        revision = self.result.prompt_revision if self.result else None
        return str(revision) if revision else DEFAULT_PROMPT_NAME

    @property
    def is_outdated(self) -> bool:
        """The result is of another version of the chosen prompt."""
        return self.result is not None and revid_of(self.result) != self.chosen

    def counted(self) -> dict[str, int]:
        """How many values stand where; what a person edited is counted apart."""
        edited = {edit.path for edit in self.edits}
        counts = {"found": 0, "not_found": 0, "absent": 0, "edited": 0}
        for path, place in (self.result.grounding if self.result else {}).items():
            state = "edited" if path in edited else str(place.get("state"))
            counts["found" if state == "ambiguous" else state] += 1
        return counts


def extraction_panel(*, actor: Actor, document_id: object, chosen: str = "") -> Panel:
    """Everything the tab shows. Raises: DocumentNotFound."""
    document = get_document(actor=actor, document_id=document_id)
    choices = _choices(actor, document)
    result = _result(actor, document, chosen)
    if not chosen:
        chosen = _latest_of(choices, result) or choices[0].revid
    elif chosen not in [choice.revid for choice in choices]:
        chosen = DEFAULT_PROMPT_ID
    edits: tuple[ExtractionEdit, ...] = ()
    history: tuple[Extraction, ...] = ()
    if result is not None:
        edits = tuple(list_edits(actor=actor, document_id=document.pk, extraction_id=result.pk)[:200])
        history = tuple(result_history(actor=actor, document_id=document.pk, extraction_id=result.pk)[:20])
    form = build_form(result, inner_schema(result), list(edits)) if result is not None else ()
    lines = tuple(_edit_line(edit) for edit in edits)
    return Panel(document, choices, chosen, result, form, newest_run(actor, document), lines, history)


def _edit_line(edit: ExtractionEdit) -> EditLine:
    before, after = _shown(edit.value_from), _shown(edit.value_to)
    return EditLine(edit.actor_name, edit.via == "agent", edit.path, before, after, edit.created_at)


def _shown(value: Any) -> str:
    return count_of(len(value), "row") if isinstance(value, list) else show_value(value)


def inner_schema(result: Extraction) -> Mapping[str, Any]:
    """The JSON schema of a result's data, {} for a prompt without one."""
    made_with = DEFAULT_RESPONSE_FORMAT if result.prompt_revision is None else response_format_of(result)
    schema = (made_with or {}).get("json_schema", {}).get("schema", {})
    return schema if isinstance(schema, dict) else {}


def revid_of(result: Extraction) -> str:
    return result.prompt_revision_id.hex if result.prompt_revision_id else DEFAULT_PROMPT_ID


def newest_run(actor: Actor, document: Document) -> Run | None:
    """The newest extraction run of a document."""
    rows = owned(Run, actor).filter(document=document, kind=Run.Kind.EXTRACT)
    return rows.order_by("-created_at", "-id").first()


def has_result(*, actor: Actor, document: Document) -> bool:
    """Whether anything was extracted from the document yet."""
    return list_results(actor=actor, document_id=document.pk).exists()


def _result(actor: Actor, document: Document, chosen: str) -> Extraction | None:
    try:
        return current_result(actor=actor, document_id=document.pk, prompt_revid=chosen or None)
    except ExtractionNotFound:
        return None


def _choices(actor: Actor, document: Document) -> tuple[PromptChoice, ...]:
    """Prompts of the document's tags first, then the others by name, the built-in one last.

    Of those that wait for a review only what was made for this document.
    """
    tag_ids = [tag.pk for tag in document.tags.all()]
    tagged = list(prompts_for_tags(actor=actor, tag_ids=tag_ids)) if tag_ids else []
    own_runs = owned(Run, actor).filter(document=document, kind=Run.Kind.PROPOSE).values("pk")
    usable = Q(prompt__pending_review=False) | Q(prompt__made_by_run__in=own_runs)
    others = latest_revisions(actor=actor).filter(usable).exclude(pk__in=[row.pk for row in tagged])
    others = others.order_by("prompt__name")
    rows = [*tagged, *others[:MOST_PROMPTS]]
    named = [PromptChoice(row.pk.hex, f"{row.prompt.name} v{row.version}") for row in rows]
    return (*named, PromptChoice(DEFAULT_PROMPT_ID, DEFAULT_PROMPT_NAME))


def _latest_of(choices: tuple[PromptChoice, ...], result: Extraction | None) -> str:
    """The newest version of the result's prompt."""
    if result is None:
        return ""
    revision = result.prompt_revision
    if revision is None:
        return DEFAULT_PROMPT_ID
    wanted = f"{revision.prompt.name} v{revision.prompt.latest_version}"
    return next((choice.revid for choice in choices if choice.label == wanted), "")
