"""Proposals: what kind of document, which fields, by the strict rules."""

from typing import Any

import pytest
from jsonschema import Draft7Validator

from llm.content import DocumentContent
from llm.offline.extract.fill import extract, is_empty
from llm.offline.extract.reading import Reading
from llm.offline.propose.proposal import prompt_text, propose, share_found
from tests.llm.offline.paper import Paper, document, invoice


def assert_strict(node: Any) -> None:
    """Every object closed, every property required."""
    if node.get("type") == "object":
        assert node["additionalProperties"] is False
        assert node["required"] == list(node["properties"])
        for name, child in node["properties"].items():
            assert name.isidentifier(), name
            assert name == name.lower()
            assert_strict(child)
    if node.get("type") == "array":
        assert_strict(node["items"])


def test_an_invoice_gets_the_fields_it_shows_by_the_strict_rules() -> None:
    proposal = propose(Reading(invoice()))
    assert proposal.name == "Invoice"
    assert proposal.response_format["json_schema"]["strict"] is True
    schema = proposal.response_format["json_schema"]["schema"]
    Draft7Validator.check_schema(schema)
    assert_strict(schema)
    assert {"document_number", "issue_date", "due_date", "buyer_name", "gross_total", "iban", "line_items"} <= set(
        proposal.fields
    )
    assert schema["properties"]["gross_total"]["type"] == "number"
    assert list(schema["properties"]["line_items"]["items"]["properties"]) == [
        "description",
        "quantity",
        "unit_price",
        "amount",
    ]
    assert 5 <= len(proposal.fields) <= 20


def test_what_is_proposed_is_found() -> None:
    reading = Reading(invoice())
    proposal = propose(reading)
    result = extract(proposal.response_format, reading)
    assert [name for name, value in result.items() if is_empty(value)] == []
    assert share_found(proposal.response_format, reading) == 1.0


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Rechnung", "Invoice"),
        ("Avoir", "Credit Note"),
        ("Lieferschein", "Delivery Note"),
        ("Kontoauszug", "Account Statement"),
        ("Purchase Order", "Purchase Order"),
        ("Pakbon", "Delivery Note"),
    ],
)
def test_the_title_names_the_kind(title: str, name: str) -> None:
    paper = Paper().put(40, 40, title, size=16).put(40, 80, "Datum: 03.02.2024")
    assert propose(Reading(document(paper))).name == name


def test_a_numbered_form_is_named_by_its_number() -> None:
    paper = Paper().put(40, 20, "Form X-17").put(40, 100, "1 Name", size=7).put(40, 110, "Robin Field", size=10)
    paper.put(300, 800, "Form X-17 (Rev. 2021)", size=7)
    assert propose(Reading(document(paper))).name == "X-17 Form"


def test_values_with_labels_of_their_own_become_fields() -> None:
    paper = Paper().put(40, 30, "Inspection", size=16)
    paper.put(40, 60, "Serial code: ZX-81-B").put(40, 76, "Inspector mood: cheerful").put(40, 92, "Humidity: 12.50")
    fields = propose(Reading(document(paper))).fields
    assert {"serial_code", "inspector_mood", "humidity"} <= set(fields)
    assert fields["humidity"]["type"] == "number"


@pytest.mark.parametrize("paper", [document(Paper()), DocumentContent("0", "x")])
def test_a_document_without_text_gets_a_usable_schema(paper: DocumentContent) -> None:
    proposal = propose(Reading(paper))
    assert_strict(proposal.response_format["json_schema"]["schema"])
    assert len(proposal.fields) >= 5


def test_the_prompt_tells_a_model_what_missing_means_and_names_the_tables() -> None:
    proposal = propose(Reading(invoice()))
    text = prompt_text(proposal.name, proposal.fields)
    assert "YYYY-MM-DD" in text
    assert "line_items" in text
    assert "do not compute or guess" in text
