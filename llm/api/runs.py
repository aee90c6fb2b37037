"""A plain call of a model: the whole answer as JSON, or its text in frames as it comes. What it used is kept."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing
from functools import partial
from typing import Any

from django.http import HttpResponseBase, StreamingHttpResponse

from core.api.views import Result
from core.threads import in_thread
from llm import catalog, client, embeddings, registry
from llm.api.bodies import CompletionAnswer, CompletionBody
from llm.embeddings import Embedding
from llm.errors import ModelError, ModelReplyEmpty
from llm.services import PlainCaller, record_plain_call
from llm.sources import NO_DOCUMENT
from llm.types import Completion, Delta, Usage

RUN_EXAMPLE = {
    "model": "docrouter/offline",
    "messages": [{"role": "user", "content": "Say hello"}],
    "temperature": 0.7,
    "stream": False,
}
Items = AsyncGenerator[Delta | Completion]


async def run(body: CompletionBody, caller: PlainCaller) -> Result:
    """Raises: UnknownModel, ModelError until the model has said something; later an error is a frame of its own."""
    model = await in_thread(lambda: catalog.require_usable_model(body.model))
    asked: dict[str, Any] = {
        "model": model,
        "messages": [message.model_dump() for message in body.messages],
        "about": NO_DOCUMENT,
        "max_tokens": body.max_tokens,
        "temperature": _temperature(body),
    }
    items = _booked(client.stream(**asked), partial(record_plain_call, caller=caller, kind="chat", model=model))
    if body.stream:
        return await _streamed(items)
    async with aclosing(items):
        async for item in items:
            if isinstance(item, Completion):
                return CompletionAnswer.of(model, item)
    raise ModelReplyEmpty


async def embed(model: str, text: str, caller: PlainCaller) -> Embedding:
    """The vector of a text that somebody typed. Raises: ModelError."""
    book = partial(record_plain_call, caller=caller, kind="embedding", model=model)
    try:
        answer = await embeddings.embed(model=model, text=text, about=NO_DOCUMENT)
    except ModelError as problem:
        await in_thread(partial(book, usage=Usage(), cost_usd=None, error_code=problem.error_code))
        raise
    await in_thread(partial(book, usage=answer.usage, cost_usd=answer.cost_usd))
    return answer


async def _booked(items: Items, book: Callable[..., None]) -> Items:
    """The same items; what they used is written down however they end: said, broken, or nobody listens any more."""
    said, code = Completion(), "cancelled"
    try:
        async with aclosing(items):
            async for item in items:
                if isinstance(item, Completion):
                    said, code = item, ""
                yield item
    except ModelError as problem:
        said, code = problem.partial or said, problem.error_code
        raise
    finally:
        done = partial(book, usage=said.usage, cost_usd=said.cost_usd, error_code=code)
        await asyncio.shield(in_thread(done))


def _temperature(body: CompletionBody) -> float | None:
    """What was asked for is sent as it is; our default only to models that take any."""
    if "temperature" not in body.model_fields_set and registry.described(body.model).reasons:
        return None
    return body.temperature


async def _streamed(items: Items) -> HttpResponseBase:
    first = await anext(items)
    response = StreamingHttpResponse(_frames(items, first), content_type="text/plain; charset=utf-8")
    response["X-Accel-Buffering"] = "no"  # a proxy that collects would take the point away
    return response


async def _frames(items: Items, first: Delta | Completion) -> AsyncIterator[bytes]:
    async with aclosing(items):
        try:
            if shown := _shown(first):
                yield shown
            async for item in items:
                if shown := _shown(item):
                    yield shown
        except ModelError as problem:
            yield _frame({"error": problem.detail})
            return
    yield _frame({"chunk": "", "done": True})


def _shown(item: Delta | Completion) -> bytes:
    """Thinking is no part of the answer; the completion has nothing new."""
    return _frame({"chunk": item.text, "done": False}) if isinstance(item, Delta) and item.kind == "text" else b""


def _frame(data: dict[str, Any]) -> bytes:
    return b"data: " + json.dumps(data, separators=(",", ":")).encode() + b"\n\n"
