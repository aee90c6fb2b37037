"""Events become HTML: each with its template, made of the same partials as the full page, swapped by stable ids.

A message on the socket begins with a comment that names the turn and the sequence numbers it covers, so that the
page notices a gap and fetches the thread instead.
"""

from dataclasses import replace
from typing import Any, assert_never

from django.template.loader import render_to_string

from agent.events import (
    ApprovalRequired,
    AssistantTextChunk,
    AssistantTextDone,
    Done,
    ErrorEvent,
    Event,
    RoundExecuted,
    ThinkingChunk,
    ThinkingDone,
    ToolCalls,
    ToolResult,
    TurnStarted,
)
from agent.markdown import to_html
from agent.turn_view import CallView, RoundView, TurnView, empty_round, round_id

Chunk = AssistantTextChunk | ThinkingChunk
ENDED = ("done", "failed", "cancelled", "interrupted", "expired")


def needs_turn(event: Event) -> bool:
    """Whether the event's fragment shows stored rows. Chunks and texts carry all that they show."""
    return not isinstance(event, AssistantTextChunk | ThinkingChunk | AssistantTextDone | ThinkingDone)


def event_html(event: Event, *, turn_hex: str, turn: TurnView | None = None) -> str:
    """The fragment of one event. `turn` is the stored turn as its viewer may see it, for events that need it."""
    name = f"agent/events/{event.type}.html"
    match event:
        case AssistantTextChunk() | ThinkingChunk():
            return _html(name, round={"dom_id": round_id(turn_hex, event.round_index)}, chunk=event.chunk)
        case AssistantTextDone():
            return _html(name, round=_said(turn_hex, event))
        case ThinkingDone():
            thought = replace(empty_round(turn_hex, event.round_index), thinking=event.thinking, is_live=False)
            return _html(name, round=thought)
        case TurnStarted() | ApprovalRequired() | ToolCalls() | ToolResult() | RoundExecuted() | Done() | ErrorEvent():
            return _stored(event, name, turn) if turn is not None else ""
        case _:
            assert_never(event)


def round_opened_html(turn_hex: str, index: int) -> str:
    """The empty frame of a round, for a page that may not have it yet."""
    return _html("agent/events/_round_opened.html", turn_hex=turn_hex, round=empty_round(turn_hex, index), turn=None)


def decided_html(turn: TurnView, call_ids: list[str]) -> str:
    """Calls whose decision just became known."""
    calls = [call for call_id in call_ids if (call := turn.call(call_id))]
    return _html("agent/events/decided.html", turn=turn, calls=calls, **status_context(turn))


def call_html(turn: TurnView, call: CallView) -> str:
    """One call on its own, as the answer of a form in it."""
    return _html("agent/_call.html", turn=turn, call=call)


def status_context(turn: TurnView | None) -> dict[str, Any]:
    """What the line above the composer needs."""
    return {"status": turn.status if turn else "", "waiting_count": len(turn.waiting) if turn else 0}


def header(turn_hex: str, first: int, last: int) -> str:
    """The comment in front of a message: which events of which turn are in it."""
    return f"<!--turn {turn_hex} {first} {last}-->"


def _stored(
    event: TurnStarted | ApprovalRequired | ToolCalls | ToolResult | RoundExecuted | Done | ErrorEvent,
    name: str,
    turn: TurnView,
) -> str:
    context: dict[str, Any] = {"turn": turn, **status_context(turn)}
    match event:
        case TurnStarted():
            return _html(name, **context)
        case ToolCalls() | RoundExecuted():
            found = turn.round(event.round_index)
            return _html(name, round=found, **context) if found else ""
        case ToolResult():
            call = turn.call(event.call_id)
            return _html(name, call=call, **context) if call else ""
        case ApprovalRequired():
            return _html(name, round=turn.rounds[-1], **context) if turn.rounds else ""
        case Done() | ErrorEvent():
            return _html(name, rounds=_repainted(turn), **context)
        case _:
            assert_never(event)


def _repainted(turn: TurnView) -> list[RoundView]:
    """The last round is painted once more when a turn ends; while it waits, its cards stay as they are."""
    return turn.rounds[-1:] if turn.status in ENDED else []


def _said(turn_hex: str, event: AssistantTextDone) -> RoundView:
    return replace(
        empty_round(turn_hex, event.round_index), text=event.full_text, html=to_html(event.full_text), is_live=False
    )


def _html(name: str, **context: Any) -> str:
    return render_to_string(name, context).strip()
