"""A step as OpenAI's /v1/chat/completions says it, streamed or whole."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from tests.fakes.steps import Call, Fault, Step, pieces

PATHS = ("/v1/chat/completions", "/chat/completions")
EMBEDDING_PATHS = ("/v1/embeddings", "/embeddings")


def wants_structure(body: Mapping[str, Any]) -> bool:
    return (body.get("response_format") or {}).get("type") == "json_schema"


def tool_results(body: Mapping[str, Any]) -> dict[str, Any]:
    """Newest result of each tool that the request carries, by the tool's name."""
    names: dict[str, str] = {}
    results: dict[str, Any] = {}
    for message in body.get("messages", ()):
        for call in message.get("tool_calls") or ():
            names[call["id"]] = call["function"]["name"]
        if message.get("role") == "tool" and message.get("tool_call_id") in names:
            results[names[message["tool_call_id"]]] = read_result(message.get("content"))
    return results


def read_result(content: Any) -> Any:
    if isinstance(content, list):
        content = "".join(part.get("text", "") for part in content)
    try:
        return json.loads(content)
    except (TypeError, ValueError):
        return content


def error_body(fault: Fault) -> dict[str, Any]:
    return {"error": {"message": fault.message, "type": fault.error_type, "param": None, "code": fault.error_code}}


def frames(step: Step, body: Mapping[str, Any]) -> list[bytes]:
    """The SSE frames of the answer, in order."""
    out = [_chunk(body, {"role": "assistant", "content": ""})]
    if step.fault and step.fault.kind == "empty_choices":
        return [_frame({**_head(body), "choices": []}), b"data: [DONE]\n\n"]
    out += [_chunk(body, {"reasoning_content": piece}) for piece in pieces(step.thinking, step.piece)]
    out += [_chunk(body, {"content": piece}) for piece in pieces(step.text, step.piece)]
    out += [_chunk(body, {"tool_calls": delta}) for delta in _call_deltas(step)]
    out.append(_chunk(body, {}, step.finish_reason))
    if step.usage and (body.get("stream_options") or {}).get("include_usage"):
        out.append(_frame({**_head(body), "choices": [], "usage": _usage(step.usage)}))
    out.append(b"data: [DONE]\n\n")
    return out


def whole(step: Step, body: Mapping[str, Any]) -> dict[str, Any]:
    """The answer without streaming."""
    message: dict[str, Any] = {"role": "assistant", "content": step.text or None}
    if step.thinking:
        message["reasoning_content"] = step.thinking
    if step.calls:
        message["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": _arguments(call)}}
            for call in step.calls
        ]
    choices = [{"index": 0, "message": message, "finish_reason": step.finish_reason}]
    if step.fault and step.fault.kind == "empty_choices":
        choices = []
    return {**_head(body), "object": "chat.completion", "choices": choices, "usage": _usage(step.usage or (0, 0))}


def embedding(body: Mapping[str, Any]) -> dict[str, Any]:
    """A vector of eight numbers for each text, the same for the same text."""
    texts = body["input"] if isinstance(body["input"], list) else [body["input"]]
    vectors = [[round(byte / 255, 3) for byte in hashlib.sha256(text.encode()).digest()[:8]] for text in texts]
    data = [{"object": "embedding", "index": index, "embedding": vector} for index, vector in enumerate(vectors)]
    return {
        "object": "list",
        "data": data,
        "model": body.get("model", ""),
        "usage": {"prompt_tokens": 5, "total_tokens": 5},
    }


def _call_deltas(step: Step) -> list[list[dict[str, Any]]]:
    starts, rests = [], []
    for index, call in enumerate(step.calls):
        text = _arguments(call)
        first = "" if step.call_style != "whole" else text
        start = {
            "index": index,
            "id": call.id,
            "type": "function",
            "function": {"name": call.name, "arguments": first},
        }
        rest = [_more(step, index, call, piece) for piece in pieces(text, step.piece)] if not first else []
        if step.call_style == "no_index":
            start.pop("index")
        starts.append(start)
        rests.append(rest)
    if step.call_style == "interleaved":
        longest = max((len(rest) for rest in rests), default=0)
        mixed = [[rest[at]] for at in range(longest) for rest in rests if at < len(rest)]
        return [starts, *mixed]
    return [[delta] for start, rest in zip(starts, rests, strict=True) for delta in (start, *rest)]


def _more(step: Step, index: int, call: Call, piece: str) -> dict[str, Any]:
    delta: dict[str, Any] = {"index": index, "function": {"arguments": piece}}
    if step.call_style == "repeated_ids":
        delta |= {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": piece}}
    if step.call_style == "no_index":
        delta.pop("index")
    return delta


def _arguments(call: Call) -> str:
    return call.arguments if isinstance(call.arguments, str) else json.dumps(call.arguments)


def _usage(usage: tuple[int, int]) -> dict[str, int]:
    return {"prompt_tokens": usage[0], "completion_tokens": usage[1], "total_tokens": sum(usage)}


def _head(body: Mapping[str, Any]) -> dict[str, Any]:
    return {"id": "chatcmpl-fake", "object": "chat.completion.chunk", "created": 1, "model": body.get("model", "")}


def _chunk(body: Mapping[str, Any], delta: dict[str, Any], finish: str | None = None) -> bytes:
    return _frame({**_head(body), "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})


def _frame(data: dict[str, Any]) -> bytes:
    return b"data: " + json.dumps(data).encode() + b"\n\n"
