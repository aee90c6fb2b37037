"""All who follow turns in a process share one connection: what is told on a channel reaches each of them as it is told.

News may be missed here (a reader that is slow, a connection that was lost): whoever needs all of them numbers them and
looks up what is missing where it is kept.
"""

import asyncio
import weakref
from collections import deque
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from contextvars import Context

from django.conf import settings
from redis.asyncio import BlockingConnectionPool
from redis.asyncio import Redis as AsyncRedis
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import RedisError

MAX_WAITING = 256
"""News that wait for one reader; of a slower one they are forgotten, it finds them where they are kept."""
_SECONDS_TO_ANSWER = 3.0
_CONNECTIONS = 4

_followings: "weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, Following]" = weakref.WeakKeyDictionary()


class Feed:
    """What one reader has not taken yet. `missed`: some of it is gone."""

    def __init__(self) -> None:
        self.missed = False
        self._waiting: deque[bytes] = deque()
        self._came = asyncio.Event()
        self._problem: Exception | None = None

    def put(self, news: bytes) -> None:
        if len(self._waiting) >= MAX_WAITING:
            self._waiting.clear()
            self.missed = True
        self._waiting.append(news)
        self._came.set()

    def end(self, problem: Exception) -> None:
        self._problem = problem
        self._came.set()

    async def take(self, seconds: float) -> list[bytes]:
        """All that waits, nothing when nothing comes for `seconds`. Raises: RedisError, OSError."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._came.wait()
        if self._problem is not None:
            raise self._problem
        self._came.clear()
        taken = list(self._waiting)
        self._waiting.clear()
        return taken


class _Channel:
    """Who listens on a channel, and whether Redis knows it yet."""

    def __init__(self) -> None:
        self.feeds: set[Feed] = set()
        self.confirmed = asyncio.Event()


class Following:
    """The subscriptions of one event loop; closed when nobody follows anything any more."""

    def __init__(self) -> None:
        pool = BlockingConnectionPool.from_url(
            settings.REDIS_URL,
            max_connections=_CONNECTIONS,
            socket_connect_timeout=_SECONDS_TO_ANSWER,
            driver_info=None,  # our name and version, which every connection looks up anew: that takes a millisecond
        )
        self.redis: AsyncRedis = AsyncRedis.from_pool(pool)
        self._pubsub = self.redis.pubsub()
        self._channels: dict[bytes, _Channel] = {}
        self._lock = asyncio.Lock()
        self._reading: asyncio.Task[None] | None = None
        self._users = 0

    async def join(self, name: bytes, feed: Feed) -> None:
        """From here on the feed gets what is told on the channel. Raises: RedisError, OSError."""
        self._users += 1
        async with self._lock:
            if name not in self._channels:
                self._channels[name] = _Channel()
                await self._pubsub.subscribe(name)
            channel = self._channels[name]
            channel.feeds.add(feed)
            if self._reading is None:
                self._reading = asyncio.get_running_loop().create_task(self._read(), context=Context())
        async with asyncio.timeout(_SECONDS_TO_ANSWER):
            await channel.confirmed.wait()

    async def leave(self, name: bytes, feed: Feed) -> None:
        self._users -= 1
        if not self._users:
            await self._close()
            return
        async with self._lock:
            channel = self._channels.get(name)
            if channel is None:
                return
            channel.feeds.discard(feed)
            if not channel.feeds:
                del self._channels[name]
                with suppress(RedisError, OSError):
                    await self._pubsub.unsubscribe(name)

    async def _read(self) -> None:
        try:
            while True:
                message = await self._pubsub.get_message(timeout=None)
                channel = self._channels.get(message["channel"]) if message else None
                if message is None or channel is None:
                    continue
                if message["type"] == "subscribe":
                    channel.confirmed.set()
                elif message["type"] == "message":
                    for feed in channel.feeds:
                        feed.put(message["data"])
        except (RedisError, OSError) as problem:
            self._break(problem)

    def _break(self, problem: Exception) -> None:
        """The connection is lost: everybody hears of it, and whoever comes next gets a new one."""
        _forget(self)
        for channel in self._channels.values():
            channel.confirmed.set()
            for feed in channel.feeds:
                feed.end(problem)

    async def _close(self) -> None:
        _forget(self)
        if self._reading is not None:
            self._reading.cancel()
            with suppress(asyncio.CancelledError):
                await self._reading
        with suppress(RedisError, OSError):
            await self._pubsub.aclose()  # type: ignore[no-untyped-call]  # redis types it not
            await self.redis.aclose(close_connection_pool=True)


@asynccontextmanager
async def following(channel: str) -> AsyncGenerator[tuple[Feed, AsyncRedis]]:
    """What is told on a channel while the block lasts, and a client to look up what was told before.

    Raises: RedisError, OSError.
    """
    loop = asyncio.get_running_loop()
    shared = _followings.get(loop)
    if shared is None:
        shared = _followings[loop] = Following()
    feed, name = Feed(), channel.encode()
    try:
        try:
            await shared.join(name, feed)
        except TimeoutError as problem:
            raise RedisConnectionError("no answer to a subscription") from problem
        yield feed, shared.redis
    finally:
        await shared.leave(name, feed)


def _forget(shared: Following) -> None:
    loop = asyncio.get_running_loop()
    if _followings.get(loop) is shared:
        del _followings[loop]
