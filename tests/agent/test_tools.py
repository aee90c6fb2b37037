"""The 27 tools over real services: what they return, refuse, remember and record."""

import json
from pathlib import Path
from typing import Any

import pytest

import agent.tools  # noqa: F401 - fills the toolbox
from agent.toolbox import ArgumentsRefused, ToolContext, toolbox
from documents.models import Document, Extraction, Page
from documents.services import update_document
from schemas_app.services import create_schema
from tags_app.services import create_tag
from tests.agent.calling import call, context_for
from tests.conftest import Person
from tests.documents.making import RECEIPT, make_document, make_prompt
from tests.fakes.provider import FakeProvider
from tests.fakes.steps import Step
from tests.schemas.bodies import response_format

GOLDEN = Path(__file__).parent / "tools.json"
BODY = response_format(total="number", date="string")
READS = {
    "get_ocr_text", "get_extraction_result", "list_documents", "get_schema", "list_schemas", "validate_schema",
    "validate_against_schema", "get_prompt", "list_prompts", "get_tag", "list_tags", "help_schemas", "help_prompts",
    "list_llm_models",
}  # fmt: skip
WRITES = {
    "run_extraction", "update_extraction_field", "update_document", "delete_document", "create_schema",
    "update_schema", "delete_schema", "create_prompt", "update_prompt", "delete_prompt", "create_tag", "update_tag",
    "delete_tag",
}  # fmt: skip


@pytest.fixture
def receipt(alice: Person) -> Document:
    return make_document(alice, *RECEIPT)


@pytest.fixture
def ctx(alice: Person, receipt: Document) -> ToolContext:
    return context_for(alice, receipt)


def result_of(person: Person, document: Document, prompt: Any, data: dict[str, Any]) -> Extraction:
    version = document.current_version
    assert version is not None
    return Extraction.objects.create(
        organization=person.organization,
        document=document,
        version=version,
        prompt_revision=prompt,
        llm_result=data,
        updated_llm_result=data,
    )


def test_the_schemas_of_all_tools_are_as_reviewed() -> None:
    """Write the new ones into tools.json on purpose, and say in the commit why."""
    assert toolbox.definitions() == json.loads(GOLDEN.read_text(encoding="utf-8"))


def test_fourteen_tools_read_and_thirteen_write() -> None:
    assert set(toolbox.read_names) == READS
    assert set(toolbox.write_names) == WRITES
    assert all(tool.parameters["additionalProperties"] is False for tool in toolbox)


def test_text_is_read_whole_and_by_page(ctx: ToolContext) -> None:
    assert call(ctx, "get_ocr_text") == {"text": "\n".join(RECEIPT)}
    assert call(ctx, "get_ocr_text", page_num=1) == {"text": "\n".join(RECEIPT)}
    assert call(ctx, "get_ocr_text", page_num=2)["code"] == "page_not_found"
    assert call(ctx, "get_ocr_text", page_num=0)["code"] == "invalid_arguments"


def test_a_long_text_ends_with_how_to_get_the_rest(ctx: ToolContext, receipt: Document) -> None:
    Page.objects.filter(version=receipt.current_version).update(text="word " * 5000)
    cut = call(ctx, "get_ocr_text")
    assert len(json.dumps(cut)) <= 12_000
    assert "page_num" in cut["cut"]
    assert call(ctx, "get_ocr_text", page_num=1) == {"text": "word " * 5000}


def test_text_that_is_not_there_yet_is_said(alice: Person) -> None:
    unread = context_for(alice, make_document(alice, name="new.pdf", phase="queued"))
    assert call(unread, "get_ocr_text")["code"] == "text_not_ready"


def test_documents_are_listed_by_name_tags_and_metadata(alice: Person, ctx: ToolContext, receipt: Document) -> None:
    tag = create_tag(actor=alice.actor, name="t")
    metadata = {"a b": "1,2 %=3"}
    update_document(actor=alice.actor, document_id=receipt.pk, tag_ids=[tag.pk], metadata=metadata)
    make_document(alice, name="other.pdf")
    for query in (
        {"name_search": "RECEI"},
        {"tag_ids": [tag.pk.hex]},
        {"metadata_search": metadata},
        {"limit": 0, "skip": 1},
    ):
        found = call(ctx, "list_documents", **query)
        assert [row["id"] for row in found["documents"]] == [receipt.pk.hex], query
    assert found["total_count"] == 2
    assert found["documents"][0].keys() == {
        "id", "document_name", "upload_date", "uploaded_by", "state", "tag_ids", "metadata",
    }  # fmt: skip
    assert found["documents"][0]["tag_ids"] == [tag.pk.hex]


def test_a_schema_is_validated_created_and_becomes_the_one_in_work(ctx: ToolContext) -> None:
    assert call(ctx, "validate_schema", schema=BODY) == {"valid": True}
    assert call(ctx, "validate_schema", schema=json.dumps(BODY)) == {"valid": True}
    made = call(ctx, "create_schema", name="Receipt", response_format=BODY)
    assert made.keys() == {"schema_revid", "schema_id", "name"}
    assert ctx.working_state["schema_revid"] == made["schema_revid"]
    shown = call(ctx, "get_schema", schema_revid=made["schema_revid"])
    assert (shown["schema_version"], shown["response_format"]) == (1, BODY)
    listed = call(ctx, "list_schemas", name_search="rec")
    assert ([row["schema_revid"] for row in listed["schemas"]], listed["total_count"]) == ([made["schema_revid"]], 1)
    checked = call(ctx, "validate_against_schema", schema_revid=made["schema_revid"], data={"total": "x"})
    assert {error["path"] for error in checked["errors"]} == {"total", "date"}
    good = call(ctx, "validate_against_schema", schema_revid=made["schema_revid"], data={"total": 1, "date": ""})
    assert good == {"valid": True}


@pytest.mark.parametrize("schema", ["{", "[]", {}, {"type": "json_schema"}, '"x"', "[" * 90_000])
def test_what_is_no_schema_is_said_not_raised(ctx: ToolContext, schema: Any) -> None:
    answer = call(ctx, "validate_schema", schema=schema)
    assert answer["valid"] is False
    assert answer["error"]


def test_a_write_that_cannot_succeed_never_becomes_a_card(ctx: ToolContext) -> None:
    broken = json.loads(json.dumps(BODY))
    broken["json_schema"]["schema"]["required"] = ["date"]
    error = call(ctx, "validate_schema", schema=broken)["error"]
    assert error == "properties.total: add it to required"
    for name, arguments in (
        ("create_schema", {"name": "Receipt", "response_format": broken}),
        ("update_schema", {"schema_id": "0" * 32, "response_format": broken}),
    ):
        with pytest.raises(ArgumentsRefused, match=error):
            toolbox.read_arguments(name, json.dumps(arguments))
        assert call(ctx, name, **arguments)["code"] == "invalid_arguments"
    assert call(ctx, "list_schemas")["total_count"] == 0


def test_a_name_that_exists_is_flagged(ctx: ToolContext) -> None:
    call(ctx, "create_schema", name="Receipt", response_format=BODY)
    again = call(ctx, "create_schema", name="RECEIPT", response_format=BODY)
    assert again["new_version"] is True
    assert "version 2" in again["warning"]
    call(ctx, "create_prompt", name="Read", content="Read.")
    again = call(ctx, "create_prompt", name="Read", content="Read more.")
    assert (again["new_version"], "version 2" in again["warning"]) == (True, True)


def test_an_update_says_when_nothing_changed(ctx: ToolContext) -> None:
    made = call(ctx, "create_schema", name="Receipt", response_format=BODY)
    same = call(ctx, "update_schema", schema_id=made["schema_id"], response_format=BODY)
    assert same == {**made, "message": "No changes"}
    assert ctx.undo is None
    renamed = call(ctx, "update_schema", schema_id=made["schema_id"], name="Bill")
    assert renamed == {**made, "name": "Bill"}
    newer = call(ctx, "update_schema", schema_id=made["schema_id"], response_format=response_format(total="string"))
    assert newer["schema_revid"] != made["schema_revid"]
    assert ctx.working_state["schema_revid"] == newer["schema_revid"]
    assert call(ctx, "update_schema", schema_id=made["schema_id"])["code"] == "nothing_to_update"


def test_a_prompt_takes_the_latest_schema_and_keeps_what_is_not_named(alice: Person, ctx: ToolContext) -> None:
    schema = call(ctx, "create_schema", name="Receipt", response_format=BODY)
    tag = call(ctx, "create_tag", name="t")
    made = call(
        ctx, "create_prompt", name="Read", content="Read.", schema_id=schema["schema_id"], tag_ids=[tag["tag_id"]]
    )
    assert made.keys() == {"prompt_revid", "prompt_id", "name"}
    assert ctx.working_state["prompt_revid"] == made["prompt_revid"]
    call(ctx, "create_schema", name="Receipt", response_format=response_format(total="string"))
    shown = call(ctx, "get_prompt", prompt_revid=made["prompt_revid"])
    assert (shown["schema_version"], shown["model"], shown["tag_ids"]) == (1, "gpt-4o-mini", [tag["tag_id"]])
    updated = call(ctx, "update_prompt", prompt_id=made["prompt_id"], schema_id=schema["schema_id"])
    shown = call(ctx, "get_prompt", prompt_revid=updated["prompt_revid"])
    assert (shown["prompt_version"], shown["schema_version"], shown["content"]) == (2, 2, "Read.")
    assert shown["tag_ids"] == [tag["tag_id"]]
    assert call(ctx, "get_prompt", prompt_revid="default")["name"] == "Document Summary"


def test_prompts_are_listed_for_a_document(alice: Person, ctx: ToolContext, receipt: Document) -> None:
    tag = create_tag(actor=alice.actor, name="t")
    call(ctx, "create_prompt", name="Tagged", content="Read.", tag_ids=[tag.pk.hex])
    call(ctx, "create_prompt", name="Plain", content="Read.")
    everything = call(ctx, "list_prompts", document_id=receipt.pk.hex)
    assert [row["name"] for row in everything["prompts"]] == ["Plain", "Tagged"]
    update_document(actor=alice.actor, document_id=receipt.pk, tag_ids=[tag.pk])
    tagged = call(ctx, "list_prompts", document_id=receipt.pk.hex)
    assert [row["name"] for row in tagged["prompts"]] == ["Tagged"]


def test_tags_are_made_changed_and_deleted(ctx: ToolContext) -> None:
    made = call(ctx, "create_tag", name="Bills", description="d")
    assert call(ctx, "create_tag", name="Bills")["code"] == "tag_name_taken"
    changed = call(ctx, "update_tag", tag_id=made["tag_id"], color="red")
    assert changed == {"tag_id": made["tag_id"], "name": "Bills"}
    same = call(ctx, "update_tag", tag_id=made["tag_id"], color="red")
    assert same["message"] == "No changes"
    shown = call(ctx, "get_tag", tag_id=made["tag_id"])
    assert (shown["color"], shown["description"]) == ("red", "d")
    assert call(ctx, "list_tags")["tags"] == [shown]
    assert call(ctx, "delete_tag", tag_id=made["tag_id"]) == {"message": "Tag deleted successfully"}
    assert call(ctx, "get_tag", tag_id=made["tag_id"]) == {"error": "Tag not found", "code": "tag_not_found"}


def test_what_is_in_use_is_not_deleted(alice: Person, ctx: ToolContext, receipt: Document) -> None:
    schema = call(ctx, "create_schema", name="Receipt", response_format=BODY)
    tag = call(ctx, "create_tag", name="t")
    prompt = call(ctx, "create_prompt", name="Read", content="Read.", schema_id=schema["schema_id"])
    update_document(actor=alice.actor, document_id=receipt.pk, tag_ids=[tag["tag_id"]])
    assert call(ctx, "delete_schema", schema_id=schema["schema_id"])["error"].startswith(
        "Cannot delete schema: 1 prompt(s) depend on it"
    )
    assert call(ctx, "delete_tag", tag_id=tag["tag_id"])["code"] == "tag_in_use"
    assert call(ctx, "delete_prompt", prompt_id=prompt["prompt_id"]) == {"message": "Prompt deleted successfully"}
    assert call(ctx, "delete_schema", schema_id=schema["schema_id"]) == {"message": "Schema deleted successfully"}


def test_only_the_document_of_the_conversation_can_be_deleted(
    alice: Person, ctx: ToolContext, receipt: Document
) -> None:
    other = make_document(alice, name="other.pdf")
    assert call(ctx, "delete_document", document_id=other.pk.hex)["code"] == "other_document"
    assert call(ctx, "update_document")["code"] == "nothing_to_update"
    assert call(ctx, "update_document", document_name=" ")["code"] == "invalid"
    assert call(ctx, "update_document", tag_ids=["x"])["code"] == "invalid_tags"
    changed = call(ctx, "update_document", document_id=other.pk.hex, document_name="b.pdf", metadata={"k": "v"})
    assert changed == {
        "message": "Document updated successfully",
        "document_id": other.pk.hex,
        "document_name": "b.pdf",
        "tag_ids": [],
        "metadata": {"k": "v"},
    }
    assert call(ctx, "delete_document", document_id=receipt.pk.hex)["document_id"] == receipt.pk.hex
    assert call(ctx, "get_ocr_text")["code"] == "document_not_found"


def test_an_extraction_is_read_and_edited_by_path(alice: Person, ctx: ToolContext, receipt: Document) -> None:
    prompt = make_prompt(alice)
    missing = call(ctx, "get_extraction_result", prompt_revid=prompt.pk.hex)
    assert missing["error"]
    data = {"number": "2468", "date": "2020-08-20", "total": 4950, "iban": ""}
    result_of(alice, receipt, prompt, data)
    assert call(ctx, "get_extraction_result") == {"extraction": data, "prompt_revid": prompt.pk.hex}
    changed = call(ctx, "update_extraction_field", path="total", value=4951)
    assert changed == {"extraction": {**data, "total": 4951}, "prompt_revid": prompt.pk.hex}
    for path, value in (("total", "much"), ("new", 1), ("number.0", "x"), ("", 1)):
        assert call(ctx, "update_extraction_field", path=path, value=value)["error"]
    assert call(ctx, "get_extraction_result")["extraction"]["total"] == 4951


@pytest.mark.django_db(transaction=True)
def test_a_run_sets_the_prompt_in_work(alice: Person, ctx: ToolContext, fake_provider: FakeProvider) -> None:
    prompt = make_prompt(alice)
    data = {"number": "2468", "date": "2020-08-20", "total": 4950, "iban": ""}
    fake_provider.add(Step(text=json.dumps(data), structured=True))
    assert call(ctx, "run_extraction", prompt_revid=prompt.pk.hex) == {
        "extraction": data,
        "prompt_revid": prompt.pk.hex,
    }
    assert ctx.working_state["prompt_revid"] == prompt.pk.hex
    assert call(ctx, "run_extraction", prompt_revid="0" * 32)["code"] == "prompt_not_found"


def test_help_and_models_are_read_without_arguments(ctx: ToolContext) -> None:
    for name in ("help_schemas", "help_prompts"):
        assert len(call(ctx, name, _="")["content"]) > 500
    assert "docrouter/offline" in call(ctx, "list_llm_models")["models"]


def test_the_example_of_the_help_text_passes_the_check(ctx: ToolContext) -> None:
    text = call(ctx, "help_schemas")["content"]
    example = text.split("```json\n")[1].split("```")[0]
    assert call(ctx, "validate_schema", schema=example) == {"valid": True}


@pytest.mark.parametrize(
    ("name", "arguments", "summary"),
    [
        ("create_schema", {"name": "Invoice", "response_format": BODY}, "Create schema “Invoice” with 2 fields"),
        ("update_schema", {"schema_id": "x", "name": "Bill"}, "Change a schema: rename it “Bill”"),
        ("update_schema", {"schema_id": "x", "response_format": response_format(a="string")},
         "Change a schema: save a new version with 1 field"),
        ("create_prompt", {"name": "Read", "content": "c", "schema_id": "x"}, "Create prompt “Read” with a schema"),
        ("update_prompt", {"prompt_id": "x", "content": "c", "model": "m"},
         "Save a new version of a prompt with a new text, a model"),
        ("create_tag", {"name": "Bills"}, "Create tag “Bills”"),
        ("update_document", {"document_name": "b", "tag_ids": []},
         "Change this document: name it “b”, take its tags away"),
        ("update_extraction_field", {"path": "total", "value": "x"}, "Set “total” to “x”"),
        ("update_extraction_field", {"path": "paid", "value": True}, "Set “paid” to True"),
        ("delete_document", {}, "Delete this document"),
    ],
)  # fmt: skip
def test_a_card_says_in_words_what_would_happen(name: str, arguments: dict[str, Any], summary: str) -> None:
    assert toolbox.get(name).describe(arguments) == summary


def test_every_tool_has_a_sentence_even_for_odd_arguments() -> None:
    for tool in toolbox:
        for arguments in ({}, {"name": None, "response_format": 5, "tag_ids": 5, "path": 1, "value": [1] * 99}):
            assert tool.describe(arguments)


def test_the_other_organization_gets_nothing_from_any_tool(alice: Person, charlie: Person, receipt: Document) -> None:
    prompt = make_prompt(alice)
    schema = prompt.schema_revision
    assert schema is not None
    tag = create_tag(actor=alice.actor, name="t")
    theirs = context_for(charlie, make_document(charlie, "Nothing"))
    ids = {
        "get_schema": {"schema_revid": schema.pk.hex},
        "validate_against_schema": {"schema_revid": schema.pk.hex, "data": {}},
        "update_schema": {"schema_id": schema.schema_id.hex, "name": "x"},
        "delete_schema": {"schema_id": schema.schema_id.hex},
        "get_prompt": {"prompt_revid": prompt.pk.hex},
        "update_prompt": {"prompt_id": prompt.prompt_id.hex, "content": "x"},
        "delete_prompt": {"prompt_id": prompt.prompt_id.hex},
        "create_prompt": {"name": "x", "content": "x", "schema_id": schema.schema_id.hex},
        "list_prompts": {"document_id": receipt.pk.hex},
        "get_tag": {"tag_id": tag.pk.hex},
        "update_tag": {"tag_id": tag.pk.hex, "name": "x"},
        "delete_tag": {"tag_id": tag.pk.hex},
        "update_document": {"document_id": receipt.pk.hex, "document_name": "x"},
        "get_extraction_result": {"prompt_revid": prompt.pk.hex},
        "run_extraction": {"prompt_revid": prompt.pk.hex},
    }  # fmt: skip
    for name, arguments in ids.items():
        answer = call(theirs, name, **arguments)
        assert answer.get("code", "").endswith("not_found"), (name, answer)
        assert theirs.undo is None
    for name in ("list_schemas", "list_prompts", "list_tags"):
        assert call(theirs, name)["total_count"] == 0
    foreign = context_for(charlie, receipt)
    for name in ("get_ocr_text", "get_extraction_result", "delete_document", "run_extraction"):
        assert call(foreign, name)["code"] == "document_not_found"


def test_order_of_fields_survives_the_way_through_a_tool(alice: Person, ctx: ToolContext) -> None:
    fields = ["zeta", "a", "much_longer", "b"]
    made = call(ctx, "create_schema", name="Order", response_format=response_format(**dict.fromkeys(fields, "string")))
    shown = call(ctx, "get_schema", schema_revid=made["schema_revid"])
    assert list(shown["response_format"]["json_schema"]["schema"]["properties"]) == fields
    assert create_schema(actor=alice.actor, name="x", response_format=BODY)
