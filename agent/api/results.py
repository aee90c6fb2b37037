"""What a turn came to, as the wire has it: the same object in a JSON answer and in the last event of a stream."""

import json
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from agent.api.errors import TurnFailed, TurnFailedForNow
from agent.events import ApprovalRequired, CallShown, ErrorEvent, to_text, to_wire
from agent.models import Message, ToolCall, Turn
from agent.transcript import call_from_row
from core.errors import DomainError
from core.ids import show_id
from documents.results import current_result
from organizations.actor import Actor

Json = dict[str, Any]
Finish = Callable[[Json], Json]


def finisher(actor: Actor, document_id: object, **more: Any) -> Finish:
    """Completes a result for this reader; `more` stands beside it. Runs in a thread."""

    def finished(result: Json) -> Json:
        return finish_result(result, actor=actor, document_id=document_id) | more

    return finished


def finish_result(result: Json, *, actor: Actor, document_id: object) -> Json:
    """The extraction as it is now; `turn_id` and `tool_calls` only when something waits, as clients expect."""
    state = {"schema_revid": None, "prompt_revid": None} | (result.get("working_state") or {})
    state["extraction"] = _extraction(actor, document_id, state["prompt_revid"])
    finished = {**result, "working_state": state, "executed_rounds": result.get("executed_rounds") or None}
    if not result.get("tool_calls"):
        finished.pop("tool_calls", None)
        finished.pop("turn_id", None)
    return finished


def finish_text(raw: bytes, finish: Finish) -> tuple[bytes, bool]:
    """A stored `done` event completed, and whether the turn waits."""
    event = json.loads(raw)
    event["result"] = finish(event["result"])
    return compact(event).encode(), event["result"].get("status") == "waiting"


def last_words(turn: Turn, finish: Finish) -> list[str]:
    """The events with which a turn came to rest, from its rows; none while it runs."""
    if turn.status == Turn.Status.RUNNING:
        return []
    end = end_of(turn)
    if end["type"] == "error":
        return [compact(end)]
    done = compact({**end, "result": finish(end["result"])})
    if turn.status != Turn.Status.WAITING or turn.expires_at is None:
        return [done]
    asked = ApprovalRequired(turn_id=show_id(turn.pk), tool_calls=pending_calls(turn), expires_at=turn.expires_at)
    return [to_text(asked), done]


def end_of(turn: Turn) -> Json:
    """The `done` or `error` event of a turn that rests, from its rows."""
    if turn.status == Turn.Status.WAITING:
        return {"result": waiting_result(turn), "type": "done"}
    if turn.outcome.get("type") == "error" or turn.status not in (Turn.Status.DONE, Turn.Status.CANCELLED):
        return to_wire(
            ErrorEvent(
                error=turn.error_message or "The turn ended.",
                code=turn.error_code or turn.status,
                retryable=turn.retryable,
            )
        )
    return {"result": turn.outcome, "type": "done"}


def waiting_result(turn: Turn) -> Json:
    """How a waiting turn stands, with the calls that are still open."""
    rounds = rounds_of(turn)
    last = rounds[-1] if rounds else None
    return {
        "text": last.content if last else "",
        "thinking": (last.thinking or None) if last else None,
        "status": "waiting",
        "executed_rounds": executed_rounds(turn),
        "working_state": turn.working_state,
        "turn_id": show_id(turn.pk),
        "tool_calls": [show_call(call) for call in pending_calls(turn)],
        "usage": turn.usage,
        "cost_usd": float(turn.cost_usd),
    }


def running_result(turn: Turn) -> Json:
    """For who waited long enough: come back with the turn's id."""
    return {
        "text": "",
        "thinking": None,
        "status": "running",
        "executed_rounds": None,
        "working_state": turn.working_state,
        "usage": turn.usage,
        "cost_usd": float(turn.cost_usd),
    }


def compact(event: Json) -> str:
    """An event as text, in the form in which the others are kept."""
    return json.dumps(event, ensure_ascii=False, separators=(",", ":"))


def answer_of(turn: Turn, end: Json | None, finish: Finish) -> Json:
    """The JSON answer: `end` is the event that ended the run; None: look at the rows of the turn.

    Raises: TurnFailed, TurnFailedForNow.
    """
    if end is None:
        if turn.status == Turn.Status.RUNNING:
            return finish(running_result(turn)) | {"turn_id": show_id(turn.pk), "model": turn.model}
        end = end_of(turn)
    if end["type"] == "error":
        kind = TurnFailedForNow if end.get("retryable") else TurnFailed
        raise kind(end["error"], code=end["code"], turn=show_id(turn.pk), retryable=bool(end.get("retryable")))
    return finish(end["result"]) | {"model": turn.model}


def pending_calls(turn: Turn) -> tuple[CallShown, ...]:
    """Calls that wait for a person, in the model's order."""
    return tuple(
        shown(row)
        for row in calls_of(turn)
        if row.writes and row.status == ToolCall.Status.WAITING and row.result is None
    )


def executed_rounds(turn: Turn) -> list[Json] | None:
    """Rounds with the calls that have results; None without any, as the wire has it."""
    found = []
    for message in rounds_of(turn):
        calls = [row for row in calls_of(turn) if row.message_id == message.pk and row.result is not None]
        if calls:
            ran = [show_call(shown(row)) for row in calls]
            found.append({"thinking": message.thinking or None, "tool_calls": ran})
    return found or None


def show_call(call: CallShown) -> Json:
    """A call as the wire has it."""
    return asdict(call)


def shown(row: ToolCall) -> CallShown:
    call = call_from_row(row)
    return CallShown(
        id=call.id,
        name=call.name,
        arguments=call.effective_text,
        summary=call.summary,
        writes=call.writes,
        arguments_hash=call.arguments_hash,
        tainted=call.tainted,
    )


def rounds_of(turn: Turn) -> list[Message]:
    rows = sorted(turn.messages.all(), key=lambda row: row.position)
    return [row for row in rows if row.role == "assistant"]


def calls_of(turn: Turn) -> list[ToolCall]:
    order = {row.pk: row.position for row in turn.messages.all()}
    return sorted(turn.tool_calls.all(), key=lambda row: (order[row.message_id], row.position))


def _extraction(actor: Actor, document_id: object, prompt_revid: str | None) -> Json | None:
    if not prompt_revid:
        return None
    try:
        found = current_result(actor=actor, document_id=document_id, prompt_revid=prompt_revid)
    except DomainError:
        return None
    values: Json = found.updated_llm_result
    return values
