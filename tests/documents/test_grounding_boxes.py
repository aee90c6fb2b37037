"""Check boxes of many forms: words before or behind them, heads of columns, four languages; amounts and dates in
boxes of their own."""

from dataclasses import replace
from typing import Any

import pytest

from documents.grounding import Grounding, ground
from tests.documents.test_grounding import page, place


def grounded(data: dict[str, Any], *lines: str) -> dict[str, Grounding]:
    return ground(data=data, pages=[page(*lines)])


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("is_smoker", "Rauchen Sie?   ☒ ja   ☐ nein"),
        ("police_report_yes", "Wurde der Schaden polizeilich aufgenommen?   ☒ ja   ☐ nein"),
        ("vat_deductible_no", "Btw-verrekening mogelijk?   ☐ ja   ☒ nee"),
        ("rented", "Hoe gaat u wonen?   ☐ koopwoning   ☒ huurwoning"),
        ("behind_with_rent", "Are you behind with your rent?   Yes ☒ No ☐   by how much?"),
        ("title_ms", "Title:   Mr ☐   Mrs ☐   Miss ☐   Ms ☒   Other"),
        ("payment_day1st", "Payment day:   ☒ 1st   ☐ 15th"),
    ],
)
def test_a_box_is_found_by_what_its_words_mean_on_whichever_side_they_stand(name: str, line: str) -> None:
    found = grounded({name: True}, "Please answer all questions", line)[name]
    assert (found.state, found.quote) == ("found", "☒")
    assert found.boxes[0][0] == pytest.approx(line.index("☒") / 100)


def test_boxes_below_yes_and_no_answer_what_stands_before_them() -> None:
    lines = (
        "                      yes   no",
        "Asthma                ☐     ☒",
        "Diabetes              ☒     ☐",
    )
    found = grounded({"asthma": False, "diabetes": True, "asthma_yes": True, "diabetes_no": True}, *lines)
    assert [(place.quote, round(place.boxes[0][0] * 100)) for place in list(found.values())[:2]] == [
        ("☒", 28),
        ("☒", 22),
    ]
    assert found["asthma_yes"].state == found["diabetes_no"].state == "not_found"


def test_a_box_that_one_property_fits_best_is_no_other_s() -> None:
    data = {"own_vehicle_damage_insured": True, "other_damage": True}
    found = grounded(data, "Is the damage of your own vehicle insured?   ☒ yes   ☐ no")
    assert [place.state for place in found.values()] == ["found", "not_found"]


def test_the_same_question_to_two_people_with_two_answers_is_left_open() -> None:
    form = ("Person 1   Are you a student?   ☒ Yes   ☐ No", "Person 2   Are you a student?   ☐ Yes   ☒ No")
    found = grounded({"applicant": {"student": True}, "partner": {"student": False}}, *form)
    assert {place.state for place in found.values()} == {"ambiguous"}


def test_yes_in_a_sentence_or_beside_an_empty_box_is_no_answer() -> None:
    assert place("yes", "If yes, since when?", "☐ Yes   ☐ No", name="asthma").state == "not_found"
    assert place("yes", "Asthma:   yes", name="asthma").quote == "yes"


def framed(*lines: str, edges: tuple[int, ...]) -> Any:
    """A page whose columns are parted by lines. Units: characters."""
    sheet = page(*lines)
    return replace(sheet, frames=tuple((0.0, 0.0, edge / 100, 1.0) for edge in edges))


def test_cents_in_a_box_of_their_own_belong_to_the_euros_beside_them() -> None:
    sheet = framed(
        "Gross wage      47.318  64", "Income tax         612  00", "Church tax         496  33", edges=(23,)
    )
    data = {"wage": 47318.64, "tax": "612,00", "church": "496,33", "whole": 612}
    found = ground(data=data, pages=[sheet])
    assert [place.quote for place in found.values()] == ["47.318 64", "612 00", "496 33", "612 00"]
    assert ground(data={"tax": 612.33}, pages=[sheet])["tax"].state == "not_found"


def test_two_columns_of_numbers_are_no_euros_and_cents_without_a_line_between() -> None:
    found = ground(data={"lines": [{"qty": 5, "vat": 19}]}, pages=[page("Qty   VAT", "  5   19")])
    assert [place.quote for place in found.values()] == ["5", "19"]
    assert place(5.19, "Qty   VAT", "  5   19").state == "not_found"


@pytest.mark.parametrize("line", ["geboren   06   12   58", "geboren   0 6   1 2   5 8"])
def test_a_date_in_boxes_may_have_a_year_of_two_digits(line: str) -> None:
    assert place("1958-12-06", line).state == "found"
    assert place("1958-12-06", "Kundennummer   061258").state == "not_found"
