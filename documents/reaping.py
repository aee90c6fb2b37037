"""Runs whose worker died: they wait again, with the reason in the document's log. Called by the clock."""

import uuid

import structlog
from django.conf import settings
from django.db import transaction
from django.utils import timezone

from core.ids import show_id
from documents import admission
from documents.events import append_event
from documents.models import Run
from documents.processing import lock_run
from documents.states import refresh_state

log = structlog.get_logger(__name__)

_REAPED_AT_ONCE = 100


def requeue_dead_runs() -> list[uuid.UUID]:
    """Let runs of dead workers wait for another one; what they have done stays done. Returns: which."""
    dead = Run.objects.exclude(phase__in=Run.ENDED).exclude(pool="").filter(lease_until__lt=timezone.now())
    return [pk for pk in dead.order_by("lease_until").values_list("pk", flat=True)[:_REAPED_AT_ONCE] if _requeue(pk)]


@transaction.atomic
def _requeue(run_id: uuid.UUID) -> bool:
    run = lock_run(run_id)
    if run.phase in Run.ENDED or run.lease_until is None or run.lease_until > timezone.now():
        return False
    log.info("run.requeued", run_id=show_id(run.pk), kind=run.kind, attempts=run.attempts)
    wait_again(run, "worker_lost")
    return True


def wait_again(run: Run, code: str) -> None:
    """Put a locked run back among those that wait, and say why its attempt ended. The last attempt is not repeated."""
    run.lease_until = None
    if run.kind == Run.Kind.EXTRACT:
        run.phase = Run.Phase.QUEUED
    run.save(update_fields=["lease_until", "phase", "updated_at"])
    admission.enqueue(run)
    refresh_state(document_id=run.document_id)
    if run.attempts < settings.RUN_ATTEMPTS:
        data = {"attempt": run.attempts + 1, "code": code, "kind": run.kind}
        append_event(document_id=run.document_id, type="run.retried", run=run, data=data)
