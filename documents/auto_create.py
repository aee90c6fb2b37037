"""Auto-create, from the wish at upload to what is proposed: which attempt stands, and who works on it.

One row for each attempt, one open attempt for each document. The work itself is a run of kind propose, claimed by
epoch and lease like every other; the agent does it. Whatever a run makes carries its id, so that an attempt that fails
leaves nothing behind. What people decide about a proposal: `documents.reviewing`.
"""

import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import structlog
from django.conf import settings
from django.db import transaction
from django.db.models import Sum
from django.utils import timezone

from core.ids import show_id
from documents import admission
from documents.clearing import clear_made
from documents.errors import ProposalStopped
from documents.events import append_event
from documents.models import AutoCreate, Document, Extraction, Run
from documents.processing import find_run, lock_latest_read, lock_run
from documents.results import CURRENT
from documents.reusing import results_of_reused, take_back_reused
from documents.states import lock_state, refresh_state
from organizations.actor import Actor
from organizations.models import Organization
from organizations.services import record

log = structlog.get_logger(__name__)

Status = AutoCreate.Status
_AT_ONCE = 100


@dataclass(frozen=True, slots=True)
class Claim:
    """The right to work on an attempt until the lease ends; every write checks `epoch`."""

    run_id: uuid.UUID
    epoch: int
    document_id: uuid.UUID
    actor: Actor


@dataclass(frozen=True, slots=True)
class Failure:
    """Why an attempt ended without a proposal, in words for a person."""

    code: str
    message: str
    retryable: bool = True


def is_wanted(*, actor: Actor, asked: bool | None) -> bool:
    """Whether an upload is to be set up: as it says, else as the organization's setting says."""
    if asked is not None:
        return asked
    return Organization.objects.filter(pk=actor.organization_id, auto_create_enabled=True).exists()


@transaction.atomic
def request(*, actor: Actor, document: Document) -> AutoCreate:
    """Have the agent set up a document by itself, as soon as its text is ready. The open attempt if there is one."""
    lock_state(document.pk)
    standing = AutoCreate.objects.filter(document=document, status__in=AutoCreate.OPEN).first()
    if standing is not None:
        return standing
    attempt = AutoCreate.objects.create(
        organization_id=document.organization_id,
        document=document,
        requested_by_id=actor.user_id,
        requested_by_name=actor.name,
    )
    document.auto_create_status = attempt.status
    record(actor=actor, action="auto_create.requested", target=("document", document.pk))
    tell(attempt, "requested", actor=actor)
    queue_proposal(document_id=document.pk)
    return attempt


@transaction.atomic
def queue_proposal(*, document_id: uuid.UUID) -> Run | None:
    """Make the run of a pending attempt once the text is ready; where reading failed, the attempt fails with it.

    Returns: the new run, None when there is nothing to do. Safe to call again.
    """
    read = lock_latest_read(document_id)
    attempt = AutoCreate.objects.select_for_update().filter(document_id=document_id, status=Status.PENDING).first()
    if read is None or attempt is None or attempt.run_id is not None or read.phase not in Run.ENDED:
        return None
    if read.phase != Run.Phase.COMPLETE:
        reason = read.error_message or "Reading was stopped."
        _set_failed(attempt, Failure("not_read", f"The document could not be read: {reason}"))
        return None
    run = Run.objects.create(
        organization_id=attempt.organization_id,
        document_id=document_id,
        version_id=read.version_id,
        kind=Run.Kind.PROPOSE,
        caused_by=read,
    )
    attempt.run = run
    attempt.save(update_fields=["run", "updated_at"])
    admission.enqueue(run)
    refresh_state(document_id=document_id)
    append_event(document_id=document_id, type="run.queued", run=run, data={"kind": run.kind})
    return run


def after_read(*, run_id: uuid.UUID) -> None:
    """Reading has ended without text: an attempt that waited for it fails with it."""
    run = find_run(run_id)
    if run is not None:
        queue_proposal(document_id=run.document_id)


def queue_forgotten() -> int:
    """Attempts that were forgotten between the end of reading and their run get it, or fail with the reading.

    Returns: how many.
    """
    rows = AutoCreate.objects.filter(status=Status.PENDING, run=None)
    ids = rows.order_by("created_at").values_list("document_id", flat=True)[:_AT_ONCE]
    return sum(queue_proposal(document_id=document_id) is not None for document_id in ids)


@transaction.atomic
def claim_proposal(*, run_id: uuid.UUID) -> Claim | None:
    """Take a run that nobody works on; None when there is nothing to do, or when somebody else does it."""
    if find_run(run_id) is None:
        return None
    run = lock_run(run_id)
    if run.kind != Run.Kind.PROPOSE or run.phase in Run.ENDED or (run.lease_until and run.lease_until > timezone.now()):
        return None
    attempt, actor = lock_attempt_of(run), actor_of(run)
    if attempt is None or actor is None or run.cancel_requested or not _is_wanted(run):
        _end_without(run, attempt, Failure("cancelled", "Stopped."))
        return None
    if run.version_id != run.document.current_version_id:
        _end_without(run, attempt, Failure("replaced", "The document's file was replaced meanwhile."))
        return None
    if run.attempts >= settings.RUN_ATTEMPTS:
        _end_without(run, attempt, Failure("gave_up", f"The agent stopped {run.attempts} times without an end."))
        return None
    run.epoch += 1
    run.attempts += 1
    now = timezone.now()
    run.phase, run.lease_until = Run.Phase.PROPOSING, _lease()
    run.started_at, run.admitted_at = run.started_at or now, run.admitted_at or now
    run.save()
    attempt.status = Status.RUNNING
    attempt.save(update_fields=["status", "updated_at"])
    refresh_state(document_id=run.document_id)
    tell(attempt, "started", actor=actor, more={"attempt": run.attempts})
    return Claim(run.pk, run.epoch, run.document_id, actor)


@transaction.atomic
def attach_turn(*, claim: Claim, thread_id: uuid.UUID | None, turn_id: uuid.UUID) -> None:
    """Remember where the agent's log is, and which prompt it may reuse. Raises: ProposalStopped."""
    _, attempt = lock_held(claim)
    attempt.thread_id, attempt.turn_id, attempt.prompt_revision_id = thread_id, turn_id, claim.actor.reuses
    attempt.save(update_fields=["thread_id", "turn_id", "prompt_revision", "updated_at"])


@transaction.atomic
def stop_proposal(*, run: Run) -> None:
    """Somebody wants a locked run to end: at once where nobody works on it, else whoever does sees it in a second."""
    if run.lease_until is None or run.lease_until <= timezone.now():
        _end_without(run, lock_attempt_of(run), Failure("cancelled", "Stopped."))


def keep_claim(claim: Claim) -> bool:
    """Push the lease out; False when the work is not wanted any more, or somebody else has it."""
    rows = Run.objects.filter(pk=claim.run_id, epoch=claim.epoch, cancel_requested=False, document__deleted_at=None)
    return bool(rows.exclude(phase__in=Run.ENDED).update(lease_until=_lease()))


@transaction.atomic
def release(*, claim: Claim) -> None:
    """Give the run back, so that another worker goes on at once."""
    run, _ = lock_held(claim)
    run.lease_until, run.phase = None, Run.Phase.QUEUED
    run.save(update_fields=["lease_until", "phase", "updated_at"])
    admission.enqueue(run)


@transaction.atomic
def end_proposal(*, claim: Claim, failure: Failure | None, cost: Any = 0) -> AutoCreate:
    """The agent is done. What it extracted is proposed, also when a limit cut it off afterwards; nothing extracted, or
    a person who stopped it, means failure. Raises: ProposalStopped.
    """
    run, attempt = lock_held(claim)
    run.cost_usd = cost
    found = None if run.cancel_requested else _extraction_of(run, attempt)
    if found is None:
        stopped = Failure("cancelled", "Stopped.") if run.cancel_requested else failure
        _end_without(run, attempt, stopped or Failure("nothing_extracted", "The agent ended without an extraction."))
        return attempt
    _end_run(run, Run.Phase.COMPLETE)
    prompt = found.prompt_revision
    if found.prompt_revision_id != attempt.prompt_revision_id:  # it made one of its own all the same
        take_back_reused(actor=claim.actor, run=run, attempt=attempt)
    schema = prompt.schema_revision if prompt else None
    attempt.status, attempt.proposed_at = Status.PROPOSED, timezone.now()
    attempt.extraction, attempt.prompt_revision, attempt.schema_revision = found, prompt, schema
    attempt.reused_schema = schema is not None and schema.schema.made_by_run != run.pk
    attempt.save()
    clear_made(
        actor=claim.actor,
        run=run,
        keep_prompts=[prompt.prompt_id] if prompt else [],
        keep_schemas=[schema.schema_id] if schema else [],
    )
    refresh_state(document_id=run.document_id)
    tell(attempt, "proposed", actor=claim.actor, more=_names(attempt))
    return attempt


def extractions_cost(run_id: uuid.UUID) -> Decimal:
    """What the extractions of a propose run have cost so far. Units: US dollars."""
    found = [Extraction.objects.filter(prompt_revision__prompt__made_by_run=run_id)]
    attempt = AutoCreate.objects.select_related("run").filter(run_id=run_id, prompt_revision__isnull=False).first()
    if attempt is not None and attempt.run is not None:
        found.append(results_of_reused(run=attempt.run, attempt=attempt))
    return sum((rows.aggregate(sum=Sum("cost_usd"))["sum"] or Decimal(0) for rows in found), Decimal(0))


def lock_attempt_of(run: Run) -> AutoCreate | None:
    """The open attempt that a locked run works for, locked until the transaction ends."""
    return AutoCreate.objects.select_for_update().filter(run=run, status__in=AutoCreate.OPEN).first()


def lock_held(claim: Claim) -> tuple[Run, AutoCreate]:
    """Run and attempt, locked, if the claim still holds. Raises: ProposalStopped."""
    run = lock_run(claim.run_id)
    attempt = lock_attempt_of(run)
    if run.epoch != claim.epoch or run.phase in Run.ENDED or attempt is None:
        raise ProposalStopped
    return run, attempt


def actor_of(run: Run) -> Actor | None:
    """Who answers for what the run makes: whoever asked for it, with a member's rights, also when they left since.

    Where the account is gone, the organization's first admin; None where that is gone too.
    """
    organization = run.document.organization
    attempt = AutoCreate.objects.filter(run=run).first()
    if attempt is None:
        return None
    user_id = attempt.requested_by_id
    if user_id is None:
        admins = organization.memberships.filter(role="admin").order_by("created_at", "id")
        user_id = admins.values_list("user_id", flat=True).first()
    if user_id is None:
        return None
    return Actor(
        user_id=user_id,
        organization_id=organization.pk,
        role="user",
        via="agent",
        name=attempt.requested_by_name,
        run_id=run.pk,
    )


def _extraction_of(run: Run, attempt: AutoCreate) -> Extraction | None:
    """The newest result of what the run made, else of what it reused."""
    rows = Extraction.objects.filter(CURRENT, document_id=run.document_id, prompt_revision__prompt__made_by_run=run.pk)
    rows = rows.filter(prompt_revision__prompt__deleted_at__isnull=True)
    for results in (rows.order_by("-created_at", "-id"), results_of_reused(run=run, attempt=attempt).filter(CURRENT)):
        found = results.select_related("prompt_revision__prompt", "prompt_revision__schema_revision__schema").first()
        if found is not None:
            return found
    return None


def _end_without(run: Run, attempt: AutoCreate | None, failure: Failure) -> None:
    """End a locked run and its attempt; nothing that it made stays."""
    _end_run(run, Run.Phase.CANCELLED if failure.code == "cancelled" else Run.Phase.ERROR, failure)
    actor = actor_of(run)
    if actor is not None:
        clear_made(actor=actor, run=run)
        if attempt is not None:
            take_back_reused(actor=actor, run=run, attempt=attempt)
            attempt.prompt_revision = None
    log.info("auto_create.failed", run_id=show_id(run.pk), code=failure.code)
    if attempt is not None:
        _set_failed(attempt, failure)
    else:
        refresh_state(document_id=run.document_id)


def _end_run(run: Run, phase: Run.Phase, failure: Failure | None = None) -> None:
    if failure is not None:
        run.error_code, run.error_message, run.retryable = failure.code, failure.message[:500], failure.retryable
    run.phase, run.completed_at, run.lease_until = phase, timezone.now(), None
    run.epoch += 1
    run.save()
    admission.admit_soon(run.pool)


def _set_failed(attempt: AutoCreate, failure: Failure) -> None:
    attempt.status = Status.FAILED
    attempt.error_code, attempt.error_message = failure.code, failure.message[:500]
    attempt.retryable = failure.retryable
    attempt.save()
    refresh_state(document_id=attempt.document_id)
    tell(attempt, "failed", more={"code": failure.code, "retryable": failure.retryable})


def _is_wanted(run: Run) -> bool:
    document = run.document
    return document.deleted_at is None and document.organization.deleted_at is None


def _names(attempt: AutoCreate) -> dict[str, Any]:
    """What a proposal consists of, by id."""
    ids = {"schemaRevid": attempt.schema_revision_id, "promptRevid": attempt.prompt_revision_id}
    return {key: show_id(value) if value else None for key, value in ids.items()}


def tell(attempt: AutoCreate, what: str, *, actor: Actor | None = None, more: dict[str, Any] | None = None) -> None:
    """Repeat the newest attempt's status on its document, and put it into the log. Call it last."""
    Document.objects.filter(pk=attempt.document_id).update(auto_create_status=attempt.status)
    append_event(
        document_id=attempt.document_id,
        type=f"document.auto_create.{what}",
        actor=actor,
        run=attempt.run,
        turn_id=attempt.turn_id,
        data={"status": attempt.status, **(more or {})},
    )


def _lease() -> datetime:
    return timezone.now() + timedelta(seconds=settings.RUN_LEASE_SECONDS)
