"""Chats, decisions, threads and turns as the wire has them."""

from datetime import datetime
from typing import Annotated, Any

from pydantic import ConfigDict, Field

from agent.deciding import Answer as Decided
from agent.models import Thread
from core.api.bodies import HIGHEST, Answer, Body
from core.ids import show_id

MAX_MESSAGES = 10_000
MAX_APPROVALS = 500
MAX_TOOLS = 200
Json = dict[str, Any]
Name = Annotated[str, Field(max_length=200)]


class MessageBody(Body):
    """One message of the client's history; only `user`, `assistant` and `tool` are read."""

    role: str
    content: str | None = None
    tool_calls: list[Json] | None = None
    tool_call_id: str | None = None


class MentionBody(Body):
    """Something that the question is about. `type`: schema, prompt, tag or document."""

    type: str
    id: str


class ChatBody(Body):
    """A question. The newest `user` message is asked; the messages before it are the context without `thread_id`."""

    messages: Annotated[list[MessageBody], Field(max_length=MAX_MESSAGES)]
    mentions: list[MentionBody] = []
    model: Name | None = None
    stream: bool = False
    auto_approve: bool = False
    auto_approved_tools: Annotated[list[Name], Field(max_length=MAX_TOOLS)] | None = None
    thread_id: str | None = None
    truncate_thread_to_message_count: Annotated[int, Field(ge=0, le=HIGHEST)] | None = None


class ApprovalBody(Body):
    """A decision on one call. `arguments` edits it, `arguments_hash` names what the decider saw."""

    call_id: str
    approved: bool
    arguments: Json | None = None
    reason: str | None = None
    arguments_hash: str | None = None


class ApproveBody(Body):
    """Decisions on calls of a waiting turn; calls that are not named stay open."""

    turn_id: str
    approvals: Annotated[list[ApprovalBody], Field(max_length=MAX_APPROVALS)]
    thread_id: str | None = None
    stream: bool = False


class CancelBody(Body):
    """Which turn to stop: itself, or the open one of a thread."""

    turn_id: str | None = None
    thread_id: str | None = None


class ThreadBody(Body):
    """A new thread; without a title it gets one from its first question."""

    title: str | None = None


class ThreadChange(Body):
    """A new title, or whether the organization may see the thread."""

    title: str | None = None
    shared: bool | None = None


class ThreadsQuery(Body):
    limit: Annotated[int, Field(ge=1, le=100)] = 50


class ThreadQuery(Body):
    """`before`: the id of a message, for the ones before it. `head`: the last turn of another branch."""

    before: str | None = None
    head: str | None = None


class EventsQuery(Body):
    """`after`: the number of the last event that is known; the header Last-Event-ID wins."""

    after: Annotated[int, Field(ge=0, le=2**53)] = 0


class CallAnswer(Answer):
    """A tool call. `arguments` is JSON text; send `arguments_hash` back with the decision to be sure of them."""

    id: str
    name: str
    arguments: str
    summary: str = ""
    writes: bool = False
    arguments_hash: str = ""
    tainted: bool = False


class KeptCallAnswer(CallAnswer):
    """A tool call of the past: what was decided by whom, and what it came to."""

    status: str
    success: bool | None
    preview: str
    error: str | None
    decision: str | None
    decided_by: str | None
    decided_at: datetime | None
    reason: str | None


class RoundAnswer(Answer):
    thinking: str | None
    tool_calls: list[CallAnswer]


class KeptRoundAnswer(Answer):
    thinking: str | None
    tool_calls: list[KeptCallAnswer]


class WorkingState(Answer):
    """What the conversation works on."""

    schema_revid: str | None
    prompt_revid: str | None
    extraction: Any = None


class UsageAnswer(Answer):
    model_config = ConfigDict(from_attributes=True, extra="allow")

    prompt_tokens: int = 0
    completion_tokens: int = 0


class DecisionAnswer(Answer):
    """How it stands with a call; `accepted`: this very request decided it."""

    call_id: str
    decision: str
    decided_by: str
    decided_at: datetime | None
    accepted: bool

    @classmethod
    def of(cls, decided: Decided) -> "DecisionAnswer":
        """What deciding said."""
        return cls(
            call_id=decided.call_id,
            decision=decided.decision,
            decided_by=decided.decided_by,
            decided_at=decided.decided_at,
            accepted=decided.accepted,
        )


class ChatAnswer(Answer):
    """What a turn came to. `turn_id` and `tool_calls` are there when it waits for a decision."""

    text: str
    thinking: str | None
    working_state: WorkingState
    executed_rounds: list[RoundAnswer] | None
    status: str
    model: str | None = None
    usage: UsageAnswer = UsageAnswer()
    cost_usd: float = 0.0
    can_continue: bool = False
    turn_id: str | None = None
    tool_calls: list[CallAnswer] | None = None
    decisions: list[DecisionAnswer] | None = None


class CancelAnswer(Answer):
    ok: bool
    status: str


class Ok(Answer):
    ok: bool = True


class ToolsAnswer(Answer):
    read_only: list[str]
    read_write: list[str]


class ThreadMade(Answer):
    thread_id: str


class ThreadItem(Answer):
    """A thread in a list."""

    id: str
    title: str
    created_at: datetime
    updated_at: datetime
    shared: bool
    model: str | None

    @classmethod
    def of(cls, thread: Thread) -> "ThreadItem":
        """The row as an answer."""
        return cls(
            id=show_id(thread.pk),
            title=thread.title,
            created_at=thread.created_at,
            updated_at=thread.updated_at,
            shared=thread.shared,
            model=thread.model or None,
        )


class ThreadMessage(Answer):
    """A question, or the final answer of its turn. `branches`: the turns that were asked at the same place."""

    id: str
    role: str
    content: str | None
    tool_calls: list[CallAnswer] | None
    tool_call_id: str | None = None
    thinking: str | None = None
    executed_rounds: list[KeptRoundAnswer] | None = None
    turn_id: str
    parent: str | None
    status: str
    created_at: datetime
    model: str | None = None
    error: str | None = None
    branches: list[str] | None = None


class ThreadAnswer(ThreadItem):
    """A thread with its newest messages; `open_turn_id` is the turn that runs or waits."""

    messages: list[ThreadMessage]
    has_earlier: bool
    extraction: Any
    working_state: WorkingState
    open_turn_id: str | None


class TurnAnswer(Answer):
    """A turn. `last_event_id` is a cursor for its events."""

    turn_id: str
    thread_id: str | None
    document_id: str
    status: str
    model: str
    result: ChatAnswer | None
    error: str | None
    code: str | None
    retryable: bool
    tool_calls: list[CallAnswer]
    executed_rounds: list[KeptRoundAnswer] | None
    decisions: list[DecisionAnswer]
    usage: UsageAnswer
    cost_usd: float
    expires_at: datetime | None
    created_at: datetime
    finished_at: datetime | None
    last_event_id: int
