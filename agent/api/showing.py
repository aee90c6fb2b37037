"""Threads and turns of the past, from rows to the wire."""

import uuid
from collections.abc import Mapping, Sequence

from agent.api.bodies import (
    CallAnswer,
    ChatAnswer,
    DecisionAnswer,
    KeptCallAnswer,
    KeptRoundAnswer,
    ThreadMessage,
    TurnAnswer,
    UsageAnswer,
)
from agent.api.results import Finish, answer_of, calls_of, pending_calls, rounds_of, show_call, shown
from agent.loop import PREVIEW_CHARS
from agent.messages import to_json
from agent.models import Message, ToolCall, Turn
from agent.selectors import has_answer
from core.ids import show_id

Siblings = Mapping[uuid.UUID | None, Sequence[uuid.UUID]]


def turn_answer(turn: Turn, finish: Finish) -> TurnAnswer:
    """A turn with what it came to."""
    rests = turn.status in (Turn.Status.WAITING, Turn.Status.DONE, Turn.Status.CANCELLED)
    return TurnAnswer(
        turn_id=show_id(turn.pk),
        thread_id=show_id(turn.thread_id) if turn.thread_id else None,
        document_id=show_id(turn.document_id),
        status=turn.status,
        model=turn.model,
        result=ChatAnswer.model_validate(answer_of(turn, None, finish)) if rests else None,
        error=turn.error_message or None,
        code=turn.error_code or None,
        retryable=turn.retryable,
        tool_calls=_waiting(turn),
        executed_rounds=kept_rounds(turn),
        decisions=[_decision(call) for call in calls_of(turn) if call.decided_by_name],
        usage=UsageAnswer.model_validate(turn.usage),
        cost_usd=float(turn.cost_usd),
        expires_at=turn.expires_at,
        created_at=turn.created_at,
        finished_at=turn.finished_at,
        last_event_id=turn.event_seq,
    )


def thread_messages(turns: Sequence[Turn], siblings: Siblings) -> list[ThreadMessage]:
    """Questions and final answers, as the wire counts them."""
    return [message for turn in turns for message in _messages(turn, siblings.get(turn.parent_id, ()))]


def kept_rounds(turn: Turn) -> list[KeptRoundAnswer] | None:
    """Rounds with the calls that have results; None without any, as the wire has it."""
    found = []
    for message in rounds_of(turn):
        calls = [_kept(row) for row in calls_of(turn) if row.message_id == message.pk and row.result is not None]
        if calls:
            found.append(KeptRoundAnswer(thinking=message.thinking or None, tool_calls=calls))
    return found or None


def _messages(turn: Turn, siblings: Sequence[uuid.UUID]) -> list[ThreadMessage]:
    rounds = rounds_of(turn)
    branches = [show_id(other) for other in siblings] if len(siblings) > 1 else None
    questions = [row for row in turn.messages.all() if row.role == "user"]
    found = [_message(turn, row, branches=branches) for row in questions]
    if has_answer(turn, rounds=len(rounds)):
        found.append(
            _message(
                turn,
                rounds[-1],
                content=str(turn.outcome.get("text") or rounds[-1].content),
                tool_calls=_waiting(turn) or None,
                thinking=rounds[-1].thinking or None,
                executed_rounds=kept_rounds(turn),
                model=turn.model,
                error=turn.error_message or None,
            )
        )
    return found


def _message(turn: Turn, row: Message, **more: object) -> ThreadMessage:
    values = {
        "id": show_id(row.pk),
        "role": row.role,
        "content": row.content,
        "tool_calls": None,
        "turn_id": show_id(turn.pk),
        "parent": show_id(turn.parent_id) if turn.parent_id else None,
        "status": turn.status,
        "created_at": row.created_at,
        **more,
    }
    return ThreadMessage.model_validate(values)


def _waiting(turn: Turn) -> list[CallAnswer]:
    return [CallAnswer.model_validate(call) for call in pending_calls(turn)]


def _kept(row: ToolCall) -> KeptCallAnswer:
    text = to_json(row.result or {})
    more = {
        "status": row.status,
        "success": row.success,
        "preview": text if len(text) <= PREVIEW_CHARS else text[:PREVIEW_CHARS] + "…",
        "error": str(row.result["error"]) if row.result and "error" in row.result else None,
        "decision": row.decision or None,
        "decided_by": row.decided_by_name or None,
        "decided_at": row.decided_at,
        "reason": row.reason or None,
    }
    return KeptCallAnswer.model_validate(show_call(shown(row)) | more)


def _decision(row: ToolCall) -> DecisionAnswer:
    edited = row.decision == "approved" and row.decided_arguments is not None
    return DecisionAnswer(
        call_id=row.call_id,
        decision="edited" if edited else row.decision,
        decided_by=row.decided_by_name,
        decided_at=row.decided_at,
        accepted=True,
    )
