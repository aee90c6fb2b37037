"""Event streams of turns in Redis: numbered without gaps per turn, capped, kept for an hour; and the live news.

Losing Redis loses no committed data: a reader whose stream is gone gets a snapshot of the transcript instead.
"""

import asyncio
import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from contextvars import Context
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import structlog
from django.conf import settings
from redis import Redis
from redis.asyncio import Redis as AsyncRedis
from redis.exceptions import RedisError

from agent.events import Done, ErrorEvent, Event, from_wire, to_text, to_wire
from agent.following import following
from core.ids import show_id
from core.publish import apublish, publish_on_commit

log = structlog.get_logger(__name__)

MAX_EVENTS = 10_000
_MAX_READ = 500
_MAX_LETTERS = 100
_LAYER: Any = settings.CHANNEL_LAYERS["default"]["CONFIG"]
_GROUPS = f"{_LAYER['prefix']}__group__"  # so the layer names the channel of a group
_SECONDS_TO_ANSWER = 3.0
# Keep events and tell those who follow the turn, on a channel with the name of the stream. An event that is refused,
# since somebody else has the turn and told more already, is told nobody. Returns: how many watch the thread's group,
# and the numbers that were refused.
_SCRIPT = """
local told, out = {}, {0}
for at = 4, #ARGV, 2 do
  local kept = redis.pcall('XADD', KEYS[1], 'MAXLEN', ARGV[1], ARGV[at] .. '-0', 'e', ARGV[at + 1])
  if type(kept) == 'table' and kept.err and string.find(kept.err, 'equal or smaller', 1, true) then
    out[#out + 1] = tonumber(ARGV[at])
  else
    told[#told + 1] = ARGV[at]
    told[#told + 1] = ARGV[at + 1]
  end
end
if #told > 0 then
  redis.call('EXPIRE', KEYS[1], ARGV[2])
  redis.call('PUBLISH', KEYS[1], table.concat(told, '\\n'))
end
if ARGV[3] ~= '' then out[1] = redis.call('PUBSUB', 'NUMSUB', ARGV[3])[2] end
return out
"""


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
    """The streams as one event loop writes them; clients of redis belong to a loop."""

    def __init__(self) -> None:
        self._redis: AsyncRedis = AsyncRedis.from_url(settings.REDIS_URL, socket_connect_timeout=_SECONDS_TO_ANSWER)
        self._waiting: list[_Letter] = []
        self._posting: asyncio.Task[None] | None = None

    async def close(self) -> None:
        if self._posting is not None:
            await asyncio.wait([self._posting])
        await self._redis.aclose()

    async def append(self, turn_id: uuid.UUID, thread_id: uuid.UUID | None, batch: Sequence[Numbered]) -> None:
        """Write events in one go and tell those who watch. Redis being away is logged, never an error of the turn.

        What the turns of a process say while Redis answers goes to it in one request.
        """
        loop = asyncio.get_running_loop()
        letter = _Letter(turn_id, thread_id, batch, _call(turn_id, thread_id, batch), loop.create_future())
        self._waiting.append(letter)
        if self._posting is None or self._posting.done():
            self._posting = loop.create_task(self._post(), context=Context())
        await letter.sent

    async def _post(self) -> None:
        while self._waiting:
            letters, self._waiting = self._waiting[:_MAX_LETTERS], self._waiting[_MAX_LETTERS:]
            try:
                for letter, answer in zip(letters, await self._keep(letters), strict=True):
                    await _tell_thread(letter, answer)
            finally:
                for letter in letters:
                    if not letter.sent.done():
                        letter.sent.set_result(None)

    async def _keep(self, letters: Sequence["_Letter"]) -> Sequence[Any]:
        """What the script answered to each; the problem in its place when there is no answer."""
        try:
            async with self._redis.pipeline(transaction=False) as pipe:
                for letter in letters:
                    pipe.eval(*letter.call)
                async with asyncio.timeout(_SECONDS_TO_ANSWER):
                    return await pipe.execute(raise_on_error=False)
        except (RedisError, OSError, TimeoutError) as problem:
            return [problem] * len(letters)


@dataclass(frozen=True, slots=True, eq=False)
class _Letter:
    """Events of one turn on their way."""

    turn_id: uuid.UUID
    thread_id: uuid.UUID | None
    batch: Sequence[Numbered]
    call: Sequence[Any]
    sent: "asyncio.Future[None]"


async def _tell_thread(letter: _Letter, answer: Any) -> None:
    """Tell the thread's group, if somebody watches it. When we cannot know, we tell it."""
    told = letter.batch
    if isinstance(answer, Exception):
        log.warning("turn_event.not_kept", turn=show_id(letter.turn_id), problem=type(answer).__name__)
    else:
        watchers, *refused = answer
        told = [numbered for numbered in letter.batch if numbered.seq not in refused] if watchers else []
        if refused:
            log.warning("turn_event.refused", turn=show_id(letter.turn_id), events=len(refused))
    if letter.thread_id is None:
        return
    try:
        for numbered in told:
            await apublish(thread_group(letter.thread_id), news(letter.turn_id, numbered))
    except (RedisError, OSError) as problem:
        log.warning("turn_event.not_told", turn=show_id(letter.turn_id), problem=type(problem).__name__)


async def watch(turn_id: uuid.UUID, *, after: int = 0, seconds: float = 15.0) -> AsyncGenerator[list[Stored], None]:
    """Batches of events after a number as they come; an empty one whenever nothing came for `seconds`. Never ends.

    A reader that is too slow for what is kept finds a gap in the numbers. Raises: RedisError, OSError.
    """
    async with following(stream_key(turn_id)) as (feed, redis):
        found = await _read(redis, turn_id, after)
        while True:
            if found:
                after = found[-1].seq
                yield found
            if len(found) >= _MAX_READ:
                found = await _read(redis, turn_id, after)
                continue
            news = await feed.take(seconds)
            found = [stored for text in news for stored in _told(text) if stored.seq > after]
            if feed.missed or not news or (found and found[0].seq > after + 1):
                feed.missed = False
                found = await _read(redis, turn_id, after)
            if not news and not found:
                yield []


async def _read(redis: AsyncRedis, turn_id: uuid.UUID, after: int) -> list[Stored]:
    """What is kept after a number, in portions."""
    entries: Any = await redis.xrange(stream_key(turn_id), min=f"({after}-0", count=_MAX_READ)
    return _stored(entries)


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
    return stored_portion(turn_id, after=after, count=None)[0]


def stored_portion(turn_id: uuid.UUID, *, after: int, count: int | None) -> tuple[list[Stored], int]:
    """The first `count` events after a number, and the number of the newest one that was kept at that very moment."""
    key = stream_key(turn_id)
    asked = _redis(settings.REDIS_URL).pipeline()
    try:
        asked.xrange(key, min=f"({after}-0", count=count)
        asked.xrevrange(key, count=1)
        found, newest = asked.execute()
    except (RedisError, OSError) as problem:
        log.warning("turn_stream.not_read", turn=show_id(turn_id), problem=type(problem).__name__)
        return [], 0
    return _stored(found), _stored(newest)[0].seq if newest else 0


def last_seq(turn_id: uuid.UUID) -> int:
    """The number of the newest event that is kept, 0 without any."""
    try:
        newest = _redis(settings.REDIS_URL).xrevrange(stream_key(turn_id), count=1)
    except (RedisError, OSError) as problem:
        log.warning("turn_stream.not_read", turn=show_id(turn_id), problem=type(problem).__name__)
        return 0
    return _stored(newest)[0].seq if newest else 0


def last_end(turn_id: uuid.UUID, *, otherwise: int) -> int:
    """The number of the newest event that ended a run of the turn (`done` before a pause, most of all)."""
    ends = [stored.seq for stored in stored_events(turn_id) if stored.kind in ("done", "error")]
    return ends[-1] if ends else otherwise


def append_now(turn_id: uuid.UUID, thread_id: uuid.UUID | None, numbered: Numbered) -> None:
    """Write and tell one event from synchronous code that just committed it."""
    try:
        _redis(settings.REDIS_URL).eval(*_call(turn_id, None, [numbered]))
    except (RedisError, OSError) as problem:
        log.warning("turn_event.not_kept", turn=show_id(turn_id), problem=type(problem).__name__)
    if thread_id is not None:
        publish_on_commit(thread_group(thread_id), news(turn_id, numbered))


@lru_cache(maxsize=2)
def _redis(url: str) -> Redis:
    """The client of all synchronous callers of a process: it costs more to connect than to ask."""
    return Redis.from_url(url, socket_timeout=_SECONDS_TO_ANSWER)


def _call(turn_id: uuid.UUID, thread_id: uuid.UUID | None, batch: Sequence[Numbered]) -> list[Any]:
    """The arguments of EVAL for a batch."""
    group = f"{_GROUPS}{thread_group(thread_id)}" if thread_id else ""
    call = [_SCRIPT, 1, stream_key(turn_id), MAX_EVENTS, settings.AGENT_STREAM_SECONDS, group]
    for numbered in batch:
        call += [numbered.seq, to_text(numbered.event)]
    return call


def _told(news: bytes) -> list[Stored]:
    """Events as the script publishes them: numbers and texts in turn, one a line."""
    lines = news.split(b"\n")
    return [Stored(int(seq), text) for seq, text in zip(lines[::2], lines[1::2], strict=True)]


def _stored(entries: Sequence[Any]) -> list[Stored]:
    return [Stored(int(entry_id.split(b"-")[0]), fields[b"e"]) for entry_id, fields in entries]
