"""Events of a turn as server-sent events: replayed from a cursor, then live, from any process.

Nothing is lost and nothing comes twice.
The buffer is the turn's stream outside the process: a reader is given more only once it has taken what it was given.
"""

import traceback
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from functools import partial
from time import monotonic

import structlog
from redis.exceptions import RedisError

from agent.api.results import Finish, Json, compact, finish_text, last_words
from agent.events import ErrorEvent, TurnStarted, to_text
from agent.models import Turn
from agent.selectors import Replay
from agent.streams import Stored, watch
from core.api.streams import KEEPALIVE, KEEPALIVE_SECONDS
from core.errors import DomainError
from core.ids import show_id
from core.threads import in_thread

log = structlog.get_logger(__name__)

SLOW_SECONDS = 30.0
"""How long a reader may take for what it was given before it is dropped."""
MAX_STREAM_SECONDS = 3600.0
ENDS = ("done", "error")


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where frames come from. `replay` reads what is kept after a cursor and checks that the reader still may;
    `finished` fills in the result of a `done` event; both run in a thread.

    `once`: the stream ends with the first `done` or `error`, as a chat does, even when the turn goes on after it.
    """

    turn: Turn
    replay: Callable[[int], Replay]
    finished: Finish
    once: bool = False


def frame(seq: int, data: str) -> bytes:
    """One event; the id is the cursor that a reader comes back with."""
    return f"id: {seq}\ndata: {data}\n\n".encode()


async def event_frames(
    source: Source, *, after: int, replay_first: bool = True, is_new: bool = False
) -> AsyncGenerator[bytes, None]:
    """The outermost shell of a stream: whatever happens, the reader is told in a last frame.

    A turn that goes on needs no replay first: its events come live. Nor does a new one, and with what it begins is
    known: that is told before anything is waited for.
    """
    reader = _Reader(source, after)
    try:
        if is_new:
            yield reader.beginning()
        async with aclosing(reader.frames(replay_first=replay_first and not is_new)) as frames:
            async for part in frames:
                yield part
    except Exception as problem:  # noqa: BLE001 - the outermost shell of a response that has begun
        if reader.is_over:
            log.warning("turn_stream.not_closed", problem=type(problem).__name__)
        else:
            yield reader.error(*_words_for(problem))


def _words_for(problem: Exception) -> tuple[str, str]:
    """What a reader is told of a problem, and its code."""
    if isinstance(problem, DomainError):
        return problem.detail, problem.error_code
    if isinstance(problem, RedisError | OSError):
        log.warning("turn_stream.broke", problem=type(problem).__name__)
        return "The stream broke. Come back with Last-Event-ID.", "stream_broken"
    # Where, and not what: the message of the exception may quote the document.
    at = traceback.format_tb(problem.__traceback__)[-4:]
    log.error("turn_stream.crashed", problem=type(problem).__name__, at=at)
    return "Something went wrong on our side. Try again.", "internal_error"


@dataclass(slots=True)
class _Reader:
    """One connection."""

    source: Source
    cursor: int
    begun: float = field(default_factory=monotonic)
    was_told_end: bool = False
    is_over: bool = False

    async def frames(self, *, replay_first: bool) -> AsyncGenerator[bytes, None]:
        if replay_first:
            yield await self._replayed() or KEEPALIVE
        while not self.is_over and monotonic() - self.begun < MAX_STREAM_SECONDS:
            async with aclosing(self._live()) as parts:
                async for part in parts:
                    given = monotonic()
                    yield part
                    if monotonic() - given > SLOW_SECONDS:
                        yield self.error("You read too slowly. Come back with Last-Event-ID.", "slow_consumer")
                        return
            if not self.is_over and (part := await self._replayed()):
                yield part

    def beginning(self) -> bytes:
        """The first event of a turn, word for word as its runner tells it."""
        self.cursor, turn = 1, self.source.turn
        thread_id = show_id(turn.thread_id) if turn.thread_id else None
        return frame(1, to_text(TurnStarted(turn_id=show_id(turn.pk), thread_id=thread_id, model=turn.model)))

    def error(self, text: str, code: str) -> bytes:
        """A last frame of the door's own; its id is the last event that the reader has."""
        return frame(self.cursor, to_text(ErrorEvent(error=text, code=code, retryable=True)))

    async def _live(self) -> AsyncGenerator[bytes, None]:
        """What comes in, until there is reason to look into the database again."""
        async with aclosing(watch(self.source.turn.pk, after=self.cursor, seconds=KEEPALIVE_SECONDS)) as batches:
            async for batch in batches:
                if not batch:
                    yield KEEPALIVE
                    return
                if batch[0].seq != self.cursor + 1:
                    return
                yield await self._taken(batch)
                if self.was_told_end:
                    return

    async def _replayed(self) -> bytes:
        replay = await in_thread(lambda: self.source.replay(self.cursor))
        if replay.snapshot is not None:
            return await self._snapshot(replay, replay.snapshot)
        part = await self._taken(replay.stored)
        rests = self.was_told_end and replay.turn.status == Turn.Status.WAITING
        if not replay.is_open or (rests and replay.turn.event_seq <= self.cursor):
            self.is_over = True
        return part

    async def _snapshot(self, replay: Replay, snapshot: Json) -> bytes:
        """Everything at once, with the last event again when the turn rests: a reader always hears how it stands."""
        self.cursor = replay.seq
        parts = [frame(self.cursor, compact(snapshot))]
        words = await in_thread(partial(last_words, replay.turn, self.source.finished))
        self.is_over = bool(words)
        return b"".join([*parts, *(frame(self.cursor, text) for text in words)])

    async def _taken(self, batch: Sequence[Stored]) -> bytes:
        """Stored events as frames. Ours is the last word where a chat ends."""
        parts: list[bytes] = []
        for stored in batch:
            kind, text, waits = stored.kind, stored.text, False
            if kind == "done":
                text, waits = await in_thread(partial(finish_text, text, self.source.finished))
            parts.append(b"id: %d\ndata: %b\n\n" % (stored.seq, text))
            self.cursor, self.was_told_end = stored.seq, kind in ENDS
            if self.was_told_end and (self.source.once or not waits):
                self.is_over = True
                break
        return b"".join(parts)
