"""Taking a write of the agent back, and refusing when the object is not as the agent left it."""

from typing import Any

import pytest

from agent.errors import UndoImpossible
from agent.toolbox import ToolContext
from agent.tools.undo import KINDS, undo_write
from core.errors import Conflict, DomainError, NotFound
from documents.models import Document
from documents.results import update_field
from documents.services import update_document
from prompts_app.selectors import list_prompts
from prompts_app.services import delete_prompt, revise_prompt
from schemas_app.selectors import get_version, list_schemas
from schemas_app.services import create_schema, update_schema
from tags_app.selectors import get_tag, list_tags
from tags_app.services import create_tag, update_tag
from tests.agent.calling import call, context_for
from tests.agent.test_tools import result_of
from tests.conftest import Person
from tests.documents.making import RECEIPT, make_document, make_prompt
from tests.schemas.bodies import response_format

BODY, OTHER = response_format(total="number"), response_format(total="string")


@pytest.fixture
def receipt(alice: Person) -> Document:
    return make_document(alice, *RECEIPT)


@pytest.fixture
def ctx(alice: Person, receipt: Document) -> ToolContext:
    return context_for(alice, receipt)


def take_back(ctx: ToolContext, undo: Any = None) -> str:
    recorded = undo or ctx.undo
    assert recorded is not None
    assert recorded["kind"] in KINDS
    return undo_write(actor=ctx.actor, undo=recorded)


def schema_names(ctx: ToolContext) -> list[str]:
    return [row.schema.name for row in list_schemas(actor=ctx.actor).rows]


def test_a_created_schema_goes_to_the_trash_and_a_deleted_one_comes_back(ctx: ToolContext) -> None:
    made = call(ctx, "create_schema", name="Receipt", response_format=BODY)
    take_back(ctx)
    assert schema_names(ctx) == []
    with pytest.raises(NotFound):
        take_back(ctx)
    made = call(ctx, "create_schema", name="Receipt", response_format=BODY)
    call(ctx, "delete_schema", schema_id=made["schema_id"])
    take_back(ctx)
    assert schema_names(ctx) == ["Receipt"]


def test_a_created_schema_stays_when_it_was_changed_or_used_since(alice: Person, ctx: ToolContext) -> None:
    made = call(ctx, "create_schema", name="Receipt", response_format=BODY)
    undo = ctx.undo
    call(ctx, "create_prompt", name="Read", content="Read.", schema_id=made["schema_id"])
    with pytest.raises(Conflict, match="depend on it"):
        take_back(ctx, undo)
    delete_prompt(actor=alice.actor, prompt_id=list_prompts(actor=alice.actor).rows[0].prompt_id)
    update_schema(actor=alice.actor, schema_id=made["schema_id"], name="Renamed")
    with pytest.raises(UndoImpossible, match="renamed since"):
        take_back(ctx, undo)
    update_schema(actor=alice.actor, schema_id=made["schema_id"], name="Receipt", response_format=OTHER)
    with pytest.raises(Conflict):
        take_back(ctx, undo)
    assert schema_names(ctx) == ["Receipt"]


def test_a_new_version_is_followed_by_one_equal_to_the_version_before(alice: Person, ctx: ToolContext) -> None:
    made = call(ctx, "create_schema", name="Receipt", response_format=BODY)
    call(ctx, "create_schema", name="RECEIPT", response_format=OTHER)
    undo = ctx.undo
    take_back(ctx)
    latest = get_version(actor=alice.actor, schema_id=made["schema_id"])
    assert (latest.version, latest.response_format, latest.schema.name) == (3, BODY, "Receipt")
    with pytest.raises(DomainError):
        take_back(ctx, undo)
    call(ctx, "update_schema", schema_id=made["schema_id"], response_format=OTHER, name="Bill")
    take_back(ctx)
    latest = get_version(actor=alice.actor, schema_id=made["schema_id"])
    assert (latest.version, latest.response_format, latest.schema.name) == (5, BODY, "Receipt")


def test_a_rename_is_taken_back(alice: Person, ctx: ToolContext) -> None:
    made = call(ctx, "create_schema", name="Receipt", response_format=BODY)
    call(ctx, "update_schema", schema_id=made["schema_id"], name="Bill")
    undo = ctx.undo
    create_schema(actor=alice.actor, name="Receipt", response_format=BODY)
    with pytest.raises(Conflict, match="already exists"):
        take_back(ctx, undo)
    update_schema(
        actor=alice.actor, schema_id=list_schemas(actor=alice.actor, name_search="Receipt").rows[0].schema_id, name="x"
    )
    take_back(ctx, undo)
    assert sorted(schema_names(ctx)) == ["Receipt", "x"]


def test_prompts_are_taken_back(alice: Person, ctx: ToolContext) -> None:
    made = call(ctx, "create_prompt", name="Read", content="One.")
    created = ctx.undo
    call(ctx, "update_prompt", prompt_id=made["prompt_id"], content="Two.")
    updated = ctx.undo
    with pytest.raises(Conflict):
        take_back(ctx, created)
    take_back(ctx, updated)
    latest = list_prompts(actor=alice.actor).rows[0]
    assert (latest.version, latest.content) == (3, "One.")
    with pytest.raises(Conflict):
        take_back(ctx, updated)
    call(ctx, "delete_prompt", prompt_id=made["prompt_id"])
    take_back(ctx)
    assert list_prompts(actor=alice.actor).total_count == 1
    revise_prompt(actor=alice.actor, prompt_id=made["prompt_id"], content="Three.")
    call(ctx, "create_prompt", name="New", content="One.")
    take_back(ctx)
    assert [row.prompt.name for row in list_prompts(actor=alice.actor).rows] == ["Read"]


def test_tags_are_taken_back(alice: Person, ctx: ToolContext) -> None:
    made = call(ctx, "create_tag", name="Bills", description="d")
    created = ctx.undo
    call(ctx, "update_tag", tag_id=made["tag_id"], name="Invoices", color="red")
    updated = ctx.undo
    with pytest.raises(UndoImpossible):
        take_back(ctx, created)
    take_back(ctx, updated)
    tag = get_tag(actor=alice.actor, tag_id=made["tag_id"])
    assert (tag.name, tag.color, tag.description) == ("Bills", "#3B82F6", "d")
    update_tag(actor=alice.actor, tag_id=tag.pk, name="Else")
    with pytest.raises(UndoImpossible):
        take_back(ctx, updated)
    call(ctx, "delete_tag", tag_id=made["tag_id"])
    deleted = ctx.undo
    create_tag(actor=alice.actor, name="Else")
    with pytest.raises(Conflict, match="already exists"):
        take_back(ctx, deleted)
    call(ctx, "create_tag", name="Last")
    take_back(ctx)
    assert [row.name for row in list_tags(actor=alice.actor).rows] == ["Else"]


def test_a_document_is_taken_back(alice: Person, ctx: ToolContext, receipt: Document) -> None:
    tag = create_tag(actor=alice.actor, name="t")
    call(ctx, "update_document", document_name="b.pdf", tag_ids=[tag.pk.hex], metadata={"k": "v"})
    changed = ctx.undo
    update_document(actor=alice.actor, document_id=receipt.pk, metadata={"k": "w"})
    with pytest.raises(UndoImpossible):
        take_back(ctx, changed)
    update_document(actor=alice.actor, document_id=receipt.pk, metadata={"k": "v"})
    take_back(ctx, changed)
    receipt.refresh_from_db()
    assert (receipt.name, receipt.metadata, list(receipt.tags.all())) == ("receipt.pdf", {}, [])
    call(ctx, "delete_document")
    take_back(ctx)
    assert call(ctx, "get_ocr_text")["text"]


def test_an_edited_value_is_taken_back_unless_it_was_edited_again(
    alice: Person, ctx: ToolContext, receipt: Document
) -> None:
    data = {"number": "2468", "date": "", "total": 1, "iban": ""}
    result_of(alice, receipt, make_prompt(alice), data)
    call(ctx, "update_extraction_field", path="total", value=1)
    assert ctx.undo is None
    call(ctx, "update_extraction_field", path="total", value=2)
    first = ctx.undo
    call(ctx, "update_extraction_field", path="number", value="1")
    second = ctx.undo
    take_back(ctx, first)
    assert call(ctx, "get_extraction_result")["extraction"] == {**data, "number": "1"}
    update_field(actor=alice.actor, document_id=receipt.pk, path="number", value="2")
    update_field(actor=alice.actor, document_id=receipt.pk, path="number", value="1")
    for undo in (first, second):
        with pytest.raises(UndoImpossible, match="changed since"):
            take_back(ctx, undo)
    assert call(ctx, "get_extraction_result")["extraction"] == {**data, "number": "1"}


def test_a_value_in_a_row_is_not_taken_back_once_the_rows_changed(
    alice: Person, ctx: ToolContext, receipt: Document
) -> None:
    rows = {"lines": {"type": "array", "items": {"type": "object", "properties": {"qty": {"type": "integer"}}}}}
    result_of(alice, receipt, make_prompt(alice, rows), {"lines": [{"qty": 1}, {"qty": 5}]})
    call(ctx, "update_extraction_field", path="lines.0.qty", value=5)
    update_field(actor=alice.actor, document_id=receipt.pk, path="lines", value=[{"qty": 5}])
    with pytest.raises(UndoImpossible):
        take_back(ctx)


@pytest.mark.django_db(transaction=True)
def test_an_extraction_is_taken_back_and_the_result_before_stands_again(
    alice: Person, ctx: ToolContext, receipt: Document
) -> None:
    first = call(ctx, "run_extraction", prompt_revid="default")
    edited = next(iter(first["extraction"]))
    call(ctx, "update_extraction_field", path=edited, value="by hand")
    call(ctx, "run_extraction")
    take_back(ctx)
    assert call(ctx, "get_extraction_result")["extraction"][edited] == "by hand"


@pytest.mark.django_db(transaction=True)
def test_an_extraction_that_somebody_built_on_is_not_taken_back(
    alice: Person, ctx: ToolContext, receipt: Document
) -> None:
    first = call(ctx, "run_extraction", prompt_revid="default")
    undo = ctx.undo
    call(ctx, "update_extraction_field", path=next(iter(first["extraction"])), value="by hand")
    with pytest.raises(Conflict, match="edited since"):
        take_back(ctx, undo)


def test_the_other_organization_takes_nothing_back(ctx: ToolContext, charlie: Person) -> None:
    made = call(ctx, "create_schema", name="Receipt", response_format=BODY)
    created = ctx.undo
    call(ctx, "delete_schema", schema_id=made["schema_id"])
    for undo in (created, ctx.undo, {"kind": "nothing"}, {}):
        with pytest.raises(DomainError):
            undo_write(actor=charlie.actor, undo=undo or {})
