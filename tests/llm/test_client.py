"""The client against providers that behave: what is sent, what comes back, what it cost."""

import asyncio
import json
import sys
import time
from contextlib import aclosing
from decimal import Decimal
from typing import Any

import pytest

from llm import client
from llm.sources import NO_DOCUMENT
from llm.types import Completion, Delta, ToolRequest, Usage
from tests.fakes.fixtures import ANTHROPIC_KEY, OPENAI_KEY
from tests.fakes.provider import FakeProvider
from tests.fakes.steps import Call, Fault, Step
from tests.llm.conftest import ANTHROPIC, OPENAI, QUESTION, ask, tool

pytestmark = pytest.mark.usefixtures("way")
SIGNATURE = 'EqQBCk/+a==\\u00e9"<b>'


async def test_text_streams_in_pieces_and_the_completion_has_all_of_it(
    fake_provider: FakeProvider, either_model: str
) -> None:
    fake_provider.add(Step(text="The total is 1.234,50 € and nothing else.", usage=(120, 14), delay=0.02))
    deltas, completion = await ask(either_model)
    assert len(deltas) > 2
    assert "".join(delta.text for delta in deltas) == completion.text == "The total is 1.234,50 € and nothing else."
    assert completion.finish_reason == "stop"
    assert completion.usage == Usage(120, 14)
    assert completion.model == either_model


async def test_an_answer_has_the_price_of_the_registry(fake_provider: FakeProvider) -> None:
    fake_provider.add(Step(text="Yes.", usage=(1_000_000, 1_000_000)))
    _, completion = await ask(OPENAI)
    assert completion.cost_usd == Decimal("0.75")  # 0.15 in, 0.60 out


async def test_a_model_without_a_price_costs_none(fake_provider: FakeProvider, settings: Any) -> None:
    settings.CHAT_MODELS = ["openai/qwen-at-home"]
    fake_provider.add(Step(text="Yes."))
    _, completion = await ask("openai/qwen-at-home")
    assert completion.cost_usd is None
    assert fake_provider.received[0].json["model"] == "qwen-at-home"


async def test_parallel_calls_come_out_whole_and_in_order(fake_provider: FakeProvider, either_model: str) -> None:
    calls = (Call("read", {"a": 1, "text": "long enough for pieces"}, "c1"), Call("list", {"a": 2}, "c2"))
    fake_provider.add(Step(text="One moment.", calls=calls))
    _, completion = await ask(either_model, tools=[tool("read"), tool("list")])
    assert [(call.id, call.name, json.loads(call.arguments)) for call in completion.tool_calls] == [
        ("c1", "read", {"a": 1, "text": "long enough for pieces"}),
        ("c2", "list", {"a": 2}),
    ]
    assert completion.finish_reason == "tool_calls"


@pytest.mark.parametrize("style", ["interleaved", "repeated_ids", "whole"])
async def test_calls_survive_every_way_of_streaming_them(fake_provider: FakeProvider, style: Any) -> None:
    calls = (Call("read", {"a": 1, "b": "x" * 40}, "c1"), Call("read", {"a": 2, "b": "y" * 40}, "c2"))
    fake_provider.add(Step(calls=calls, call_style=style))
    _, completion = await ask(OPENAI, tools=[tool("read")])
    assert [json.loads(call.arguments)["a"] for call in completion.tool_calls] == [1, 2]
    assert [call.id for call in completion.tool_calls] == ["c1", "c2"]


async def test_a_call_without_an_id_gets_one(fake_provider: FakeProvider) -> None:
    fake_provider.add(Step(calls=(Call("read", {"a": 1}, None),)))
    _, completion = await ask(OPENAI, tools=[tool("read")])
    assert completion.tool_calls[0].id.startswith("call_")


async def test_malformed_arguments_are_passed_on_as_they_are(fake_provider: FakeProvider, either_model: str) -> None:
    fake_provider.add(Step(calls=(Call("read", '{"a": 1,,', "c1"),)))
    _, completion = await ask(either_model, tools=[tool("read")])
    assert completion.tool_calls[0].arguments == '{"a": 1,,'


async def test_a_fenced_call_becomes_a_call_and_no_text(fake_provider: FakeProvider) -> None:
    fenced = 'Let me look.\n```json\n{"name": "read", "arguments": {"a": 3}}\n```'
    fake_provider.add(Step(text=fenced, finish="stop"))
    deltas, completion = await ask(OPENAI, tools=[tool("read")])
    assert [(call.name, call.arguments) for call in completion.tool_calls] == [("read", '{"a": 3}')]
    assert completion.finish_reason == "tool_calls"
    assert "".join(delta.text for delta in deltas) == completion.text == "Let me look.\n"


async def test_thinking_streams_and_its_signature_goes_back_byte_for_byte(fake_provider: FakeProvider) -> None:
    thought = "The person wants a “total”.\n\tSo I read page 1 …"
    fake_provider.add(
        Step(thinking=thought, signature=SIGNATURE, text="I read it.", calls=(Call("read", {"a": 1}, "toolu_1"),)),
        Step(thinking="Now I know.", signature="second==", text="Done."),
    )
    deltas, first = await ask(ANTHROPIC, tools=[tool("read")])
    assert "".join(delta.text for delta in deltas if delta.kind == "thinking") == first.thinking == thought
    assert first.thinking_blocks == ({"type": "thinking", "thinking": thought, "signature": SIGNATURE},)

    await ask(ANTHROPIC, tools=[tool("read")], messages=_next_round(first))
    sent = fake_provider.received[1].json
    assert sent["thinking"] == {"type": "enabled", "budget_tokens": 4096}
    assistant = next(message for message in sent["messages"] if message["role"] == "assistant")
    assert assistant["content"][0] == {"type": "thinking", "thinking": thought, "signature": SIGNATURE}
    assert json.dumps(SIGNATURE).encode() in fake_provider.received[1].body


async def test_thinking_is_not_asked_for_after_calls_whose_thinking_is_lost(fake_provider: FakeProvider) -> None:
    fake_provider.add(Step(text="Fine."))
    lost = Completion(tool_calls=(_call("toolu_1"),))
    await ask(ANTHROPIC, tools=[tool("read")], messages=_next_round(lost))
    assert "thinking" not in fake_provider.received[0].json


async def test_thinking_blocks_do_not_reach_a_provider_that_has_none(fake_provider: FakeProvider) -> None:
    fake_provider.add(Step(text="Fine."))
    signed = Completion(tool_calls=(_call("c1"),), thinking_blocks=({"type": "thinking", "thinking": "hm",
                        "signature": SIGNATURE},))  # fmt: skip
    messages = _next_round(signed)
    await ask(OPENAI, tools=[tool("read")], messages=messages)
    assert b"signature" not in fake_provider.received[0].body
    assert "thinking_blocks" in messages[1], "the caller's messages are not touched"


async def test_keys_go_in_headers_only_and_the_system_role_is_what_was_said(
    fake_provider: FakeProvider, either_model: str
) -> None:
    fake_provider.add(Step(text="Fine."))
    messages = [{"role": "system", "content": "Our rules."}, *QUESTION]
    await ask(either_model, messages=messages)
    request = fake_provider.received[0]
    key = {OPENAI: OPENAI_KEY, ANTHROPIC: ANTHROPIC_KEY}[either_model]
    assert key in (request.headers.get("x-api-key", "") + request.headers.get("authorization", ""))
    assert key.encode() not in request.body
    body = request.json
    system = body["messages"][0]["content"] if either_model == OPENAI else body["system"]
    assert system in ("Our rules.", [{"type": "text", "text": "Our rules."}])


async def test_a_structured_answer_is_json_text(fake_provider: FakeProvider, either_model: str) -> None:
    fake_provider.add(Step(structured=True, text='{"total": 12.5}'))
    schema = {"type": "object", "properties": {"total": {"type": "number"}}, "required": ["total"],
              "additionalProperties": False}  # fmt: skip
    wanted = {"type": "json_schema", "json_schema": {"name": "invoice", "schema": schema, "strict": True}}
    completion = await client.complete(model=either_model, messages=QUESTION, about=NO_DOCUMENT, response_format=wanted)
    assert json.loads(completion.text) == {"total": 12.5}
    assert completion.tool_calls == ()


@pytest.mark.parametrize("gone", ["closed", "cancelled"])
async def test_leaving_a_stream_hangs_up_on_the_provider(
    fake_provider: FakeProvider, either_model: str, gone: str
) -> None:
    fake_provider.add(Step(text="word " * 200, delay=0.05))
    items = client.stream(model=either_model, messages=QUESTION, about=NO_DOCUMENT)
    assert isinstance(await anext(items), Delta)
    left_at = time.monotonic()
    if gone == "closed":
        await items.aclose()
    else:
        reading = asyncio.create_task(_read_on(items))
        await asyncio.sleep(0.05)
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading
    assert await asyncio.to_thread(fake_provider.wait_gone)
    assert (fake_provider.received[0].gone_at or 0) - left_at < 1
    assert not fake_provider.received[0].finished


async def test_every_item_may_be_awaited_by_another_task(fake_provider: FakeProvider, either_model: str) -> None:
    """The agent's loop does so, to be able to stop while it waits."""
    fake_provider.add(Step(text="One two three four five six."))
    items = client.stream(model=either_model, messages=QUESTION, about=NO_DOCUMENT)
    text = ""
    while not isinstance(item := await asyncio.create_task(_next(items)), Completion):
        text += item.text
    assert text == item.text
    await asyncio.create_task(items.aclose())


async def test_fifty_streams_at_once_all_come_through(fake_provider: FakeProvider, either_model: str) -> None:
    fake_provider.add(Step(text="The same answer for everybody.", repeat=50))
    answers = await asyncio.gather(
        *[client.complete(model=either_model, messages=QUESTION, about=NO_DOCUMENT) for _ in range(50)]
    )
    assert {answer.text for answer in answers} == {"The same answer for everybody."}


async def test_cancelling_before_the_first_chunk_hangs_up_too(fake_provider: FakeProvider, either_model: str) -> None:
    fake_provider.add(Step(text="late", fault=Fault("slow_headers", seconds=5)))
    reading = asyncio.create_task(client.complete(model=either_model, messages=QUESTION, about=NO_DOCUMENT))
    assert await asyncio.to_thread(fake_provider.wait_asked)
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    assert await asyncio.to_thread(fake_provider.wait_gone)


async def test_an_unknown_parameter_of_ours_never_reaches_the_wire(
    fake_provider: FakeProvider, either_model: str
) -> None:
    """What we send is what the protocol knows: nothing of litellm's or ours leaks into the body."""
    fake_provider.add(Step(text="Fine."))
    await ask(either_model, temperature=0.2, max_tokens=50)
    known = {"model", "messages", "stream", "stream_options", "temperature", "max_tokens", "thinking", "system"}
    assert set(fake_provider.received[0].json) <= known


def test_each_event_loop_leaves_no_connection_behind(fake_provider: FakeProvider, either_model: str) -> None:
    cache = sys.modules["litellm"].in_memory_llm_clients_cache.cache_dict
    before = set(cache)
    for _ in range(3):
        fake_provider.add(Step(text="Fine."))
        asyncio.run(ask(either_model))
        assert set(cache) == before
        assert fake_provider.wait_all_closed()


def _next_round(completion: Completion) -> list[dict[str, Any]]:
    calls = [
        {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
        for call in completion.tool_calls
    ]
    assistant: dict[str, Any] = {"role": "assistant", "content": completion.text, "tool_calls": calls}
    if completion.thinking_blocks:
        assistant["thinking_blocks"] = [dict(block) for block in completion.thinking_blocks]
    results = [{"role": "tool", "tool_call_id": call.id, "content": '{"text": "Total 12"}'} for call in
               completion.tool_calls]  # fmt: skip
    return [*QUESTION, assistant, *results]


def _call(call_id: str) -> ToolRequest:
    return ToolRequest(call_id, "read", '{"a": 1}')


async def _next(items: Any) -> Any:
    return await anext(items)


async def _read_on(items: Any) -> None:
    async with aclosing(items):
        async for _ in items:
            pass
