"""What tills print: how was paid, and the slip of the card terminal."""

import pytest

from llm.offline.layout.lines import read_lines
from tests.llm.offline.paper import Paper, document
from tests.llm.offline.test_lists import extract

TEXT = {"type": "string"}


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        ("Geg. Girocard     EUR   10,31", "Girocard"),
        ("CARTE BANCAIRE EN EUR     11,69 €", "CARTE BANCAIRE"),
        ("VISA DEBIT     £10.91", "VISA DEBIT"),
        ("Espèces     20,00", "Espèces"),
        ("PIN     68,00", "PIN"),
        ("Gezahlt: Mastercard     44,90 €", "Mastercard"),
        ("Visa xxxx4417", "Visa"),
        ("Zum Anker Bar und Grill     12,00", ""),
        ("Kartoffeln rot     2,49", ""),
    ],
)
def test_a_receipt_says_how_was_paid(said: str, wanted: str) -> None:
    paper = f"Corner Shop\n\nTea     2.00\nTotal     2.00\n{said}\n"
    assert extract(paper, {"payment_method": TEXT})["payment_method"] == wanted


def test_numbers_of_the_terminal_are_not_the_receipts() -> None:
    paper = """Corner Shop
Tea        10,31
Summe      10,31
Datum:        14.05.2025
Uhrzeit:      18:22:41 Uhr
Beleg-Nr.     8841
Trace-Nr.     126677
Terminal-ID   63125590

14.05.2025    18:22    Bon-Nr. 6630
"""
    found = extract(paper, {"document_number": TEXT, "time": TEXT, "terminal_id": TEXT})
    assert found == {"document_number": "6630", "time": "18:22", "terminal_id": "63125590"}


def test_a_discount_that_is_asked_for_apart_is_no_item() -> None:
    paper = "Corner Shop\n\nTea     2.00\nBread     3.00\nDiscount card     -0.50\nTotal     4.50\n"
    row = {"type": "object", "properties": {"name": TEXT, "total": {"type": "number"}}}
    items = {"type": "array", "items": row}

    apart = extract(paper, {"items": items, "discount": {"type": "number"}})
    assert [one["name"] for one in apart["items"]] == ["Tea", "Bread"]
    assert [one["name"] for one in extract(paper, {"items": items})["items"]] == ["Tea", "Bread", "Discount card"]


def test_items_that_come_to_the_total_win_over_a_table_among_them() -> None:
    paper = """De Zilte Meeuw

tafel         rekening      personen
7             003381        4
3 x Witbier à 3,75      11,25 H
1 x Huiswijn à 5,20      5,20 H
2 x Saté à 21,50      43,00 L
Totaal      59,45
"""
    row = {"type": "object", "properties": {"name": TEXT, "total": {"type": "number"}}}
    found = extract(paper, {"items": {"type": "array", "items": row}})
    assert found["items"] == [
        {"name": "Witbier", "total": 11.25},
        {"name": "Huiswijn", "total": 5.2},
        {"name": "Saté", "total": 43.0},
    ]


def test_days_are_read_behind_their_times() -> None:
    paper = "Corner Shop\n\nTea     2.00\nTotal     2.00\n\n17:05     22-11-2025\n"
    assert extract(paper, {"date": TEXT}) == {"date": "2025-11-22"}


def test_a_value_glued_to_its_label_is_a_word_of_its_own() -> None:
    paper = Paper().row(40, (40, "Markt:0417"), (200, "Kasse:3"), (300, "TSE:00:12"))
    (line,) = read_lines(document(paper))
    assert [token.text for cell in line.cells for token in cell.tokens] == [
        "Markt:",
        "0417",
        "Kasse:",
        "3",
        "TSE:00:12",
    ]


def test_the_one_address_of_a_till_is_the_shops() -> None:
    shop = "PHARMACIE DES HALLES\nMme C. ROUSSEL\n21 place du Marché\n14000 CAEN\n\n"
    paper = shop + "Savon     2,00\nTotal     2,00\nCB     2,00\n"
    address = {"type": "object", "properties": {"postcode": TEXT, "city": TEXT}}
    found = extract(paper, {"seller_address": address, "buyer_address": address})
    assert found["seller_address"] == {"postcode": "14000", "city": "CAEN"}
    assert found["buyer_address"] == {"postcode": "", "city": ""}
