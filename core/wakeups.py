"""Waiting for news of channel groups: a reader is told that there is something, and looks it up where it is kept.

What is told is not kept here but for its kind, so a slow reader costs nothing; and a reader who misses something only
waits until it looks again by itself.
"""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, suppress
from contextvars import Context
from typing import Any

import structlog
from channels.layers import get_channel_layer
from redis.exceptions import RedisError

log = structlog.get_logger(__name__)

SECONDS_WITHOUT_LAYER = 1.0
"""How often a reader looks by itself while Redis does not answer."""


class Wakeups:
    """What a reader was told since it last asked: kinds of news."""

    def __init__(self) -> None:
        self.is_deaf = False
        self._kinds: set[str] = set()
        self._came = asyncio.Event()

    def put(self, kind: str) -> None:
        self._kinds.add(kind)
        self._came.set()

    async def take(self, seconds: float) -> set[str]:
        """Wait for news, at most so long. Returns: their kinds, nothing when none came."""
        with suppress(TimeoutError):
            async with asyncio.timeout(min(seconds, SECONDS_WITHOUT_LAYER) if self.is_deaf else seconds):
                await self._came.wait()
        self._came.clear()
        taken, self._kinds = self._kinds, set()
        return taken


@asynccontextmanager
async def wakeups_of(groups: Sequence[str]) -> AsyncGenerator[Wakeups]:
    """News of these groups while the block lasts. Without Redis nothing comes, and `is_deaf` says so."""
    wakeups, layer = Wakeups(), get_channel_layer()
    pump = None
    try:
        channel = await layer.new_channel()
        for group in groups:
            await layer.group_add(group, channel)
        pump = asyncio.get_running_loop().create_task(_pump(layer, channel, wakeups), context=Context())
    except (RedisError, OSError) as problem:
        _note(wakeups, problem)
    try:
        yield wakeups
    finally:
        if pump is not None:
            pump.cancel()
            await asyncio.gather(pump, return_exceptions=True)
            with suppress(RedisError, OSError):
                for group in groups:
                    await layer.group_discard(group, channel)


async def _pump(layer: Any, channel: str, wakeups: Wakeups) -> None:
    try:
        while True:
            message = await layer.receive(channel)
            wakeups.put(str(message["type"]))
    except (RedisError, OSError) as problem:
        _note(wakeups, problem)


def _note(wakeups: Wakeups, problem: Exception) -> None:
    wakeups.is_deaf = True
    log.warning("wakeups.not_heard", problem=type(problem).__name__)
