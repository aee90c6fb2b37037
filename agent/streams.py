"""Event streams of turns in Redis: numbered without gaps per turn, capped, kept for an hour; and the live news.

Losing Redis loses no committed data: a reader whose stream is gone gets a snapshot of the transcript instead.
"""

import asyncio
import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

import structlog
from django.conf import settings
from redis import Redis
from redis.asyncio import Redis as AsyncRedis
from redis.exceptions import RedisError, ResponseError

from agent.events import Done, ErrorEvent, Event, from_wire, to_text, to_wire
from core.ids import show_id
from core.publish import apublish, publish_on_commit

log = structlog.get_logger(__name__)

MAX_EVENTS = 10_000
_SECONDS_TO_ANSWER = 3.0


@dataclass(frozen=True, slots=True)
class Numbered:
    """An event with its number in the turn."""

    seq: int
    event: Event


@dataclass(frozen=True, slots=True)
class Stored:
    """An event as it is kept: its number and its JSON, for doors that pass it on unread."""

    seq: int
    text: bytes

    @property
    def kind(self) -> str:
        """The event's `type`, which is the last field of every event."""
        return self.text[self.text.rindex(b'"type":"') + 8 : -2].decode()

    @property
    def event(self) -> Event:
        return from_wire(self.text)


def stream_key(turn_id: uuid.UUID) -> str:
    return f"{settings.REDIS_PREFIX}:turn:{show_id(turn_id)}"


def thread_group(thread_id: uuid.UUID) -> str:
    """The channel group of those who watch a thread."""
    return f"thread.{show_id(thread_id)}"


def news(turn_id: uuid.UUID, numbered: Numbered) -> dict[str, Any]:
    """What the group of the thread is sent."""
    return {
        "type": "turn.event",
        "turn_id": show_id(turn_id),
        "seq": numbered.seq,
        "event": to_wire(numbered.event),
    }


class Streams:
    """The streams as one event loop uses them; clients of redis belong to a loop."""

    def __init__(self) -> None:
        self._redis: AsyncRedis = AsyncRedis.from_url(settings.REDIS_URL, socket_connect_timeout=_SECONDS_TO_ANSWER)

    async def close(self) -> None:
        await self._redis.aclose()

    async def append(self, turn_id: uuid.UUID, thread_id: uuid.UUID | None, batch: Sequence[Numbered]) -> None:
        """Write events in one go and tell those who watch. Redis being away is logged, never an error of the turn."""
        key, told = stream_key(turn_id), list(batch)
        try:
            async with self._redis.pipeline(transaction=False) as pipe:
                for numbered in batch:
                    pipe.xadd(key, {"e": to_text(numbered.event)}, id=f"{numbered.seq}-0", maxlen=MAX_EVENTS)
                pipe.expire(key, settings.AGENT_STREAM_SECONDS)
                async with asyncio.timeout(_SECONDS_TO_ANSWER):
                    answers = await pipe.execute(raise_on_error=False)
            told = [numbered for numbered, answer in zip(batch, answers, strict=False) if not _outrun(numbered, answer)]
        except (RedisError, OSError, TimeoutError) as problem:
            log.warning("turn_event.not_kept", turn=show_id(turn_id), problem=type(problem).__name__)
        if thread_id is None:
            return
        try:
            for numbered in told:
                await apublish(thread_group(thread_id), news(turn_id, numbered))
        except (RedisError, OSError) as problem:
            log.warning("turn_event.not_told", turn=show_id(turn_id), problem=type(problem).__name__)

    async def read(self, turn_id: uuid.UUID, *, after: int, wait_seconds: float = 0.0) -> list[Numbered]:
        """Events with a higher number than `after`; waits at most `wait_seconds` for the first one."""
        return [Numbered(stored.seq, stored.event) for stored in await self.read_stored(turn_id, after, wait_seconds)]

    async def read_stored(self, turn_id: uuid.UUID, after: int, wait_seconds: float = 0.0) -> list[Stored]:
        """The same without reading the events."""
        block = max(int(wait_seconds * 1000), 1) if wait_seconds else None
        found: Any = await self._redis.xread({stream_key(turn_id): f"{after}-0"}, count=500, block=block)
        return _stored(found[0][1]) if found else []


async def watch(turn_id: uuid.UUID, *, after: int = 0, seconds: float = 15.0) -> AsyncGenerator[list[Stored], None]:
    """Batches of events after a number as they come; an empty one whenever nothing came for `seconds`. Never ends.

    A reader that is too slow for what is kept finds a gap in the numbers. Raises: RedisError, OSError.
    """
    streams = Streams()
    try:
        while True:
            found = await streams.read_stored(turn_id, after, seconds)
            yield found
            after = found[-1].seq if found else after
    finally:
        await streams.close()


async def follow(turn_id: uuid.UUID, *, after: int = 0, seconds: float = 3600.0) -> AsyncIterator[Numbered]:
    """Events after a number as they come, until one ends the run (`done`, `error`) or nothing comes for `seconds`."""
    async with aclosing(watch(turn_id, after=after, seconds=seconds)) as batches:
        async for batch in batches:
            for stored in batch:
                numbered = Numbered(stored.seq, stored.event)
                yield numbered
                if isinstance(numbered.event, Done | ErrorEvent):
                    return
            if not batch:
                return


def read_stream(turn_id: uuid.UUID, *, after: int = 0) -> list[Numbered]:
    """Everything kept after a number, for synchronous callers; nothing when Redis is away."""
    return [Numbered(stored.seq, stored.event) for stored in stored_events(turn_id, after=after)]


def stored_events(turn_id: uuid.UUID, *, after: int = 0) -> list[Stored]:
    """The same without reading the events."""
    with Redis.from_url(settings.REDIS_URL, socket_timeout=_SECONDS_TO_ANSWER) as redis:
        try:
            return _stored(redis.xrange(stream_key(turn_id), min=f"({after}-0"))
        except (RedisError, OSError) as problem:
            log.warning("turn_stream.not_read", turn=show_id(turn_id), problem=type(problem).__name__)
            return []


def last_seq(turn_id: uuid.UUID) -> int:
    """The number of the newest event that is kept, 0 without any."""
    with Redis.from_url(settings.REDIS_URL, socket_timeout=_SECONDS_TO_ANSWER) as redis:
        try:
            newest = redis.xrevrange(stream_key(turn_id), count=1)
        except (RedisError, OSError) as problem:
            log.warning("turn_stream.not_read", turn=show_id(turn_id), problem=type(problem).__name__)
            return 0
    return _stored(newest)[0].seq if newest else 0


def append_now(turn_id: uuid.UUID, thread_id: uuid.UUID | None, numbered: Numbered) -> None:
    """Write and tell one event from synchronous code that just committed it."""
    key = stream_key(turn_id)
    with Redis.from_url(settings.REDIS_URL, socket_timeout=_SECONDS_TO_ANSWER) as redis:
        try:
            redis.xadd(key, {"e": to_text(numbered.event)}, id=f"{numbered.seq}-0", maxlen=MAX_EVENTS)
            redis.expire(key, settings.AGENT_STREAM_SECONDS)
        except (RedisError, OSError) as problem:
            log.warning("turn_event.not_kept", turn=show_id(turn_id), problem=type(problem).__name__)
    if thread_id is not None:
        publish_on_commit(thread_group(thread_id), news(turn_id, numbered))


def _outrun(numbered: Numbered, answer: object) -> bool:
    """Whether somebody else has the turn and told more already: then nobody hears of ours."""
    if not isinstance(answer, ResponseError):
        return False
    log.warning("turn_event.refused", seq=numbered.seq, problem=type(answer).__name__)
    return "equal or smaller" in str(answer)


def _stored(entries: Sequence[Any]) -> list[Stored]:
    return [Stored(int(entry_id.split(b"-")[0]), fields[b"e"]) for entry_id, fields in entries]
