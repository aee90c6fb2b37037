"""Connections to providers: a connect timeout for all of them, hung up when nobody reads, closed with their loop."""

import asyncio
import contextlib
import weakref
from collections.abc import AsyncGenerator, Iterator
from contextvars import ContextVar
from typing import Any

import httpx

from llm import conf

# Where litellm's stream objects keep the HTTP response that they read: it closes only OpenAI's by itself.
_INNER = ("streaming_response", "response_iterator", "async_response_iterator")
# Providers that litellm gives one number for all timeouts, and that take a client of ours instead.
_TAKE_CLIENT = frozenset(("anthropic", "gemini"))
_SLACK = 5.0  # seconds by which the library's own read timeout comes after ours

_noted: ContextVar[list[httpx.Response] | None] = ContextVar("noted_responses", default=None)
_keepers: "weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, _Keeper]" = weakref.WeakKeyDictionary()


class _Keeper:
    """What one event loop has open."""

    def __init__(self, litellm: Any) -> None:
        self.client = litellm.llms.custom_httpx.http_handler.AsyncHTTPHandler(
            event_hooks={"request": [_connect_soon], "response": [_note]}
        )
        self.closing = _close_at_the_end(litellm, id(asyncio.get_running_loop()), self.client)


async def options(litellm: Any, provider: str) -> dict[str, Any]:
    """Arguments of a call that say how to connect: timeouts, and our client where litellm's own is too patient."""
    keeper = await _keep(litellm)
    limits = conf.timeouts()
    read = max(limits.first, limits.between) + _SLACK
    out: dict[str, Any] = {"timeout": httpx.Timeout(read, connect=limits.connect)}
    if provider in _TAKE_CLIENT:
        out["client"] = keeper.client
    return out


async def hang_up(stream: Any) -> None:
    """Close a litellm stream and the response below it. Safe to call twice and after the end."""
    source = getattr(stream, "completion_stream", None)
    await stream.aclose()
    for name in _INNER:
        inner = getattr(source, name, None)
        if inner is not None and hasattr(inner, "aclose"):
            with contextlib.suppress(RuntimeError):  # it is being read at this moment: the reader's cancel closes it
                await inner.aclose()


@contextlib.contextmanager
def noting() -> Iterator[list[httpx.Response]]:
    """The responses that our own client gets in this block, which litellm hands nobody."""
    responses: list[httpx.Response] = []
    token = _noted.set(responses)
    try:
        yield responses
    finally:
        _noted.reset(token)


async def _note(response: httpx.Response) -> None:
    if (responses := _noted.get()) is not None:
        responses.append(response)


async def _connect_soon(request: httpx.Request) -> None:
    request.extensions["timeout"] = {**request.extensions.get("timeout", {}), "connect": conf.timeouts().connect}


async def _keep(litellm: Any) -> _Keeper:
    """The keeper of this loop.

    litellm caches clients by event loop and closes none. An open asynchronous generator is closed by
    `loop.shutdown_asyncgens()`, which `asyncio.run` and every server call before they close a loop.
    """
    loop = asyncio.get_running_loop()
    if loop not in _keepers:
        keeper = _keepers[loop] = _Keeper(litellm)
        await anext(keeper.closing)
    return _keepers[loop]


async def _close_at_the_end(litellm: Any, loop_id: int, client: Any) -> AsyncGenerator[None]:
    try:
        yield
    finally:
        await client.close()
        cache = litellm.in_memory_llm_clients_cache.cache_dict
        for key in [key for key in cache if str(key).endswith(f"-{loop_id}")]:
            await cache.pop(key).close()
