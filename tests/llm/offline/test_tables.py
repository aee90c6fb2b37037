"""Tables: where columns are, which lines are rows, what columns mean, what stands under a name."""

import pytest

from llm.offline.extract.reading import Reading
from llm.offline.extract.rows import fill_arrays
from llm.offline.extract.schema import inner_schema
from llm.offline.extract.targets import targets_of
from llm.offline.tables.meaning import meanings
from tests.llm.offline.paper import Paper, document

Row = dict[str, object]


def rows_of(*papers: Paper, array: str = "lines", **columns: str) -> list[Row]:
    """The rows that a schema with these columns gets. Values are the JSON types."""
    item = {"type": "object", "properties": {key: {"type": kind} for key, kind in columns.items()}}
    schema = {"type": "object", "properties": {array: {"type": "array", "items": item}}}
    root = inner_schema({"type": "json_schema", "json_schema": {"name": "t", "schema": schema}})
    _, arrays = targets_of(root, root)
    return fill_arrays(arrays, root, Reading(document(*papers)))[(array,)]


def table(paper: Paper, head: list[tuple[float, str]], *rows: list[tuple[float, str]], top: float = 200) -> Paper:
    """A head, and rows under it fourteen points apart."""
    paper.row(top, *head)
    for number, row in enumerate(rows, 1):
        paper.row(top + 14 * number, *row)
    return paper


def test_two_names_in_one_cell_of_a_head_are_two_columns_where_rows_say_so() -> None:
    paper = table(
        Paper(),
        [(40, "Leistung"), (250, "Anzahl"), (284, "Einh."), (360, "Ansatz"), (450, "Betrag")],
        [(40, "Monteur"), (260, "11.5"), (284, "Std"), (360, "118.00"), (450, "1357.00")],
        [(40, "Lernender"), (270, "2"), (284, "Stk"), (360, "58.00"), (450, "116.00")],
    )
    found = rows_of(paper, name="string", quantity="number", unit="string", unit_price="number", line_total="number")
    assert found == [
        {"name": "Monteur", "quantity": 11.5, "unit": "Std", "unit_price": 118, "line_total": 1357},
        {"name": "Lernender", "quantity": 2, "unit": "Stk", "unit_price": 58, "line_total": 116},
    ]


def test_a_column_is_a_price_when_quantity_times_it_is_the_amount_whatever_its_name() -> None:
    paper = table(
        Paper(),
        [(40, "Artikel"), (260, "Menge"), (340, "Zzyx"), (450, "Summe")],
        [(40, "Nagel"), (265, "3"), (340, "2,50"), (450, "7,50")],
        [(40, "Leim"), (265, "4"), (340, "5,25"), (450, "21,00")],
    )
    (found,) = Reading(document(paper)).tables
    assert meanings(found, ",") == {1: "quantity", 2: "unit_price", 3: "line_amount"}


def test_rows_end_where_a_sum_begins_and_sums_of_groups_are_none() -> None:
    paper = table(
        Paper(),
        [(40, "Description"), (260, "Qty"), (340, "Price"), (450, "Amount")],
        [(40, "Bolt"), (265, "2"), (340, "1.50"), (450, "3.00")],
        [(40, "Subtotal metal"), (450, "3.00")],
        [(40, "Board"), (265, "1"), (340, "9.00"), (450, "9.00")],
        [(40, "Total net"), (450, "12.00")],
        [(40, "VAT 20 %"), (450, "2.40")],
    )
    assert [row["name"] for row in rows_of(paper, name="string", amount="number")] == ["Bolt", "Board"]


def test_what_stands_in_smaller_print_under_a_name_is_not_part_of_it() -> None:
    paper = table(
        Paper(),
        [(40, "Description"), (300, "Qty"), (380, "Price"), (460, "Amount")],
        [(40, "Garden bench"), (305, "2"), (380, "189.00"), (460, "378.00")],
    )
    paper.put(40, 226, "Reason: armrest torn", size=8)
    paper.row(248, (40, "Cushion"), (305, "4"), (380, "24.90"), (460, "99.60"))
    assert [row["name"] for row in rows_of(paper, name="string", amount="number")] == ["Garden bench", "Cushion"]


def test_a_name_that_found_no_room_goes_on_below() -> None:
    paper = table(
        Paper(),
        [(40, "Description"), (200, "Qty"), (280, "Price"), (400, "Amount")],
        [(40, "Review of the contract and"), (205, "2"), (280, "50.00"), (400, "100.00")],
    )
    paper.put(40, 226, "correspondence")
    paper.row(244, (40, "Telephone conference now"), (205, "1"), (280, "50.00"), (400, "50.00"))
    names = [row["name"] for row in rows_of(paper, name="string", quantity="number", amount="number")]
    assert names[0] == "Review of the contract and correspondence"


def test_a_table_goes_on_on_the_next_page_with_and_without_its_head() -> None:
    head = [(40, "Code"), (120, "Product"), (300, "Qty"), (380, "Price"), (460, "Value")]
    first = table(
        Paper(),
        head,
        [(40, "A100"), (120, "Flour"), (305, "2"), (380, "13.85"), (460, "27.70")],
        [(40, "A200"), (120, "Sugar"), (305, "3"), (380, "14.20"), (460, "42.60")],
        [(120, "Carried forward"), (460, "70.30")],
    )
    again = table(
        Paper(),
        head,
        [(120, "Brought forward"), (460, "70.30")],
        [(40, "A300"), (120, "Rice"), (305, "2"), (380, "11.95"), (460, "23.90")],
        [(40, "A310"), (120, "Oats"), (305, "1"), (380, "3.10"), (460, "3.10")],
        top=60,
    )
    bare = Paper()
    bare.row(60, (40, "A400"), (120, "Salt"), (305, "1"), (380, "9.90"), (460, "9.90"))
    names = [row["name"] for row in rows_of(first, again, bare, name="string", quantity="number", amount="number")]
    assert names == ["Flour", "Sugar", "Rice", "Oats", "Salt"]


def test_a_heading_over_a_group_of_rows_is_in_no_name() -> None:
    paper = table(
        Paper(),
        [(40, "Artikel"), (260, "Aantal"), (340, "Prijs"), (450, "Bedrag")],
        [(40, "Bon B250203, 3 feb. 2025")],
        [(40, "Tarwebrood"), (265, "12"), (340, "2,35"), (450, "28,20")],
        [(40, "Pistolet"), (265, "80"), (340, "0,42"), (450, "33,60")],
    )
    assert [row["name"] for row in rows_of(paper, name="string", amount="number")] == ["Tarwebrood", "Pistolet"]


def test_what_stands_beside_a_table_is_not_in_it() -> None:
    paper = table(
        Paper(),
        [(220, "Description"), (360, "Qty"), (420, "Price"), (500, "Amount")],
        [(40, "Order date"), (220, "Bolt"), (365, "2"), (420, "1.50"), (500, "3.00")],
        [(40, "9 May 2024"), (220, "Nut"), (365, "4"), (420, "0.50"), (500, "2.00")],
    )
    assert [row["name"] for row in rows_of(paper, name="string", amount="number")] == ["Bolt", "Nut"]


def test_a_sign_of_a_currency_goes_with_its_number() -> None:
    paper = table(
        Paper(),
        [(40, "Produit"), (250, "Quantité"), (340, "Prix"), (400, "Total")],
        [(40, "Sucre"), (260, "10"), (332, "€ 17,60"), (380, "€ 176,00")],
        [(40, "Huile"), (260, "8"), (332, "€ 41,25"), (380, "€ 330,00")],
    )
    found = rows_of(paper, name="string", unit_price="number", line_total="number")
    assert [(row["unit_price"], row["line_total"]) for row in found] == [(17.6, 176), (41.25, 330)]


def test_taxes_in_lines_of_their_own_are_rows_too() -> None:
    paper = Paper().row(300, (300, "Btw laag 9% over 537,55"), (480, "€ 48,38"))
    paper.row(314, (300, "Btw hoog 21% over 21,00"), (480, "€ 4,41"))
    found = rows_of(paper, array="taxes", rate="number", base="number", amount="number")
    assert found == [
        {"rate": 9, "base": 537.55, "amount": 48.38},
        {"rate": 21, "base": 21, "amount": 4.41},
    ]


def test_bookings_fill_one_of_two_columns_and_have_no_year() -> None:
    paper = Paper().put(40, 60, "Statement period 1 February 2025 to 28 February 2025")
    table(
        paper,
        [(40, "Date"), (110, "Description"), (330, "Paid out"), (410, "Paid in"), (490, "Balance")],
        [(40, "01 Feb"), (110, "Balance brought forward"), (490, "1,204.10")],
        [(40, "03 Feb"), (110, "Card payment"), (330, "34.20")],
        [(40, "10 Feb"), (110, "Salary"), (410, "2,100.00"), (490, "3,269.90")],
    )
    found = rows_of(paper, date="string", description="string", money_out="number", money_in="number")
    assert found == [
        {"date": "2025-02-03", "description": "Card payment", "money_out": 34.2, "money_in": 0},
        {"date": "2025-02-10", "description": "Salary", "money_out": 0, "money_in": 2100},
    ]


def test_a_letter_says_what_was_taken_off_an_account_but_not_on_an_invoice() -> None:
    account = table(
        Paper(),
        [(40, "Datum"), (120, "Buchungstext"), (400, "Betrag EUR")],
        [(40, "02.05.2025"), (120, "Miete"), (400, "735,00 S")],
        [(40, "15.05.2025"), (120, "Lohn"), (400, "118,50 H")],
    )
    assert [row["amount"] for row in rows_of(account, date="string", amount="number")] == [-735, 118.5]
    invoice = table(
        Paper(),
        [(40, "Product"), (250, "Qty"), (330, "Price"), (400, "Value")],
        [(40, "Salt"), (255, "2"), (330, "4.00"), (400, "8.00 S")],
        [(40, "Flour"), (255, "1"), (330, "3.00"), (400, "3.00 Z")],
    )
    assert [row["line_total"] for row in rows_of(invoice, name="string", line_total="number")] == [8, 3]


@pytest.mark.parametrize("second", ["Customer", "Your VAT number"])
def test_boxes_of_labels_with_one_value_each_are_no_table(second: str) -> None:
    paper = Paper().row(200, (40, "Number"), (160, "Date"), (280, second), (430, "Reference"))
    paper.row(214, (40, "C2501147"), (160, "14.01.2025"), (280, "7730"), (430, "F2500092"))
    assert Reading(document(paper)).tables == ()


def test_a_column_of_boxes_beside_a_table_is_not_in_its_rows() -> None:
    paper = Paper()
    boxes = ("Total to pay", "53.40", "Bill date", "3 October 2025", "Bill number", "Q-117 4409", "Account", "LF 3307")
    for place, text in enumerate((*boxes, "Your number", "01584 555", "Plan", "Superfast")):
        paper.put(40, 203 + 11 * place, text)
    table(
        paper,
        [(220, "Description"), (460, "Amount")],
        *([(220, f"{name} line and calls"), (465, amount)] for name, amount in (("Fast", "31.50"), ("Any", "6.25"))),
        *([(220, f"{name} address here"), (465, amount)] for name, amount in (("Static", "4.00"), ("Other", "3.08"))),
        [(220, "Directory enquiries"), (465, "4.67")],
    )
    rows = rows_of(paper, description="string", amount="number")
    assert rows[0] == {"description": "Fast line and calls", "amount": 31.5}
    assert [row["amount"] for row in rows] == [31.5, 6.25, 4, 3.08, 4.67]


def test_names_close_together_are_several_where_all_rows_say_so() -> None:
    paper = table(
        Paper(),
        [(40, "Trans Post"), (120, "Description"), (450, "Amount")],
        [(40, "07/01"), (68, "07/02"), (120, "LARCHMONT HARDWARE"), (455, "84.12")],
        [(40, "07/06"), (68, "07/08"), (120, "SKYBRIDGE AIR"), (455, "412.60")],
        [(40, "07/09"), (68, "07/10"), (120, "PINE STREET"), (455, "23.47")],
    )
    found = Reading(document(paper)).tables[0]
    assert found.headers == ("Trans", "Post", "Description", "Amount")
    assert [row.text(1) for row in found.rows] == ["07/02", "07/08", "07/10"]


def test_the_columns_that_are_left_are_the_amount_and_what_the_rows_are_called() -> None:
    paper = table(
        Paper(),
        [(40, "Determinand"), (200, "Method"), (300, "Result"), (380, "Units"), (460, "PCV")],
        [(40, "pH"), (200, "BS 1427"), (300, "8.1"), (380, "pH units"), (460, "6.5 - 9.5")],
        [(40, "Nitrate as NO3"), (200, "IC W11"), (300, "61.4"), (330, "+"), (380, "mg/l"), (460, "50")],
        [(40, "Lead"), (200, "MS W20"), (300, "1.8"), (330, "-"), (380, "ug/l"), (460, "10")],
    )
    rows = rows_of(paper, parameter="string", method="string", result="number", units="string")
    assert rows[0] == {"parameter": "pH", "method": "BS 1427", "result": 8.1, "units": "pH units"}
    assert [row["result"] for row in rows] == [8.1, 61.4, 1.8]
    paper = table(
        Paper(),
        [(40, "Invoice"), (200, "Date"), (400, "Balance")],
        [(40, "INV-77120"), (200, "02/14/25"), (400, "$92.50")],
        [(40, "INV-78344"), (200, "04/09/25"), (400, "$811.20")],
    )
    assert [row["amount"] for row in rows_of(paper, number="string", date="string", amount="number")] == [92.5, 811.2]
