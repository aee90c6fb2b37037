"""Balances and sums among the bookings of an account are no bookings, and are read where they are asked for."""

from typing import Any

from llm.offline.extract.fill import extract
from llm.offline.extract.reading import Reading
from tests.llm.offline.paper import Paper, document

TEXT, NUMBER = {"type": "string"}, {"type": "number"}


def statement() -> Paper:
    paper = Paper()
    paper.put(40, 40, "Relevé de compte", size=14)
    paper.row(140, (40, "Date"), (100, "Valeur"), (160, "Libellé"), (380, "Débit"), (470, "Crédit"))
    paper.row(156, (160, "Solde au 01/03/2025"), (470, "1 204,50"))
    bookings = (
        ("03/03", "03/03", "VIR SALAIRE", "", "2 150,00"),
        ("05/03", "06/03", "PRLV EDF", "84,20", ""),
        ("12/03", "12/03", "SOLDE DE TOUT COMPTE", "132,77", ""),
    )
    for number, (day, value, text, debit, credit) in enumerate(bookings):
        amounts = [(385.0, debit)] if debit else [(475.0, credit)]
        paper.row(172 + 16 * number, (40, day), (100, value), (160, text), *amounts)
    paper.row(220, (160, "Totaux des mouvements"), (380, "216,97"), (470, "2 150,00"))
    paper.row(236, (160, "Solde au 31/03/2025"), (470, "3 137,53"))
    return paper


def read(properties: dict[str, Any]) -> Any:
    return extract({"type": "object", "properties": properties}, Reading(document(statement())))


def test_balances_and_sums_are_no_bookings() -> None:
    row = {"date": TEXT, "libelle": TEXT, "debit": NUMBER, "credit": NUMBER}
    rows = read({"operations": {"type": "array", "items": {"type": "object", "properties": row}}})["operations"]
    assert [(row["libelle"], row["debit"], row["credit"]) for row in rows] == [
        ("VIR SALAIRE", 0, 2150),
        ("PRLV EDF", 84.2, 0),
        ("SOLDE DE TOUT COMPTE", 132.77, 0),
    ]


def test_balances_are_the_first_before_and_the_last_after_the_bookings() -> None:
    assert read({"opening_balance": NUMBER, "closing_balance": NUMBER}) == {
        "opening_balance": 1204.5,
        "closing_balance": 3137.53,
    }


def test_the_sum_of_a_side_stands_in_its_column() -> None:
    asked = {"total_debits": NUMBER, "total_credits": NUMBER}
    assert read(asked) == {"total_debits": 216.97, "total_credits": 2150}
