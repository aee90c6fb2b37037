"""What state a document is in: one function derives the state of `/v0` and the phase of `/v1` from its runs."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from django.db import transaction

from documents.models import Document, Run

State = Document.State
Phase = Run.Phase

_BEFORE_TEXT: dict[str, tuple[State, Phase]] = {
    Phase.QUEUED: (State.UPLOADED, Phase.QUEUED),
    Phase.PARSING: (State.OCR_PROCESSING, Phase.PARSING),
    Phase.ERROR: (State.OCR_FAILED, Phase.ERROR),
    Phase.CANCELLED: (State.OCR_FAILED, Phase.CANCELLED),
    Phase.INDEXING: (State.OCR_COMPLETED, Phase.INDEXING),
}


@dataclass(frozen=True, slots=True)
class RunFact:
    """What the state of a document depends on: kind and phase of a run of its current version."""

    kind: str
    phase: str


def derive_state(runs: Sequence[RunFact]) -> tuple[State, Phase]:
    """Derive both states. `runs` are those of the current version, newest first."""
    parse = next((run.phase for run in runs if run.kind == Run.Kind.PARSE), Phase.QUEUED)
    if parse in _BEFORE_TEXT:
        return _BEFORE_TEXT[parse]
    active = {run.kind for run in runs if run.phase not in Run.ENDED}
    if Run.Kind.PROPOSE in active:
        return State.LLM_PROCESSING, Phase.PROPOSING
    if Run.Kind.EXTRACT in active:
        return State.LLM_PROCESSING, Phase.EXTRACTING
    ended = {run.phase for run in runs if run.kind == Run.Kind.EXTRACT}
    if Phase.COMPLETE in ended:
        return State.LLM_COMPLETED, Phase.COMPLETE
    return (State.LLM_FAILED if Phase.ERROR in ended else State.OCR_COMPLETED), Phase.COMPLETE


def lock_state(document_id: uuid.UUID) -> None:
    """Hold the document's state until the transaction ends. First comes the document, then its runs, then results.

    Without it, of two runs that end at once each would see the other one still active.
    """
    rows = Document._default_manager.select_for_update(no_key=True).filter(pk=document_id)
    list(rows.values_list("pk"))


@transaction.atomic
def refresh_state(*, document_id: uuid.UUID) -> tuple[State, Phase]:
    """Store the derived state on the document; call it in the transaction that changed a run."""
    lock_state(document_id)
    rows = (
        Run._default_manager.filter(document_id=document_id, version_id=_current_version(document_id))
        .exclude(kind=Run.Kind.EXTRACT, extractions__withdrawn_at__isnull=False)
        .order_by("-created_at", "-id")
        .values_list("kind", "phase")[:200]
    )
    state, phase = derive_state([RunFact(kind, run_phase) for kind, run_phase in rows])
    Document._default_manager.filter(pk=document_id).exclude(state=state, phase=phase).update(state=state, phase=phase)
    return state, phase


def _current_version(document_id: uuid.UUID) -> uuid.UUID | None:
    return Document._default_manager.filter(pk=document_id).values_list("current_version_id", flat=True).first()
