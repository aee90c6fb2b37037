"""Extraction: right values from labels, tables and addresses; nothing that is not on the page; any schema."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft7Validator

from llm.content import DocumentContent, PageContent
from llm.offline.engine import reply
from tests.llm.offline.paper import Paper, document, invoice


def strict(properties: dict[str, Any]) -> dict[str, Any]:
    """A response_format by the strict rules."""
    schema = {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}
    return {"type": "json_schema", "json_schema": {"name": "x", "schema": schema, "strict": True}}


def extract(paper: DocumentContent | None, properties: dict[str, Any]) -> dict[str, Any]:
    answer = reply(messages=[], tools=[], document=paper, response_format=strict(properties))
    found: dict[str, Any] = json.loads(answer.text)
    return found


TEXT, NUMBER, FLAG = {"type": "string"}, {"type": "number"}, {"type": "boolean"}


def test_labelled_values_addresses_and_totals_are_found() -> None:
    address = {"type": "object", "properties": {"line1": TEXT, "postcode": TEXT, "city": TEXT}}
    found = extract(
        invoice(),
        {
            "invoice_number": TEXT,
            "invoice_date": {"type": "string", "format": "date"},
            "due_date": TEXT,
            "seller_name": TEXT,
            "buyer_name": TEXT,
            "buyer_address": address,
            "currency": TEXT,
            "net_total": NUMBER,
            "tax_amount": NUMBER,
            "total": NUMBER,
            "iban": TEXT,
        },
    )
    assert found == {
        "invoice_number": "INV-2031",
        "invoice_date": "2024-03-14",
        "due_date": "2024-04-13",
        "seller_name": "Northwind Supplies Ltd",
        "buyer_name": "Adventure Cycles",
        "buyer_address": {"line1": "7 Mill Lane", "postcode": "80331", "city": "Munich"},
        "currency": "EUR",
        "net_total": 2248,
        "tax_amount": 427.12,
        "total": 2675.12,
        "iban": "DE89 3704 0044 0532 0130 00",
    }


def test_a_table_becomes_rows_and_leaves_the_totals_out() -> None:
    row = {
        "type": "object",
        "properties": {"description": TEXT, "qty": {"type": "integer"}, "unit_price": NUMBER, "amount": NUMBER},
    }
    found = extract(invoice(), {"items": {"type": "array", "items": row}})
    assert found["items"] == [
        {"description": "Brake cable", "qty": 4, "unit_price": 12.5, "amount": 50},
        {"description": "Saddle, leather", "qty": 2, "unit_price": 1099, "amount": 2198},
    ]


@pytest.mark.parametrize(
    ("labels", "language"),
    [
        (("Rechnungsnummer", "Rechnungsdatum", "Fällig am", "Gesamtbetrag"), "de"),
        (("Facture N°", "Date de facture", "Date d'échéance", "Total TTC"), "fr"),
        (("Factuurnummer", "Factuurdatum", "Vervaldatum", "Totaal incl. btw"), "nl"),
    ],
)
def test_labels_of_other_languages_mean_the_same(labels: tuple[str, ...], language: str) -> None:
    number, issued, due, total = labels
    paper = Paper().row(40, (40, number), (220, "2024-117")).row(60, (40, issued), (220, "03.02.2024"))
    paper.row(80, (40, due), (220, "17.02.2024")).row(300, (40, total), (220, "1.250,40 €"))
    found = extract(
        document(paper), {"invoice_number": TEXT, "issue_date": TEXT, "due_date": TEXT, "gross_total": NUMBER}
    )
    assert found == {
        "invoice_number": "2024-117",
        "issue_date": "2024-02-03",
        "due_date": "2024-02-17",
        "gross_total": 1250.4,
    }


def test_a_form_box_has_its_value_below_the_caption() -> None:
    paper = Paper()
    paper.put(40, 100, "1 Name (as shown on your income tax return). Do not leave this line blank.", size=7)
    paper.put(40, 112, "Jordan Reyes", size=10)
    paper.put(40, 130, "2 Business name/disregarded entity name, if different from above", size=7)
    paper.put(40, 142, "Reyes Pottery", size=10)
    paper.put(40, 170, "☒ C Corporation", size=8).put(200, 170, "☐ Partnership", size=8)
    found = extract(document(paper), {"Name": TEXT, "BusinessName": TEXT, "IsCCorp": FLAG, "Partnership": FLAG})
    assert found == {"Name": "Jordan Reyes", "BusinessName": "Reyes Pottery", "IsCCorp": True, "Partnership": False}


def test_printed_check_boxes_count_like_drawn_ones() -> None:
    paper = Paper().put(40, 40, "[x] Express delivery").put(40, 60, "[ ] Gift wrapping")
    assert extract(document(paper), {"express_delivery": FLAG, "gift_wrapping": FLAG}) == {
        "express_delivery": True,
        "gift_wrapping": False,
    }


def test_missing_is_missing() -> None:
    paper = Paper().put(40, 40, "Meeting notes").put(40, 60, "We talked about the garden and the weather.")
    row = {"type": "object", "properties": {"a": TEXT}}
    wanted = {
        "iban": TEXT,
        "due_date": TEXT,
        "total": NUMBER,
        "pages": {"type": "integer"},
        "paid": FLAG,
        "lines": {"type": "array", "items": row},
    }
    assert extract(document(paper), wanted) == {
        "iban": "",
        "due_date": "",
        "total": 0,
        "pages": 0,
        "paid": False,
        "lines": [],
    }


def test_an_option_is_chosen_only_when_the_page_says_it() -> None:
    options = {"type": "string", "enum": ["invoice", "credit_note", "receipt"]}
    assert extract(invoice(), {"kind": options}) == {"kind": "invoice"}
    assert extract(document(Paper().put(40, 40, "Dear all")), {"kind": options}) == {"kind": ""}


@pytest.mark.parametrize(
    "paper", [None, DocumentContent("0", "x"), DocumentContent("0", "x", (PageContent(1, 0, 0, ""),))]
)
def test_a_document_without_text_gives_empty_values(paper: DocumentContent | None) -> None:
    assert extract(paper, {"total": NUMBER, "name": TEXT}) == {"total": 0, "name": ""}


def test_a_page_with_text_but_no_words_is_read_too() -> None:
    paper = DocumentContent("0", "x", (PageContent(1, 612, 792, "Invoice No: A-77\nTotal: 12.00 USD"),))
    assert extract(paper, {"invoice_number": TEXT, "total": NUMBER}) == {"invoice_number": "A-77", "total": 12}


def test_values_stand_on_the_page() -> None:
    paper = invoice()
    said = "".join(word.text for word in paper.pages[0].words).lower()
    for name in (
        "seller_name",
        "buyer_name",
        "invoice_number",
        "order_number",
        "customer_number",
        "contact",
        "notes",
        "payment_terms",
    ):
        value = extract(paper, {name: TEXT})[name]
        assert value.replace(" ", "").replace(",", "").lower() in said.replace(",", "")


asked = st.sampled_from(
    [
        *("invoice_number", "order_number", "customer_number", "issue_date", "due_date", "seller_name", "buyer_name"),
        *("total", "net", "tax", "prepaid", "iban", "bic", "vat_id", "phone", "email", "notes", "contact", "city"),
        *("street", "postcode", "weight", "discount", "shipping", "account_number", "currency"),
    ]
)


@settings(max_examples=40, deadline=None)
@given(st.dictionaries(asked, st.sampled_from([TEXT, NUMBER]), min_size=1, max_size=12))
def test_nothing_is_invented(properties: dict[str, Any]) -> None:
    said = " ".join(word.text for word in invoice().pages[0].words)
    plain = said.replace(",", "")
    for value in extract(invoice(), properties).values():
        if isinstance(value, str):
            dated = {"2024-03-14": "14 March 2024", "2024-04-13": "13.04.2024"}.get(value, value)
            assert all(part.strip(",") in said for part in dated.split())
        else:
            assert value == 0 or f"{value:.2f}" in plain or str(value) in plain


leaf_types = st.sampled_from(["string", "number", "integer", "boolean", "null", "object", "array", "any", 3, None])
names = st.sampled_from(["total", "issue_date", "seller", "items", "x", "", "ä b", "a.b", "$ref"]) | st.text(max_size=8)
odd = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=6)
    | st.builds(lambda kind: {"type": kind}, leaf_types),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.builds(lambda p: {"type": "object", "properties": p}, st.dictionaries(names, inner, max_size=4)),
        st.builds(lambda i: {"type": "array", "items": i}, inner),
        st.builds(lambda a: {"anyOf": a}, st.lists(inner, max_size=3)),
        st.builds(lambda a: {"allOf": a}, st.lists(inner, max_size=3)),
        st.builds(lambda k: {"type": k}, st.lists(leaf_types, max_size=3)),
        st.builds(lambda e: {"enum": e}, st.lists(inner, max_size=3)),
        st.builds(lambda r: {"$ref": r}, st.sampled_from(["#", "#/properties/a", "#/nowhere", "x.json", ""])),
        st.dictionaries(names, inner, max_size=3),
    ),
    max_leaves=14,
)


@settings(max_examples=60, deadline=None)
@given(odd)
def test_any_schema_gives_json_with_its_names_and_the_same_again(schema: Any) -> None:
    wanted = {"type": "json_schema", "json_schema": {"name": "x", "schema": schema}}
    first, again = (reply(messages=[], tools=[], document=invoice(), response_format=wanted) for _ in range(2))
    found = json.loads(first.text)
    assert again.text == first.text
    if isinstance(schema, dict) and schema.get("type") == "object" and schema.get("properties"):
        assert set(found) <= set(schema["properties"])


fields = st.recursive(
    st.sampled_from([TEXT, NUMBER, FLAG, {"type": "integer"}, {"type": "string", "format": "date"}]),
    lambda inner: st.one_of(
        st.builds(lambda p: strict(p)["json_schema"]["schema"], st.dictionaries(names, inner, min_size=1, max_size=4)),
        st.builds(
            lambda p: {"type": "array", "items": strict(p)["json_schema"]["schema"]},
            st.dictionaries(names, inner, min_size=1, max_size=4),
        ),
    ),
    max_leaves=12,
)


@settings(max_examples=40, deadline=None)
@given(st.dictionaries(names, fields, max_size=6))
def test_what_comes_back_fits_a_strict_schema(properties: dict[str, Any]) -> None:
    Draft7Validator(strict(properties)["json_schema"]["schema"]).validate(extract(invoice(), properties))


def test_a_very_deep_and_a_very_wide_schema_are_survived() -> None:
    deep: dict[str, Any] = {"type": "string"}
    for _ in range(150):
        deep = {"type": "object", "properties": {"a": deep}}
    extract(invoice(), {"deep": deep})
    wide = extract(invoice(), {f"field_{number}": TEXT for number in range(700)})
    assert len(wide) == 700


def test_an_address_under_the_larger_name_of_another_company_is_the_buyer_s() -> None:
    paper = Paper().put(56, 47, "Ashdown Engineering LLP", size=16)
    for place, line in enumerate(("Oakridge Joinery Inc.", "38 Chapel Street", "LS2 3RW Bristol")):
        paper.put(56, 91 + 14 * place, line)
    paper.put(56, 150, "Statement of account", size=14).put(56, 175, "Date: 2024-10-01")
    found = extract(document(paper), {"seller_name": TEXT, "buyer_name": TEXT})
    assert found == {"seller_name": "Ashdown Engineering LLP", "buyer_name": "Oakridge Joinery Inc."}


def test_an_address_under_its_own_large_name_is_the_seller_s() -> None:
    paper = Paper().put(56, 47, "Ashdown Engineering LLP", size=16)
    for place, line in enumerate(("38 Chapel Street", "LS2 3RW Bristol", "office@ashdown.example")):
        paper.put(56, 66 + 14 * place, line)
    paper.put(56, 150, "Statement of account", size=14).put(56, 175, "Date: 2024-10-01")
    found = extract(document(paper), {"seller_name": TEXT, "buyer_name": TEXT})
    assert found == {"seller_name": "Ashdown Engineering LLP", "buyer_name": ""}


def bill(*rows: tuple[str, str]) -> DocumentContent:
    """Labels and amounts, one pair a line."""
    paper = Paper().put(40, 40, "Northwind Supplies Ltd", size=12)
    for place, (label, amount) in enumerate(rows):
        paper.row(300 + 14 * place, (300, label), (450, amount))
    return document(paper)


TOTALS = dict.fromkeys(("net_total", "tax_total", "gross_total", "prepaid", "due_payable"), NUMBER)


def test_a_number_without_a_label_is_the_total_that_a_sum_lacks() -> None:
    paid = bill(("Total", "120.00"), ("Wire of 3 May", "20.00"), ("Amount due", "100.00"))
    assert extract(paid, TOTALS) | {"net_total": 0, "tax_total": 0} == {
        "net_total": 0, "tax_total": 0, "gross_total": 120, "prepaid": 20, "due_payable": 100
    }  # fmt: skip


def test_a_sum_that_is_not_printed_is_not_worked_out() -> None:
    assert extract(bill(("Net total", "100.00"), ("VAT", "19.00")), TOTALS)["gross_total"] == 0


def test_of_several_numbers_those_are_the_totals_that_add_up() -> None:
    several = bill(("VAT 19 %", "16.00"), ("VAT 7 %", "3.00"), ("VAT", "19.00"), ("Net", "100.00"), ("Total", "119.00"))
    found = extract(several, TOTALS)
    assert (found["net_total"], found["tax_total"], found["gross_total"]) == (100, 19, 119)


def test_the_amount_of_a_line_that_slipped_out_of_its_column_is_its_quantity_times_its_price() -> None:
    paper = Paper().row(250, (40, "Description"), (280, "Quantity"), (360, "Unit price"), (470, "Amount"))
    paper.row(268, (40, "Brake cable"), (290, "4"), (365, "12.50"), (475, "50.00"))
    paper.row(284, (40, "Saddle"), (290, "2"), (365, "1,099.00"), (475, "2,198.00"))
    columns = {"description": TEXT, "quantity": NUMBER, "unit_price": NUMBER, "amount": NUMBER}
    rows = {"type": "array", "items": strict(columns)["json_schema"]["schema"]}
    assert [row["amount"] for row in extract(document(paper), {"lines": rows})["lines"]] == [50, 2198]
    paper.row(300, (40, "Bell 3.00 at 5.00 makes 15.00"), (290, "3"), (365, "5.00"))
    assert [row["amount"] for row in extract(document(paper), {"lines": rows})["lines"]] == [50, 2198, 15]
