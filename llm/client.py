"""The one way to a model: messages out, deltas in, closed by one completion.

    async for item in stream(model=…, messages=…, about=…):   # Delta, Delta, …, Completion
        …

Nothing here touches the database but now and then a look at the providers (`llm.providers`), and no thread waits while
a model thinks. Closing the generator, or cancelling the task that reads it, closes the connection to the provider.
"""

import asyncio
import dataclasses
import json
import random
import time
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing, nullcontext
from typing import Any

import structlog

from llm import conf, connections, errors, pricing, providers, registry, runtime
from llm.assembling import Assembler
from llm.content import DocumentContent
from llm.failures import translate
from llm.offline_provider import OfflineRequest, handing_over
from llm.reading import Piece, Reader, reader
from llm.requests import ModelRequest, arguments
from llm.sources import Sources
from llm.types import ChatMessage, Completion, Delta

log = structlog.get_logger(__name__)

_TRY_AGAIN = (errors.ModelBusy, errors.ModelFailed, errors.ModelUnreachable)
_FIRST_PAUSE = 0.5  # seconds; doubles with each try
_LONGEST_PAUSE = 20.0  # seconds; a provider that asks for more gets its error shown instead


async def stream(
    *,
    model: str,
    messages: Sequence[ChatMessage],
    about: Sources,
    tools: Sequence[dict[str, Any]] = (),
    document: DocumentContent | None = None,
    response_format: dict[str, Any] | None = None,
    temperature: float | None = None,
    max_tokens: int | None = None,
) -> AsyncGenerator[Delta | Completion]:
    """Ask a model; yield deltas as they come, last the completion.

    `about` says whose text is in the messages; `document` is read by the offline model only. Thinking is asked for
    where the model can, never for a `response_format`. `max_tokens` counts the answer without thinking.
    Raises: ModelError; when it is one of the middle of an answer, its `partial` is what was said.
    """
    request = ModelRequest(model, messages, about, tools, response_format, temperature, max_tokens)
    tries_left = 0 if registry.provider_of(model) == registry.OFFLINE_PROVIDER else conf.retries()
    pause = _FIRST_PAUSE
    while True:
        attempt = _Attempt(request, document)
        try:
            async with aclosing(attempt.run()) as items:
                async for item in items:
                    yield item
            return
        except _TRY_AGAIN as error:
            if attempt.begun or tries_left <= 0 or (error.retry_after or 0) > _LONGEST_PAUSE:
                raise
            wait = max(error.retry_after or 0, pause * random.uniform(0.5, 1.5))  # noqa: S311 — jitter, no secret
            log.info("model_call.retried", code=error.error_code, wait_seconds=round(wait, 2), tries_left=tries_left)
        tries_left, pause = tries_left - 1, pause * 2
        await asyncio.sleep(wait)


async def complete(
    *,
    model: str,
    messages: Sequence[ChatMessage],
    about: Sources,
    tools: Sequence[dict[str, Any]] = (),
    document: DocumentContent | None = None,
    response_format: dict[str, Any] | None = None,
    temperature: float | None = None,
    max_tokens: int | None = None,
) -> Completion:
    """Ask a model and wait for the whole answer. Raises: ModelError, as `stream` does."""
    items = stream(
        model=model,
        messages=messages,
        about=about,
        tools=tools,
        document=document,
        response_format=response_format,
        temperature=temperature,
        max_tokens=max_tokens,
    )
    async with aclosing(items):
        async for item in items:
            if isinstance(item, Completion):
                return item
    raise errors.ModelReplyEmpty


class _Attempt:
    """One try of a call. `begun` once the model has said something."""

    def __init__(self, request: ModelRequest, document: DocumentContent | None) -> None:
        self._request = request
        self._document = document
        self._answer = Assembler(model=request.model, tool_names=request.tool_names, used_ids=request.used_call_ids)

    @property
    def begun(self) -> bool:
        return self._answer.said_something

    async def run(self) -> AsyncGenerator[Delta | Completion]:
        litellm = await runtime.litellm()
        await providers.freshen()
        started = time.monotonic()
        source: Reader | None = None
        try:
            first = asyncio.get_running_loop().time() + conf.timeouts().first
            async with asyncio.timeout_at(first):
                source = await self._open(litellm)
            async for piece in _pieces(source, first):
                for delta in self._answer.take(piece):
                    yield delta
            for delta in self._answer.finish():
                yield delta
        except errors.ModelError as error:
            error.partial = self._answer.completion()
            raise
        except Exception as error:  # litellm and what lies below raise whatever they like
            raise translate(error, begun=self.begun, partial=self._answer.completion()) from error
        finally:
            if source is not None:
                await source.aclose()
        yield self._close(litellm, source.finished, time.monotonic() - started)

    async def _open(self, litellm: Any) -> Reader:
        request = self._request
        provider = registry.provider_of(request.model)
        call = arguments(litellm, request) | await connections.options(litellm, provider)
        offline = OfflineRequest(request.messages, request.tools, self._document, request.response_format)
        with (
            handing_over(offline) if provider == registry.OFFLINE_PROVIDER else nullcontext(),
            connections.noting() as responses,
        ):
            stream = await litellm.acompletion(**call)
        return reader(litellm, provider, stream, responses)

    def _close(self, litellm: Any, finished: bool, seconds: float) -> Completion:
        """The completion with its price. Raises: ModelError for an answer that ended wrongly."""
        answer = self._answer.completion()
        cost = pricing.cost_usd(litellm, model=self._request.model, usage=self._answer.usage_seen)
        answer = dataclasses.replace(answer, cost_usd=cost)
        if not finished:
            raise errors.ModelStreamBroken(partial=answer) if self.begun else errors.ModelReplyEmpty(partial=answer)
        if answer.finish_reason == "length" and self._is_useless(answer):
            raise errors.ModelReplyCut(partial=answer)
        log.info(
            "model_call.finished",
            model=answer.model,
            finish_reason=answer.finish_reason,
            prompt_tokens=answer.usage.prompt_tokens,
            completion_tokens=answer.usage.completion_tokens,
            tool_calls=len(answer.tool_calls),
            duration_ms=round(seconds * 1000),
        )
        return answer

    def _is_useless(self, answer: Completion) -> bool:
        """Text that was cut can still be read; a structure or a call that was cut cannot be used."""
        if self._request.response_format or not (answer.text or answer.tool_calls):
            return True
        return not all(_is_json(call.arguments) for call in answer.tool_calls)


async def _pieces(source: Reader, first: float) -> AsyncIterator[Piece]:
    """The pieces of an answer, none of them awaited longer than allowed. Raises: TimeoutError."""
    loop = asyncio.get_running_loop()
    between = conf.timeouts().between
    limit = first
    while True:
        try:
            async with asyncio.timeout_at(limit):
                pieces = await anext(source)
        except StopAsyncIteration:
            return
        for piece in pieces:
            yield piece
        limit = loop.time() + between


def _is_json(text: str) -> bool:
    try:
        json.loads(text or "{}")
    except ValueError:
        return False
    return True
