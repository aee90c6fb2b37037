"""The Extraction tab: the form follows the schema, edits keep their type, stale ones lose nothing, runs go on."""

import json
import re

import pytest
from django.test import AsyncClient

from documents.background import running_extractions
from documents.errors import FieldInvalid
from documents.grounding import ground
from documents.models import Document, Extraction
from documents.panel import extraction_panel
from documents.result_form import build_form, find_node, read_value, schema_at
from documents.results import update_field
from documents.selectors import document_content
from tests.conftest import Person
from tests.documents.making import RECEIPT, make_document, make_prompt

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}
SCHEMA = {
    "type": "object",
    "properties": {
        "number": {"type": "string", "description": "Number of the receipt"},
        "paid": {"type": "boolean"},
        "kind": {"type": "string", "enum": ["a", "b", ""]},
        "seller": {"type": "object", "properties": {"name": {"type": "string"}}},
        "lines": {
            "type": "array",
            "items": {"type": "object", "properties": {"what": {"type": "string"}, "total": {"type": "number"}}},
        },
        "notes": {"type": "array", "items": {"type": "string"}},
    },
}


@pytest.fixture
def receipt(alice: Person) -> Document:
    return make_document(alice, *RECEIPT)


@pytest.fixture
def result(alice: Person, receipt: Document) -> Extraction:
    """A result as a run would have left it."""
    data = {"number": "2468", "date": "2020-08-20", "total": 4950, "iban": ""}
    content = document_content(actor=alice.actor, document_id=receipt.id)
    return Extraction.objects.create(
        organization=alice.organization,
        document=receipt,
        version=receipt.current_version,
        prompt_revision=make_prompt(alice),
        llm_result=data,
        updated_llm_result=data,
        grounding={path: place.as_json() for path, place in ground(data=data, pages=content.pages).items()},
    )


def fields_address(result: Extraction) -> str:
    return f"/documents/{result.document_id.hex}/extractions/{result.id.hex}/fields"


def test_the_form_has_the_shape_of_the_schema() -> None:
    data = {
        "number": "2468",
        "paid": False,
        "kind": "b",
        "seller": {"name": "Contoso"},
        "lines": [{"what": "pen", "total": 1.5}],
        "notes": ["one"],
        "extra": "not in the schema",
    }
    places = {"number": {"state": "found", "page": 2, "boxes": [[0.1, 0.1, 0.2, 0.2]], "quote": "2468"}}
    row = Extraction(updated_llm_result=data, grounding=places, validation_errors=[{"path": "kind", "message": "no"}])
    form = build_form(row, SCHEMA, [])
    assert [node.shape for node in form] == ["field", "field", "field", "group", "table", "list", "field"]
    number, paid, kind = form[:3]
    assert (number.note, json.loads(number.highlight)["boxes"][0]["page"]) == ("page 2", 2)
    assert [label for _, label in paid.choices] == ["yes", "no"]
    assert kind.error == "no"
    cell = find_node(form, "lines.0.total")
    assert cell is not None
    assert (cell.value, cell.is_cell, cell.control) == ("1.5", True, "number")
    assert find_node(form, "seller.name") is not None
    assert find_node(form, "nowhere") is None


def test_a_value_that_was_filled_into_a_field_says_so() -> None:
    places = {"number": {"state": "found", "page": 2, "boxes": [[0.1, 0.1, 0.2, 0.2]], "source": "form"}}
    form = build_form(Extraction(updated_llm_result={"number": "2468"}, grounding=places), SCHEMA, [])
    assert form[0].note == "page 2, form field"


@pytest.mark.parametrize(
    ("path", "typed", "value"),
    [
        ("number", " 12 ", "12"),
        ("lines.3.total", "1 250.50", 1250.5),
        ("lines.0.total", "4950.00", 4950),
        ("lines.0.total", "", 0),
        ("paid", "true", True),
    ],
)
def test_what_is_typed_becomes_the_type_of_the_schema(path: str, typed: str, value: object) -> None:
    read = read_value(typed, schema=schema_at(SCHEMA, path), previous=None)
    assert (read, type(read)) == (value, type(value))


@pytest.mark.parametrize("typed", ["abc", "nan", "1e999", "1,2,3"])
def test_what_is_no_number_is_refused_in_words(typed: str) -> None:
    with pytest.raises(FieldInvalid, match="number"):
        read_value(typed, schema=schema_at(SCHEMA, "lines.0.total"), previous=1)


def test_an_edit_comes_back_as_its_field_with_the_new_version(alice: Person, result: Extraction) -> None:
    posted = {"value:total": "4951", "edit_version": "0"}
    html = alice.client().post(fields_address(result), posted, headers=HTMX).content.decode()
    assert "edited by Alice" in html
    assert re.search(r'name="edit_version"\s+value="1"\s+hx-swap-oob', html)
    assert "<html" not in html
    assert 'id="fields"' not in html
    result.refresh_from_db()
    assert result.updated_llm_result["total"] == 4951
    assert result.llm_result["total"] == 4950


def test_a_stale_edit_is_told_and_changes_nothing(alice: Person, bob: Person, result: Extraction) -> None:
    update_field(
        actor=bob.actor, document_id=result.document_id, extraction_id=result.id, path="total", value=1, edit_version=0
    )
    answer = alice.client().post(fields_address(result), {"value:total": "2", "edit_version": "0"}, headers=HTMX)
    assert (answer.status_code, answer["HX-Retarget"]) == (409, "#problems")
    assert "Show the new values" in answer.content.decode()
    result.refresh_from_db()
    assert result.updated_llm_result["total"] == 1


def test_a_value_that_does_not_fit_is_told_where_problems_are(alice: Person, result: Extraction) -> None:
    answer = alice.client().post(fields_address(result), {"value:total": "x", "edit_version": "0"}, headers=HTMX)
    assert (answer.status_code, answer["HX-Retarget"]) == (400, "#problems")


def test_a_plain_form_saves_what_differs_and_goes_back_to_the_page(alice: Person, result: Extraction) -> None:
    posted = {f"value:{path}": str(value) for path, value in result.updated_llm_result.items()}
    answer = alice.client().post(fields_address(result), {**posted, "value:total": "7", "edit_version": "0"})
    assert answer.status_code == 302
    assert answer["Location"].endswith("#extraction")
    result.refresh_from_db()
    assert (result.updated_llm_result["total"], result.edit_version) == (7, 1)


def test_verifying_and_taking_it_back(alice: Person, result: Extraction) -> None:
    address = f"/documents/{result.document_id.hex}/extractions/{result.id.hex}/verify"
    assert "Verified" in alice.client().post(address, headers=HTMX).content.decode()
    alice.client().post(address, {"verified": "0"}, headers=HTMX)
    result.refresh_from_db()
    assert result.is_verified is False


def test_the_export_is_the_values_as_edited(alice: Person, result: Extraction) -> None:
    update_field(actor=alice.actor, document_id=result.document_id, extraction_id=result.id, path="total", value=3)
    answer = alice.client().get(f"/documents/{result.document_id.hex}/extractions/{result.id.hex}/export")
    assert json.loads(answer.content)["total"] == 3
    assert answer["Content-Disposition"].startswith("attachment")


def test_a_result_is_found_only_on_its_own_document(alice: Person, charlie: Person, result: Extraction) -> None:
    other = make_document(alice, *RECEIPT)
    posted = {"value:total": "2", "edit_version": "0"}
    moved = fields_address(result).replace(result.document_id.hex, other.id.hex)
    assert alice.client().post(moved, posted, headers=HTMX).status_code == 404
    assert charlie.client().post(fields_address(result), posted, headers=HTMX).status_code == 404


@pytest.mark.django_db(transaction=True)
async def test_a_run_started_on_the_page_ends_without_it(alice: Person, receipt: Document) -> None:
    client = AsyncClient()
    await client.aforce_login(alice.user)
    started = await client.post(f"/documents/{receipt.id.hex}/extraction/run", {"prompt": "default"}, headers=HTMX)
    assert "Running" in started.content.decode()
    await running_extractions()
    shown = await client.get(f"/documents/{receipt.id.hex}/extraction")
    assert 'name="value:summary"' in shown.content.decode()


def test_the_newest_version_of_the_prompt_is_chosen_for_the_next_run(alice: Person, result: Extraction) -> None:
    panel = extraction_panel(actor=alice.actor, document_id=result.document_id)
    assert result.prompt_revision is not None
    assert panel.chosen == result.prompt_revision_id.hex  # type: ignore[union-attr]
    assert panel.is_outdated is False
    assert sum(panel.counted().values()) == len(result.grounding)
