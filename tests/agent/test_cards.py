"""Cards, and the forms in which they are edited: what a person reads is what would run."""

import pytest
from django.http import QueryDict

from agent import cards
from agent.cards import Card, card_for, example_of, line_diff, ordered_arguments
from agent.forms import edit_form, pretty, read_form
from agent.models import ToolCall
from agent.schema_table import EditedField, all_fields_of, apply_edits, compare, fields_of, inner_schema
from agent.selectors import get_turn
from documents.extraction import PreviewValue
from prompts_app.config import PromptConfig
from prompts_app.models import PromptRevision
from prompts_app.services import create_prompt
from schemas_app.models import SchemaRevision
from schemas_app.services import create_schema
from schemas_app.validation import all_problems
from tags_app.services import create_tag
from tests.agent.rows import INVOICE, Json, schema_format, waiting_turn
from tests.agent.staging import make_document
from tests.conftest import Person

LINES = schema_format(
    number={"type": "string"},
    lines={
        "type": "array",
        "items": {
            "type": "object",
            "properties": {"text": {"type": "string"}, "amount": {"type": "number"}},
            "required": ["text", "amount"],
            "additionalProperties": False,
        },
    },
    kind={"type": "string", "enum": ["a", "b"]},
    paid={"type": "string", "format": "date"},
)


def saved_schema(person: Person, response_format: Json = INVOICE, name: str = "Invoice") -> SchemaRevision:
    return create_schema(actor=person.actor, name=name, response_format=response_format).revision


def saved_prompt(person: Person, name: str = "P", content: str = "x", **more: object) -> PromptRevision:
    config = PromptConfig(name=name, content=content, **{"model": "docrouter/offline", **more})  # type: ignore[arg-type]
    return create_prompt(actor=person.actor, config=config).revision


def card(person: Person, name: str, arguments: Json, **turn_values: object) -> Card:
    row = waiting_turn(person.actor, make_document(person.actor), (name, arguments), **turn_values)
    turn = get_turn(actor=person.actor, turn_id=row.pk)
    return card_for(ToolCall.objects.get(turn=row), turn=turn, actor=person.actor)


def test_a_new_schema_is_a_table_with_what_this_page_has(alice: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    found = [PreviewValue("total", 12.0, 1, [[0.1, 0.1, 0.2, 0.2]], "12.00")]
    monkeypatch.setattr(cards, "preview_values", lambda **_: found)
    shown = card(alice, "create_schema", {"name": "Invoice", "response_format": INVOICE})
    assert shown.kind == "schema"
    rows = {row.field.name: row.example for row in shown.rows}
    assert list(rows) == ["number", "total"]
    assert rows["total"] is not None
    assert rows["total"].shown == "12.00"
    assert rows["total"].normalized == "12"


def test_fields_keep_the_order_in_which_the_model_wrote_them(alice: Person) -> None:
    many = schema_format(**{name: {"type": "string"} for name in ("zulu", "b", "alpha", "longest_of_all")})
    shown = card(alice, "create_schema", {"name": "X", "response_format": many})
    assert [row.field.name for row in shown.rows] == ["zulu", "b", "alpha", "longest_of_all"]


def test_more_than_eight_fields_are_folded(alice: Person) -> None:
    many = schema_format(**{f"f{number}": {"type": "string"} for number in range(12)})
    shown = card(alice, "create_schema", {"name": "X", "response_format": many})
    assert (len(shown.first_rows), len(shown.more_rows)) == (8, 4)


def test_a_changed_schema_is_shown_against_the_present_version(alice: Person) -> None:
    made = saved_schema(alice)
    after = schema_format(number={"type": "integer"}, tax={"type": "number"})
    shown = card(alice, "update_schema", {"schema_id": made.schema_id.hex, "response_format": after})
    marks = {row.field.name: (row.field.change, row.field.was) for row in shown.rows}
    assert marks == {"number": ("changed", "string"), "tax": ("added", ""), "total": ("removed", "")}
    assert "Version 2 of “Invoice”" in shown.note


def test_a_schema_of_another_organization_is_not_read(alice: Person, charlie: Person) -> None:
    foreign = saved_schema(charlie, LINES, "Secret name")
    shown = card(alice, "update_schema", {"schema_id": foreign.schema_id.hex, "response_format": INVOICE})
    assert "Secret" not in shown.note
    assert not shown.has_changes


def test_a_prompt_card_names_schema_model_and_tags(alice: Person) -> None:
    made = saved_schema(alice)
    tag = create_tag(actor=alice.actor, name="Paid")
    arguments = {"name": "P", "content": "Read it.", "schema_id": made.schema_id.hex, "tag_ids": [tag.pk.hex]}
    shown = card(alice, "create_prompt", arguments)
    assert shown.text == "Read it."
    assert [(fact.label, fact.value) for fact in shown.facts] == [
        ("Schema", "Invoice v1"),
        ("Model", "Default"),
        ("Tags", "Paid"),
    ]


def test_a_changed_prompt_is_a_diff(alice: Person) -> None:
    made = saved_prompt(alice, content="one\ntwo\nthree")
    shown = card(alice, "update_prompt", {"prompt_id": made.prompt_id.hex, "content": "one\n2\nthree"})
    assert [(line.kind, line.text) for line in shown.diff] == [
        ("same", "one"),
        ("removed", "two"),
        ("added", "2"),
        ("same", "three"),
    ]


def test_a_run_says_which_model_runs_really(alice: Person) -> None:
    made = saved_prompt(alice, model="gpt-4o-mini")
    shown = card(alice, "run_extraction", {"prompt_revid": made.pk.hex})
    assert shown.facts[0].value == "P v1"
    assert "no key for gpt-4o-mini" in shown.facts[-1].value


def test_deleting_a_schema_names_what_uses_it(alice: Person) -> None:
    made = saved_schema(alice)
    saved_prompt(alice, "Read bills", schema_id=made.schema_id.hex)
    shown = card(alice, "delete_schema", {"schema_id": made.schema_id.hex})
    assert "“Read bills”" in shown.note


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("create_schema", {"name": "X", "response_format": {"json_schema": 1}}),
        ("update_schema", {"schema_id": "zz"}),
        ("update_prompt", {"prompt_id": "0" * 32}),
        ("create_prompt", {"name": "X", "content": "y", "tag_ids": ["nonsense"], "schema_id": "1"}),
        ("update_extraction_field", {"path": "a.b.c", "value": None}),
        ("run_extraction", {"prompt_revid": "gone"}),
        ("delete_schema", {"schema_id": "gone"}),
        ("update_document", {"document_id": "gone", "metadata": {"a": "b"}}),
        ("create_tag", {"name": "x", "color": "url(https://evil.example)"}),
        ("unknown_tool", {"anything": [1, {"a": 2}]}),
    ],
)
def test_what_cannot_be_read_makes_a_plainer_card_not_an_error(alice: Person, name: str, arguments: Json) -> None:
    shown = card(alice, name, arguments)
    assert all(fact.color == "" for fact in shown.facts)


def test_examples_of_tables_and_groups() -> None:
    def at(path: str, value: object, quote: str) -> PreviewValue:
        return PreviewValue(path, value, 1, [[0.1, 0.1, 0.2, 0.2]], quote)

    examples = {
        value.path: value
        for value in (
            at("lines.0.text", "Apple", "Apple"),
            at("lines.1.text", "Pear", "Pear"),
            at("to.city", "Rome", "Rome,"),
        )
    }
    table, group = example_of("lines", examples), example_of("to", examples)
    assert table is not None
    assert (table.shown, table.more) == ("2 rows", "Apple")
    assert '"page": 1' in table.highlight
    assert group is not None
    assert group.shown == "Rome"
    assert example_of("other", examples) is None


def test_the_models_own_order_is_used_only_while_it_means_the_same() -> None:
    same = ToolCall(arguments={"a": 1, "b": 2}, arguments_text='{"b": 2, "a": 1}')
    other = ToolCall(arguments={"a": 1}, arguments_text='{"a": 2}')
    broken = ToolCall(arguments={"a": 1}, arguments_text="{")
    assert list(ordered_arguments(same)) == ["b", "a"]
    assert ordered_arguments(other) == ordered_arguments(broken) == {"a": 1}


def test_long_diffs_end() -> None:
    assert len(line_diff("", "\n".join(map(str, range(5_000))))) <= 400


def test_types_are_named_in_words() -> None:
    assert [(field.shown_name, field.label) for field in fields_of(LINES)] == [
        ("number", "string"),
        ("lines[]", "2 columns"),
        ("kind", "one of a, b"),
        ("paid", "date"),
    ]


def edited(**changes: str | None) -> list[EditedField]:
    """The rows of LINES as a person left them: a new name, or None for a row that was removed."""
    return [
        EditedField(field.key, field.parent, str(changes.get(field.name, field.name)), field.code, field.description)
        for field in all_fields_of(LINES)
        if changes.get(field.name, "") is not None
    ]


def test_an_untouched_table_means_the_same_schema() -> None:
    assert apply_edits(LINES, edited()) == LINES


def test_renaming_keeps_everything_else_of_a_field() -> None:
    after = inner_schema(apply_edits(LINES, edited(kind="sort", lines="rows", amount="sum")))
    assert list(after["properties"]) == after["required"] == ["number", "rows", "sort", "paid"]
    assert after["properties"]["sort"] == {"type": "string", "enum": ["a", "b"]}
    assert after["properties"]["rows"]["items"]["required"] == ["text", "sum"]


def test_removing_adding_and_retyping_give_a_valid_strict_schema() -> None:
    rows = [row for row in edited(kind=None) if row.name != "text"]
    rows[0] = EditedField("number", "", "number", "integer", "Which one")
    rows.append(EditedField("", "", "due", "date", ""))
    after = apply_edits(LINES, rows)
    properties = inner_schema(after)["properties"]
    assert properties["number"] == {"type": "integer", "description": "Which one"}
    assert properties["due"] == {"type": "string", "format": "date"}
    assert list(properties["lines"]["items"]["properties"]) == ["amount"]
    assert all_problems(after) == []


def test_compare_notices_nothing_where_nothing_changed() -> None:
    assert [field.change for field in compare(LINES, LINES)] == [""] * 4


def posted(**fields: object) -> QueryDict:
    data = QueryDict(mutable=True)
    for name, value in fields.items():
        data.setlist(name.replace("_", "-", 1), value if isinstance(value, list) else [value])
    return data


def test_a_form_that_was_not_touched_means_the_same_arguments() -> None:
    arguments = {
        "name": "P",
        "content": "one\ntwo",
        "schema_id": "a" * 32,
        "tag_ids": ["b"],
        "model": "docrouter/offline",
    }
    form = edit_form("create_prompt", arguments)
    assert [(item.name, item.kind) for item in form.inputs] == [
        ("name", "text"),
        ("content", "long"),
        ("model", "text"),
    ]
    data = posted(arg_name="P", arg_content="one\r\ntwo", arg_model="docrouter/offline")
    assert read_form("create_prompt", arguments, data).arguments == arguments


def test_json_counts_when_it_was_changed() -> None:
    arguments = {"name": "X", "response_format": INVOICE}
    data = posted(arg_name="X")
    data["schema-json"] = pretty(LINES)
    assert read_form("create_schema", arguments, data).arguments["response_format"] == LINES


@pytest.mark.parametrize("text", ["{", "[]", '{"type": "json_schema"}'])
def test_json_that_is_no_schema_is_a_problem_in_the_form(text: str) -> None:
    data = posted(arg_name="X")
    data["schema-json"] = text
    assert read_form("create_schema", {"name": "X", "response_format": INVOICE}, data).problems


def test_arguments_that_the_tool_refuses_are_a_problem_in_the_form() -> None:
    assert read_form("create_tag", {"name": "x"}, posted(arg_name="")).problems


def test_values_keep_their_type() -> None:
    arguments = {"path": "total", "value": 5}
    form = read_form("update_extraction_field", arguments, posted(arg_path="total", arg_value="7.5"))
    assert form.arguments == {"path": "total", "value": 7.5}
    assert read_form("update_extraction_field", arguments, posted(arg_path="total", arg_value="seven")).problems
