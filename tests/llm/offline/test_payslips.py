"""Payslips: pay and what is taken off it, beside each other or one under the other, and their figures."""

from llm.offline.extract.fill import extract
from llm.offline.extract.reading import Reading
from llm.offline.extract.targets import make_target
from tests.llm.offline.paper import Paper, document
from tests.llm.offline.test_tables import rows_of, table


def values_of(paper: Paper, **kinds: str) -> dict[str, object]:
    """What a schema with these fields gets. Values are the JSON types."""
    schema = {"type": "object", "properties": {name: {"type": kind} for name, kind in kinds.items()}}
    found: dict[str, object] = extract(schema, Reading(document(paper)))
    return found


def beside() -> Paper:
    """Pay left, deductions right of it, sums under both."""
    return table(
        Paper().put(40, 60, "Payslip"),
        [(40, "Payments"), (160, "Units"), (205, "Rate"), (250, "Amount"), (330, "Deductions"), (500, "Amount")],
        [(40, "Basic pay"), (250, "2,416.67"), (330, "PAYE tax"), (500, "270.84")],
        [(40, "Overtime"), (160, "6.00"), (205, "22.31"), (250, "133.86"), (330, "NI"), (500, "128.64")],
        [(330, "Cycle to work"), (500, "41.50")],
        [(40, "Total gross pay"), (250, "2,550.53"), (330, "Total deductions"), (500, "440.98")],
    )


def test_two_tables_beside_each_other_are_two() -> None:
    paid = rows_of(beside(), array="payments", description="string", units="number", amount="number")
    assert paid == [
        {"description": "Basic pay", "units": 0, "amount": 2416.67},
        {"description": "Overtime", "units": 6, "amount": 133.86},
    ]
    taken = rows_of(beside(), array="deductions", description="string", amount="number")
    assert [row["amount"] for row in taken] == [270.84, 128.64, 41.5]


def test_a_table_of_pay_falls_apart_at_its_sums() -> None:
    paper = table(
        Paper().put(40, 60, "Lohnabrechnung"),
        [(40, "Lohnart"), (250, "Basis"), (350, "Ansatz"), (450, "Betrag CHF")],
        [(40, "Monatslohn"), (450, "5'850.00")],
        [(40, "Pikett"), (250, "4"), (350, "45.00"), (450, "180.00")],
        [(40, "Bruttolohn"), (450, "6'030.00")],
        [(40, "AHV-Beitrag"), (250, "6'030.00"), (350, "5.300 %"), (450, "-319.59")],
        [(40, "BVG-Beitrag"), (450, "-342.15")],
        [(40, "Total Abzüge"), (450, "-661.74")],
        [(40, "Nettolohn"), (450, "5'368.26")],
        [(40, "Spesen"), (450, "150.00")],
    )
    kinds = {"description": "string", "amount": "number"}
    assert [row["amount"] for row in rows_of(paper, array="deductions", **kinds)] == [319.59, 342.15]
    assert [row["description"] for row in rows_of(paper, array="earnings", **kinds)] == ["Monatslohn", "Pikett"]
    assert len(rows_of(paper, array="lines", **kinds)) == 5


def test_boxes_with_a_figure_under_each_name_are_no_rows_of_the_table_over_them() -> None:
    paper = table(
        Paper().put(40, 60, "Entgeltabrechnung"),
        [(40, "LArt"), (120, "Bezeichnung"), (450, "Betrag")],
        [(40, "1000"), (120, "Grundgehalt"), (450, "3.850,00")],
        [(40, "1850"), (120, "VWL Anteil"), (450, "40,00")],
        [(40, "Steuer-Brutto"), (160, "Lohnsteuer"), (280, "Kirchensteuer"), (420, "KV-Beitrag")],
        [(40, "3.890,00"), (160, "612,33"), (280, "55,10"), (420, "340,51")],
    )
    rows = rows_of(paper, array="earnings", description="string", amount="number")
    assert [row["amount"] for row in rows] == [3850, 40]
    assert values_of(paper, church_tax="number")["church_tax"] == 55.1


def test_a_property_named_in_words_of_another_language_means_what_its_label_would() -> None:
    meant = {name: make_target((name,), {}, "string") for name in ("numero_facture", "faellig_am", "periode_tot")}
    told = {name: target.concept.name if target.concept else "" for name, target in meant.items()}
    assert told == {"numero_facture": "document_number", "faellig_am": "due_date", "periode_tot": "period_end"}
    assert make_target(("versorger",), {}, "string").party == "seller"


def test_a_name_that_is_asked_for_is_without_its_title_one_in_an_address_is_as_printed() -> None:
    paper = Paper().put(40, 60, "Lohnabrechnung").put(40, 100, "Muster AG · Werkweg 1 · 24939 Ostholm", size=7)
    for place, line in enumerate(("Frau Rune Matthiessen", "Fjordblick 3", "24944 Ostholm")):
        paper.put(40, 130 + 14 * place, line)
    found = values_of(paper, employee_name="string", buyer_name="string", employer="string")
    assert found["employee_name"] == "Rune Matthiessen"
    assert found["buyer_name"] == "Frau Rune Matthiessen"


def test_an_account_that_found_no_room_goes_on_in_the_next_line() -> None:
    paper = Paper().put(40, 60, "Mahnung").put(40, 100, "Bitte zahlen Sie auf unser Konto CH93 0076 2011 6238")
    assert (
        values_of(paper.put(40, 112, "5295 7 bis zum Monatsende"), iban="string")["iban"]
        == "CH93 0076 2011 6238 5295 7"
    )


def test_figures_in_brackets_explain_the_sum_beside_them() -> None:
    paper = Paper().row(100, (40, "Al betaald via voorschotten (4 x € 33,00)"), (400, "€ 132,00"))
    assert values_of(paper, betaalde_voorschotten="number")["betaalde_voorschotten"] == 132
