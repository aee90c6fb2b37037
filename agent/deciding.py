"""Decisions on waiting calls: of any number of posts, from any process, exactly one counts for each call."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone

from agent import runner
from agent.errors import ArgumentsChanged, ShuttingDown, TurnNotFound, UnknownCall
from agent.leases import lock_seen_turn
from agent.logbook import log_turn
from agent.messages import to_json
from agent.models import ToolCall, Turn
from agent.selectors import get_turn
from agent.streams import thread_group
from agent.toolbox import ArgumentsRefused, canonical, toolbox
from core.ids import show_id
from core.publish import publish_on_commit
from organizations.actor import Actor
from organizations.services import record

Json = dict[str, Any]

MAX_REASON_CHARS = 2_000
_GONE = (Turn.Status.FAILED, Turn.Status.CANCELLED, Turn.Status.INTERRUPTED, Turn.Status.EXPIRED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What somebody says about one call. `arguments` edits it; `arguments_hash` names what the decider saw."""

    call_id: str
    approved: bool
    arguments: Json | None = None
    reason: str = ""
    arguments_hash: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """How it stands with one call that a post named; `accepted` is whether this very post decided it."""

    call_id: str
    decision: str
    decided_by: str
    decided_at: datetime | None
    accepted: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class DecideOutcome:
    """What a post gets back: the turn as it is now, the word on each call, and which calls are still open."""

    turn: Turn
    answers: tuple[Answer, ...]
    pending: tuple[ToolCall, ...]

    @property
    def status(self) -> str:
        return self.turn.status


@transaction.atomic
def decide(*, actor: Actor, document_id: object, turn_id: object, decisions: Sequence[Decision]) -> DecideOutcome:
    """Approve, edit or reject waiting calls. When the last one is decided the turn goes on in this process.

    A post either counts as a whole or is refused as a whole; calls that were decided before keep their decision, and
    the poster is told. Raises: TurnNotFound, UnknownCall, ArgumentsChanged, ArgumentsRefused, ShuttingDown.
    """
    if not runner.accepts_turns():
        raise ShuttingDown()
    turn = lock_turn(actor=actor, document_id=document_id, turn_id=turn_id)
    if turn.status in _GONE or _is_overdue(turn):
        raise TurnNotFound()
    rows = {row.call_id: row for row in turn.tool_calls.select_related("message").order_by("message", "position")}
    unknown = [decision.call_id for decision in decisions if decision.call_id not in rows]
    if unknown:
        raise UnknownCall(fields={"call_id": "not in this turn"})
    accepted = {
        decision.call_id
        for decision in decisions
        if turn.status == Turn.Status.WAITING and _take(rows[decision.call_id], decision, actor)
    }
    pending = tuple(row for row in rows.values() if _is_open(row)) if turn.status == Turn.Status.WAITING else ()
    if accepted:
        _note(turn, actor, [rows[call_id] for call_id in accepted], pending=len(pending))
    answers = tuple(
        _answer(rows[call_id], call_id in accepted) for call_id in dict.fromkeys(d.call_id for d in decisions)
    )
    return DecideOutcome(turn=turn, answers=answers, pending=pending)


def lock_turn(*, actor: Actor, document_id: object, turn_id: object) -> Turn:
    """A turn that the actor may decide about, locked until the transaction ends. Raises: TurnNotFound."""
    seen = get_turn(actor=actor, document_id=document_id, turn_id=turn_id)
    return lock_seen_turn(seen.pk)


def reject_all(*, turn: Turn, actor: Actor, reason: str) -> None:
    """Reject every open call of a locked, waiting turn, with its result, without asking the model."""
    for row in turn.tool_calls.filter(result__isnull=True):
        if _is_open(row):
            _take(row, Decision(call_id=row.call_id, approved=False, reason=reason), actor)
        row.result = {"error": "User rejected this action.", "code": "rejected", "reason": reason}
        row.status, row.success, row.finished_at = ToolCall.Status.REJECTED, False, timezone.now()
        row.save()


def tell_decided(turn: Turn, call_ids: Sequence[str]) -> None:
    """Every open page of the thread shows what was decided or undone."""
    if turn.thread_id is not None:
        message = {"type": "turn.decided", "turn_id": show_id(turn.pk), "call_ids": list(call_ids)}
        publish_on_commit(thread_group(turn.thread_id), message)


def _is_open(row: ToolCall) -> bool:
    return row.writes and row.status == ToolCall.Status.WAITING and row.result is None


def _is_overdue(turn: Turn) -> bool:
    return turn.status == Turn.Status.WAITING and bool(turn.expires_at and turn.expires_at <= timezone.now())


def _take(row: ToolCall, decision: Decision, actor: Actor) -> bool:
    """Let this decision count if the call is still open. Raises: ArgumentsChanged, ArgumentsRefused."""
    if not _is_open(row):
        return False
    if decision.arguments_hash and decision.arguments_hash != row.arguments_hash:
        raise ArgumentsChanged()
    if decision.approved and decision.arguments is not None:
        row.decided_arguments = _edited(row, decision.arguments)
    row.decision = "approved" if decision.approved else "rejected"
    row.reason = decision.reason.replace("\0", "")[:MAX_REASON_CHARS]
    row.decided_by_id, row.decided_by_name = actor.user_id, actor.name or "Somebody"
    row.decided_at = timezone.now()
    row.status = ToolCall.Status.DECIDED
    row.save()
    return True


def _edited(row: ToolCall, arguments: Json) -> Json | None:
    """The edited arguments, checked like the model's own; None when they are what was shown anyway."""
    try:
        checked = toolbox.read_arguments(row.name, to_json(arguments))
    except ValueError as problem:
        raise ArgumentsRefused(f"Invalid JSON arguments: {problem}") from problem
    return None if canonical(checked) == canonical(row.arguments) else checked


def _note(turn: Turn, actor: Actor, rows: Sequence[ToolCall], *, pending: int) -> None:
    said: dict[str, Any] = {row.call_id: _word(row) for row in rows}
    tools = {row.call_id: row.name for row in rows}
    record(actor=actor, action="turn.decided", target=("turn", turn.pk), data={"decisions": said, "tools": tools})
    tell_decided(turn, list(said))
    if not pending:
        turn.status = Turn.Status.RUNNING
        turn.expires_at = turn.lease_until = None
        turn.save(update_fields=["status", "expires_at", "lease_until", "updated_at"])
        transaction.on_commit(lambda: _launch(turn.pk))
    decisions = [{"call_id": call_id, "decision": word} for call_id, word in said.items()]
    log_turn(turn, "decided", actor=actor, decisions=decisions, pending=pending)


def _launch(turn_id: uuid.UUID) -> None:
    runner.launch(turn_id)


def _word(row: ToolCall) -> str:
    return "edited" if row.decision == "approved" and row.decided_arguments is not None else row.decision


def _answer(row: ToolCall, accepted: bool) -> Answer:
    return Answer(
        call_id=row.call_id,
        decision=_word(row) or ("approved" if row.result is not None else "open"),
        decided_by=row.decided_by_name,
        decided_at=row.decided_at,
        accepted=accepted,
    )
