"""A document's events as a stream: what came after a cursor, then what comes, from any process.

The database is the truth: news only say that there is something to read. A reader is given more once it has taken what
it was given, and while it waits it holds neither a thread nor a connection.
"""

import traceback
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from time import monotonic

import structlog

from core.api.streams import KEEPALIVE, KEEPALIVE_SECONDS, frame
from core.api.v1 import V1Error, V1Problem
from core.errors import DomainError
from core.threads import in_thread
from core.wakeups import wakeups_of
from documents.api.v1.bodies import V1Event
from documents.selectors import EventPage

log = structlog.get_logger(__name__)

MAX_STREAM_SECONDS = 3600.0
FRESH_SECONDS = 2.0
"""So long a check of who reads is good for, unless memberships change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where events come from: `read` gives those after a cursor, `admit` raises when the reader may not any more.

    Both run in a thread.
    """

    groups: Sequence[str]
    read: Callable[[int], EventPage]
    admit: Callable[[], object]


async def event_frames(source: Source, *, after: int) -> AsyncGenerator[bytes, None]:
    """The outermost shell of a stream: a reader is told in a last frame why it ends."""
    try:
        async with aclosing(_frames(source, after)) as parts:
            async for part in parts:
                yield part
    except DomainError as problem:
        yield _last_frame(problem.error_code, problem.detail)
    except Exception as problem:  # noqa: BLE001 - the outermost shell of a response that has begun
        at = traceback.format_tb(problem.__traceback__)[-4:]
        log.error("event_stream.crashed", problem=type(problem).__name__, at=at)
        yield _last_frame("internal_error", "Something went wrong on our side. Come back with Last-Event-ID.")


async def _frames(source: Source, cursor: int) -> AsyncGenerator[bytes, None]:
    begun = checked_at = monotonic()
    yield KEEPALIVE
    async with wakeups_of(source.groups) as wakeups:
        while monotonic() - begun < MAX_STREAM_SECONDS:
            page = await in_thread(partial(source.read, cursor))
            if page.events:
                cursor = page.next_after
                yield b"".join(event_frame(event) for event in page.events)
            if cursor < page.head_seq:
                continue
            news = await wakeups.take(KEEPALIVE_SECONDS)
            if not news:
                yield KEEPALIVE
            if monotonic() - checked_at > FRESH_SECONDS or "membership.changed" in news:
                await in_thread(source.admit)
                checked_at = monotonic()


def event_frame(event: object) -> bytes:
    """An event as it is in the JSON answer; its number is the cursor."""
    shown = V1Event.model_validate(event)
    return frame(shown.model_dump_json(), seq=shown.seq)


def _last_frame(code: str, message: str) -> bytes:
    problem = V1Problem(error=V1Error(code=code, message=message, details={}))
    return frame(problem.model_dump_json(), name="error")
