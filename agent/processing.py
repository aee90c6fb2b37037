"""Finding turns that nobody runs any more, and decisions that nobody made: run by beat, safe to run twice at once."""

import uuid
from datetime import timedelta

import structlog
from django.conf import settings
from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone

from agent.endings import expire, interrupt, tell_on_commit
from agent.models import Turn
from core.ids import show_id

log = structlog.get_logger(__name__)

BATCH = 200


def reap() -> int:
    """End what has to end; returns how many turns that were."""
    now = timezone.now()
    unclaimed = now - timedelta(seconds=settings.AGENT_LEASE_SECONDS)
    abandoned = Q(status=Turn.Status.RUNNING) & (
        Q(lease_until__lt=now) | Q(lease_until__isnull=True, updated_at__lt=unclaimed)
    )
    overdue = Q(status=Turn.Status.WAITING, expires_at__lt=now)
    ids = list(Turn.objects.filter(abandoned | overdue).values_list("id", flat=True)[:BATCH])
    return sum(_end(turn_id, abandoned, overdue) for turn_id in ids)


def _end(turn_id: uuid.UUID, abandoned: Q, overdue: Q) -> int:
    """End one turn if it is still as it was found; one that somebody else has in hand is left to them."""
    with transaction.atomic():
        rows = Turn.objects.select_for_update(skip_locked=True)
        turn = rows.filter(abandoned | overdue, pk=turn_id).first()
        if turn is None:
            return 0
        if turn.status == Turn.Status.WAITING:
            tell_on_commit(turn, expire(turn))
        else:
            Turn.objects.filter(pk=turn.pk).update(epoch=F("epoch") + 1)
            turn.epoch += 1
            tell_on_commit(turn, interrupt(turn))
        log.info("turn.reaped", turn=show_id(turn.pk), status=turn.status)
    return 1
