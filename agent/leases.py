"""Who runs a turn: claims with an epoch, a lease that is renewed, and the fence that every write passes."""

import uuid
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db.models import F
from django.utils import timezone

from agent.models import Turn


class LeaseLost(Exception):
    """Somebody else took the turn or ended it: this runner writes nothing any more."""


def claim_new(turn: Turn) -> None:
    """Claim a turn that is not stored yet, for the process that stores it and runs it right after."""
    turn.epoch, turn.lease_until = 1, _until()


def claim(turn_id: uuid.UUID) -> int:
    """Take a running turn that nobody has; returns the epoch of this claim.

    Raises: LeaseLost when it is taken, waits, or has ended.
    """
    taken = Turn.objects.filter(pk=turn_id, status=Turn.Status.RUNNING, lease_until__isnull=True).update(
        epoch=F("epoch") + 1, lease_until=_until(), updated_at=timezone.now()
    )
    if not taken:
        raise LeaseLost
    return Turn.objects.values_list("epoch", flat=True).get(pk=turn_id)


def lock_held_turn(turn_id: uuid.UUID, epoch: int) -> Turn:
    """The turn, locked until the transaction ends, if this claim still holds.

    Raises: LeaseLost.
    """
    turn = Turn.objects.select_for_update().filter(pk=turn_id, epoch=epoch, status=Turn.Status.RUNNING).first()
    if turn is None:
        raise LeaseLost
    return turn


def update_held_turn(turn_id: uuid.UUID, epoch: int, **values: Any) -> None:
    """Change the turn, which locks it until the transaction ends, if this claim still holds.

    Raises: LeaseLost.
    """
    held = Turn.objects.filter(pk=turn_id, epoch=epoch, status=Turn.Status.RUNNING)
    if not held.update(updated_at=timezone.now(), **values):
        raise LeaseLost


def lock_seen_turn(turn_id: uuid.UUID) -> Turn:
    """A turn that the caller may see, locked until the transaction ends, whoever holds it."""
    return Turn.objects.select_for_update(of=("self",)).select_related("thread").get(pk=turn_id)


def renew(held: Iterable[tuple[uuid.UUID, int]]) -> None:
    """Push the leases of these claims out; claims that are lost stay lost."""
    for turn_id, epoch in held:
        Turn.objects.filter(pk=turn_id, epoch=epoch, status=Turn.Status.RUNNING).update(lease_until=_until())


def look_after(held: dict[uuid.UUID, int]) -> tuple[set[uuid.UUID], set[uuid.UUID]]:
    """Of these claims (epoch by turn): which are asked to stop, and which are lost."""
    rows = Turn.objects.filter(pk__in=list(held)).values_list("id", "epoch", "status", "cancel_requested")
    ours = {turn_id: stop for turn_id, epoch, status, stop in rows if epoch == held[turn_id] and status == "running"}
    return {turn_id for turn_id, stop in ours.items() if stop}, set(held) - set(ours)


def _until() -> datetime:
    return timezone.now() + timedelta(seconds=settings.AGENT_LEASE_SECONDS)
