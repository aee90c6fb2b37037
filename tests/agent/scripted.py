"""A model that follows a script, a toolbox of toys and a keeper in memory: the loop's world without a database."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from agent.events import CallShown, Event
from agent.loop import run_turn
from agent.messages import Call, ChatMessage, Round, Ruling, Transcript
from agent.setup import Limits, TurnSetup
from agent.toolbox import Toolbox, ToolContext
from core.errors import Conflict
from llm.types import Completion, Delta, ToolRequest, Usage

Json = dict[str, Any]
LATER = datetime(2030, 1, 1, tzinfo=UTC)


def says(text: str, thinking: str = "", **more: Any) -> Completion:
    """An answer without calls."""
    return Completion(text=text, thinking=thinking, usage=Usage(10, 5), cost_usd=Decimal("0.01"), **more)


def asks(*calls: tuple[str, str, str], text: str = "", **more: Any) -> Completion:
    """An answer with calls: (id, name, JSON arguments)."""
    requests = tuple(ToolRequest(*call) for call in calls)
    return Completion(text=text, tool_calls=requests, usage=Usage(10, 5), cost_usd=Decimal("0.01"), **more)


@dataclass
class ScriptedModel:
    """Gives one answer after the other, word by word; an exception in the script is raised in the middle of text.

    `sent` has what each call was asked; `closed` counts the streams that were closed.
    """

    answers: Sequence[Completion | Exception | Callable[[list[ChatMessage]], Completion]]
    pause: float = 0.0
    sent: list[list[ChatMessage]] = field(default_factory=list)
    closed: int = 0

    async def __call__(self, messages: list[ChatMessage]) -> AsyncGenerator[Delta | Completion, None]:
        answer = self.answers[len(self.sent)]
        self.sent.append(messages)
        try:
            if isinstance(answer, Exception):
                yield Delta("text", "half an ")
                raise answer
            if callable(answer):
                answer = answer(messages)
            for kind, text in (("thinking", answer.thinking), ("text", answer.text)):
                for word in text.split(" ") if text else ():
                    await asyncio.sleep(self.pause)
                    yield Delta(kind, word + " ")  # type: ignore[arg-type]
            await asyncio.sleep(self.pause)
            yield answer
        finally:
            self.closed += 1


def toy_toolbox(ran: list[str]) -> Toolbox:
    """Two reads, two writes and one slow write; each notes in `ran` that it ran."""
    toys = Toolbox()

    @toys.tool(writes=False, more="Ask for one page with page_num.")
    def look(ctx: ToolContext, page_num: int = 1) -> Json:
        """Look at a page."""
        ran.append(f"look {page_num}")
        return {"text": "words " * 20 * page_num}

    @toys.tool(writes=False)
    async def look_far(ctx: ToolContext) -> Json:
        """Look slowly."""
        await asyncio.sleep(0.01)
        ran.append("look_far")
        return {"far": True}

    @toys.tool(writes=True, summary="Make *{name}*")
    def make(ctx: ToolContext, name: str) -> Json:
        """Make a thing."""
        ran.append(f"make {name}")
        if name == "taken":
            raise Conflict("That name is taken.", code="name_taken")
        ctx.working_state["schema_revid"] = name
        ctx.record_undo("made", name=name)
        return {"made": name}

    @toys.tool(writes=True)
    async def ponder(ctx: ToolContext) -> Json:
        """A write that waits for a model."""
        ran.append("ponder")
        await asyncio.sleep(30)
        return {"pondered": True}

    return toys


@dataclass
class MemoryKeeper:
    """Keeps rounds in a list, as the database would, and can play a person who decides."""

    toolbox: Toolbox
    context: ToolContext
    rounds: list[Round] = field(default_factory=list)
    log: list[str] = field(default_factory=list)

    async def answered(self, answer: Round, completion: Completion | None) -> None:
        self.rounds.append(answer)
        self.log.append(f"answered {answer.index}")

    async def run(self, call: Call) -> Json:
        self.log.append(f"run {call.id}")
        result = await self.toolbox.run(call.name, call.effective_arguments, self.context, border=border)
        self._put(replace(call, result=result))
        return result

    async def settled(self, call: Call) -> None:
        self.log.append(f"settled {call.id}")
        self._put(call)

    async def waits(self, pending: Sequence[CallShown]) -> datetime:
        self.log.append("waits")
        return LATER

    def decide(self, **decisions: Ruling) -> None:
        """A person decides calls of the last round, by id."""
        for call in self.rounds[-1].calls:
            if call.id in decisions:
                self._put(replace(call, decision=decisions[call.id]))

    def _put(self, done: Call) -> None:
        calls = tuple(done if call.id == done.id else call for call in self.rounds[-1].calls)
        self.rounds[-1] = replace(self.rounds[-1], calls=calls)


async def border(function: Callable[[], Json]) -> Json:
    return function()


def never(_name: str, _arguments: Json) -> Awaitable[bool]:
    return _answer(False)


def always(_name: str, _arguments: Json) -> Awaitable[bool]:
    return _answer(True)


async def _answer(value: bool) -> bool:
    return value


@dataclass
class Stage:
    """A turn on a stage: play it, decide, play on."""

    model: ScriptedModel
    ran: list[str]
    setup: TurnSetup
    keeper: MemoryKeeper
    question: str = "Set it up"

    async def play(self) -> list[Event]:
        transcript = Transcript(question=self.question, rounds=tuple(self.keeper.rounds))
        return [event async for event in run_turn(transcript, self.setup)]


def stage(*answers: Any, may_run: Any = never, limits: Limits | None = None, pause: float = 0.0, **more: Any) -> Stage:
    """Put a scripted model, toys and a memory together."""
    ran: list[str] = []
    toys = toy_toolbox(ran)
    state: Json = {"schema_revid": None, "prompt_revid": None}
    context = ToolContext(
        actor=None,  # type: ignore[arg-type]
        document_id="d" * 32,
        thread_id=None,
        turn_id="t" * 32,
        working_state=state,
        now=LATER,
    )
    keeper = MemoryKeeper(toys, context)
    model = ScriptedModel(answers, pause=pause)
    setup = TurnSetup(
        turn_id="t" * 32,
        thread_id=None,
        model="scripted",
        ask=model,
        toolbox=toys,
        keeper=keeper,
        may_run=may_run,
        working_state=state,
        limits=limits or Limits(),
        **more,
    )
    return Stage(model, ran, setup, keeper)
