"""A card may wait for days: what moved since it was proposed is not overwritten when it is approved."""

import json
from typing import Any

import pytest

from agent.models import ToolCall, Turn
from agent.services import Decision, decide, start_turn
from documents.models import Document, Extraction
from documents.results import current_result, update_field
from documents.services import update_document
from prompts_app.models import PromptRevision
from prompts_app.selectors import get_version as get_prompt_version
from prompts_app.services import revise_prompt
from schemas_app.selectors import get_version as get_schema_version
from schemas_app.services import create_schema, trash_schema, update_schema
from tags_app.models import Tag
from tags_app.services import create_tag, update_tag
from tests.agent.staging import asks, put_on_stage, says, waits_for
from tests.conftest import Person, make_person
from tests.documents.making import RECEIPT, make_document, make_prompt
from tests.schemas.bodies import response_format

pytestmark = pytest.mark.django_db(transaction=True)
BODY, OTHER = response_format(total="number"), response_format(total="string")
ANSWER = {"number": "2468", "date": "", "total": 1, "iban": ""}


@pytest.fixture
def alice(transactional_db: None) -> Person:
    return make_person("alice@example.com")


@pytest.fixture
def bob(alice: Person) -> Person:
    return make_person("bob@example.com", organization=alice.organization)


@pytest.fixture
def receipt(alice: Person) -> Document:
    return make_document(alice, *RECEIPT)


@pytest.fixture
def prompt(alice: Person) -> PromptRevision:
    return make_prompt(alice)


@pytest.fixture
def tag(alice: Person) -> Tag:
    return create_tag(actor=alice.actor, name="Bills")


def stored(document: Document, prompt: PromptRevision) -> Extraction:
    assert document.current_version
    return Extraction.objects.create(
        organization=document.organization,
        document=document,
        version=document.current_version,
        prompt_revision=prompt,
        llm_result=ANSWER,
        updated_llm_result=ANSWER,
    )


def proposed(person: Person, document: Document, monkeypatch: Any, *calls: tuple[str, dict[str, Any]]) -> Turn:
    """A turn that waits with these calls, named by their place."""
    asked = [(str(place), name, json.dumps(arguments)) for place, (name, arguments) in enumerate(calls)]
    put_on_stage(monkeypatch, asks(*asked), says("Done"))
    turn = start_turn(actor=person.actor, document_id=document.pk, text="Change things")
    return waits_for(turn.pk, "waiting")


def approved(person: Person, turn: Turn) -> list[dict[str, Any]]:
    """The results of all calls, once a person has approved them."""
    rows = ToolCall.objects.filter(turn=turn)
    decisions = [Decision(call_id=row.call_id, approved=True) for row in rows]
    decide(actor=person.actor, document_id=turn.document_id, turn_id=turn.pk, decisions=decisions)
    waits_for(turn.pk, "done")
    return [row.result or {} for row in rows.order_by("position")]


def test_what_somebody_saved_while_the_card_waited_is_not_overwritten(
    alice: Person, bob: Person, receipt: Document, prompt: PromptRevision, tag: Tag, monkeypatch: Any
) -> None:
    schema = create_schema(actor=alice.actor, name="Bill", response_format=BODY).revision.schema
    stored(receipt, prompt)
    ids = {"schema_id": schema.pk.hex, "prompt_id": prompt.prompt_id.hex, "tag_id": tag.pk.hex}
    turn = proposed(
        alice,
        receipt,
        monkeypatch,
        ("update_schema", {"schema_id": ids["schema_id"], "response_format": OTHER}),
        ("update_prompt", {"prompt_id": ids["prompt_id"], "content": "Agent's."}),
        ("update_tag", {"tag_id": ids["tag_id"], "name": "Agent's"}),
        ("update_document", {"document_name": "agent.pdf"}),
        ("update_extraction_field", {"path": "total", "value": 3}),
        ("delete_schema", {"schema_id": ids["schema_id"]}),
        ("delete_prompt", {"prompt_id": ids["prompt_id"]}),
        ("delete_tag", {"tag_id": ids["tag_id"]}),
    )
    wider = response_format(total="number", date="string")
    update_schema(actor=bob.actor, schema_id=schema.pk, response_format=wider)
    revise_prompt(actor=bob.actor, prompt_id=prompt.prompt_id, content="Bob's.")
    update_tag(actor=bob.actor, tag_id=tag.pk, name="Bob's")
    update_document(actor=bob.actor, document_id=receipt.pk, name="bob.pdf")
    update_field(actor=bob.actor, document_id=receipt.pk, path="total", value=2)

    results = approved(alice, turn)

    assert [result.get("code") for result in results] == [
        "schema_changed", "prompt_changed", "tag_changed", "document_changed", "extraction_stale",
        "schema_changed", "prompt_changed", "tag_changed",
    ]  # fmt: skip
    assert (results[0]["latest_version"], results[1]["latest_version"]) == (2, 2)
    assert "Version 2 was saved in the meantime" in results[0]["error"]
    assert (results[2]["name"], results[3]["document_name"], results[4]["edit_version"]) == ("Bob's", "bob.pdf", 1)
    assert get_schema_version(actor=bob.actor, schema_id=schema.pk).response_format == wider
    assert get_prompt_version(actor=bob.actor, prompt_id=prompt.prompt_id).content == "Bob's."
    tag.refresh_from_db()
    receipt.refresh_from_db()
    assert (tag.name, tag.deleted_at, receipt.name) == ("Bob's", None, "bob.pdf")
    assert current_result(actor=bob.actor, document_id=receipt.pk).updated_llm_result["total"] == 2
    assert not ToolCall.objects.filter(turn=turn, undo__isnull=False).exists()


def test_calls_of_one_answer_may_build_on_each_other(
    alice: Person, receipt: Document, prompt: PromptRevision, tag: Tag, monkeypatch: Any
) -> None:
    stored(receipt, prompt)
    schema = create_schema(actor=alice.actor, name="Bill", response_format=BODY).revision.schema
    turn = proposed(
        alice,
        receipt,
        monkeypatch,
        ("update_extraction_field", {"path": "total", "value": 3}),
        ("update_extraction_field", {"path": "number", "value": "1"}),
        ("create_schema", {"name": "bill", "response_format": OTHER}),
        ("update_schema", {"schema_id": schema.pk.hex, "response_format": BODY}),
        ("create_prompt", {"name": "New", "content": "One."}),
        ("create_prompt", {"name": "New", "content": "Two."}),
        ("update_tag", {"tag_id": tag.pk.hex, "color": "red"}),
        ("update_tag", {"tag_id": tag.pk.hex, "description": "d"}),
        ("update_document", {"document_name": "a.pdf"}),
        ("update_document", {"metadata": {"k": "v"}}),
    )
    assert [result.get("error") for result in approved(alice, turn)] == [None] * 10
    tag.refresh_from_db()
    receipt.refresh_from_db()
    assert (tag.color, tag.description, receipt.name, receipt.metadata) == ("red", "d", "a.pdf", {"k": "v"})
    assert get_schema_version(actor=alice.actor, schema_id=schema.pk).version == 3
    assert current_result(actor=alice.actor, document_id=receipt.pk).updated_llm_result == {
        **ANSWER, "total": 3, "number": "1"
    }  # fmt: skip


def test_a_name_that_was_taken_while_the_card_waited_gets_no_version_unasked(
    alice: Person, bob: Person, receipt: Document, monkeypatch: Any
) -> None:
    turn = proposed(
        alice,
        receipt,
        monkeypatch,
        ("create_schema", {"name": "Bill", "response_format": BODY}),
        ("create_prompt", {"name": "Read", "content": "Agent's."}),
    )
    made = create_schema(actor=bob.actor, name="BILL", response_format=OTHER).revision
    make_prompt(bob, name="Read")
    assert [result.get("code") for result in approved(alice, turn)] == ["schema_changed", "prompt_changed"]
    latest = get_schema_version(actor=bob.actor, schema_id=made.schema_id)
    assert (latest.version, latest.schema.name, latest.response_format) == (1, "BILL", OTHER)


def test_what_is_gone_says_so_and_a_result_of_a_new_run_is_not_edited(
    alice: Person, bob: Person, receipt: Document, prompt: PromptRevision, monkeypatch: Any
) -> None:
    first = stored(receipt, prompt)
    schema = create_schema(actor=alice.actor, name="Bill", response_format=BODY).revision.schema
    turn = proposed(
        alice,
        receipt,
        monkeypatch,
        ("update_schema", {"schema_id": schema.pk.hex, "response_format": OTHER}),
        ("update_extraction_field", {"path": "total", "value": 3}),
    )
    trash_schema(actor=bob.actor, schema_id=schema.pk)
    second = stored(receipt, prompt)
    Extraction.objects.filter(pk=first.pk).update(superseded_by=second)
    assert [result.get("code") for result in approved(alice, turn)] == ["schema_not_found", "extraction_stale"]
    second.refresh_from_db()
    assert second.updated_llm_result == ANSWER
