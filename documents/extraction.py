"""Running a prompt on a document: begin and commit, await the model, finish and commit.

No database connection waits for the model. A crash in the middle leaves a run whose lease runs out: the reaper
ends it as interrupted when somebody started it by hand, and queues it again when a read of the document did. Nothing
else was written, and a worker that comes back late has lost its epoch.
"""

import asyncio
import uuid
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from functools import partial
from typing import Any

import structlog
from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from core.errors import DomainError
from core.threads import in_thread
from documents import admission
from documents.answers import parse_object
from documents.asking import build_messages, content_for
from documents.awaiting import unless_stopped
from documents.errors import ExtractionActive, ExtractionFailed, ExtractionStopped, TextNotReady
from documents.events import append_event
from documents.grounding import ground, is_empty, leaves_of
from documents.leaving import sources_of
from documents.models import Extraction, Run
from documents.processing import lock_run
from documents.results import CURRENT, lock_results_like, results_like
from documents.selectors import document_content, get_document
from documents.states import lock_state, refresh_state
from llm.catalog import usable_extraction_model
from llm.client import complete
from llm.content import DocumentContent
from llm.offline.engine import reply
from llm.sources import Sources
from llm.types import Completion
from organizations.actor import Actor
from organizations.services import record
from prompts_app.default import DEFAULT_PROMPT_ID
from prompts_app.running import PromptToRun, prompt_to_run
from schemas_app.validation import validate_data

log = structlog.get_logger(__name__)

_REAPED_AT_ONCE = 100


@dataclass(frozen=True, slots=True)
class _Job:
    """All that is needed to ask the model, read in one go."""

    run_id: uuid.UUID
    epoch: int
    prompt: PromptToRun
    content: DocumentContent
    about: Sources
    metadata: dict[str, str]
    model_requested: str
    model_used: str


@dataclass(frozen=True, slots=True)
class PreviewValue:
    """What a field of a proposed schema would hold for this document, and where it stands."""

    path: str
    value: Any
    page: int | None
    boxes: list[list[float]]
    quote: str


async def run_extraction(*, actor: Actor, document_id: object, prompt_revid: str | None = None) -> Extraction:
    """Run a prompt revision (the built-in default prompt without one) and keep the result as the current one.

    Raises: DocumentNotFound, PromptNotFound, TextNotReady, ExtractionActive, ModelError, ExtractionFailed.
    """
    run = await in_thread(partial(begin_extraction, actor=actor, document_id=document_id, prompt_revid=prompt_revid))
    return await perform_extraction(actor=actor, run_id=run.id)


@transaction.atomic
def begin_extraction(*, actor: Actor, document_id: object, prompt_revid: str | None = None) -> Run:
    """Make the run that `perform_extraction` works on. One active run for each document and prompt revision."""
    run = _new_run(actor, document_id, prompt_revid)
    run.phase, run.epoch, run.lease_until, run.started_at = Run.Phase.EXTRACTING, 1, _lease(), timezone.now()
    if not _add(run):
        raise ExtractionActive(run_id=_active_like(run))
    revid = run.prompt_revision_id.hex if run.prompt_revision_id else DEFAULT_PROMPT_ID
    _tell(actor, run, "extraction.started", {"prompt_revid": revid})
    return run


def _new_run(actor: Actor, document_id: object, prompt_revid: str | None) -> Run:
    """A run that is not stored yet, on a document whose state is held from here on."""
    document = get_document(actor=actor, document_id=document_id)
    prompt = prompt_to_run(actor=actor, prompt_revid=prompt_revid)
    lock_state(document.pk)
    document.refresh_from_db(fields=["state", "current_version"])
    if document.current_version_id is None or document.state in ("uploaded", "ocr_processing", "ocr_failed"):
        raise TextNotReady()
    return Run(
        organization_id=actor.organization_id,
        document=document,
        version_id=document.current_version_id,
        kind=Run.Kind.EXTRACT,
        prompt_revision=prompt.revision,
    )


def _active_like(run: Run) -> str | None:
    """The run of the same prompt that is in the way."""
    rows = Run.objects.filter(document_id=run.document_id, kind=run.kind, prompt_revision_id=run.prompt_revision_id)
    active = rows.exclude(phase__in=Run.ENDED).values_list("pk", flat=True).first()
    return active.hex if active else None


@transaction.atomic
def queue_extraction(*, actor: Actor, document_id: object, prompt_revid: str | None = None) -> Run:
    """Make a run that the actor asked for and a worker does. Raises: as `begin_extraction`."""
    run = _new_run(actor, document_id, prompt_revid)
    run.requested_by_id, run.requested_by_name = actor.user_id, actor.name
    if not _add(run):
        raise ExtractionActive(run_id=_active_like(run))
    admission.enqueue(run)
    revid = run.prompt_revision_id.hex if run.prompt_revision_id else DEFAULT_PROMPT_ID
    _tell(actor, run, "extraction.queued", {"prompt_revid": revid})
    return run


def queue_extractions(*, actor: Actor, read: Run, prompts: Sequence[PromptToRun]) -> list[Run]:
    """Make runs for the workers, caused by a locked read; not for a prompt that somebody runs at this moment."""
    stopped = _end_runs_of_earlier_reads(read)
    queued = []
    for prompt in prompts:
        run = Run(
            organization_id=read.organization_id,
            document_id=read.document_id,
            version_id=read.version_id,
            kind=Run.Kind.EXTRACT,
            prompt_revision=prompt.revision,
            caused_by=read,
        )
        if _add(run):
            queued.append(run)
    admission.enqueue(*queued)
    refresh_state(document_id=read.document_id)
    for run in stopped:
        _append(actor, run, "extraction.failed", {"code": run.error_code, "retryable": True})
    for run in queued:
        revid = run.prompt_revision_id.hex if run.prompt_revision_id else DEFAULT_PROMPT_ID
        _append(actor, run, "extraction.queued", {"prompt_revid": revid})
    return queued


def _end_runs_of_earlier_reads(read: Run) -> list[Run]:
    """What still works on the text of an earlier read would answer for a text that is gone."""
    rows = Run.objects.filter(document_id=read.document_id, kind=Run.Kind.EXTRACT, caused_by__isnull=False)
    active = rows.exclude(caused_by=read).exclude(phase__in=Run.ENDED).order_by("pk")
    earlier = [lock_run(run_id) for run_id in active.values_list("pk", flat=True)]
    earlier = [run for run in earlier if run.phase not in Run.ENDED]
    for run in earlier:
        _set_ended(run, "cancelled", "The document was read again.", retryable=True)
    return earlier


def _add(run: Run) -> bool:
    """Store the run, unless its prompt runs on the document at this moment."""
    try:
        with transaction.atomic():
            run.save(force_insert=True)
    except IntegrityError:
        return False
    return True


@transaction.atomic
def claim_extraction(*, actor: Actor | None, run_id: uuid.UUID) -> int | None:
    """Take a queued run; None when there is nothing to do, or when somebody else does it. Returns: the epoch.

    Without an actor, nobody wants it any more: it ends.
    """
    run = lock_run(run_id)
    if run.phase in Run.ENDED or not run.pool or (run.lease_until and run.lease_until > timezone.now()):
        return None
    if actor is None or run.cancel_requested or run.version_id != run.document.current_version_id:
        _end(run.pk, run.epoch, "cancelled", "Stopped.", retryable=True, actor=actor)
        return None
    if run.attempts >= settings.RUN_ATTEMPTS:
        sentence = f"Extracting stopped {run.attempts} times without an end."
        _end(run.pk, run.epoch, "gave_up", sentence, retryable=True, actor=actor)
        return None
    run.epoch += 1
    run.attempts += 1
    run.phase, run.lease_until, run.started_at = Run.Phase.EXTRACTING, _lease(), run.started_at or timezone.now()
    run.admitted_at = run.admitted_at or timezone.now()
    run.save()
    revid = run.prompt_revision_id.hex if run.prompt_revision_id else DEFAULT_PROMPT_ID
    _tell(actor, run, "extraction.started", {"prompt_revid": revid, "attempt": run.attempts})
    return run.epoch


@transaction.atomic
def take_over(*, actor: Actor, document_id: object, prompt_revid: str | None) -> tuple[uuid.UUID, int] | None:
    """Claim the run of this prompt that waits for a worker, for somebody who waits here. Returns: run and epoch."""
    document = get_document(actor=actor, document_id=document_id)
    prompt = prompt_to_run(actor=actor, prompt_revid=prompt_revid)
    waiting = Run.objects.filter(
        document=document, kind=Run.Kind.EXTRACT, phase=Run.Phase.QUEUED, prompt_revision=prompt.revision
    ).first()
    epoch = claim_extraction(actor=actor, run_id=waiting.pk) if waiting is not None else None
    return (waiting.pk, epoch) if waiting is not None and epoch is not None else None


async def perform_extraction(*, actor: Actor, run_id: uuid.UUID, epoch: int = 1) -> Extraction:
    """Ask the model and store its answer. However it ends, the run ends with it.

    `epoch` is what was claimed; a run that was begun by hand has its first.
    Raises: ModelError, ExtractionFailed, ExtractionStopped, and asyncio's CancelledError.
    """
    cost = Decimal(0)
    try:
        job = await in_thread(partial(_load, actor, run_id, epoch))
        asked = complete(
            model=job.model_used,
            messages=build_messages(job.prompt, job.content, job.metadata),
            about=job.about,
            document=content_for(job.prompt, job.content, job.metadata, model=job.model_used),
            response_format=job.prompt.response_format or {"type": "json_object"},
            temperature=0.0,
        )
        completion = await unless_stopped(partial(_is_held, job), asked)
        cost = completion.cost_usd or cost
        data = parse_object(completion.text)
        return await in_thread(partial(_finish, actor, job, completion, data))
    except DomainError as problem:
        retryable = bool(getattr(problem, "retryable", False))
        await in_thread(partial(_fail, actor, run_id, epoch, problem.error_code, problem.detail, retryable, cost))
        raise
    except asyncio.CancelledError:
        await asyncio.shield(in_thread(partial(_fail, actor, run_id, epoch, "cancelled", "Stopped.", True)))
        raise


def preview_values(*, actor: Actor, document_id: object, response_format: dict[str, Any]) -> list[PreviewValue]:
    """What a proposed schema would find here, by the built-in offline engine: examples for its card, no model call."""
    content = document_content(actor=actor, document_id=document_id)
    answer = reply(messages=[], tools=[], document=content, response_format=response_format)
    data = parse_object(answer.text)
    places = ground(data=data, pages=content.pages)
    return [
        PreviewValue(path, value, places[path].page, [list(box) for box in places[path].boxes], places[path].quote)
        for path, value in leaves_of(data)
        if not is_empty(value) and places[path].state in ("found", "ambiguous")
    ]


def interrupt_lost_extractions() -> int:
    """End runs that somebody started by hand and whose process died: they are told, and start it again. How many?"""
    count = 0
    for run in _lost().filter(pool="")[:_REAPED_AT_ONCE]:
        count += _end(
            run.id, run.epoch, "interrupted", "The process that ran this stopped. Run it again.", retryable=True
        )
    return count


def _lost() -> QuerySet[Run]:
    """Extractions that nobody holds any more."""
    return Run.objects.filter(kind=Run.Kind.EXTRACT, lease_until__lt=timezone.now()).exclude(phase__in=Run.ENDED)


def cancel_extraction(*, actor: Actor, run: Run) -> None:
    """End a locked, active run at once. Whoever asks the model for it finds out within half a second and hangs up."""
    _end(run.pk, run.epoch, "cancelled", "Stopped.", retryable=True, actor=actor)
    run.refresh_from_db()


def _load(actor: Actor, run_id: uuid.UUID, epoch: int) -> _Job:
    run = Run.objects.get(pk=run_id, organization_id=actor.organization_id)
    if run.epoch != epoch or run.phase in Run.ENDED:
        raise ExtractionStopped()
    prompt = prompt_to_run(actor=actor, prompt_revid=run.prompt_revision_id.hex if run.prompt_revision_id else None)
    content = document_content(actor=actor, document_id=run.document_id)
    about = sources_of(run.document_id)
    requested, used = usable_extraction_model(prompt.model, about=about)
    return _Job(run.id, run.epoch, prompt, content, about, run.document.metadata, requested, used)


@transaction.atomic
def _finish(actor: Actor, job: _Job, completion: Completion, data: dict[str, Any]) -> Extraction:
    run = lock_run(job.run_id)
    if run.phase == Run.Phase.CANCELLED:
        raise ExtractionStopped()
    if run.epoch != job.epoch or run.phase in Run.ENDED:
        raise ExtractionFailed("This run was ended before the model answered.")
    ordered = _in_schema_order(job.prompt.response_format, data)
    places = ground(data=ordered, pages=job.content.pages)
    result = Extraction.objects.create(
        organization_id=actor.organization_id,
        document_id=run.document_id,
        version_id=run.version_id,
        prompt_revision=job.prompt.revision,
        run=run,
        llm_result=ordered,
        updated_llm_result=ordered,
        grounding={path: place.as_json() for path, place in places.items()},
        validation_errors=validate_data(job.prompt.response_format, ordered) if job.prompt.response_format else [],
        model_requested=job.model_requested,
        model_used=job.model_used,
        usage=asdict(completion.usage),
        cost_usd=completion.cost_usd,
    )
    supersede_others(result)
    run.phase, run.completed_at, run.lease_until = Run.Phase.COMPLETE, timezone.now(), None
    run.cost_usd += completion.cost_usd or Decimal(0)
    run.save()
    admission.admit_soon(run.pool)
    states = [place.state for place in places.values()]
    counts = {state: states.count(state) for state in sorted(set(states))}
    record(actor=actor, action="extraction.created", target=("extraction", result.id), data={"run_id": run.id.hex})
    _tell(actor, run, "extraction.completed", {"extraction_id": result.id.hex, "grounding": counts})
    return result


def supersede_others(result: Extraction) -> None:
    """The new result replaces the current one of the same prompt (any version); the rows stay as history."""
    lock_results_like(result)
    results_like(result).filter(CURRENT).exclude(pk=result.pk).update(superseded_by=result)


def _fail(
    actor: Actor, run_id: uuid.UUID, epoch: int, code: str, message: str, retryable: bool, cost: Decimal = Decimal(0)
) -> None:
    if cost:  # was spent, however it ended
        Run.objects.filter(pk=run_id).update(cost_usd=F("cost_usd") + cost)
    if _end(run_id, epoch, code, message, retryable=retryable, actor=actor):
        log.info("extraction.failed", run_id=run_id.hex, code=code)


@transaction.atomic
def _end(
    run_id: uuid.UUID, epoch: int, code: str, message: str, *, retryable: bool, actor: Actor | None = None
) -> bool:
    run = lock_run(run_id)
    if run.epoch != epoch or run.phase in Run.ENDED:
        return False
    _set_ended(run, code, message, retryable=retryable)
    _tell(actor, run, "extraction.failed", {"code": code, "retryable": retryable})
    return True


def _set_ended(run: Run, code: str, message: str, *, retryable: bool) -> None:
    run.phase = Run.Phase.CANCELLED if code == "cancelled" else Run.Phase.ERROR
    run.error_code, run.error_message, run.retryable = code, message[:500], retryable
    run.epoch += 1
    run.completed_at, run.lease_until = timezone.now(), None
    run.save()
    admission.admit_soon(run.pool)


def _tell(actor: Actor | None, run: Run, event: str, data: dict[str, Any]) -> None:
    refresh_state(document_id=run.document_id)
    _append(actor, run, event, data)


def _append(actor: Actor | None, run: Run, event: str, data: dict[str, Any]) -> None:
    append_event(document_id=run.document_id, type=event, actor=actor, run=run, data=data)


def _lease() -> datetime:
    return timezone.now() + timedelta(seconds=settings.RUN_LEASE_SECONDS)


def _is_held(job: _Job, renew: bool) -> bool:
    """Whether the run is this job's and nobody wants it stopped."""
    rows = Run.objects.filter(pk=job.run_id, epoch=job.epoch, cancel_requested=False).exclude(phase__in=Run.ENDED)
    return bool(rows.update(lease_until=_lease())) if renew else rows.exists()


def _in_schema_order(response_format: dict[str, Any] | None, data: dict[str, Any]) -> dict[str, Any]:
    """Top-level keys in the order of the schema; what the schema does not know comes last."""
    schema = (response_format or {}).get("json_schema", {}).get("schema", {})
    names = [name for name in schema.get("properties", {}) if name in data]
    return {name: data[name] for name in [*names, *(key for key in data if key not in names)]}
