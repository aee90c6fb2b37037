"""What a turn can tell the outside: one closed union. The same objects go to SSE, the websocket and the log.

Every reader is a `match` that ends in `assert_never`. Fields of each type: `type` is its name on the wire.
"""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Discriminator, TypeAdapter

Json = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class CallShown:
    """A call as the outside sees it. `arguments` is JSON text; the hash binds a decision to what is shown."""

    id: str
    name: str
    arguments: str
    summary: str = ""
    writes: bool = False
    arguments_hash: str = ""
    tainted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutedRound:
    """A round as `done` sums it up."""

    thinking: str | None
    tool_calls: tuple[CallShown, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnResult:
    """What `done` carries. `turn_id` and `tool_calls` are there only when something waits.

    `can_continue`: the turn stopped after its follow-up rounds and the person may let it go on.
    Units: `cost_usd` in US dollars.
    """

    text: str
    thinking: str | None = None
    status: Literal["done", "waiting", "cancelled"] = "done"
    executed_rounds: tuple[ExecutedRound, ...] = ()
    working_state: Json = field(default_factory=dict)
    turn_id: str | None = None
    tool_calls: tuple[CallShown, ...] = ()
    can_continue: bool = False
    usage: Json = field(default_factory=dict)
    cost_usd: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnStarted:
    turn_id: str
    thread_id: str | None
    model: str
    type: Literal["turn_started"] = "turn_started"


@dataclass(frozen=True, slots=True, kw_only=True)
class AssistantTextChunk:
    chunk: str
    round_index: int
    type: Literal["assistant_text_chunk"] = "assistant_text_chunk"


@dataclass(frozen=True, slots=True, kw_only=True)
class ThinkingChunk:
    chunk: str
    round_index: int
    type: Literal["thinking_chunk"] = "thinking_chunk"


@dataclass(frozen=True, slots=True, kw_only=True)
class AssistantTextDone:
    full_text: str
    round_index: int
    type: Literal["assistant_text_done"] = "assistant_text_done"


@dataclass(frozen=True, slots=True, kw_only=True)
class ThinkingDone:
    thinking: str
    round_index: int
    type: Literal["thinking_done"] = "thinking_done"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCalls:
    """Calls that run now; those that wait come in `approval_required`."""

    round_index: int
    tool_calls: tuple[CallShown, ...]
    type: Literal["tool_calls"] = "tool_calls"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """The one result of a call. `result` is JSON text; `success` is False when it has an `error`. Units: `ms`."""

    round_index: int
    call_id: str
    name: str
    success: bool
    result: str
    error: str | None = None
    preview: str = ""
    ms: int = 0
    type: Literal["tool_result"] = "tool_result"


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundExecuted:
    round_index: int
    thinking: str | None
    tool_calls: tuple[CallShown, ...]
    type: Literal["round_executed"] = "round_executed"


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalRequired:
    turn_id: str
    tool_calls: tuple[CallShown, ...]
    expires_at: datetime
    type: Literal["approval_required"] = "approval_required"


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    result: TurnResult
    type: Literal["done"] = "done"


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorEvent:
    error: str
    code: str
    retryable: bool = False
    type: Literal["error"] = "error"


Event = (
    TurnStarted
    | AssistantTextChunk
    | ThinkingChunk
    | AssistantTextDone
    | ThinkingDone
    | ToolCalls
    | ToolResult
    | RoundExecuted
    | ApprovalRequired
    | Done
    | ErrorEvent
)

_ADAPTER: TypeAdapter[Event] = TypeAdapter(Annotated[Event, Discriminator("type")])


def to_wire(event: Event) -> Json:
    """The event as JSON values, as every door sends it."""
    wire: Json = _ADAPTER.dump_python(event, mode="json")
    return wire


def to_text(event: Event) -> str:
    """The event as JSON text."""
    return _ADAPTER.dump_json(event).decode()


def from_wire(value: Json | str | bytes) -> Event:
    """Read an event back. Raises: pydantic.ValidationError when it is none of ours."""
    if isinstance(value, str | bytes):
        return _ADAPTER.validate_json(value)
    return _ADAPTER.validate_python(value)
