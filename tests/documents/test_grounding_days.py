"""Days that are printed in parts: without a year, or over a line's end."""

import pytest

from documents.grounding import ground
from tests.documents.test_grounding import page, place

STATEMENT = (
    "Kontoauszug vom   05.01.2026",
    "30.12.   31.12.   Miete        650,00-",
    "02.01.   05.01.   Gehalt     2.618,40+",
)


def test_a_day_without_a_year_is_of_the_year_that_brings_it_nearest_to_the_dates_in_full() -> None:
    rows = [{"booked": "2025-12-30", "value_date": "2025-12-31"}, {"booked": "2026-01-02", "value_date": "2026-01-05"}]
    found = ground(data={"rows": rows}, pages=[page(*STATEMENT)])
    assert [place.quote for place in found.values()] == ["30.12.", "31.12.", "02.01.", "05.01."]
    assert {place.state for place in found.values()} == {"found"}


@pytest.mark.parametrize("value", ["2026-12-30", "2024-12-30", "2025-01-02", "2026-02-01", "2026-12-01"])
def test_a_day_of_another_year_or_of_another_order_is_not_there(value: str) -> None:
    assert ground(data={"rows": [{"booked": value}]}, pages=[page(*STATEMENT)])["rows.0.booked"].state == "not_found"


def test_a_date_in_full_is_what_a_field_outside_of_rows_means() -> None:
    assert place("2026-01-05", *STATEMENT, name="statement_date").quote == "05.01.2026"


@pytest.mark.parametrize(
    ("value", "line", "quote"),
    [
        ("2025-07-06", "07/06   RETURN HARDWARE   28.49   BOISE, ID 83702", "07/06"),
        ("2025-11-03", "3 Nov   Card payment   £12.00", "3 Nov"),
        ("2025-11-03", "Nov 3   Card payment", "Nov 3"),
        ("2025-11-03", "3. November   Gehalt und Miete", "3. November"),
    ],
)
def test_a_day_is_found_by_its_month_s_name_or_number(value: str, line: str, quote: str) -> None:
    lines = ("Closing date: 2025-07-14" if "07/06" in line else "Closing date: 2025-11-28", line)
    found = ground(data={"rows": [{"day": value}]}, pages=[page(*lines)])["rows.0.day"]
    assert (found.state, found.quote) == ("found", quote)
    assert place(value, *lines).state == "ambiguous"


@pytest.mark.parametrize("line", ["Total 12.05", "3 Nov 2024", "at 03:11", "3/11/24", "No. 3-11"])
def test_an_amount_a_time_or_a_date_of_another_year_is_no_day_without_a_year(line: str) -> None:
    for value in ("2025-11-03", "2025-05-12"):
        assert place(value, "Closing date: 2025-11-28", line).state == "not_found"


@pytest.mark.parametrize(
    ("lines", "quote"),
    [
        (("Periode 1 september 2025 t/m 30", "september 2025"), "30 september 2025"),
        (("1 september 2025 t/m 30      9", "september 2025"), "30 september 2025"),
        (("Bestelling HD94402 van 30-09-", "2025"), "30-09- 2025"),
    ],
)
def test_a_date_that_a_line_breaks_off_is_found_on_both_lines(lines: tuple[str, ...], quote: str) -> None:
    found = place("2025-09-30", *lines)
    assert (found.state, found.quote, len(found.boxes)) == ("found", quote, 2)


@pytest.mark.parametrize("line", ["on   07   March   2025", "this 7th day of March, 2025", "le 7 mars 2025"])
def test_a_date_is_found_in_the_boxes_and_words_that_it_is_spread_over(line: str) -> None:
    assert place("2025-03-07", line).state == "found"
    assert place("2025-03-08", line).state == "not_found"
