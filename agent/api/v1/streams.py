"""An answer as server-sent events, in two dialects: ours, and the one that OpenAI's clients read."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from typing import Any, Protocol

from pydantic import BaseModel

from agent.answering import Answering, Ended, Said, Told
from agent.answers.asked import Citation
from agent.api.v1.showing import Showing, citation_answer
from agent.messages import to_json
from core.api.streams import KEEPALIVE_SECONDS

Json = dict[str, Any]
Event = tuple[str, Json]


class Dialect(Protocol):
    """How what is told is called on the wire."""

    def begin(self) -> Iterator[Event]: ...

    def tell(self, told: Told) -> Iterator[Event]: ...


class OurDialect:
    """`response.delta`, `response.citation`, then `response.completed` with the full object, or `response.error`."""

    def __init__(self, showing: Showing) -> None:
        self._showing = showing

    def begin(self) -> Iterator[Event]:
        yield from ()

    def tell(self, told: Told) -> Iterator[Event]:
        if isinstance(told, Said):
            yield "response.delta", {"text": told.text}
        elif isinstance(told, Citation):
            yield "response.citation", _plain(citation_answer(told))
        elif told.problem is not None:
            retryable = bool(getattr(told.problem, "retryable", False))
            error = {"code": told.problem.error_code, "message": told.problem.detail, "retryable": retryable}
            yield "response.error", error | {"responseId": told.row.pk.hex}
        else:
            yield "response.completed", _plain(self._showing.ended(told.row))


class OpenAIDialect:
    """The events of OpenAI's Responses API. One message with one part of text."""

    def __init__(self, showing: Showing) -> None:
        self._showing = showing
        self._place: Json = {"item_id": showing.item_id, "output_index": 0, "content_index": 0}
        self._annotations: list[Json] = []

    def begin(self) -> Iterator[Event]:
        response = _plain(self._showing.in_progress())
        yield "response.created", {"response": response}
        yield "response.in_progress", {"response": response}
        item = {"id": self._showing.item_id, "type": "message", "role": "assistant", "status": "in_progress"}
        yield "response.output_item.added", {"output_index": 0, "item": item | {"content": []}}
        part: Json = {"type": "output_text", "text": "", "annotations": [], "logprobs": []}
        yield "response.content_part.added", {**self._place, "part": part}

    def tell(self, told: Told) -> Iterator[Event]:
        if isinstance(told, Said):
            yield "response.output_text.delta", {**self._place, "delta": told.text, "logprobs": []}
        elif isinstance(told, Citation):
            annotation = _plain(self._showing.annotation(told.as_json()))
            index = len(self._annotations)
            self._annotations.append(annotation)
            event = {**self._place, "annotation_index": index, "annotation": annotation}
            yield "response.output_text.annotation.added", event
        else:
            yield from self._end(told)

    def _end(self, told: Ended) -> Iterator[Event]:
        response = _plain(self._showing.ended(told.row, told.problem))
        if told.problem is not None:
            yield "response.failed", {"response": response}
            return
        item = response["output"][0]
        text = {**self._place, "text": told.row.answer, "logprobs": []}
        yield "response.output_text.done", text
        yield "response.content_part.done", {**self._place, "part": item["content"][0]}
        yield "response.output_item.done", {"output_index": 0, "item": item}
        yield "response.completed", {"response": response}


_ALIVE = b": keepalive\n"
"""Without an empty line behind it: OpenAI's client takes one for an event, once it has seen an id."""


async def response_frames(answering: Answering, dialect: Dialect) -> AsyncGenerator[bytes, None]:
    """Numbered frames, with a comment where nothing is said for long. Hanging up does not end the question."""
    number = 0
    for kind, data in dialect.begin():
        yield _frame(number, kind, data)
        number += 1
    async for told in _patient(answering.events()):
        if told is None:
            yield _ALIVE
            continue
        for kind, data in dialect.tell(told):
            yield _frame(number, kind, data)
            number += 1


async def _patient(events: AsyncIterator[Told]) -> AsyncIterator[Told | None]:
    """The same events, and None whenever nothing came for a while."""
    coming: asyncio.Future[Told] | None = None
    try:
        while True:
            coming = coming or asyncio.ensure_future(anext(events))
            done, _ = await asyncio.wait((coming,), timeout=KEEPALIVE_SECONDS)
            if not done:
                yield None
                continue
            try:
                told = coming.result()
            except StopAsyncIteration:
                return
            coming = None
            yield told
    finally:
        if coming is not None:
            coming.cancel()


def _frame(number: int, kind: str, data: Json) -> bytes:
    body = to_json({"type": kind, "sequence_number": number, **data})
    return f"id: {number}\nevent: {kind}\ndata: {body}\n\n".encode()


def _plain(answer: BaseModel) -> Json:
    return answer.model_dump(mode="json", by_alias=True)
