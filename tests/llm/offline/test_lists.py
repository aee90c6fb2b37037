"""Items without a head over them: what stands on which line of a receipt."""

import pytest

from llm.content import DocumentContent, PageContent
from llm.offline.layout.lines import read_lines
from llm.offline.tables.lists import find_lists


def items_of(text: str) -> list[dict[str, str]]:
    """The items of a page of monospaced text, as texts by column; empty cells left out."""
    page = PageContent(1, 612, 792, text)
    tables = find_lists(read_lines(DocumentContent("0" * 32, "page", (page,))), set())
    return [
        {header: row.text(at) for at, header in enumerate(table.headers) if row.text(at)}
        for table in tables
        for row in table.rows
    ]


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
