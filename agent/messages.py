"""What was said in a turn: question, answers, tool calls and their results, and their shape on the model's wire."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

ChatMessage = dict[str, Any]
Verdict = Literal["approved", "rejected"]

_FORBIDDEN = {0: None} | dict.fromkeys(range(0xD800, 0xE000))


def clean_text(text: str) -> str:
    """Text that PostgreSQL and UTF-8 can hold: without NUL and lone surrogates."""
    return text.translate(_FORBIDDEN)


def clean_json(value: Any) -> Any:
    """The same for every string in a JSON value, keys included."""
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, dict):
        return {clean_text(str(key)): clean_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [clean_json(item) for item in value]
    return value


def to_json(value: Any) -> str:
    """JSON as models and people read it: letters as they are, nothing that is not JSON (NaN)."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruling:
    """What a person (or a rule) said about a call. `arguments` is set when they were edited."""

    verdict: Verdict
    arguments: dict[str, Any] | None = None
    reason: str = ""
    by_rule: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One tool call of a round. Without a result it is pending; with `started` and no result it was cut off.

    `arguments` is None when the model's text was refused before anything was shown.
    """

    id: str
    name: str
    arguments_text: str
    arguments: dict[str, Any] | None = None
    arguments_hash: str = ""
    summary: str = ""
    writes: bool = False
    tainted: bool = False
    decision: Ruling | None = None
    started: bool = False
    result: dict[str, Any] | None = None

    @property
    def effective_arguments(self) -> dict[str, Any]:
        """What runs: the edited arguments, else what was shown."""
        edited = self.decision.arguments if self.decision else None
        return edited if edited is not None else self.arguments or {}

    @property
    def effective_text(self) -> str:
        """What the model is told that it called: its own text unless a person edited it."""
        if self.decision and self.decision.arguments is not None:
            return to_json(self.decision.arguments)
        return self.arguments_text if self.arguments is not None else _json_or_empty(self.arguments_text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """One answer of the model with the calls it asked for.

    `thinking_blocks` go back exactly as they came, signatures included.
    """

    text: str = ""
    thinking: str = ""
    thinking_blocks: tuple[dict[str, Any], ...] = ()
    calls: tuple[Call, ...] = ()
    index: int = 0

    @property
    def pending(self) -> tuple[Call, ...]:
        return tuple(call for call in self.calls if call.result is None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript:
    """A turn so far: the question and its rounds. This is the whole state of a turn."""

    question: str
    rounds: tuple[Round, ...] = ()

    @property
    def last(self) -> Round | None:
        return self.rounds[-1] if self.rounds else None


def question_message(text: str) -> ChatMessage:
    return {"role": "user", "content": text}


def round_messages(answer: Round, *, cap: int | None = None, hints: dict[str, str] | None = None) -> list[ChatMessage]:
    """A round in OpenAI's shape: the assistant message, then one tool message for each call.

    An answer whose calls lack results is told without its calls, since providers refuse it otherwise.
    Units: `cap` in characters of one tool result; `hints` says by tool name how to get the rest.
    """
    message: ChatMessage = {"role": "assistant", "content": answer.text}
    if answer.thinking_blocks:
        message["thinking_blocks"] = [dict(block) for block in answer.thinking_blocks]
    if not answer.calls or answer.pending:
        return [message] if answer.text else []
    message["tool_calls"] = [
        {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.effective_text}}
        for call in answer.calls
    ]
    return [message, *(_result_message(call, cap, (hints or {}).get(call.name, "")) for call in answer.calls)]


def transcript_messages(
    transcript: Transcript, *, cap: int | None = None, hints: dict[str, str] | None = None
) -> list[ChatMessage]:
    """The whole turn in OpenAI's shape."""
    messages = [question_message(transcript.question)]
    for answer in transcript.rounds:
        messages += round_messages(answer, cap=cap, hints=hints)
    return messages


def sanitize(messages: Sequence[ChatMessage]) -> list[ChatMessage]:
    """A client's history made fit to be sent: known roles, text content, each call with exactly one result."""
    kept: list[ChatMessage] = []
    for position, message in enumerate(messages):
        role = message.get("role")
        if role == "user" and (text := _text_of(message)):
            kept.append(question_message(text))
        elif role == "assistant":
            kept += _sanitized_answer(message, messages[position + 1 :])
    return kept


def cut_result(result: dict[str, Any], *, cap: int, hint: str = "") -> dict[str, Any]:
    """The result, or what fits of it with a note that says how to get the rest. Units: `cap` in characters of JSON."""
    size = len(to_json(result))
    if size <= cap:
        return result
    note = f"Only part of {size} characters is shown. {hint or 'Ask for less at once, or for the next part.'}"
    return {**_shrunk(result, max(cap - len(note) - 20, 0)), "cut": note}


def _shrunk(value: dict[str, Any], room: int) -> dict[str, Any]:
    """The object with its largest members shortened until it fits, small ones left whole."""
    kept = dict(value)
    for _ in range(len(kept)):
        excess = len(to_json(kept)) - room
        if excess <= 0:
            break
        key = max(kept, key=lambda name: len(to_json(kept[name])))
        kept[key] = _shorter(kept[key], max(len(to_json(kept[key])) - excess, 0))
    return kept


def _shorter(value: Any, room: int) -> Any:
    if isinstance(value, str):
        return value[: int(room * len(value) / max(len(to_json(value)), 1)) if value else 0]
    if isinstance(value, list):
        used, items = 2, []
        for item in value:
            used += len(to_json(item)) + 2
            if used > room:
                break
            items.append(item)
        return items
    if isinstance(value, dict):
        return _shrunk(value, room)
    return value


def _result_message(call: Call, cap: int | None, hint: str) -> ChatMessage:
    result = call.result or {}
    if cap is not None:
        result = cut_result(result, cap=cap, hint=hint)
    return {"role": "tool", "tool_call_id": call.id, "name": call.name, "content": to_json(result)}


def _json_or_empty(text: str) -> str:
    """Broken argument text goes back as an empty object: some providers refuse a history with broken JSON."""
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return "{}"
    return text


def _text_of(message: ChatMessage) -> str:
    content = message.get("content")
    return clean_text(content) if isinstance(content, str) else ""


def _sanitized_answer(message: ChatMessage, following: Sequence[ChatMessage]) -> list[ChatMessage]:
    text = _text_of(message)
    calls = [call for call in map(_clean_call, message.get("tool_calls") or []) if call]
    results: dict[str, str] = {}
    for other in following:
        if other.get("role") != "tool":
            break
        results.setdefault(str(other.get("tool_call_id")), _text_of(other))
    if calls and all(call["id"] in results for call in calls):
        tools = [{"role": "tool", "tool_call_id": call["id"], "content": results[call["id"]]} for call in calls]
        return [{"role": "assistant", "content": text, "tool_calls": calls}, *tools]
    return [{"role": "assistant", "content": text}] if text else []


def _clean_call(call: Any) -> ChatMessage | None:
    if not isinstance(call, dict):
        return None
    function = call.get("function")
    if not isinstance(function, dict):
        function = call
    name, arguments = function.get("name"), function.get("arguments", "{}")
    if not (isinstance(call.get("id"), str) and isinstance(name, str) and isinstance(arguments, str)):
        return None
    return {"id": call["id"], "type": "function", "function": {"name": name, "arguments": _json_or_empty(arguments)}}
