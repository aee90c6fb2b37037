"""Objects of a schema are filled from the part of a form that is about them."""

import pytest

from llm.offline.extract.areas import Area
from llm.offline.extract.fill import extract
from llm.offline.extract.heads import NAMED, Head, fits
from llm.offline.extract.reading import Reading
from llm.offline.layout.model import Cell, Token
from tests.llm.offline.paper import Paper, document


def _ask(paper: Paper, **objects: tuple[str, ...]) -> dict[str, dict[str, str]]:
    text = {"type": "string"}
    properties = {
        name: {"type": "object", "properties": dict.fromkeys(leaves, text)} for name, leaves in objects.items()
    }
    found: dict[str, dict[str, str]] = extract({"type": "object", "properties": properties}, Reading(document(paper)))
    return found


def _person(paper: Paper, x: float, y: float, name: str, born: str, phone: str) -> None:
    for at, (caption, answer) in enumerate((("Last name:", name), ("Date of birth:", born), ("Phone:", phone))):
        paper.row(y + 20 * at, (x, caption), (x + 90, answer))


def _head(text: str) -> Head:
    token = Token(text, 0, 1, 40, 40, 200, 50)
    return Head(Cell.of([token], 0), text)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (("applicant",), "1. Angaben zum Antragsteller"),
        (("applicant",), "Demandeur(euse)"),
        (("partner",), "Ehegatte/in oder Lebenspartner/in"),
        (("partner",), "Partner van de aanvrager"),
        (("authorised", "person"), "Bevollmächtigte/r"),
        (("old", "address"), "Bisherige Anschrift"),
        (("new", "address"), "Nieuw adres"),
        (("vehicle", "b"), "VÉHICULE B"),
        (("applicant",), "About you"),
        (("policyholder",), "Part 2 Preneur d’assurance / assuré"),
    ],
)
def test_a_heading_says_the_name_of_an_object_in_four_languages(name: tuple[str, ...], text: str) -> None:
    assert fits(name, _head(text)) >= NAMED


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (("vehicle", "a"), "VÉHICULE B"),
        (("employer",), "Employee"),
        (("bank",), "Bank/building society account number"),
        (("driver",), "Name of the driver"),
        (("recipient",), "For recipient"),
    ],
)
def test_a_caption_or_another_s_heading_does_not(name: tuple[str, ...], text: str) -> None:
    assert fits(name, _head(text)) < NAMED


def test_each_person_is_read_under_the_own_heading_wherever_the_schema_names_them() -> None:
    paper = Paper().put(40, 60, "Partner", size=13)
    _person(paper, 40, 90, "Lindqvist", "30/07/1988", "01632 960 111")
    paper.put(40, 190, "Applicant", size=13)
    _person(paper, 40, 220, "Abara", "02/12/1985", "01632 960 417")
    leaves = ("last_name", "date_of_birth", "phone")
    found = _ask(paper, applicant=leaves, partner=leaves)
    assert list(found["applicant"].values()) == ["Abara", "1985-12-02", "01632 960 417"]
    assert list(found["partner"].values()) == ["Lindqvist", "1988-07-30", "01632 960 111"]


def test_two_persons_side_by_side_share_the_captions_of_the_rows() -> None:
    paper = Paper().row(60, (220, "You"), (390, "Your partner"))
    for at, (caption, yours, theirs) in enumerate(
        (
            ("Last name", "Abara", "Lindqvist"),
            ("First names", "Chidi", "Freja"),
            ("Date of birth", "2.12.1985", "30.7.1988"),
        )
    ):
        paper.row(90 + 20 * at, (40, caption), (220, yours), (390, theirs))
    leaves = ("last_name", "first_names", "date_of_birth")
    found = _ask(paper, applicant=leaves, partner=leaves)
    assert list(found["applicant"].values()) == ["Abara", "Chidi", "1985-12-02"]
    assert list(found["partner"].values()) == ["Lindqvist", "Freja", "1988-07-30"]


def test_what_stands_in_another_s_section_is_no_answer() -> None:
    paper = Paper().put(40, 60, "Applicant", size=13)
    _person(paper, 40, 90, "Abara", "02/12/1985", "01632 960 417")
    paper.put(40, 190, "Witness", size=13)
    paper.row(220, (40, "Last name:"), (130, "Okabe"))
    found = _ask(paper, applicant=("last_name", "phone"), witness=("last_name", "date_of_birth"))
    assert found["witness"] == {"last_name": "Okabe", "date_of_birth": ""}


def test_without_headings_the_order_of_captions_tells() -> None:
    paper = Paper().put(40, 40, "Registration of a pupil")
    _person(paper, 40, 90, "Abara", "02/12/1985", "01632 960 417")
    _person(paper, 40, 190, "Lindqvist", "30/07/1988", "01632 960 111")
    leaves = ("last_name", "date_of_birth", "phone")
    found = _ask(paper, parent_1=leaves, parent_2=leaves)
    assert list(found["parent_1"].values()) == ["Abara", "1985-12-02", "01632 960 417"]
    assert list(found["parent_2"].values()) == ["Lindqvist", "1988-07-30", "01632 960 111"]


def test_an_area_holds_what_stands_in_its_middle() -> None:
    area = Area(1, 100, 100, 200, 200)
    assert area.holds(Token("x", 0, 1, 190, 150, 205, 160))
    assert not area.holds(Token("x", 0, 2, 190, 150, 205, 160))


def test_a_school_named_after_its_caption_is_no_answer_to_when_it_began() -> None:
    paper = Paper().put(40, 60, "Education", size=13)
    paper.row(90, (40, "High School:"), (130, "Stowe Union"))
    paper.row(110, (40, "From:"), (130, "Sept. 2011"), (260, "To:"), (300, "June 2015"))
    paper.row(130, (40, "College:"), (130, "Green Ridge"))
    paper.row(150, (40, "From:"), (130, "Sept. 2016"))
    found = _ask(paper, high_school=("name", "from", "to"), college=("name", "from", "to"))
    assert found["high_school"] == {"name": "Stowe Union", "from": "Sept. 2011", "to": "June 2015"}
    assert found["college"] == {"name": "Green Ridge", "from": "Sept. 2016", "to": ""}


def test_the_letter_that_ends_a_number_in_groups_is_part_of_it() -> None:
    paper = Paper().row(60, (40, "National Insurance number:"), (200, "QQ 77 41 09 A"))
    assert _ask(paper, applicant=("national_insurance_number",))["applicant"] == {
        "national_insurance_number": "QQ 77 41 09 A"
    }
