"""The built-in model on the path of all models: the engine's reply as a stream, the document beside the messages."""

import asyncio
import json
import time
from typing import Any

import pytest

from llm import client, errors, offline_provider
from llm.catalog import OFFLINE_MODEL
from llm.content import DocumentContent, PageContent, Word
from llm.offline_provider import OfflineRequest
from llm.sources import NO_DOCUMENT
from llm.types import ToolRequest
from tests.llm.conftest import QUESTION, ask, tool


class Reply:
    """What the engine answers, as far as the provider reads it."""

    def __init__(self, text: str = "", thinking: str = "", calls: tuple[ToolRequest, ...] = ()) -> None:
        self.text, self.thinking, self.tool_calls = text, thinking, calls


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch, warm_litellm: None) -> Any:
    """Put a function in the engine's place; returns what it was asked."""

    def place(answer: Any) -> list[OfflineRequest]:
        asked: list[OfflineRequest] = []

        def reply(request: OfflineRequest) -> Reply:
            asked.append(request)
            return answer(request) if callable(answer) else answer

        monkeypatch.setattr(offline_provider, "_ask", reply)
        return asked

    return place


async def test_a_reply_streams_as_thinking_words_and_calls(engine: Any) -> None:
    arguments = json.dumps({"name": "Rechnung „A“", "fields": list(range(400))})
    calls = (ToolRequest("call_1", "create_schema", arguments), ToolRequest("call_2", "list_tags", "{}"))
    text = "I found **nine** fields:\n\n- total\n- date  \n\nShall I go on?"
    engine(Reply(text, "Two tables, one box of totals.", calls))
    deltas, completion = await ask(OFFLINE_MODEL, tools=[tool("create_schema"), tool("list_tags")])
    assert [delta.kind for delta in deltas] == sorted((delta.kind for delta in deltas), reverse=True)
    assert "".join(delta.text for delta in deltas if delta.kind == "text") == completion.text == text
    assert completion.thinking == "Two tables, one box of totals."
    assert completion.tool_calls == calls
    assert completion.finish_reason == "tool_calls"
    assert completion.cost_usd == 0
    assert len(deltas) > 4


async def test_the_engine_gets_the_very_document_and_everything_that_was_asked(engine: Any) -> None:
    document = DocumentContent("d1", "invoice.pdf")
    wanted = {"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "object"}}}
    asked = engine(Reply("{}"))
    await ask(OFFLINE_MODEL, document=document, response_format=wanted)
    assert asked[0].document is document
    assert asked[0].response_format == wanted
    assert asked[0].messages == QUESTION


async def test_questions_at_the_same_time_keep_their_documents(engine: Any) -> None:
    engine(lambda request: Reply(request.document.name))
    documents = [DocumentContent(str(number), f"file {number}.pdf") for number in range(20)]
    answers = await asyncio.gather(
        *[
            client.complete(model=OFFLINE_MODEL, messages=QUESTION, about=NO_DOCUMENT, document=document)
            for document in documents
        ]
    )
    assert [answer.text for answer in answers] == [document.name for document in documents]


async def test_chunks_come_apart_in_time_so_that_streaming_shows(engine: Any, settings: Any) -> None:
    settings.OFFLINE_CHUNK_DELAY_MS = 30
    engine(Reply("one two three four five six seven eight nine"))
    started = time.monotonic()
    deltas, _ = await ask(OFFLINE_MODEL)
    assert len(deltas) == 3
    assert time.monotonic() - started >= 0.09


async def test_a_fault_of_the_engine_is_told_once_and_leaves_no_words_in_the_log(
    engine: Any, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(request: OfflineRequest) -> Reply:
        raise KeyError("words of the document")

    asked = engine(fail)
    with pytest.raises(errors.ModelError):
        await ask(OFFLINE_MODEL)
    assert len(asked) == 1
    assert "test_offline_provider.py" in caplog.text
    assert "words of the document" not in caplog.text


async def test_the_loop_stays_free_while_the_engine_computes(engine: Any) -> None:
    def slow(request: OfflineRequest) -> Reply:
        time.sleep(0.2)
        return Reply("done")

    engine(slow)
    ticks = 0
    asking = asyncio.create_task(client.complete(model=OFFLINE_MODEL, messages=QUESTION, about=NO_DOCUMENT))
    while not asking.done():
        await asyncio.sleep(0.01)
        ticks += 1
    assert (await asking).text == "done"
    assert ticks > 5


async def test_the_real_engine_reads_a_document_through_the_whole_path(warm_litellm: None) -> None:
    words = tuple(
        Word(text, 0.1 + 0.1 * at, 0.1 + 0.05 * line, 0.18 + 0.1 * at, 0.12 + 0.05 * line, line=line)
        for line, texts in enumerate([["Invoice", "number:", "A-4711"], ["Total:", "1,234.50"]])
        for at, text in enumerate(texts)
    )
    page = PageContent(1, 612, 792, "Invoice number: A-4711\nTotal: 1,234.50", words)
    properties = {"invoice_number": {"type": "string"}, "total": {"type": "number"}}
    schema = {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}
    answer = await client.complete(
        model=OFFLINE_MODEL,
        messages=QUESTION,
        about=NO_DOCUMENT,
        document=DocumentContent("d1", "invoice.pdf", (page,)),
        response_format={"type": "json_schema", "json_schema": {"name": "invoice", "schema": schema, "strict": True}},
    )
    assert json.loads(answer.text) == {"invoice_number": "A-4711", "total": 1234.5}
