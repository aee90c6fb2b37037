"""How a turn ends or starts to wait: its status, its open calls, its outcome, and the last event it tells.

Everything here runs in the caller's transaction, on a turn row that the caller has locked; `finish_held` and
`end_held` see to that themselves.
"""

import uuid
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from agent.events import Done, ErrorEvent, Event, TurnResult, to_wire
from agent.leases import lock_held_turn, update_held_turn
from agent.logbook import log_turn
from agent.loop import CANCELLED, INTERRUPTED
from agent.models import ToolCall, Turn
from agent.streams import Numbered, append_now, last_seq
from agent.transcript import status_of_result
from core.errors import DomainError
from organizations.actor import Actor

Json = dict[str, Any]

NOT_RUN: Json = {"error": "The turn ended before this ran. Nothing was changed.", "code": "not_run"}
EXPIRED: Json = {"error": "Nobody decided in time. Nothing was changed.", "code": "expired"}
INTERRUPTED_TEXT = "The turn was interrupted. What was done before stays; ask again to go on."
FINAL = ("done", "failed", "cancelled", "interrupted", "expired")


def finish_held(turn_id: uuid.UUID, epoch: int, result: TurnResult, *, event_seq: int) -> str:
    """A turn that this claim still holds ends well, or by a stop that its runner carried out.

    Returns: its status. Raises: LeaseLost.
    """
    status = Turn.Status.CANCELLED if result.status == "cancelled" else Turn.Status.DONE
    update_held_turn(
        turn_id,
        epoch,
        status=status,
        outcome=_outcome(result),
        event_seq=event_seq,
        lease_until=None,
        expires_at=None,
        finished_at=timezone.now(),
    )
    return status


def wait(turn: Turn) -> datetime:
    """From now on a person has to decide; no process holds the turn."""
    turn.status = Turn.Status.WAITING
    turn.lease_until = None
    turn.expires_at = timezone.now() + timedelta(seconds=settings.AGENT_APPROVAL_TTL)
    turn.save(update_fields=["status", "lease_until", "expires_at", "event_seq", "updated_at"])
    open_calls = turn.tool_calls.filter(writes=True, status=ToolCall.Status.WAITING, result__isnull=True)
    log_turn(turn, "waiting", waiting=open_calls.count())
    return turn.expires_at


def fail(turn: Turn, problem: DomainError) -> ErrorEvent:
    """The turn cannot go on; what was said and done so far stays."""
    settle_open_calls(turn, NOT_RUN)
    event = ErrorEvent(
        error=problem.detail, code=problem.error_code, retryable=bool(getattr(problem, "retryable", False))
    )
    _close_with_error(turn, Turn.Status.FAILED, event)
    return event


def interrupt(turn: Turn) -> ErrorEvent:
    """The process that ran the turn is gone. A write that had started is never run a second time."""
    settle_open_calls(turn, NOT_RUN)
    event = ErrorEvent(error=INTERRUPTED_TEXT, code="interrupted", retryable=True)
    _close_with_error(turn, Turn.Status.INTERRUPTED, event)
    return event


def expire(turn: Turn) -> ErrorEvent:
    """Nobody decided in time."""
    settle_open_calls(turn, EXPIRED)
    event = ErrorEvent(error="This waited too long for a decision and has expired.", code="expired", retryable=True)
    _close_with_error(turn, Turn.Status.EXPIRED, event)
    return event


def cancel_waiting(turn: Turn, *, actor: Actor, code: str | None = None) -> Event:
    """A person stopped a turn that waited: no process needs to be asked. `code` says why, when not by that wish."""
    settle_open_calls(turn, CANCELLED)
    text = turn.messages.filter(role="assistant").order_by("-position").values_list("content", flat=True).first()
    result = TurnResult(text=text or "", status="cancelled", working_state=turn.working_state)
    turn.outcome = _outcome(result)
    _close(turn, Turn.Status.CANCELLED, actor=actor, code=code)
    return Done(result=result)


def end_held(turn_id: uuid.UUID, epoch: int, end: Callable[[Turn], Event]) -> None:
    """End a turn that this claim still holds, and tell it. Raises: LeaseLost."""
    with transaction.atomic():
        turn = lock_held_turn(turn_id, epoch)
        tell_on_commit(turn, end(turn))


def settle_open_calls(turn: Turn, result: Json) -> None:
    """Every call gets exactly one result; those that were running get told that nobody knows."""
    now = timezone.now()
    for call in turn.tool_calls.filter(result__isnull=True):
        call.result = INTERRUPTED if call.status == ToolCall.Status.STARTED else result
        call.status = status_of_result(call.result)
        call.success, call.finished_at = False, now
        call.save(update_fields=["result", "status", "success", "finished_at"])


def tell_on_commit(turn: Turn, event: Event) -> None:
    """Number an event of a turn that no runner holds, and tell it once this transaction commits."""
    begun = 1 if turn.epoch else 0  # who asked was told that it started before the runner could tell anybody
    turn.event_seq = max(turn.event_seq, last_seq(turn.pk), begun) + 1
    turn.save(update_fields=["event_seq"])
    numbered = Numbered(turn.event_seq, event)
    transaction.on_commit(lambda: append_now(turn.pk, turn.thread_id, numbered))


def _outcome(result: TurnResult) -> Json:
    wire: Json = to_wire(Done(result=result))["result"]
    return wire


def _close_with_error(turn: Turn, status: str, event: ErrorEvent) -> None:
    turn.error_code, turn.error_message, turn.retryable = event.code, event.error[:500], event.retryable
    turn.outcome = to_wire(event)
    _close(turn, status, code=event.code)


def _close(turn: Turn, status: str, *, actor: Actor | None = None, code: str | None = None) -> None:
    turn.status = status
    turn.lease_until = turn.expires_at = None
    turn.finished_at = timezone.now()
    turn.save()
    log_turn(turn, status, actor=actor, code=code)
