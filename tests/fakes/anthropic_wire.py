"""A step as Anthropic's /v1/messages says it, streamed or whole, with signed thinking."""

import json
from collections.abc import Mapping
from typing import Any

from tests.fakes.openai_wire import read_result
from tests.fakes.steps import Call, Fault, Step, pieces

PATHS = ("/v1/messages",)
STOPS = {"stop": "end_turn", "tool_calls": "tool_use", "length": "max_tokens"}
JSON_TOOL = "json_tool_call"  # how litellm asks models without structured output for a JSON schema


def wants_structure(body: Mapping[str, Any]) -> bool:
    return "output_format" in body or "format" in body.get("output_config", {}) or _has_json_tool(body)


def tool_results(body: Mapping[str, Any]) -> dict[str, Any]:
    """Newest result of each tool that the request carries, by the tool's name."""
    names: dict[str, str] = {}
    results: dict[str, Any] = {}
    for message in body.get("messages", ()):
        for block in message["content"] if isinstance(message["content"], list) else ():
            if block["type"] == "tool_use":
                names[block["id"]] = block["name"]
            if block["type"] == "tool_result" and block["tool_use_id"] in names:
                results[names[block["tool_use_id"]]] = read_result(block.get("content"))
    return results


def error_body(fault: Fault) -> dict[str, Any]:
    return {"type": "error", "error": {"type": fault.error_type, "message": fault.message}}


def frames(step: Step, body: Mapping[str, Any]) -> list[bytes]:
    """The SSE events of the answer, in order."""
    used = step.usage or (0, 0)
    start = {**_message(body), "content": [], "usage": {"input_tokens": used[0], "output_tokens": 1}}
    out = [_event("message_start", {"message": start}), _event("ping", {})]
    for index, block in enumerate(_blocks(step, body)):
        out += _block_events(index, block, step.piece)
    stop = {"stop_reason": STOPS.get(step.finish_reason, step.finish_reason), "stop_sequence": None}
    out.append(_event("message_delta", {"delta": stop, "usage": {"output_tokens": used[1]}}))
    out.append(_event("message_stop", {}))
    return out


def whole(step: Step, body: Mapping[str, Any]) -> dict[str, Any]:
    """The answer without streaming."""
    used = step.usage or (0, 0)
    return {
        **_message(body),
        "content": [block | {"input": json.loads(block["input"])} if "input" in block else block
                    for block in _blocks(step, body)],
        "stop_reason": STOPS.get(step.finish_reason, step.finish_reason),
        "usage": {"input_tokens": used[0], "output_tokens": used[1]},
    }  # fmt: skip


def _blocks(step: Step, body: Mapping[str, Any]) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = []
    if step.thinking or step.signature:
        blocks.append({"type": "thinking", "thinking": step.thinking, "signature": step.signature})
    if step.text and step.structured and _has_json_tool(body):
        return [*blocks, _tool_use(Call(JSON_TOOL, step.text, "toolu_json"))]
    if step.text:
        blocks.append({"type": "text", "text": step.text})
    return blocks + [_tool_use(call) for call in step.calls]


def _tool_use(call: Call) -> dict[str, Any]:
    text = call.arguments if isinstance(call.arguments, str) else json.dumps(call.arguments)
    return {"type": "tool_use", "id": call.id, "name": call.name, "input": text}


def _block_events(index: int, block: dict[str, Any], size: int) -> list[bytes]:
    empty = {key: {} if key == "input" else "" for key in ("thinking", "signature", "text", "input") if key in block}
    out = [_event("content_block_start", {"index": index, "content_block": block | empty})]
    kinds = {"thinking": "thinking_delta", "text": "text_delta", "input": "input_json_delta"}
    for key, kind in kinds.items():
        name = "partial_json" if key == "input" else key
        for piece in pieces(block.get(key, ""), size):
            out.append(_delta(index, {"type": kind, name: piece}))
    if "signature" in block:
        out.append(_delta(index, {"type": "signature_delta", "signature": block["signature"]}))
    out.append(_event("content_block_stop", {"index": index}))
    return out


def _delta(index: int, delta: dict[str, Any]) -> bytes:
    return _event("content_block_delta", {"index": index, "delta": delta})


def _message(body: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "id": "msg_fake",
        "type": "message",
        "role": "assistant",
        "model": body.get("model", ""),
        "stop_reason": None,
        "stop_sequence": None,
    }


def _has_json_tool(body: Mapping[str, Any]) -> bool:
    return any(tool.get("name") == JSON_TOOL for tool in body.get("tools", ()))


def _event(kind: str, data: dict[str, Any]) -> bytes:
    return b"event: " + kind.encode() + b"\ndata: " + json.dumps({"type": kind, **data}).encode() + b"\n\n"
