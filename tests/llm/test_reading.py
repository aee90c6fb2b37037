"""Answers read below litellm's wrapper: however the bytes are cut, what the events say; and when we keep off."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from llm import assembling, client, errors, reading, runtime
from llm.assembling import Assembler
from llm.reading import Direct, Wire, Wrapped, anthropic_text, openai_text, reader
from llm.sources import NO_DOCUMENT
from llm.types import Completion
from tests.fakes import anthropic_wire, openai_wire
from tests.fakes.provider import FakeProvider
from tests.fakes.steps import Call, Step
from tests.llm.conftest import ANTHROPIC, OPENAI, QUESTION, ask

STEP = Step(
    text="Ärger ≠ “trouble” 🙂", thinking="Well …", calls=(Call("read", {"a": 1}, "c1"), Call("list", {}, "c2"))
)


class Cut(httpx.AsyncByteStream):
    """A response body that arrives in the given parts."""

    def __init__(self, parts: Sequence[bytes]) -> None:
        self._parts = parts
        self.closed = False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for part in self._parts:
            yield part

    async def aclose(self) -> None:
        self.closed = True


class Opened:
    """As much of litellm's wrapper as hanging up needs."""

    completion_stream = None

    async def aclose(self) -> None:
        """Nothing below."""


async def _source(body: Cut) -> Direct:
    litellm = await runtime.litellm()
    parser = litellm.OpenAIGPTConfig().get_model_response_iterator(streaming_response=None, sync_stream=False)
    return Direct(Opened(), httpx.Response(200, stream=body), Wire(openai_text, parser.chunk_parser))


async def _read(*parts: bytes) -> Any:
    body = Cut(parts)
    source = await _source(body)
    assembler = Assembler(model="m")
    deltas = []
    try:
        async for pieces in source:
            deltas += [delta for piece in pieces for delta in assembler.take(piece)]
    finally:
        await source.aclose()
    assert body.closed
    return SimpleNamespace(deltas=deltas, completion=assembler.completion(), finished=source.finished)


def _body(**more: Any) -> bytes:
    return b"".join(openai_wire.frames(STEP, {"model": "m", "stream_options": {"include_usage": True}, **more}))


def _said(completion: Completion) -> Any:
    calls = [(call.name, json.loads(call.arguments)) for call in completion.tool_calls]
    return completion.text, completion.thinking, calls, completion.usage.total_tokens, completion.finish_reason


@pytest.mark.usefixtures("warm_litellm")
@pytest.mark.parametrize("size", [1, 7, 100, 100_000])
@pytest.mark.parametrize("ending", [b"\n", b"\r\n"])
async def test_an_answer_is_the_same_wherever_its_bytes_are_cut(size: int, ending: bytes) -> None:
    body = _body().replace(b"\n", ending)
    answer = await _read(*[body[at : at + size] for at in range(0, len(body), size)])
    wanted = (STEP.text, STEP.thinking, [("read", {"a": 1}), ("list", {})], 18, "tool_calls")
    assert (_said(answer.completion), answer.finished) == (wanted, True)


@pytest.mark.usefixtures("warm_litellm")
async def test_what_arrives_together_is_one_delta() -> None:
    step = Step(text="word " * 200, piece=5)
    answer = await _read(b"".join(openai_wire.frames(step, {})))
    assert [delta.text for delta in answer.deltas] == [step.text]


@pytest.mark.usefixtures("warm_litellm")
async def test_a_last_line_without_its_end_and_without_done_still_counts() -> None:
    body = _body().removesuffix(b"data: [DONE]\n\n").rstrip()
    assert (await _read(b": a comment\n\nevent: x\n\n", body)).completion.usage.total_tokens == 18


@pytest.mark.usefixtures("warm_litellm")
async def test_words_before_a_line_that_cannot_be_read_are_handed_on() -> None:
    whole = b"".join(openai_wire.frames(Step(text="Half of it"), {})[:2]) + b"data: {no json\n\n"
    source = await _source(Cut([whole]))
    assert await anext(source) == ["Half of it"]
    with pytest.raises(json.JSONDecodeError):
        await anext(source)
    assert not source.finished


@pytest.mark.usefixtures("warm_litellm")
async def test_an_error_in_the_stream_is_an_error() -> None:
    with pytest.raises(Exception, match="overloaded"):
        await _read(b'data: {"error": {"message": "overloaded", "code": 503}}\n\n')


@pytest.mark.usefixtures("warm_litellm")
async def test_a_line_that_never_ends_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "_MAX_LINE_BYTES", 100)
    with pytest.raises(errors.ModelReplyTooLong):
        await _read(*[b"data: " + b"x" * 60] * 3)


@pytest.mark.usefixtures("way")
async def test_a_model_that_does_not_stop_is_cut_off_and_keeps_what_it_said(
    fake_provider: FakeProvider, either_model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(assembling, "MAX_CHARS", 200)
    fake_provider.add(Step(text=" ".join(str(number) for number in range(3000)), delay=0.001))
    with pytest.raises(errors.ModelReplyTooLong) as caught:
        await ask(either_model)
    assert caught.value.partial
    assert caught.value.partial.text.startswith("0 1 2 3 ")
    assert not caught.value.retryable
    assert len(fake_provider.received) == 1
    assert await asyncio.to_thread(fake_provider.wait_gone)


async def test_both_wires_are_read_directly(fake_provider: FakeProvider, either_model: str, monkeypatch: Any) -> None:
    used: list[str] = []

    def spy(*given: Any) -> Any:
        used.append(type(found := reader(*given)).__name__)
        return found

    monkeypatch.setattr(client, "reader", spy)
    fake_provider.add(Step(text="Fine."))
    await ask(either_model)
    assert used == ["Direct"]


async def test_the_connection_of_a_whole_answer_is_used_again(fake_provider: FakeProvider, either_model: str) -> None:
    fake_provider.add(Step(text="Fine.", repeat=3))
    for _ in range(3):
        await client.complete(model=either_model, messages=QUESTION, about=NO_DOCUMENT)
    assert len(fake_provider._writers) == 1


def test_wires_and_shapes_that_we_do_not_know_are_left_to_litellm() -> None:
    for provider, source in (("gemini", object()), ("openai", object()), ("anthropic", object())):
        stream = SimpleNamespace(completion_stream=source)
        assert isinstance(reader(None, provider, stream, []), Wrapped)


@pytest.mark.parametrize(("model", "wire"), [(OPENAI, openai_wire), (ANTHROPIC, anthropic_wire)])
def test_only_events_that_are_nothing_but_text_are_read_without_litellm(model: str, wire: Any) -> None:
    step = Step(text="abc", thinking="hm", signature="s", calls=(Call("read", {"a": 1}, "c1"),))
    frames = b"".join(wire.frames(step, {"model": model, "stream_options": {"include_usage": True}}))
    events = [json.loads(line[5:]) for line in frames.split(b"\n") if line.startswith(b"data: {")]
    read = openai_text if wire is openai_wire else anthropic_text
    assert [text for event in events if (text := read(event))] == ["abc"]
    assert openai_text({"choices": [{"delta": {"content": "a", "refusal": "b"}, "finish_reason": None}]}) is None
    assert openai_text({"choices": [{"delta": {"content": "a"}, "finish_reason": "stop"}]}) is None
    assert openai_text({"choices": [{"delta": {"content": "a"}, "finish_reason": None}], "usage": {"x": 1}}) is None
