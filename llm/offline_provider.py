"""`docrouter/offline` as a provider of litellm's, so that the built-in model takes the same path as all others.

The engine answers at once and whole; here its reply becomes a stream. The document comes beside the messages, as pages
with words and boxes, through a context variable: litellm copies and logs what it is given as arguments.
"""

import asyncio
import contextlib
import re
from collections.abc import AsyncIterator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from llm import conf
from llm.content import DocumentContent
from llm.offline.engine import Reply, reply
from llm.registry import OFFLINE_PROVIDER
from llm.types import ChatMessage

_WORDS = re.compile(r"\S+\s*|\s+")
_WORDS_IN_A_CHUNK = 3
_CHARACTERS_IN_A_CALL_CHUNK = 400
_engine = ThreadPoolExecutor(max_workers=2, thread_name_prefix="offline-model")  # it computes; more would only queue


@dataclass(frozen=True, slots=True)
class OfflineRequest:
    """What the engine is asked, as the client's caller said it."""

    messages: Sequence[ChatMessage]
    tools: Sequence[dict[str, Any]]
    document: DocumentContent | None
    response_format: dict[str, Any] | None


_request: ContextVar[OfflineRequest | None] = ContextVar("offline_request", default=None)


@contextlib.contextmanager
def handing_over(request: OfflineRequest) -> Iterator[None]:
    """Let a call that starts in this block find its request."""
    token = _request.set(request)
    try:
        yield
    finally:
        _request.reset(token)


def registration(litellm: Any) -> dict[str, Any]:
    """The entry for litellm's map of custom providers. The class is born here as its base needs the lazy import."""

    class OfflineModel(litellm.CustomLLM):  # type: ignore[misc]  # a base that exists once litellm does
        def astreaming(self, model: str, **_: Any) -> AsyncIterator[Any]:
            request = _request.get()  # now: once the stream is read, the block of handing_over is left
            if request is None:
                raise LookupError("docrouter/offline is called through llm.client only")
            return _stream(litellm, model, request)

    return {"provider": OFFLINE_PROVIDER, "custom_handler": OfflineModel()}


async def _stream(litellm: Any, model: str, request: OfflineRequest) -> AsyncIterator[Any]:
    answer = await asyncio.get_running_loop().run_in_executor(_engine, _ask, request)
    delay = conf.offline_chunk_delay() if request.response_format is None else 0  # nobody watches data as it comes
    for delta in _deltas(answer):
        yield _chunk(litellm, model, delta)
        await asyncio.sleep(delay)
    yield _chunk(litellm, model, {}, "tool_calls" if answer.tool_calls else "stop")


def _ask(request: OfflineRequest) -> Reply:
    return reply(
        messages=request.messages,
        tools=request.tools,
        document=request.document,
        response_format=request.response_format,
    )


def _deltas(answer: Reply) -> Iterator[dict[str, Any]]:
    for piece in _pieces(answer.thinking):
        yield {"reasoning_content": piece}
    for piece in _pieces(answer.text):
        yield {"content": piece}
    for index, call in enumerate(answer.tool_calls):
        start = {"index": index, "id": call.id, "type": "function", "function": {"name": call.name, "arguments": ""}}
        yield {"tool_calls": [start]}
        for at in range(0, len(call.arguments), _CHARACTERS_IN_A_CALL_CHUNK):
            part = call.arguments[at : at + _CHARACTERS_IN_A_CALL_CHUNK]
            yield {"tool_calls": [{"index": index, "function": {"arguments": part}}]}


def _pieces(text: str) -> Iterator[str]:
    words = _WORDS.findall(text)
    for at in range(0, len(words), _WORDS_IN_A_CHUNK):
        yield "".join(words[at : at + _WORDS_IN_A_CHUNK])


def _chunk(litellm: Any, model: str, delta: dict[str, Any], finish: str | None = None) -> Any:
    choice = {"index": 0, "delta": {"role": "assistant", **delta}, "finish_reason": finish}
    return litellm.ModelResponseStream(model=model, choices=[choice])
