"""Questions being answered: what waits holds nothing, what breaks is written down, who leaves changes nothing."""

import asyncio
from collections.abc import AsyncGenerator
from functools import partial
from typing import Any

import pytest
from django.db import OperationalError, connection
from pytest_django import Settings

from agent import answering
from agent.answering import Answering, Ended, Said
from agent.answers.asked import Asked, Citation, Job
from agent.answers.services import begin_response
from agent.models import Response
from core.threads import in_thread
from documents.models import Document
from llm.errors import ModelTimeout
from llm.types import Completion, Delta, Usage
from tests.conftest import Person
from tests.documents.making import RECEIPT, make_document

pytestmark = pytest.mark.django_db(transaction=True)
ANSWER = "It is $4,950.00 [[p1: Total: $4,950.00]]."
MANY = 30


@pytest.fixture
def document(alice: Person) -> Document:
    return make_document(alice, *RECEIPT)


class Scripted:
    """In the place of `llm.client`: says the answer once `ready` is set."""

    def __init__(self, problem: Exception | None = None) -> None:
        self.asked = 0
        self.ready = asyncio.Event()
        self.problem = problem

    async def stream(self, **_: Any) -> AsyncGenerator[Delta | Completion]:
        self.asked += 1
        yield Delta("text", ANSWER[:9])
        await self.ready.wait()
        if self.problem is not None:
            raise self.problem
        yield Delta("text", ANSWER[9:])
        yield Completion(text=ANSWER, usage=Usage(3, 4))


def scripted(monkeypatch: Any, problem: Exception | None = None) -> Scripted:
    made = Scripted(problem)
    monkeypatch.setattr(answering, "client", made)
    return made


async def begun(alice: Person, document: Document) -> Job:
    asked = Asked(text="What is the total?")
    return await in_thread(partial(begin_response, actor=alice.actor, document_id=document.pk, asked=asked))


def in_transaction() -> int:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity"
            " WHERE datname = current_database() AND state LIKE 'idle in transaction%%'"
        )
        return int(cursor.fetchone()[0])


async def until(true: Any) -> None:
    async with asyncio.timeout(20):
        while not true():  # noqa: ASYNC110 - what is waited for tells nobody
            await asyncio.sleep(0.01)


def test_many_questions_wait_for_their_model_without_a_thread_or_a_connection(
    alice: Person, document: Document, monkeypatch: Any
) -> None:
    async def all_at_once() -> list[Response]:
        model = scripted(monkeypatch)
        jobs = [await begun(alice, document) for _ in range(MANY)]
        waiting = [asyncio.ensure_future(Answering(job).result()) for job in jobs]
        await until(lambda: model.asked == MANY)  # more at once than there are threads
        assert await in_thread(in_transaction) == 0
        model.ready.set()
        return await asyncio.gather(*waiting)

    rows = asyncio.run(all_at_once())
    assert {row.status for row in rows} == {"completed"}
    assert {row.answer for row in rows} == {"It is $4,950.00."}


def test_who_stops_listening_does_not_end_the_question(alice: Person, document: Document, monkeypatch: Any) -> None:
    async def leave() -> None:
        model = scripted(monkeypatch)
        streamed = Answering(await begun(alice, document))
        async for told in streamed.events():
            assert told == Said("It is $4,")
            break
        waited = asyncio.ensure_future(Answering(await begun(alice, document)).result())
        await until(lambda: model.asked == 2)
        waited.cancel()
        model.ready.set()
        await asyncio.gather(*answering._working)

    asyncio.run(leave())
    assert [(row.status, row.usage["completion_tokens"]) for row in Response.objects.all()] == [("completed", 4)] * 2


@pytest.mark.parametrize(
    ("problem", "status", "code"),
    [(ValueError("Contoso"), 500, "internal_error"), (ModelTimeout(), 503, "model_timeout")],
)
def test_what_breaks_is_told_and_written_down(
    alice: Person, document: Document, monkeypatch: Any, capsys: Any, problem: Exception, status: int, code: str
) -> None:
    async def listen() -> list[Any]:
        scripted(monkeypatch, problem).ready.set()
        return [told async for told in Answering(await begun(alice, document)).events()]

    told = asyncio.run(listen())
    assert isinstance(told[-1], Ended)
    assert told[-1].problem is not None
    assert (told[-1].problem.status, told[-1].problem.error_code) == (status, code)
    row = Response.objects.get()
    assert (row.status, row.error_code, row.answer) == ("failed", code, "It is $4,")
    assert "Contoso" not in capsys.readouterr().err


def test_an_end_is_told_even_when_the_database_is_away(alice: Person, document: Document, monkeypatch: Any) -> None:
    def away(**_: Any) -> Response:
        raise OperationalError("no connection")

    monkeypatch.setattr(answering, "finish_response", away)
    monkeypatch.setattr(answering, "fail_response", away)

    async def listen() -> list[Any]:
        scripted(monkeypatch).ready.set()
        async with asyncio.timeout(10):
            return [told async for told in Answering(await begun(alice, document)).events()]

    told = asyncio.run(listen())
    assert told[-1].problem.error_code == "internal_error"
    assert (told[-1].row.status, Response.objects.get().status) == ("failed", "in_progress")


def test_a_model_that_takes_too_long_is_given_up(
    alice: Person, document: Document, monkeypatch: Any, settings: Settings
) -> None:
    settings.ANSWER_SECONDS = 0.05

    async def wait() -> None:
        scripted(monkeypatch)
        await Answering(await begun(alice, document)).result()

    with pytest.raises(ModelTimeout):
        asyncio.run(wait())
    assert Response.objects.get().error_code == "model_timeout"


def test_a_process_that_stops_leaves_a_question_that_was_cancelled(
    alice: Person, document: Document, monkeypatch: Any
) -> None:
    async def stop() -> None:
        model = scripted(monkeypatch)
        waited = asyncio.ensure_future(Answering(await begun(alice, document)).result())
        await until(lambda: model.asked == 1)
        for task in answering._working:
            task.cancel()
        await asyncio.gather(waited, return_exceptions=True)

    asyncio.run(stop())
    row = Response.objects.get()
    assert (row.status, row.error_code, row.answer) == ("cancelled", "cancelled", "It is $4,")


def test_the_citation_is_told_where_it_stands(alice: Person, document: Document, monkeypatch: Any) -> None:
    async def listen() -> list[Any]:
        scripted(monkeypatch).ready.set()
        return [told async for told in Answering(await begun(alice, document)).events()]

    told = asyncio.run(listen())
    kinds = [type(one) for one in told]
    assert kinds == [Said, Said, Citation, Said, Ended]
    assert told[2].at == len("It is $4,950.00")
