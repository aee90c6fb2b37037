"""The same value in several places is told apart by its row, its column and its label."""

from typing import Any

import pytest

from documents.grounding import ground
from tests.documents.test_grounding import page

TABLE = page(
    "Pos  Item          Qty   VAT%   Price     Total",
    "1    Nougat        1     19     12.50     12.50",
    "2    Olive oil     2     19     10.00     20.00",
    "3    Bread         3     7      2.00      6.00",
    "4    Salt          1     7      6.00      6.00",
    "",
    "",
    "Net total                                 44.50",
    "Total                                     44.50",
)
COLUMNS = {"position": 0, "item": 5, "quantity": 19, "vat_rate": 25, "unit_price": 32, "total": 42}


def lines(*wanted: str) -> list[dict[str, Any]]:
    rows = [
        {"position": 1, "item": "Nougat", "quantity": 1, "vat_rate": 19, "unit_price": 12.5, "total": 12.5},
        {"position": 2, "item": "Olive oil", "quantity": 2, "vat_rate": 19, "unit_price": 10, "total": 20},
        {"position": 3, "item": "Bread", "quantity": 3, "vat_rate": 7, "unit_price": 2, "total": 6},
        {"position": 4, "item": "Salt", "quantity": 1, "vat_rate": 7, "unit_price": 6, "total": 6},
    ]
    return [{name: row[name] for name in wanted} for row in rows]


@pytest.mark.parametrize(
    "wanted",
    [
        tuple(COLUMNS),
        ("item", "quantity"),
        ("quantity", "item", "total"),
        ("item", "unit_price", "total"),
        ("total", "unit_price", "item"),
        ("item", "total"),
        ("item", "unit_price"),
        ("position", "quantity"),
        ("item", "vat_rate"),
    ],
)
def test_equal_numbers_of_one_row_stand_each_in_its_column(wanted: tuple[str, ...]) -> None:
    found = ground(data={"lines": lines(*wanted)}, pages=[TABLE])
    for row in range(4):
        for name in wanted:
            place = found[f"lines.{row}.{name}"]
            assert place.state == "found", (row, name)
            assert place.boxes[0][:2] == pytest.approx((COLUMNS[name] / 100, (row + 1) / 50)), (row, name)


def test_a_total_that_is_also_a_line_s_amount_stands_at_the_total() -> None:
    sheet = page(
        "Item        Amount",
        "Consulting  500.00",
        "",
        "Subtotal    500.00",
        "VAT           0.00",
        "Amount due  500.00",
    )
    data = {"net_total": 500, "due_payable": 500, "lines": [{"name": "Consulting", "amount": 500}]}
    found = ground(data=data, pages=[sheet])
    tops = {path: round(place.boxes[0][1] * 50) for path, place in found.items()}
    assert tops == {"net_total": 3, "due_payable": 5, "lines.0.name": 1, "lines.0.amount": 1}


@pytest.mark.parametrize(("name", "row"), [("issue_date", 0), ("delivery_date", 1), ("due_date", 2)])
def test_one_day_that_is_several_dates_stands_at_each_label(name: str, row: int) -> None:
    sheet = page("Invoice date   03.05.2024", "Delivery date  03.05.2024", "Due date       03.05.2024")
    place = ground(data={name: "2024-05-03"}, pages=[sheet])[name]
    assert (place.state, round(place.boxes[0][1] * 50)) == ("found", row)


@pytest.mark.parametrize(("name", "row"), [("issue_date", 0), ("delivery_date", 1), ("due_date", 2)])
def test_the_label_may_be_in_another_language(name: str, row: int) -> None:
    sheet = page("Rechnungsdatum  03.05.2024", "Lieferdatum     03.05.2024", "Zahlbar bis     03.05.2024")
    place = ground(data={name: "2024-05-03"}, pages=[sheet])[name]
    assert (place.state, round(place.boxes[0][1] * 50)) == ("found", row)


def test_rows_with_equal_values_keep_their_order() -> None:
    sheet = page("Item    Amount", "Rent    700.00", "Heat     50.00", "Rent    700.00")
    data = {"lines": [{"item": "Rent", "amount": 700}, {"item": "Heat", "amount": 50}, {"item": "Rent", "amount": 700}]}
    found = ground(data=data, pages=[sheet])
    tops = [round(found[f"lines.{row}.{name}"].boxes[0][1] * 50) for row in range(3) for name in ("item", "amount")]
    assert tops == [1, 1, 2, 2, 3, 3]


def test_the_label_above_a_value_names_it() -> None:
    sheet = page("Order no.     Customer no.   Date", "4711          4711           1 May 2024")
    found = ground(data={"order_number": "4711", "customer_number": "4711"}, pages=[sheet])
    assert [round(place.boxes[0][0] * 100) for place in found.values()] == [0, 14]
    assert {place.state for place in found.values()} == {"found"}


def test_a_value_below_the_first_line_of_its_row_belongs_to_that_row() -> None:
    slip = page("Nougat 250 g", "   2 x 4.00     8.00", "Olive oil", "   2 x 4.00     8.00", "Total     16.00")
    rows = [{"item": "Nougat 250 g", "price": 4, "total": 8}, {"item": "Olive oil", "price": 4, "total": 8}]
    found = ground(data={"lines": rows}, pages=[slip])
    tops = [round(found[f"lines.{row}.{name}"].boxes[0][1] * 50) for row in range(2) for name in ("price", "total")]
    assert tops == [1, 1, 3, 3]
    assert {place.state for place in found.values()} == {"found"}
