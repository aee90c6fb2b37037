"""Answering a question about one document: begin and commit, await the model, finish and commit.

No database connection waits for the model. The model is asked by a task of this process that nobody's connection ends:
whoever hangs up pays for the answer and finds it in the row, so that what it cost is always known to the cent. What is
told on the way waits in memory, bounded by the length of an answer.
"""

import asyncio
import traceback
from collections.abc import AsyncIterator
from contextlib import aclosing
from contextvars import Context
from dataclasses import dataclass
from functools import partial
from typing import Any

import structlog
from django.conf import settings
from django.db import DatabaseError

from agent.answers.asked import TRIES, Citation, Draft, Job
from agent.answers.asking import again_messages, build_messages
from agent.answers.citing import Citer, cite_values
from agent.answers.costing import most_tokens
from agent.answers.marks import Mark, MarkReader, NothingFound, Piece
from agent.answers.services import fail_response, finish_response
from agent.errors import AnswerCostLimit, AnswerCrashed, AnswerInvalid
from agent.messages import clean_text, to_json
from agent.models import Response
from core.errors import DomainError
from core.threads import in_thread
from documents.answers import parse_object
from documents.errors import ExtractionFailed
from documents.leaving import sources_of
from llm import client, registry
from llm.errors import ModelError, ModelReplyEmpty, ModelTimeout
from llm.types import ChatMessage, Completion
from schemas_app.validation import validate_data

log = structlog.get_logger(__name__)

_working: set["asyncio.Task[Response]"] = set()


@dataclass(frozen=True, slots=True)
class Said:
    """A piece of the answer, without marks."""

    text: str


@dataclass(frozen=True, slots=True)
class Ended:
    """The last word: the row as it was kept, and what went wrong."""

    row: Response
    problem: DomainError | None = None


Told = Said | Citation | Ended


class Answering:
    """A question that is to be answered: read `events` once, or wait for `result`. The model is asked from then on."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self._draft = Draft()
        self._told: asyncio.Queue[Told] = asyncio.Queue()

    async def events(self) -> AsyncIterator[Told]:
        """What is said, as it is said; the last is `Ended`."""
        self._start()
        while True:
            told = await self._told.get()
            yield told
            if isinstance(told, Ended):
                return

    async def result(self) -> Response:
        """The kept answer. Raises: ModelError, AnswerInvalid, AnswerCostLimit."""
        return await asyncio.shield(self._start())

    def _start(self) -> "asyncio.Task[Response]":
        """Where it is listened to: the loop of a stream need not be that of its request."""
        task = asyncio.get_running_loop().create_task(self._work(), context=Context())
        _working.add(task)
        task.add_done_callback(_done)
        return task

    async def _work(self) -> Response:
        try:
            async with asyncio.timeout(settings.ANSWER_SECONDS):
                await (self._prose() if self.job.asked.response_format is None else self._structure())
            row = await in_thread(partial(finish_response, job=self.job, draft=self._draft))
        except DomainError as problem:
            await self._failed(problem)
            raise
        except TimeoutError as problem:
            timeout = ModelTimeout()
            await self._failed(timeout)
            raise timeout from problem
        except Exception as crash:  # noqa: BLE001 - the outermost shell of a task: whoever listens must hear an end
            at = traceback.format_tb(crash.__traceback__)[-4:]  # where, and not what: a message may quote the document
            log.error("response.crashed", response_id=self.job.response_id.hex, problem=type(crash).__name__, at=at)
            told = AnswerCrashed()
            await self._failed(told)
            raise told from None
        except asyncio.CancelledError:
            await asyncio.shield(in_thread(partial(fail_response, job=self.job, draft=self._draft, problem=None)))
            raise
        self._told.put_nowait(Ended(row))
        return row

    async def _failed(self, problem: DomainError) -> None:
        if isinstance(problem, ModelError) and problem.partial is not None:
            self._draft.spend(problem.partial)
        try:
            row = await in_thread(partial(fail_response, job=self.job, draft=self._draft, problem=problem))
        except DatabaseError as trouble:  # the reaper ends the row; whoever listens must hear an end now
            log.warning("response.not_kept", response_id=self.job.response_id.hex, problem=type(trouble).__name__)
            row = Response(pk=self.job.response_id, status=Response.Status.FAILED, answer=self._draft.text)
        self._told.put_nowait(Ended(row, problem))

    async def _asked(self, messages: list[ChatMessage]) -> dict[str, Any]:
        """Arguments of a call. Models that reason take no temperature."""
        return {
            "model": self.job.model,
            "messages": messages,
            "about": await in_thread(partial(sources_of, self.job.document_id)),
            "document": self.job.source.content,
            "temperature": None if registry.described(self.job.model).reasons else 0.0,
            "max_tokens": most_tokens(self.job.asked),
        }

    # --- prose with marks ---------------------------------------------------------------------------------------

    async def _prose(self) -> None:
        reader, citer = MarkReader(), Citer(self.job.source.content.pages)
        messages = build_messages(self.job.asked, self.job.source)
        async with aclosing(client.stream(**await self._asked(messages))) as items:
            async for item in items:
                if isinstance(item, Completion):
                    self._draft.spend(item)
                elif item.kind == "text":
                    for piece in reader.feed(clean_text(item.text)):
                        await self._take(piece, citer)
        for piece in reader.close():
            await self._take(piece, citer)
        self._draft.dropped = citer.dropped
        if not self._draft.text:
            raise ModelReplyEmpty

    async def _take(self, piece: Piece, citer: Citer) -> None:
        """Looking a quote up may take long where a page is crowded: not on the loop."""
        if isinstance(piece, str):
            self._say(piece)
        elif isinstance(piece, NothingFound):
            citer.stop()
        elif isinstance(piece, Mark):
            citation = await asyncio.to_thread(citer.cite, piece, at=len(self._draft.text))
            if citation is not None:
                self._cite(citation)

    def _cite(self, citation: Citation) -> None:
        self._draft.citations.append(citation)
        self._told.put_nowait(citation)

    def _say(self, text: str) -> None:
        self._draft.text += text
        self._told.put_nowait(Said(text))

    # --- JSON of a schema ---------------------------------------------------------------------------------------

    async def _structure(self) -> None:
        """Nothing is told before the answer fits: a second try would contradict it."""
        wanted = dict(self.job.asked.response_format or {})
        messages = build_messages(self.job.asked, self.job.source)
        for _ in range(TRIES):
            if (self._draft.cost_usd or 0) >= self.job.cost_cap:
                raise AnswerCostLimit
            said = await client.complete(**await self._asked(messages), response_format=wanted)
            self._draft.spend(said)
            data, problem = await asyncio.to_thread(_fitting, wanted, said.text)
            if data is not None:
                pages = self.job.source.content.pages
                citations, self._draft.dropped = await asyncio.to_thread(cite_values, data, pages)
                self._say(to_json(data))
                for citation in citations:
                    self._cite(citation)
                return
            messages = again_messages(messages, said.text, problem)
        raise AnswerInvalid


def _fitting(wanted: dict[str, Any], text: str) -> tuple[dict[str, Any] | None, str]:
    """The data, or what is wrong with it."""
    try:
        data = parse_object(text)
    except ExtractionFailed:
        return None, "It is not one JSON object."
    problems = validate_data(wanted, data)
    return (
        (None, "; ".join(f"{one['path']}: {one['message']}" for one in problems[:5])[:1000]) if problems else (data, "")
    )


def _done(task: "asyncio.Task[Response]") -> None:
    """Nobody may be waiting any more: then its problem, which the row has, is not an unread one."""
    _working.discard(task)
    if not task.cancelled():
        task.exception()
