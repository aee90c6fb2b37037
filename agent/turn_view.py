"""A turn as a page shows it: question, rounds, calls, cards, how it ended. Built from stored rows and live text.

The same objects feed the full page and the fragments on the socket, so a reload shows exactly what was live.
Rows come in with their messages and calls; nothing here reads the database except cards, through selectors.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from django.utils.safestring import SafeString

from agent.call_lines import Line, doing_line, done_line, failed_line, plain_name
from agent.cards import Card, card_for
from agent.markdown import to_html
from agent.messages import to_json
from agent.models import Message, ToolCall, Turn
from agent.policy import always_asks, never_auto_approved
from agent.selectors import may_decide
from organizations.actor import Actor

CallState = Literal[
    "waiting", "proposed", "approved", "running", "done", "failed", "rejected", "cancelled", "interrupted", "undone"
]
MAX_RAW_CHARS = 20_000


@dataclass(frozen=True, slots=True)
class LiveRound:
    """Text of a round that is still being said, as the event stream has it."""

    index: int
    text: str = ""
    thinking: str = ""


@dataclass(frozen=True, slots=True)
class CallView:
    """One call: a waiting card or a line about what ran."""

    dom_id: str
    row_id: str
    call_id: str
    name: str
    state: CallState
    sentence: list["Part"]
    line: Line
    writes: bool
    arguments_hash: str
    arguments_raw: str
    result_raw: str
    duration: str
    decided_by: str
    by_rule: bool
    edited: bool
    reason: str
    tainted: bool
    can_undo: bool
    plain_name: str
    always_asks: bool
    card: Card | None

    @property
    def is_waiting(self) -> bool:
        return self.state == "waiting"


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a sentence; names stand out."""

    text: str
    is_name: bool = False


@dataclass(frozen=True, slots=True)
class RoundView:
    """One answer of the model. While `is_live`, text and thinking still grow."""

    dom_id: str
    index: int
    message_id: str
    thinking: str
    thought_for: str
    text: str
    html: SafeString
    is_live: bool
    has_sent: bool
    calls: list[CallView]


@dataclass(frozen=True, slots=True)
class TurnView:
    """One question up to its answer, for one viewer."""

    hex: str
    document_hex: str
    seq: int
    status: str
    question: str
    mentions: list[dict[str, str]]
    author_name: str
    is_mine: bool
    may_decide: bool
    may_open: bool
    model: str
    rounds: list[RoundView]
    error: str
    error_code: str
    retryable: bool
    can_continue: bool
    expires_at: datetime | None
    cost: str

    @property
    def waiting(self) -> list[CallView]:
        return [call for item in self.rounds for call in item.calls if call.is_waiting]

    @property
    def approved(self) -> list[CallView]:
        return [call for item in self.rounds for call in item.calls if call.state == "approved"]

    def round(self, index: int) -> RoundView | None:
        return next((item for item in self.rounds if item.index == index), None)

    def call(self, call_id: str) -> CallView | None:
        return next((call for item in self.rounds for call in item.calls if call.call_id == call_id), None)


def turn_view(
    turn: Turn, *, actor: Actor, live: Sequence[LiveRound] = (), seq: int | None = None, opened: bool = True
) -> TurnView:
    """Build the view of one turn. `seq` is the last event that `live` already contains.

    An admin who did not open somebody's private thread (`opened`) sees its cards only.
    """
    messages = sorted(turn.messages.all(), key=lambda message: message.position)
    calls = sorted(turn.tool_calls.all(), key=lambda call: call.position)
    question = next((message for message in messages if message.role == "user"), None)
    may_open = turn.author_id == actor.user_id or bool(turn.thread and turn.thread.shared)
    answers = [message for message in messages if message.role == "assistant"]
    outcome = turn.outcome if isinstance(turn.outcome, dict) else {}
    return TurnView(
        hex=turn.id.hex,
        document_hex=turn.document_id.hex,
        seq=turn.event_seq if seq is None else seq,
        status=turn.status,
        question=question.content if question else "",
        mentions=_mentions(turn.mentions),
        author_name=turn.actor_name,
        is_mine=turn.author_id == actor.user_id,
        may_decide=may_decide(actor=actor, turn=turn),
        may_open=may_open or (opened and actor.is_admin),
        model=turn.model,
        rounds=_rounds(turn, answers, calls, live, actor),
        error=turn.error_message,
        error_code=turn.error_code,
        retryable=turn.retryable,
        can_continue=bool(outcome.get("can_continue")),
        expires_at=turn.expires_at,
        cost=f"${turn.cost_usd:.4f}" if turn.cost_usd else "",
    )


def round_id(turn_hex: str, index: int) -> str:
    return f"{turn_hex}-{index}"


def call_dom_id(turn_hex: str, call_id: str) -> str:
    """A call's id is a model's word: hashed before it becomes part of the page."""
    return f"{turn_hex}-{hashlib.sha256(call_id.encode()).hexdigest()[:12]}"


def duration_words(milliseconds: int | None) -> str:
    """ "0.1 s", "3 s", "2 min"."""
    if milliseconds is None:
        return ""
    seconds = milliseconds / 1000
    if seconds >= 90:
        return f"{seconds / 60:.0f} min"
    return f"{seconds:.0f} s" if seconds >= 9.95 else f"{seconds:.1f} s"


def sentence_parts(summary: str) -> list[Part]:
    """A summary with its *names* taken out of their marks and put in quotes."""
    pieces = re.split(r"\*([^*]+)\*", summary)
    return [Part(f"“{piece}”" if i % 2 else piece, bool(i % 2)) for i, piece in enumerate(pieces) if piece]


def call_view(call: ToolCall, *, turn: Turn, actor: Actor) -> CallView:
    """One call for one viewer; a card is built only while it waits."""
    state = _state(call, turn)
    edited = call.decided_arguments is not None and call.decided_arguments != call.arguments
    arguments = call.decided_arguments if call.decided_arguments is not None else call.arguments
    arguments = arguments if isinstance(arguments, dict) else {}
    return CallView(
        dom_id=call_dom_id(turn.id.hex, call.call_id),
        row_id=call.id.hex,
        call_id=call.call_id,
        name=call.name,
        state=state,
        sentence=sentence_parts(call.summary or call.name.replace("_", " ").capitalize()),
        line=_line(call, state, arguments),
        writes=call.writes,
        arguments_hash=call.arguments_hash,
        arguments_raw=_raw(arguments)
        if call.arguments or not call.arguments_text
        else call.arguments_text[:MAX_RAW_CHARS],
        result_raw=_raw(call.result) if call.result is not None else "",
        duration=duration_words(call.duration_ms),
        decided_by=call.decided_by_name,
        by_rule=bool(call.decision) and call.decided_by_id is None,
        edited=edited,
        reason=call.reason,
        tainted=call.tainted,
        can_undo=bool(call.undo) and call.undone_at is None and state == "done",
        plain_name=plain_name(call.name).lower(),
        always_asks=call.tainted
        or always_asks(call.name, arguments, document_id=turn.document_id.hex)
        or call.name in never_auto_approved(),
        card=card_for(call, turn=turn, actor=actor) if state == "waiting" else None,
    )


def _rounds(
    turn: Turn, answers: list[Message], calls: Iterable[ToolCall], live: Sequence[LiveRound], actor: Actor
) -> list[RoundView]:
    of_message: dict[Any, list[ToolCall]] = {}
    for call in calls:
        of_message.setdefault(call.message_id, []).append(call)
    rounds = [_round(turn, message, of_message.get(message.id, []), actor) for message in answers]
    stored = {item.index for item in rounds}
    rounds += [_live_round(turn, item) for item in live if item.index not in stored]
    return sorted(rounds, key=lambda item: item.index)


def _round(turn: Turn, message: Message, calls: list[ToolCall], actor: Actor) -> RoundView:
    return RoundView(
        dom_id=round_id(turn.id.hex, message.round_index),
        index=message.round_index,
        message_id=message.id.hex,
        thinking=message.thinking,
        thought_for=duration_words(message.thinking_ms) if message.thinking_ms else "",
        text=message.content,
        html=to_html(message.content),
        is_live=False,
        has_sent=message.sent is not None,
        calls=[call_view(call, turn=turn, actor=actor) for call in calls],
    )


def _live_round(turn: Turn, live: LiveRound) -> RoundView:
    return RoundView(
        dom_id=round_id(turn.id.hex, live.index),
        index=live.index,
        message_id="",
        thinking=live.thinking,
        thought_for="",
        text=live.text,
        html=SafeString(""),
        is_live=True,
        has_sent=False,
        calls=[],
    )


def empty_round(turn_hex: str, index: int) -> RoundView:
    """A round that begins: nothing said yet."""
    return RoundView(round_id(turn_hex, index), index, "", "", "", "", SafeString(""), True, False, [])


def _state(call: ToolCall, turn: Turn) -> CallState:
    match call.status:
        case ToolCall.Status.WAITING:
            return "waiting" if turn.status == Turn.Status.WAITING else _undecided(call, turn)
        case ToolCall.Status.DECIDED:
            return "rejected" if call.decision == "rejected" else "approved"
        case ToolCall.Status.STARTED:
            return "running"
        case ToolCall.Status.DONE:
            return "undone" if call.undone_at else "done"
        case ToolCall.Status.REJECTED:
            return "rejected"
        case ToolCall.Status.CANCELLED:
            return "cancelled"
        case ToolCall.Status.INTERRUPTED:
            return "interrupted"
        case _:
            return "failed"


def _undecided(call: ToolCall, turn: Turn) -> CallState:
    """A call without a decision in a turn that does not wait: it runs now, or the turn ended over it."""
    if turn.status == Turn.Status.RUNNING:
        return "proposed" if call.writes and call.arguments_hash and not call.decision else "running"
    return "interrupted" if turn.status == Turn.Status.INTERRUPTED else "cancelled"


def _line(call: ToolCall, state: CallState, arguments: dict[str, Any]) -> Line:
    result = call.result if isinstance(call.result, dict) else {}
    if state in ("done", "undone"):
        return done_line(call.name, arguments, result)
    if state == "failed":
        return failed_line(call.name, result)
    if state == "running":
        return doing_line(call.name, arguments)
    return Line("".join(part.text for part in sentence_parts(call.summary or call.name)))


def _raw(value: object) -> str:
    """JSON as a person may read it behind a fold."""
    text = to_json(value)
    if len(text) < MAX_RAW_CHARS:
        text = _indented(value)
    return text if len(text) <= MAX_RAW_CHARS else text[:MAX_RAW_CHARS] + " …"


def _indented(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False)


def _mentions(mentions: object) -> list[dict[str, str]]:
    rows = mentions if isinstance(mentions, list) else []
    return [
        {"type": str(row.get("type", "")), "id": str(row.get("id", "")), "name": str(row.get("name", ""))}
        for row in rows
        if isinstance(row, dict)
    ]
