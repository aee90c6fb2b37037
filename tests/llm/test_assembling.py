"""Answers put together from pieces, without any provider: what chunks may look like, and calls written as text."""

import json
from types import SimpleNamespace
from typing import Any

import pytest

from llm.assembling import Assembler
from llm.fenced import FenceGate

CALL = '{"name": "create_tag", "arguments": {"name": "Ärger", "n": [1, {"a": "b"}]}}'


def _chunk(finish: str | None = None, **delta: Any) -> Any:
    fields = {"content": None, "tool_calls": None, **delta}
    return SimpleNamespace(choices=[SimpleNamespace(delta=SimpleNamespace(**fields), finish_reason=finish)])


def _piece(arguments: str, *, index: int | None = 0, call_id: str | None = None, name: str | None = None) -> Any:
    return SimpleNamespace(index=index, id=call_id, function=SimpleNamespace(name=name, arguments=arguments))


def _assemble(*chunks: Any, **options: Any) -> tuple[str, Any]:
    assembler = Assembler(model="m", **options)
    shown = [delta for chunk in chunks for delta in assembler.take(chunk)]
    shown += assembler.finish()
    return "".join(delta.text for delta in shown if delta.kind == "text"), assembler.completion()


def test_calls_that_all_say_index_zero_are_told_apart_by_their_ids() -> None:
    pieces = [_piece('{"a"', call_id="x", name="f"), _piece(": 1}"),
              _piece('{"a"', call_id="y", name="f"), _piece(": 2}")]  # fmt: skip
    _, completion = _assemble(*[_chunk(tool_calls=[piece]) for piece in pieces])
    assert [(call.id, call.arguments) for call in completion.tool_calls] == [("x", '{"a": 1}'), ("y", '{"a": 2}')]


def test_calls_without_an_index_are_told_apart_by_their_ids() -> None:
    pieces = [_piece("{}", index=None, call_id="x", name="f"), _piece("{}", index=None, call_id="y", name="g")]
    _, completion = _assemble(*[_chunk(tool_calls=[piece]) for piece in pieces])
    assert [call.name for call in completion.tool_calls] == ["f", "g"]


def test_an_id_that_was_used_before_is_replaced() -> None:
    twice = [_piece("{}", call_id="call_1", name="f"), _piece("{}", index=1, call_id="call_1", name="g")]
    _, completion = _assemble(_chunk(tool_calls=twice), used_ids=["call_0"])
    first, second = completion.tool_calls
    assert first.id == "call_1"
    assert second.id != "call_1"
    _, again = _assemble(_chunk(tool_calls=twice[:1]), used_ids=["call_1"])
    assert again.tool_calls[0].id != "call_1"


def test_a_name_that_is_repeated_in_each_piece_is_one_name() -> None:
    _, completion = _assemble(*[_chunk(tool_calls=[_piece(text, call_id="x", name="f")]) for text in ("{", "}")])
    assert (completion.tool_calls[0].name, completion.tool_calls[0].arguments) == ("f", "{}")


def test_signed_blocks_are_kept_apart_and_redacted_ones_untouched() -> None:
    redacted = {"type": "redacted_thinking", "data": "EmwKAhgB…=="}
    blocks = [{"type": "thinking", "thinking": "one "}, {"type": "thinking", "thinking": "and"},
              {"type": "thinking", "thinking": "", "signature": "A=="}, redacted,
              {"type": "thinking", "thinking": "two"},
              {"type": "thinking", "thinking": "", "signature": "B=="}]  # fmt: skip
    _, completion = _assemble(*[_chunk(thinking_blocks=[block]) for block in blocks])
    assert completion.thinking_blocks == (
        {"type": "thinking", "thinking": "one and", "signature": "A=="},
        redacted,
        {"type": "thinking", "thinking": "two", "signature": "B=="},
    )


def test_thinking_that_was_never_signed_is_no_block() -> None:
    _, completion = _assemble(
        _chunk(thinking_blocks=[{"type": "thinking", "thinking": "cut"}], reasoning_content="cut")
    )
    assert completion.thinking_blocks == ()
    assert completion.thinking == "cut"


@pytest.mark.parametrize("size", [1, 2, 7, 1000])
@pytest.mark.parametrize(
    ("text", "rest"),
    [
        (f"```json\n{CALL}\n```", ""),
        (f"```\n{CALL}```", ""),
        (CALL, ""),
        (f"  [{CALL}]", ""),
        (f"<tool_call>\n{CALL}\n</tool_call>", ""),
        (f"I make a `tag`:\n```json\n{CALL}\n```\nDone <b>.", "I make a `tag`:\n\nDone <b>."),
        (CALL.replace("arguments", "parameters"), ""),
    ],
)
def test_a_call_written_as_text_is_found_however_it_is_cut(text: str, rest: str, size: int) -> None:
    chunks = [_chunk(content=text[at : at + size]) for at in range(0, len(text), size)]
    shown, completion = _assemble(*chunks, tool_names=["create_tag"])
    assert [call.name for call in completion.tool_calls] == ["create_tag"]
    assert json.loads(completion.tool_calls[0].arguments) == {"name": "Ärger", "n": [1, {"a": "b"}]}
    assert shown == completion.text
    assert shown.strip() == rest.strip()


@pytest.mark.parametrize("size", [1, 3, 1000])
@pytest.mark.parametrize(
    "text",
    [
        "Use `create_tag` or ``x`` < 3 and <b>bold</b>.",
        '```json\n{"name": "drop_database", "arguments": {}}\n```',
        '```json\n{"total": 12.5}\n```\nThat is all.',
        '{"name": "create_tag", "arguments": {"broken"',
        f"Never say this:\n```python\nprint({CALL!r})\n```",
        '{"name": "create_tag", "arguments": {}, "total": 3}',
        "Half a fence ``",
    ],
)
def test_text_that_is_no_call_is_shown_unchanged(text: str, size: int) -> None:
    chunks = [_chunk(content=text[at : at + size]) for at in range(0, len(text), size)]
    shown, completion = _assemble(*chunks, tool_names=["create_tag"])
    assert shown == completion.text == text
    assert completion.tool_calls == ()


def test_without_tools_nothing_is_held_back() -> None:
    gate = FenceGate(())
    assert gate.feed("```json") == "```json"


def test_ordinary_text_is_shown_at_once() -> None:
    gate = FenceGate(["create_tag"])
    assert [gate.feed(word) for word in ("The ", "total ", "is 3.")] == ["The ", "total ", "is 3."]


def test_a_written_call_beside_a_real_one_stays_text() -> None:
    real = _chunk(tool_calls=[_piece("{}", call_id="x", name="create_tag")])
    shown, completion = _assemble(_chunk(content=CALL), real, tool_names=["create_tag"])
    assert [call.id for call in completion.tool_calls] == ["x"]
    assert shown == CALL
