"""Parts of the agent that need no database: arguments, history, taint, cutting, coalescing."""

import asyncio
import uuid
from typing import Annotated, Any

import pytest
from pydantic import Field

from agent.events import AssistantTextChunk, Done, ThinkingChunk, TurnResult
from agent.history import recent_turns, split_turns
from agent.messages import clean_json, cut_result, sanitize, to_json
from agent.outbox import Outbox
from agent.streams import Numbered
from agent.taint import DocumentText
from agent.toolbox import ArgumentsRefused, Toolbox, ToolContext, arguments_hash, parse_arguments

Json = dict[str, Any]


@pytest.fixture
def box() -> Toolbox:
    box = Toolbox()

    @box.tool(writes=True, summary="Make *{name}*")
    def make(
        ctx: ToolContext,
        name: Annotated[str, Field(min_length=1, description="What it is called.")],
        schema: dict[str, Any] | str,
        page: int | None = None,
        _: str = "",
    ) -> Json:
        """Make a thing."""
        return {}

    return box


def test_a_tool_is_derived_from_its_function(box: Toolbox) -> None:
    function = box.definitions()[0]["function"]
    assert (function["name"], function["description"]) == ("make", "Make a thing.")
    assert function["parameters"] == {
        "type": "object",
        "additionalProperties": False,
        "required": ["name", "schema"],
        "properties": {
            "name": {"type": "string", "minLength": 1, "description": "What it is called."},
            "schema": {"anyOf": [{"type": "object", "additionalProperties": True}, {"type": "string"}]},
            "page": {"type": "integer"},
            "_": {"type": "string", "default": ""},
        },
    }
    assert (box.write_names, box.read_names) == (("make",), ())
    assert box.get("make").describe({"name": "it"}) == "Make *it*"
    assert box.get("make").describe({}) == "Make"


def test_a_tool_without_docstring_or_types_fails_at_import(box: Toolbox) -> None:
    def bare(ctx: ToolContext) -> Json:
        return {}

    def untyped(ctx, name) -> Json:  # type: ignore[no-untyped-def]  # that is the case
        """Has no types."""
        return {}

    for function in (bare, untyped):
        with pytest.raises(TypeError):
            box.tool(writes=False)(function)


@pytest.mark.parametrize(
    "text",
    ["[]", "null", "{", '{"a": NaN}', '{"a": 1e999}', '{"a": "\\ud800"}', "[" * 90_000, '{"a": ' + "9" * 5000 + "}"],
)
def test_what_is_no_json_object_is_refused(text: str) -> None:
    with pytest.raises(ArgumentsRefused):
        parse_arguments(text)


def test_the_hash_depends_on_what_runs_and_not_on_the_order_of_keys() -> None:
    assert arguments_hash("t", {"a": 1, "b": [1, {"c": 2}]}) == arguments_hash("t", {"b": [1, {"c": 2}], "a": 1})
    assert arguments_hash("t", {"a": 1}) != arguments_hash("t", {"a": "1"})
    assert arguments_hash("t", {"a": 1}) != arguments_hash("u", {"a": 1})


def test_a_client_history_is_made_fit_to_be_sent() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "look", "arguments": "{"}}
    history: list[Json] = [
        {"role": "system", "content": "obey"},
        {"role": "tool", "tool_call_id": "x", "content": "orphan"},
        {"role": "user", "content": "hi\0"},
        {"role": "assistant", "content": "a", "tool_calls": [call]},
        {"role": "user", "content": "again"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "{}"},
        {"role": "assistant", "content": None, "tool_calls": [{"id": 5}]},
    ]
    clean = sanitize(history)
    assert [message["role"] for message in clean] == ["user", "assistant", "user", "assistant", "tool"]
    assert clean[0]["content"] == "hi"
    assert "tool_calls" not in clean[1]
    assert clean[3]["tool_calls"][0]["function"]["arguments"] == "{}"


def turn_of(number: int, length: int) -> list[Json]:
    middle = [{"role": "tool", "tool_call_id": "x", "content": "y" * 40}] * (length - 2)
    return [{"role": "user", "content": f"q{number}"}, *middle, {"role": "assistant", "content": f"a{number}"}]


def test_history_drops_whole_turns_oldest_first() -> None:
    turns = [turn_of(1, 8), turn_of(2, 8), turn_of(3, 8)]
    kept = recent_turns(turns, max_messages=20, max_tokens=10_000)
    assert [message["content"] for message in kept if message["role"] == "user"] == ["q2", "q3"]
    assert split_turns(kept) == turns[1:]
    few = recent_turns(turns, max_messages=20, max_tokens=250)
    assert [message["content"] for message in few if message["role"] == "user"] == ["q3"]


def test_the_newest_turn_is_shortened_rather_than_forgotten() -> None:
    kept = recent_turns([turn_of(1, 4), turn_of(2, 40)], max_messages=20, max_tokens=10_000)
    assert [message["content"] for message in kept] == ["q1", "y" * 40, "y" * 40, "a1", "q2", "a2"]


def test_long_results_keep_their_shape() -> None:
    long = {"text": "ä\n" * 5000, "page": 1}
    cut = cut_result(long, cap=1000, hint="Ask for a page.")
    assert len(to_json(cut)) <= 1100
    assert (cut["page"], "Ask for a page." in cut["cut"]) == (1, True)
    rows = {"rows": [{"id": number} for number in range(1000)], "total": 1000}
    assert cut_result(rows, cap=500)["rows"][:2] == [{"id": 0}, {"id": 1}]
    assert cut_result({"a": 1}, cap=500) == {"a": 1}


def test_what_the_database_cannot_hold_is_taken_out() -> None:
    assert clean_json({"a\0": ["b\ud800", 1, None]}) == {"a": ["b", 1, None]}


DOCUMENT = "The delivery took place on the third of March in Göteborg, signed by the receiving clerk."


@pytest.mark.parametrize(
    ("name", "arguments", "tainted"),
    [
        ("create_prompt", {"content": f"Find it: {DOCUMENT[10:60]}"}, True),
        ("create_prompt", {"content": f"Find it: {DOCUMENT[10:48]}"}, False),
        ("create_prompt", {"content": DOCUMENT[10:70].upper().replace(" ", "\n  ")}, True),
        ("create_schema", {"response_format": {"deep": [{"description": DOCUMENT[3:50]}]}}, True),
        ("create_schema", {"response_format": {DOCUMENT[3:50]: {}}}, True),
        ("create_tag", {"name": "Delivery"}, False),
        ("update_extraction_field", {"path": "note", "value": DOCUMENT}, False),
        ("update_extraction_field", {"path": DOCUMENT, "value": ""}, True),
        ("update_document", {"metadata": {"note": DOCUMENT}}, False),
    ],
)
def test_text_of_the_document_in_arguments_is_noticed(name: str, arguments: Json, tainted: bool) -> None:
    assert DocumentText(DOCUMENT * 3).taints(name, arguments) is tainted


@pytest.mark.parametrize("start", range(45))
def test_every_run_of_forty_characters_is_found(start: int) -> None:
    run = " ".join(DOCUMENT.casefold().split())[start : start + 40]
    if run == run.strip():
        assert DocumentText(DOCUMENT).shares_a_run(f"xx{run}yy")
        assert not DocumentText(DOCUMENT).shares_a_run(f"xx{run[:38]}##yy")


class Listener:
    """In the place of the streams: notes what is told."""

    def __init__(self) -> None:
        self.told: list[Numbered] = []
        self.batches: list[int] = []

    async def append(self, _turn_id: uuid.UUID, _thread_id: uuid.UUID | None, batch: list[Numbered]) -> None:
        await asyncio.sleep(0)
        self.told += batch
        self.batches.append(len(batch))


async def test_small_pieces_of_text_travel_together_and_in_order() -> None:
    listener = Listener()
    outbox = Outbox(listener, uuid.uuid4(), None, seq=7)  # type: ignore[arg-type]  # it listens like the streams
    await outbox.tell(ThinkingChunk(chunk="hm", round_index=0))
    for letter in "abc":
        await outbox.tell(AssistantTextChunk(chunk=letter, round_index=0))
    await asyncio.sleep(0.08)
    await outbox.tell(AssistantTextChunk(chunk="d", round_index=0))
    await outbox.tell(Done(result=TurnResult(text="abcd")))
    await outbox.close()
    assert [numbered.seq for numbered in listener.told] == [8, 9, 10, 11]
    chunks = [getattr(numbered.event, "chunk", "end") for numbered in listener.told]
    assert chunks == ["hm", "abc", "d", "end"]
    assert listener.batches == [1, 1, 2]
