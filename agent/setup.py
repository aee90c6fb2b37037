"""What a run of the loop is given: model, tools, policy, limits, and the keeper that writes things down."""

from collections.abc import AsyncGenerator, Awaitable, Callable, MutableMapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any, Protocol

from agent.events import CallShown
from agent.messages import Call, ChatMessage, Round
from agent.stopping import Stop
from agent.toolbox import Toolbox
from core.errors import LimitReached
from llm.types import Completion, Delta, Usage

Json = dict[str, Any]
Ask = Callable[[list[ChatMessage]], AsyncGenerator[Delta | Completion, None]]
Policy = Callable[[str, Json], Awaitable[bool]]


class CostLimitReached(LimitReached):
    code = "cost_limit_reached"
    detail = "This turn reached its cost limit. Ask again to go on."


class Keeper(Protocol):
    """Writes down whole things before anybody is told of them. A keeper that lost its lease raises."""

    async def answered(self, answer: Round, completion: Completion | None) -> None:
        """A new round. `completion` is None for what the loop itself says and for an answer that was cut off."""

    async def run(self, call: Call) -> Json:
        """Run an allowed call and keep its result; a write is marked as started in its own commit before."""

    async def settled(self, call: Call) -> None:
        """A call that got its result without running (rejected, cancelled, interrupted)."""

    async def waits(self, pending: Sequence[CallShown]) -> datetime:
        """The turn waits for a person from now on; says until when."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Units: `cost` in US dollars for the whole turn, `result_chars` characters of one tool result for the model."""

    rounds: int = 10
    follow_ups: int = 2
    cost: Decimal | None = None
    result_chars: int = 12_000


@dataclass(slots=True, kw_only=True)
class Tally:
    """What the turn used so far, earlier runs of the same turn included."""

    usage: Usage = field(default_factory=Usage)
    cost_usd: Decimal = Decimal(0)

    def add(self, completion: Completion) -> None:
        self.usage = Usage(
            self.usage.prompt_tokens + completion.usage.prompt_tokens,
            self.usage.completion_tokens + completion.usage.completion_tokens,
        )
        self.cost_usd += completion.cost_usd or Decimal(0)


@dataclass(slots=True, kw_only=True)
class TurnSetup:
    """Everything a run needs. `working_state` is shared with the tools, which set it as they go."""

    turn_id: str
    thread_id: str | None
    model: str
    ask: Ask
    toolbox: Toolbox
    keeper: Keeper
    may_run: Policy
    is_tainted: Callable[[str, Json], bool] = lambda _name, _arguments: False
    working_state: MutableMapping[str, Any] = field(default_factory=dict)
    limits: Limits = field(default_factory=Limits)
    tally: Tally = field(default_factory=Tally)
    stop: Stop = field(default_factory=Stop)
