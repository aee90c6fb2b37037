"""Wait for the end of a turn's run, in this process or another, without holding a thread or a connection."""

import asyncio
import json
from contextlib import aclosing
from functools import partial
from time import monotonic
from typing import Any

import structlog
from redis.exceptions import RedisError

from agent.models import Turn
from agent.selectors import still_runs
from agent.streams import watch
from core.threads import in_thread

log = structlog.get_logger(__name__)

LOOK_SECONDS = 5.0
"""How often the row is looked at while the stream says nothing."""
LOOK_SECONDS_WITHOUT_STREAM = 0.5

Json = dict[str, Any]


async def end_of_run(turn: Turn, *, after: int, seconds: float) -> Json | None:
    """The first `done` or `error` event after a number.

    None when the turn still runs after `seconds`, and when it rests but the stream did not tell: look at its rows.
    """
    deadline = monotonic() + seconds
    while (left := deadline - monotonic()) > 0:
        try:
            end, after = await _told(turn, after, min(left, LOOK_SECONDS))
            if end is not None:
                return end
        except (RedisError, OSError) as problem:
            log.warning("turn_stream.not_read", problem=type(problem).__name__)
            await asyncio.sleep(min(left, LOOK_SECONDS_WITHOUT_STREAM))
        if not await in_thread(partial(still_runs, turn=turn)):
            return None
    return None


async def _told(turn: Turn, after: int, seconds: float) -> tuple[Json | None, int]:
    """The end, or how far was read when nothing came for `seconds`."""
    deadline = monotonic() + seconds
    async with aclosing(watch(turn.pk, after=after, seconds=seconds)) as batches:
        async for batch in batches:
            for stored in batch:
                after = stored.seq
                if stored.kind in ("done", "error"):
                    end: Json = json.loads(stored.text)
                    return end, after
            if not batch or monotonic() > deadline:
                break
    return None, after
