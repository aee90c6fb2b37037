"""Lets a response wait for its reader: under daphne a write never waits, and a slow reader would fill our memory.

Around the HTTP application. What is written while the connection's buffer is full waits until it has drained; a
reader who takes nothing for a minute is cut off.
"""

import asyncio
import sys
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any

STALLED_SECONDS = 60.0

Message = Mapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[dict[str, Any], Receive, Send], Awaitable[None]]


def paced(application: Application) -> Application:
    """The application, with responses that wait."""

    async def at_the_readers_pace(scope: dict[str, Any], receive: Receive, send: Send) -> None:
        request = _request_behind(send)
        await application(scope, receive, send if request is None else _Pace(request, send).send)

    return at_the_readers_pace


class _Pace:
    """What twisted pauses and resumes: the producer of one response."""

    def __init__(self, request: Any, send: Send) -> None:
        self._request = request
        self._send = send
        self._may_write = asyncio.Event()
        self._may_write.set()

    async def send(self, message: Message) -> None:
        """Pass a message on, then wait while the reader has enough."""
        if message["type"] == "http.response.start" and self._request.channel is not None:
            self._request.registerProducer(self, True)
        elif not message.get("more_body") and self._request.producer is self and self._request.channel is not None:
            self._request.unregisterProducer()
        await self._send(message)
        if not self._may_write.is_set():
            await self._wait()

    async def _wait(self) -> None:
        try:
            async with asyncio.timeout(STALLED_SECONDS):
                await self._may_write.wait()
        except TimeoutError:
            if self._request.channel is not None:
                self._request.channel.forceAbortClient()

    def pauseProducing(self) -> None:  # noqa: N802 - twisted's name
        self._may_write.clear()

    def resumeProducing(self) -> None:  # noqa: N802 - twisted's name
        self._may_write.set()

    def stopProducing(self) -> None:  # noqa: N802 - twisted's name
        """The connection is gone: nobody waits for it any more."""
        self._may_write.set()


def _request_behind(send: Send) -> Any:
    """Twisted's request, None under any other server."""
    http = sys.modules.get("twisted.web.http")
    candidate = send.args[0] if isinstance(send, partial) and send.args else None
    return candidate if http is not None and isinstance(candidate, http.Request) else None
