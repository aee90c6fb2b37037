"""A plain call of a model: the whole answer as JSON, or its text in frames as it comes."""

import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Any

from django.http import HttpResponseBase, StreamingHttpResponse

from core.api.views import Result
from core.threads import in_thread
from llm import catalog, client, registry
from llm.api.bodies import CompletionAnswer, CompletionBody
from llm.errors import ModelError
from llm.sources import NO_DOCUMENT
from llm.types import Completion, Delta

RUN_EXAMPLE = {
    "model": "docrouter/offline",
    "messages": [{"role": "user", "content": "Say hello"}],
    "temperature": 0.7,
    "stream": False,
}
Items = AsyncGenerator[Delta | Completion]


async def run(body: CompletionBody) -> Result:
    """Raises: UnknownModel, ModelError until the model has said something; later an error is a frame of its own."""
    model = await in_thread(lambda: catalog.require_usable_model(body.model))
    asked: dict[str, Any] = {
        "model": model,
        "messages": [message.model_dump() for message in body.messages],
        "about": NO_DOCUMENT,
        "max_tokens": body.max_tokens,
        "temperature": _temperature(body),
    }
    if body.stream:
        return await _streamed(client.stream(**asked))
    return CompletionAnswer.of(model, await client.complete(**asked))


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
