"""What we change in the libraries below changes nothing of what is sent."""

import importlib
from typing import Any

import pytest
from openai._utils import async_maybe_transform
from openai.types.chat.completion_create_params import CompletionCreateParamsStreaming

import agent.tools  # noqa: F401 - fills the toolbox
from agent.toolbox import toolbox

CALL = {"id": "call_1", "type": "function", "function": {"name": "get_ocr_text", "arguments": "{}"}}


@pytest.mark.usefixtures("warm_litellm")
async def test_tools_go_out_untouched_as_openais_client_would_send_them() -> None:
    completions: Any = importlib.import_module("openai.resources.chat.completions.completions")
    quick = completions.async_maybe_transform
    asked = {
        "model": "gpt-4o-mini",
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "What is this?"}]},
            {"role": "assistant", "content": None, "tool_calls": [CALL]},
            {"role": "tool", "tool_call_id": "call_1", "content": "{}"},
        ],
        "stream_options": {"include_usage": True},
        "tools": toolbox.definitions(),
    }
    sent = await quick(asked, CompletionCreateParamsStreaming)
    assert quick is not async_maybe_transform
    assert sent["tools"] is asked["tools"]
    assert sent == await async_maybe_transform(asked, CompletionCreateParamsStreaming)
    assert sent["messages"] is asked["messages"]
    assert await quick({"model": "gpt-4o-mini"}, CompletionCreateParamsStreaming) == {"model": "gpt-4o-mini"}
    odd = {"model": "gpt-4o-mini", "messages": iter([{"role": "user", "content": "hm"}])}
    assert (await quick(odd, CompletionCreateParamsStreaming))["messages"] == [{"role": "user", "content": "hm"}]
    assert await quick(None, CompletionCreateParamsStreaming) is None
