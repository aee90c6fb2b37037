"""Items without a head over them: what stands on which line of a receipt."""

import json
from typing import Any

import pytest

from llm.content import DocumentContent, PageContent
from llm.offline.engine import reply
from llm.offline.layout.lines import read_lines
from llm.offline.layout.model import Table
from llm.offline.tables.finding import find_tables
from llm.offline.tables.lists import find_lists
from llm.offline.tables.taxes import find_tax_lines
from tests.llm.offline.test_extraction import NUMBER, strict


def paper_of(text: str) -> DocumentContent:
    """A page of monospaced text."""
    return DocumentContent("0" * 32, "page", (PageContent(1, 612, 792, text),))


def told_in(table: Table) -> list[dict[str, str]]:
    """The rows of a table as texts by column; empty cells left out."""
    return [{header: row.text(at) for at, header in enumerate(table.headers) if row.text(at)} for row in table.rows]


def items_of(text: str) -> list[dict[str, str]]:
    """The items of a page of monospaced text."""
    return [row for table in find_lists(read_lines(paper_of(text)), set()) for row in told_in(table)]


def extract(text: str, properties: dict[str, Any]) -> dict[str, Any]:
    """What the engine reads from a page of monospaced text."""
    answer = reply(messages=[], tools=[], document=paper_of(text), response_format=strict(properties))
    found: dict[str, Any] = json.loads(answer.text)
    return found


def priced(quantity: str, name: str, price: str, amount: str, unit: str = "") -> dict[str, str]:
    found = {"quantity": quantity, "unit": unit, "description": name, "unit price": price, "amount": amount}
    return {header: text for header, text in found.items() if text}


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        ("2 x Tea  1.50     3.00 A", priced("2", "Tea", "1.50", "3.00")),
        ("2 x Tea @ £1.50     £3.00", priced("2", "Tea", "£1.50", "£3.00")),
        ("3 X 0,95 YAOURT NATURE     2,85 A", priced("3", "YAOURT NATURE", "0,95", "2,85")),
        ("Pfand 3 * 0,25     0,75", priced("3", "Pfand", "0,25", "0,75")),
        ("3x Pils 0,5l     4,20     12,60B", priced("3", "Pils 0,5l", "4,20", "12,60")),
        ("2 Suppen  a 4,90    9,80 A", priced("2", "Suppen", "4,90", "9,80")),
        ("MILK GAL          3.89 F", priced("", "MILK GAL", "", "3.89")),
        ("Sneeze balm\n  2x1,99     3,98", priced("2", "Sneeze balm", "1,99", "3,98")),
        ("Appels\n  0,512kg x 2,99 EUR/kg    1,53", priced("0,512", "Appels", "2,99", "1,53", "kg")),
        ("BANANAS     0.73\n  1.24 lb @ $0.59/lb", priced("1.24", "BANANAS", "$0.59", "0.73", "lb")),
        ("2 @ 3.29\nYOGURT      6.58 F", priced("2", "YOGURT", "3.29", "6.58")),
        ("Main-d'oeuvre     1 014,24", priced("", "Main-d'oeuvre", "", "1 014,24")),
        ("2 X 0,89€ LENTILLES     1,78 €  11", priced("2", "LENTILLES", "0,89€", "1,78 €")),
        ("CAFE MOULU 250G     3,49 €  11", priced("", "CAFE MOULU 250G", "", "3,49 €")),
        ("Kaffee     3,20 EUR A", priced("", "Kaffee", "", "3,20 EUR")),
        (
            "Super E10\nZapfsäule 06\n38,44 l a 1,719 EUR/l\n   66,08 EUR A",
            priced("38,44", "Super E10", "1,719", "66,08 EUR", "l"),
        ),
        ("Korting pindakaas     3,49-", priced("", "Korting pindakaas", "", "3,49-")),
        ("0099871 SCREWS     2.98", {"item number": "0099871", "description": "SCREWS", "amount": "2.98"}),
        ("12/05/25 Room charge     29.00", {"date": "12/05/25", "description": "Room charge", "amount": "29.00"}),
    ],
)
def test_an_item_is_read_in_whatever_order_its_parts_stand(said: str, wanted: dict[str, str]) -> None:
    bread = {"description": "Bread", "amount": "2.79"}
    assert items_of(f"Bread     2.79\n{said}\nBun     1.01\n") == [
        bread,
        wanted,
        {"description": "Bun", "amount": "1.01"},
    ]


def test_an_item_may_have_a_line_for_each_of_its_numbers() -> None:
    fuel = "POMPE 05    GAZOLE B7\nVOLUME     41,37 L\nPRIX UNIT.   1,789€/L\nMONTANT    74,01 €\n"
    wash = {"description": "LAVAGE", "amount": "9,90 €"}
    assert items_of(fuel + "LAVAGE    9,90 €\nTOTAL TTC    83,91 €") == [
        priced("41,37", "GAZOLE B7", "1,789", "74,01 €", "L"),
        wash,
    ]


def test_numbers_that_do_not_come_to_the_amount_are_no_item_of_their_own() -> None:
    assert items_of("GAZOLE\nVOLUME     41,37 L\nPRIX UNIT.   1,789€/L\nMONTANT    75,01 €\n") == []


def test_payments_change_and_tips_are_no_items() -> None:
    paper = (
        "Soup     6.50\nTea     3.00\nTip     2.00\nTotal     11.50\nCash     20.00\nChange     8.50\nStamps     1.00"
    )
    assert [item["description"] for item in items_of(paper)] == ["Soup", "Tea"]


def test_the_items_are_those_that_come_to_the_total() -> None:
    points = "Points A     4.00\nPoints B     5.00\nPoints C     6.00\nDate:     3 May\n"
    paper = "Soup     6.50\nTea     3.00\nTotal     9.50"
    assert [item["description"] for item in items_of(points + paper)] == ["Soup", "Tea"]


def test_amounts_without_decimals_are_items_only_where_the_total_proves_them() -> None:
    paper = "2 Espresso     6\n1 Salade     14\n{}     {}"
    assert [item["amount"] for item in items_of(paper.format("TOTAL", "20"))] == ["6", "14"]
    assert items_of(paper.format("TOTAL", "21")) == []


def test_a_name_that_ends_in_a_measure_is_no_item() -> None:
    paper = "Wasser     0,89\nCola 0,33\n   2 x     1,99     3,98\nSumme     4,87"
    assert items_of(paper) == [{"description": "Wasser", "amount": "0,89"}, priced("2", "Cola 0,33", "1,99", "3,98")]


def test_items_that_come_to_the_total_stand_in_for_a_table_whose_head_is_torn() -> None:
    head = "Artikel           Mg. Preis         CHF\n"
    rows = "Salbe 60 g         1 14.90  14.90\nSirup Thymian      1 11.50 1    11.50\n"
    total = "Pflaster           2    4.25    8.50\nTotal CHF                   34.90"
    (table,) = find_tables(read_lines(paper_of(head + rows + total)))
    assert told_in(table) == [
        priced("1", "Salbe 60 g", "14.90", "14.90"),
        priced("1", "Sirup Thymian", "11.50", "11.50"),
        priced("2", "Pflaster", "4.25", "8.50"),
    ]


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        ("inkl. MWST 2.6 % auf 34.90: 0.88", [{"tax rate": "2.6 %", "tax amount": "0.88", "gross amount": "34.90:"}]),
        ("dont TVA 20,00 %     13,99 €", [{"tax rate": "20,00 %", "tax amount": "13,99 €"}]),
        (
            "A 19,0%  4,45  0,84  5,29",
            [{"tax rate": "19,0%", "tax base": "4,45", "tax amount": "0,84", "gross amount": "5,29"}],
        ),
        ("Besteck   2  19%  4,45  0,84  5,29", []),
        ("A  19%  4,45  0,84  5,29\nB  19%  4,45  0,84  5,29", []),
    ],
)
def test_taxes_are_read_from_lines_by_their_sums(said: str, wanted: list[dict[str, str]]) -> None:
    lines = read_lines(paper_of(said))
    assert [row for table in find_tax_lines(lines, "," if "," in said else ".") for row in told_in(table)] == wanted


def test_totals_of_taxes_are_the_sums_of_the_rates_never_one_of_them() -> None:
    wanted = {"net_total": NUMBER, "tax_total": NUMBER, "gross_total": NUMBER}
    rates = "Steuer %   Netto   Steuer   Brutto\nA 19,0%   4,45    0,84    5,29\nB 7,0%    12,33   0,86   13,19\n"
    printed = extract("Summe   18,48\n" + rates + "Gesamt    16,78   1,70   18,48", wanted)
    assert printed == {"net_total": 16.78, "tax_total": 1.7, "gross_total": 18.48}
    assert extract("Summe   18,48\n" + rates, wanted) == {"net_total": 0, "tax_total": 0, "gross_total": 18.48}
