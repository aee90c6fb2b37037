"""The agent's loop: one async generator for starting a turn and for going on after decisions.

It knows no Django, no transport, no database. What it needs from the world is injected: the model (`ask`), the
policy (`may_run`), and a `Keeper` that writes down each whole thing before the loop tells anybody of it.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import replace
from time import monotonic
from typing import Any, Literal

from agent.events import (
    ApprovalRequired,
    AssistantTextChunk,
    AssistantTextDone,
    CallShown,
    Done,
    Event,
    ExecutedRound,
    RoundExecuted,
    ThinkingChunk,
    ThinkingDone,
    ToolCalls,
    ToolResult,
    TurnResult,
    TurnStarted,
)
from agent.messages import Call, ChatMessage, Round, Ruling, Transcript, clean_text, to_json, transcript_messages
from agent.setup import CostLimitReached, TurnSetup
from agent.stopping import Stopped
from agent.toolbox import MAX_ARGUMENT_CHARS, ArgumentsRefused, arguments_hash, refusal
from llm.types import Completion, Delta, ToolRequest

Json = dict[str, Any]

MAX_ROUNDS_TEXT = "(Max tool rounds reached.)"
PAUSED_TEXT = "Paused after two follow-up rounds."
NO_ANSWER_TEXT = "(The model gave no answer.)"
REJECTIONS_TEXT = "You rejected my last three proposals. What should I do differently?"
REJECTIONS_IN_A_ROW = 3
PREVIEW_CHARS = 200
MAX_CALLS = 50
"""In one answer: nobody can judge more cards, and a model that has gone mad asks for hundreds."""
TOO_MANY_CALLS: Json = {
    "error": f"Only the first {MAX_CALLS} calls of an answer are taken. Ask for the others in the next one.",
    "code": "too_many_calls",
}
CANCELLED: Json = {"error": "Cancelled by the user.", "code": "cancelled"}
INTERRUPTED: Json = {
    "error": "This was interrupted while it ran; it may or may not have taken effect. Check before trying again.",
    "code": "interrupted",
}


async def run_turn(transcript: Transcript, setup: TurnSetup) -> AsyncGenerator[Event, None]:
    """Start a turn, or go on with one whose waiting calls are decided, until it is done or waits again.

    Raises: whatever the model raises (what was said before is kept), CostLimitReached.
    """
    run = _Run(transcript, setup)
    yield TurnStarted(turn_id=setup.turn_id, thread_id=setup.thread_id, model=setup.model)
    try:
        async with aclosing(run.events()) as events:
            async for event in events:
                yield event
    except Stopped:
        async for event in run.cancelled():
            yield event


class _Run:
    """One drive of a turn: from its start or its decisions to its end or its next wait."""

    def __init__(self, transcript: Transcript, setup: TurnSetup) -> None:
        self.setup = setup
        self.question = transcript.question
        self.rounds = list(transcript.rounds)
        self.executed: list[ExecutedRound] = []

    @property
    def last(self) -> Round:
        return self.rounds[-1]

    async def events(self) -> AsyncGenerator[Event, None]:
        """The rounds. After an approve the model is called once, and at most `follow_ups` times more."""
        limits = self.setup.limits
        calls_left = limits.rounds if not self.rounds else 1 + limits.follow_ups
        fresh = not self.rounds
        if self.rounds and self.last.pending:
            async with aclosing(self._execute(self.last.pending)) as events:
                async for event in events:
                    yield event
            if self._undecided():
                async for event in self._wait():
                    yield event
                return
            if self._rejections_in_a_row() >= REJECTIONS_IN_A_ROW:
                yield await self._say(REJECTIONS_TEXT)
                yield self._done(REJECTIONS_TEXT)
                return
        while len(self.rounds) < limits.rounds:
            if not fresh and calls_left == 0:
                yield self._done(self.last.text or PAUSED_TEXT, can_continue=True)
                return
            calls_left -= 1
            async with aclosing(self._round()) as events:
                async for event in events:
                    yield event
            if not self.last.calls or self._undecided():
                return
        yield await self._say(MAX_ROUNDS_TEXT)
        yield self._done(MAX_ROUNDS_TEXT)

    async def cancelled(self) -> AsyncIterator[Event]:
        """Every call still gets its one result, and what was said stays."""
        if self.rounds:
            for call in self.last.pending:
                yield await self._settle(call, CANCELLED)
        yield self._done(self.last.text if self.rounds else "", status="cancelled")

    async def _round(self) -> AsyncGenerator[Event, None]:
        """Ask the model once and run what may run."""
        async with aclosing(self._ask()) as events:
            async for event in events:
                yield event
        if not self.last.calls:
            yield self._done(self.last.text)
            return
        async with aclosing(self._execute(self.last.calls)) as events:
            async for event in events:
                yield event
        if self._undecided():
            async for event in self._wait():
                yield event

    async def _ask(self) -> AsyncGenerator[Event, None]:
        setup, index = self.setup, len(self.rounds)
        if setup.limits.cost is not None and setup.tally.cost_usd >= setup.limits.cost:
            raise CostLimitReached()
        said: dict[str, list[str]] = {"text": [], "thinking": []}
        completion: Completion | None = None
        try:
            async with aclosing(setup.ask(self._messages())) as stream:
                while (item := await setup.stop.guard(lambda: anext(stream, None))) is not None:
                    if isinstance(item, Completion):
                        completion = item
                        break
                    said[item.kind].append(item.text)
                    yield _chunk(item, index)
        except BaseException:
            if said["text"]:
                await self._keep(_cut_off(said, index), None)
            raise
        if completion is None:
            completion = Completion(text="".join(said["text"]), thinking="".join(said["thinking"]))
        setup.tally.add(completion)
        await self._keep(await self._read_answer(completion, index), completion)
        answer = self.last
        if answer.thinking:
            yield ThinkingDone(thinking=answer.thinking, round_index=index)
        if answer.text:
            yield AssistantTextDone(full_text=answer.text, round_index=index)

    async def _read_answer(self, completion: Completion, index: int) -> Round:
        """The answer with its calls checked and ruled on."""
        used = {call.id for answer in self.rounds for call in answer.calls}
        calls = []
        for position, request in enumerate(completion.tool_calls):
            call_id = clean_text(request.id)[:150]
            if not call_id or call_id in used:
                call_id = f"{call_id or 'call'}_{index}_{position}"
            while call_id in used:
                call_id += "_"
            used.add(call_id)
            calls.append(await self._read_call(request, call_id, is_one_too_many=position >= MAX_CALLS))
        text = clean_text(completion.text) or ("" if calls else NO_ANSWER_TEXT)
        return Round(
            text=text,
            thinking=clean_text(completion.thinking),
            thinking_blocks=completion.thinking_blocks,
            calls=tuple(calls),
            index=index,
        )

    async def _read_call(self, request: ToolRequest, call_id: str, *, is_one_too_many: bool) -> Call:
        """A call that cannot succeed gets its error result here: nobody is ever asked about it."""
        setup = self.setup
        text = clean_text(request.arguments[:MAX_ARGUMENT_CHARS])
        call = Call(id=call_id, name=clean_text(request.name)[:100], arguments_text=text)
        if is_one_too_many:
            return replace(call, result=TOO_MANY_CALLS, summary=f"{call.name}: one call too many")
        try:
            arguments = setup.toolbox.read_arguments(request.name, request.arguments)
        except ArgumentsRefused as problem:
            return replace(call, result=refusal(problem), summary=f"{call.name}: arguments refused")
        tool = setup.toolbox.get(request.name)
        allowed = not tool.writes or await setup.may_run(call.name, arguments)
        return replace(
            call,
            arguments=arguments,
            arguments_hash=arguments_hash(call.name, arguments),
            summary=clean_text(tool.describe(arguments)),
            writes=tool.writes,
            tainted=tool.writes and setup.is_tainted(call.name, arguments),
            decision=Ruling(verdict="approved", by_rule=True) if allowed and tool.writes else None,
        )

    async def _execute(self, calls: Sequence[Call]) -> AsyncGenerator[Event, None]:
        """Results for all calls that need nobody: refused ones, reads at once, writes in order once all are decided."""
        refused = [call for call in calls if call.result is not None]
        reads = [call for call in calls if call.result is None and not call.writes]
        writes = [] if self._undecided() else [call for call in calls if call.result is None and call.writes]
        settled = {call.id for call in (*refused, *reads, *writes)}
        shown = [_show(call) for call in calls if call.id in settled]
        if not shown:
            return
        rejected = {call.id for call in writes if call.decision and call.decision.verdict == "rejected"}
        if running := tuple(call for call in shown if call.id not in rejected):
            yield ToolCalls(round_index=self.last.index, tool_calls=running)
        for call in refused:
            yield self._result(call, 0)
        async with aclosing(self._run_reads(reads)) as events:
            async for event in events:
                yield event
        for call in writes:
            yield await self._run_write(call)
        thinking = self.last.thinking or None
        self.executed.append(ExecutedRound(thinking=thinking, tool_calls=tuple(shown)))
        yield RoundExecuted(round_index=self.last.index, thinking=thinking, tool_calls=tuple(shown))

    async def _run_reads(self, calls: Sequence[Call]) -> AsyncGenerator[Event, None]:
        tasks = [asyncio.create_task(self._run_call(call)) for call in calls]
        try:
            for finished in asyncio.as_completed(tasks):
                yield await finished
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _run_write(self, call: Call) -> Event:
        decision = call.decision
        if call.started:
            return await self._settle(call, INTERRUPTED)
        if decision is not None and decision.verdict == "rejected":
            reason = {"reason": decision.reason} if decision.reason else {}
            return await self._settle(call, {"error": "User rejected this action.", "code": "rejected"} | reason)
        return await self._run_call(call)

    async def _run_call(self, call: Call) -> Event:
        self.setup.stop.check()
        begun = monotonic()
        if self.setup.toolbox.get(call.name).is_async:
            result = await self.setup.stop.guard(lambda: self.setup.keeper.run(call))
        else:
            result = await self.setup.keeper.run(call)
        done = replace(call, result=result)
        self._replace(done)
        return self._result(done, int((monotonic() - begun) * 1000))

    async def _settle(self, call: Call, result: Json) -> Event:
        done = replace(call, result=result)
        await self.setup.keeper.settled(done)
        self._replace(done)
        return self._result(done, 0)

    async def _wait(self) -> AsyncIterator[Event]:
        pending = tuple(_show(call) for call in self._undecided())
        expires_at = await self.setup.keeper.waits(pending)
        yield ApprovalRequired(turn_id=self.setup.turn_id, tool_calls=pending, expires_at=expires_at)
        yield self._done(self.last.text, status="waiting", pending=pending)

    async def _say(self, text: str) -> Event:
        """Something the loop itself says, kept like an answer."""
        await self._keep(Round(text=text, index=len(self.rounds)), None)
        return AssistantTextDone(full_text=text, round_index=self.last.index)

    async def _keep(self, answer: Round, completion: Completion | None) -> None:
        self.rounds.append(answer)
        await self.setup.keeper.answered(answer, completion)

    def _replace(self, done: Call) -> None:
        calls = tuple(done if call.id == done.id else call for call in self.last.calls)
        self.rounds[-1] = replace(self.last, calls=calls)

    def _undecided(self) -> list[Call]:
        return [call for call in self.last.pending if call.writes and call.decision is None]

    def _rejections_in_a_row(self) -> int:
        """How many of the latest decisions of people, without a break, were rejections."""
        count = 0
        for answer in reversed(self.rounds):
            for call in reversed(answer.calls):
                if call.decision is None or call.decision.by_rule:
                    continue
                if call.decision.verdict != "rejected":
                    return count
                count += 1
        return count

    def _messages(self) -> list[ChatMessage]:
        transcript = Transcript(question=self.question, rounds=tuple(self.rounds))
        return transcript_messages(transcript, cap=self.setup.limits.result_chars, hints=self.setup.toolbox.hints())

    def _result(self, call: Call, ms: int) -> Event:
        result = call.result or {}
        error = result.get("error")
        text = to_json(result)
        return ToolResult(
            round_index=self.last.index,
            call_id=call.id,
            name=call.name,
            success=error is None,
            result=text,
            error=None if error is None else str(error),
            preview=text if len(text) <= PREVIEW_CHARS else text[:PREVIEW_CHARS] + "…",
            ms=ms,
        )

    def _done(
        self,
        text: str,
        *,
        status: Literal["done", "waiting", "cancelled"] = "done",
        pending: tuple[CallShown, ...] = (),
        can_continue: bool = False,
    ) -> Event:
        usage = self.setup.tally.usage
        return Done(
            result=TurnResult(
                text=text,
                thinking=(self.last.thinking or None) if self.rounds else None,
                status=status,
                executed_rounds=tuple(self.executed),
                working_state=dict(self.setup.working_state),
                turn_id=self.setup.turn_id if pending else None,
                tool_calls=pending,
                can_continue=can_continue,
                usage={"prompt_tokens": usage.prompt_tokens, "completion_tokens": usage.completion_tokens},
                cost_usd=float(self.setup.tally.cost_usd),
            )
        )


def _chunk(delta: Delta, index: int) -> Event:
    if delta.kind == "text":
        return AssistantTextChunk(chunk=clean_text(delta.text), round_index=index)
    return ThinkingChunk(chunk=clean_text(delta.text), round_index=index)


def _cut_off(said: dict[str, list[str]], index: int) -> Round:
    """What was said before the model broke off: kept, but without blocks that only a whole answer has."""
    return Round(text=clean_text("".join(said["text"])), thinking=clean_text("".join(said["thinking"])), index=index)


def _show(call: Call) -> CallShown:
    return CallShown(
        id=call.id,
        name=call.name,
        arguments=call.effective_text,
        summary=call.summary,
        writes=call.writes,
        arguments_hash=call.arguments_hash,
        tainted=call.tainted,
    )
