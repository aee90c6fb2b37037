"""Runs turns: one event loop in a thread of its own for each process, whatever door or worker they come from.

A turn is a task of that loop with a fresh context, so nothing of the request that started it lives on in it. It is
claimed by epoch and lease (`agent.leases`); all claims of the process are renewed, and asked for stops, by one task.
"""

import asyncio
import threading
import traceback
import uuid
from collections.abc import Callable
from concurrent.futures import Future
from contextvars import Context
from dataclasses import dataclass, field
from functools import partial
from time import monotonic

import structlog
from django.conf import settings
from django.db import DatabaseError

from agent.driving import Loaded, drive
from agent.endings import end_held, fail, interrupt
from agent.events import Event
from agent.leases import LeaseLost, claim, look_after, renew
from agent.models import Turn
from agent.stopping import Stop
from agent.streams import Streams
from core.errors import DomainError, Unavailable
from core.ids import show_id
from core.threads import in_thread

log = structlog.get_logger(__name__)

LOOK_SECONDS = 0.4
DRAIN_SECONDS = 30.0


class InternalError(Unavailable):
    """A bug of ours ended the turn; its details are in the log only."""

    code = "internal_error"
    detail = "Something went wrong on our side. Try again."
    retryable = True


@dataclass(eq=False, slots=True)
class _Local:
    """A turn that this process runs, or is about to. `epoch` is None while nothing is held.

    `begun` is what is known already of a turn that was claimed when it was made.
    """

    turn_id: uuid.UUID
    ended: Future[None]
    begun: Loaded | None = None
    stop: Stop = field(default_factory=Stop)
    epoch: int | None = None
    suspected: bool = False
    lost: bool = False
    task: "asyncio.Task[None] | None" = None


def launch(turn_id: uuid.UUID) -> "Future[None]":
    """Run the turn in this process as soon as it can be claimed; the future ends when the run does.

    Launching a turn that somebody else runs, or that needs nobody, does nothing.
    """
    return _process.launch(_Local(turn_id, Future()))


def launch_new(begun: Loaded) -> "Future[None]":
    """Run a turn that was just stored, and claimed with that: nothing of it has to be read again."""
    turn = begun.turn
    return _process.launch(_Local(turn.pk, Future(), begun, epoch=turn.epoch))


async def run(turn_id: uuid.UUID) -> None:
    """Run the turn and wait until it is done or waits for a person (headless work, tests)."""
    await asyncio.wrap_future(launch(turn_id))


def stop_here(turn_id: uuid.UUID) -> None:
    """Stop the turn at once if this process runs it; other processes look at the row within half a second."""
    _process.stop(turn_id)


def accepts_turns() -> bool:
    """False once the process is shutting down."""
    return not _process.draining


def drain(seconds: float = DRAIN_SECONDS) -> None:
    """Before the process ends (SIGTERM): take no new turns, let running ones finish, hand the rest over as interrupted.

    Units: `seconds` at most.
    """
    _process.drain(seconds)


class _Process:
    """The turn loop of this process and what runs on it."""

    def __init__(self) -> None:
        self.draining = False
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._streams: Streams | None = None
        self._locals: list[_Local] = []
        self._caretaker: asyncio.Task[None] | None = None

    def launch(self, local: _Local) -> "Future[None]":
        if self.draining:
            local.ended.set_result(None)  # the reaper tells the thread
            return local.ended
        self._turn_loop().call_soon_threadsafe(self._start, local, context=Context())
        return local.ended

    def stop(self, turn_id: uuid.UUID) -> None:
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._stop, {turn_id}, context=Context())

    def drain(self, seconds: float) -> None:
        self.draining = True
        loop = self._loop
        if loop is None:
            return
        asyncio.run_coroutine_threadsafe(self._drain(seconds), loop).result()

    def _turn_loop(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                threading.Thread(target=self._loop.run_forever, name="turn-loop", daemon=True).start()
            return self._loop

    def _start(self, local: _Local) -> None:
        before = [other.task for other in self._locals if other.turn_id == local.turn_id and other.task]
        self._locals.append(local)
        local.task = asyncio.get_running_loop().create_task(self._run(local, before))
        local.task.add_done_callback(partial(self._ended, local))
        if self._caretaker is None or self._caretaker.done():
            self._caretaker = asyncio.get_running_loop().create_task(self._take_care())

    def _ended(self, local: _Local, _task: "asyncio.Task[None]") -> None:
        self._locals.remove(local)
        local.ended.set_result(None)

    def _stop(self, turn_ids: set[uuid.UUID]) -> None:
        for local in self._locals:
            if local.turn_id in turn_ids:
                local.stop.request()

    async def _run(self, local: _Local, before: list["asyncio.Task[None]"]) -> None:
        """The outermost shell of a turn: whatever happens, it is written down how the turn ended."""
        structlog.contextvars.bind_contextvars(turn=show_id(local.turn_id))
        if before:
            await asyncio.wait(before)  # the last words of the run before come before the first of this one
        end: Callable[[Turn], Event] | None = None
        try:
            if local.epoch is None:
                local.epoch = await in_thread(lambda: claim(local.turn_id))
            await drive(
                local.turn_id,
                local.epoch,
                begun=local.begun,
                stop=local.stop,
                streams=self._redis(),
                on_release=partial(_release, local),
            )
        except LeaseLost:
            log.debug("turn.not_ours")
        except asyncio.CancelledError:
            end = None if local.lost else interrupt
        except DomainError as problem:
            log.info("turn.failed", code=problem.error_code)
            end = partial(fail, problem=problem)
        except Exception as problem:  # noqa: BLE001 - the outermost shell: a bug must not leave the turn running
            # Where, and not what: the message of the exception may quote the document.
            log.error(
                "turn.crashed", problem=type(problem).__name__, at=traceback.format_tb(problem.__traceback__)[-4:]
            )
            end = partial(fail, problem=InternalError())
        if end is not None and local.epoch is not None:
            await self._end(local.turn_id, local.epoch, end)

    async def _end(self, turn_id: uuid.UUID, epoch: int, end: Callable[[Turn], Event]) -> None:
        try:
            await in_thread(lambda: end_held(turn_id, epoch, end))
        except LeaseLost:
            log.debug("turn.not_ours")
        except DatabaseError as problem:
            log.error("turn.end_not_kept", problem=type(problem).__name__)  # the reaper finds it by its lease

    async def _take_care(self) -> None:
        """Renew the leases of all turns here, and see which are asked to stop or were taken away."""
        renewed = monotonic()
        while self._locals:
            await asyncio.sleep(LOOK_SECONDS)
            held = {local.turn_id: local.epoch for local in self._locals if local.epoch is not None}
            if not held:
                continue
            try:
                stops, lost = await in_thread(partial(look_after, held))
                if monotonic() - renewed >= settings.AGENT_LEASE_RENEW_SECONDS:
                    renewed = monotonic()
                    await in_thread(partial(renew, list(held.items())))
            except DatabaseError:
                log.warning("turn_leases.not_renewed", turns=len(held))
                continue
            self._stop(stops)
            for local in self._locals:
                self._check_lost(local, held, lost)

    def _check_lost(self, local: _Local, held: dict[uuid.UUID, int], lost: set[uuid.UUID]) -> None:
        """Seen twice, since a run that just ended well looks the same for a moment."""
        gone = local.epoch is not None and local.turn_id in lost and local.epoch == held.get(local.turn_id)
        if gone and local.suspected and local.task is not None:
            local.lost = True
            local.task.cancel()
        local.suspected = gone

    async def _drain(self, seconds: float) -> None:
        tasks = [local.task for local in self._locals if local.task]
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=seconds)
            for task in late:
                task.cancel()
            if late:
                await asyncio.wait(late, timeout=5)
        if self._streams is not None:
            await self._streams.close()
            self._streams = None

    def _redis(self) -> Streams:
        if self._streams is None:
            self._streams = Streams()
        return self._streams


def _release(local: _Local) -> None:
    local.epoch = None


_process = _Process()
