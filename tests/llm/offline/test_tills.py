"""What tills print: how was paid, and the slip of the card terminal."""

import pytest

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
