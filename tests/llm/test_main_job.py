"""The main job's conversation through the client, against both protocols, with the tools' results made up."""

import json
from typing import Any

from llm import client
from llm.sources import NO_DOCUMENT
from llm.types import Completion
from tests.fakes import main_job
from tests.fakes.provider import FakeProvider
from tests.llm.conftest import ANTHROPIC, tool

RESULTS = {
    "get_ocr_text": {"text": "Invoice\nTotal 12.50"},
    "list_schemas": {"schemas": [], "total_count": 0, "skip": 0},
    "validate_schema": {"valid": True},
    "create_schema": {"schema_revid": "a" * 32, "schema_id": "b" * 32, "name": main_job.SCHEMA_NAME},
    "create_prompt": {"prompt_revid": "c" * 32, "prompt_id": "d" * 32, "name": main_job.PROMPT_NAME},
    "run_extraction": {"prompt_revid": "c" * 32, "extraction": main_job.VALUES},
}


async def test_the_main_job_runs_to_its_summary(fake_provider: FakeProvider, either_model: str) -> None:
    fake_provider.add(*main_job.main_job_steps())
    messages: list[dict[str, Any]] = [{"role": "user", "content": main_job.QUESTION}]
    names = []
    for _ in range(10):
        answer = await client.complete(
            model=either_model, messages=messages, about=NO_DOCUMENT, tools=[tool(name) for name in RESULTS]
        )
        messages += _round(answer)
        names += [call.name for call in answer.tool_calls]
        if not answer.tool_calls:
            break
    assert names == list(RESULTS)
    assert answer.text == main_job.SUMMARY
    run = next(call for message in messages for call in message.get("tool_calls", ()) if "run_" in str(call))
    assert json.loads(run["function"]["arguments"]) == {"prompt_revid": "c" * 32}

    filled = await client.complete(
        model=either_model,
        messages=messages[:1],
        about=NO_DOCUMENT,
        response_format=main_job.response_format(),
    )
    assert json.loads(filled.text) == main_job.VALUES


async def test_every_signature_of_the_job_goes_back_with_its_thinking_in_its_place(
    fake_provider: FakeProvider,
) -> None:
    fake_provider.add(*[step for step in main_job.main_job_steps() if not step.structured])
    messages: list[dict[str, Any]] = [{"role": "user", "content": main_job.QUESTION}]
    answers = []
    for _ in range(6):
        answers.append(
            await client.complete(
                model=ANTHROPIC, messages=messages, about=NO_DOCUMENT, tools=[tool(name) for name in RESULTS]
            )
        )
        messages += _round(answers[-1])
    sent = [message for message in fake_provider.received[-1].json["messages"] if message["role"] == "assistant"]
    assert [message["content"][0] for message in sent] == [answer.thinking_blocks[0] for answer in answers[:-1]]
    for answer in answers[:-1]:
        assert json.dumps(answer.thinking_blocks[0]["signature"]).encode() in fake_provider.received[-1].body


def _round(answer: Completion) -> list[dict[str, Any]]:
    calls = [
        {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
        for call in answer.tool_calls
    ]
    said: dict[str, Any] = {"role": "assistant", "content": answer.text}
    said |= {"tool_calls": calls} if calls else {}
    said |= {"thinking_blocks": list(answer.thinking_blocks)} if answer.thinking_blocks else {}
    results = [
        {"role": "tool", "tool_call_id": call.id, "content": json.dumps(RESULTS[call.name])}
        for call in answer.tool_calls
    ]
    return [said, *results]
