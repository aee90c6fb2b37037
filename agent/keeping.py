"""The keeper of a running turn: every whole thing goes to the database before anybody is told, through the fence."""

import uuid
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from time import monotonic
from typing import Any

from django.db import transaction
from django.utils import timezone

from agent.announcing import announce_waiting
from agent.endings import finish_held, wait
from agent.events import CallShown, TurnResult
from agent.leases import lock_held_turn, update_held_turn
from agent.logbook import log_turn_of
from agent.messages import Call, Round, clean_json, cut_result
from agent.models import Turn
from agent.setup import Tally
from agent.stopping import Stopped
from agent.toolbox import Toolbox, ToolContext
from agent.transcript import append_round, mark_started, see_own_write, store_result, store_working_state
from core.ids import parse_id
from core.threads import in_thread
from llm.types import Completion

Json = dict[str, Any]

MAX_KEPT_CHARS = 200_000


class TurnKeeper:
    """Writes for one claim of a turn. Everything raises LeaseLost once the claim is lost, and then wrote nothing."""

    def __init__(self, turn_id: uuid.UUID, epoch: int, *, toolbox: Toolbox, context: ToolContext, tally: Tally) -> None:
        self.turn_id = turn_id
        self.epoch = epoch
        self.sent: Json | None = None
        self.asked_at = 0.0
        self.thought_until = 0.0
        self.seq: Callable[[], int] = lambda: 0
        self._toolbox = toolbox
        self._context = context
        self._tally = tally

    async def answered(self, answer: Round, completion: Completion | None) -> None:
        """A round with its calls, and what the turn has cost so far."""
        thinking_ms = int(max(self.thought_until - self.asked_at, 0) * 1000) if answer.thinking else 0
        sent, self.sent = self.sent, None

        def work() -> None:
            usage = self._tally.usage
            with transaction.atomic():
                update_held_turn(
                    self.turn_id,
                    self.epoch,
                    usage={"prompt_tokens": usage.prompt_tokens, "completion_tokens": usage.completion_tokens},
                    cost_usd=self._tally.cost_usd,
                    event_seq=self.seq(),
                )
                turn = Turn(pk=self.turn_id, organization_id=self._context.actor.organization_id)
                seen = {call.id: self._look(call, self._context) for call in answer.calls if call.writes}
                append_round(turn, answer, completion, sent=sent, seen=seen, ms=thinking_ms)

        await in_thread(work)

    async def run(self, call: Call) -> Json:
        """Run a call. A write is marked as started first, in its own commit.

        A synchronous write and its result are one transaction: after a crash, or when the claim was lost, neither
        is there.
        """
        context = replace(self._context, undo=None, now=timezone.now())
        begun = monotonic()
        if call.writes:
            context.seen = await in_thread(lambda: self._mark_started(call))
        kept = False

        async def border(function: Callable[[], Json]) -> Json:
            nonlocal kept
            run_and_keep = self._write_and_keep if call.writes else self._read_and_keep
            result = await in_thread(lambda: run_and_keep(call, function, context, begun))
            kept = True
            return result

        result = await self._toolbox.run(call.name, call.effective_arguments, context, border=border)
        if not kept:
            result = self._kept(call, result)
            await in_thread(lambda: self._keep_result(call, result, context, begun))
        return result

    async def settled(self, call: Call) -> None:
        """A result without a run."""
        result = call.result or {}
        await in_thread(lambda: self._keep_result(call, result, self._context, monotonic()))

    async def waits(self, pending: Sequence[CallShown]) -> datetime:
        """Hand the turn over to a person. The numbers of the two events that tell it are taken already.

        Raises: Stopped, LeaseLost.
        """

        def work() -> datetime:
            with transaction.atomic():
                turn = self._lock_turn()
                if turn.cancel_requested:
                    raise Stopped  # pressed just before: nobody shall be asked any more
                turn.event_seq = self.seq() + 2
                expires_at = wait(turn)
                announce_waiting(turn, pending)
                return expires_at

        return await in_thread(work)

    async def finish(self, result: TurnResult) -> None:
        def work() -> None:
            with transaction.atomic():
                status = finish_held(self.turn_id, self.epoch, result, event_seq=self.seq() + 1)
                log_turn_of(
                    status,
                    document_id=parse_id(self._context.document_id),
                    turn_id=self.turn_id,
                    thread_id=self._context.thread_id,
                )

        await in_thread(work)

    def _lock_turn(self) -> Turn:
        return lock_held_turn(self.turn_id, self.epoch)

    def _mark_started(self, call: Call) -> Json:
        with transaction.atomic():
            self._lock_turn()
            return mark_started(self.turn_id, call.id)

    def _look(self, call: Call, context: ToolContext) -> Json:
        return self._toolbox.get(call.name).look(context, call.effective_arguments)

    def _write_and_keep(self, call: Call, function: Callable[[], Json], context: ToolContext, begun: float) -> Json:
        with transaction.atomic():
            turn = self._lock_turn()
            result = self._kept(call, clean_json(function()))
            self._store(turn, call, result, context, begun)
        return result

    def _read_and_keep(self, call: Call, function: Callable[[], Json], context: ToolContext, begun: float) -> Json:
        """The lock is taken after the read: reads run beside each other."""
        result = self._kept(call, clean_json(function()))
        self._keep_result(call, result, context, begun)
        return result

    def _kept(self, call: Call, result: Json) -> Json:
        """What is stored and told of a result: no row and no event grows without bound."""
        return cut_result(result, cap=MAX_KEPT_CHARS, hint=self._toolbox.get(call.name).more)

    def _keep_result(self, call: Call, result: Json, context: ToolContext, begun: float) -> None:
        with transaction.atomic():
            self._store(self._lock_turn(), call, result, context, begun)

    def _store(self, turn: Turn, call: Call, result: Json, context: ToolContext, begun: float) -> None:
        store_result(turn.pk, call.id, result, undo=context.undo, ms=int((monotonic() - begun) * 1000))
        state = dict(context.working_state)
        if state != turn.working_state:
            store_working_state(turn.pk, state)
        if call.writes and "error" not in result:
            see_own_write(turn.pk, before=context.seen, after=self._look(call, context))
