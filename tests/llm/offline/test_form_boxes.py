"""Boxes of forms: lettered and numbered captions, figures at their right edge, answers set larger than their line."""

from typing import Any

import pytest

from llm.content import DocumentContent
from llm.offline.extract.reading import Reading
from llm.offline.propose.kind import kind_of
from tests.llm.offline.paper import Paper, document
from tests.llm.offline.test_extraction import FLAG, TEXT, extract


def extracted(page: DocumentContent, *names: str) -> dict[str, Any]:
    """What a schema of these texts gets."""
    return extract(page, dict.fromkeys(names, TEXT))


def wages() -> DocumentContent:
    """Two boxes a line, small captions at their left, what was filled in under them, figures at the right."""
    paper = Paper()
    boxes = [
        ("a Employee's social security number", "417-52-9086", 40.0, "1 Wages, tips", "58214.60"),
        ("b Employer identification number", "61-4082937", 40.0, "2 Income tax withheld", "6127.35"),
        ("c Control number", "0047 LKM", 40.0, "3 Social security wages", "61014.60"),
        ("e First name and initial", "Rosalind T", 40.0, "5 Medicare wages", "61018.20"),
        ("f Locality", "Marinette", 40.0, "12a See instructions", "2800.00"),
    ]
    for place, (left, said, x, right, amount) in enumerate(boxes):
        y = 40.0 + 30 * place
        paper.row(y, (40, left), (300, right), size=7)
        paper.row(y + 10, (x, said), (430 - 5 * len(amount), amount))
    paper.put(304, 170, "DD")
    return document(paper)


def test_lettered_boxes_and_figures_at_the_right_of_their_box_are_read() -> None:
    names = ["EmployeeSSN", "EmployerIdentificationNumber", "Locality", "SocialSecurityWages", "MedicareWages"]
    found = extracted(wages(), *names)
    assert [found[name] for name in names] == ["417-52-9086", "61-4082937", "Marinette", "61014.60", "61018.20"]


def test_a_name_with_the_number_of_a_box_takes_its_code_and_its_amount() -> None:
    found = extracted(wages(), "Box12aCode", "Box12aAmount")
    assert found == {"Box12aCode": "DD", "Box12aAmount": "2800.00"}


def test_numbered_boxes_make_a_form() -> None:
    assert kind_of(Reading(wages())).kind.form


def test_answers_set_larger_than_their_line_are_answers() -> None:
    paper = Paper()
    paper.put(40, 40, "Fait à", size=7).put(70, 38, "Capdenac").put(118, 40, "le", size=7).put(130, 38, "17/03/2025")
    paper.put(40, 60, "Postcode", size=7).put(75, 58, "4601").put(100, 60, "City", size=7).put(120, 58, "Figeac")
    found = extracted(document(paper), "FaitA", "City")
    assert found == {"FaitA": "Capdenac", "City": "Figeac"}


def test_the_letter_of_a_box_in_brackets_is_no_part_of_its_caption() -> None:
    paper = Paper()
    for place, (caption, said) in enumerate(
        [("(D.1) Marque", "VALMONT"), ("(D.3) Couleur", "GRIS"), ("(E) Genre", "VP")]
    ):
        paper.put(40 + 150 * place, 40, caption, size=7).put(40 + 150 * place, 50, said)
    assert extracted(document(paper), "Marque", "Couleur") == {"Marque": "VALMONT", "Couleur": "GRIS"}


def test_a_date_in_eight_boxes_has_no_signs_between_its_figures() -> None:
    paper = Paper().put(40, 40, "Date d'achat :")
    for place, figure in enumerate("15032025"):
        paper.put(120 + 11 * place, 40, figure, size=9.5)
    assert extracted(document(paper), "DateAchat") == {"DateAchat": "2025-03-15"}


def test_a_comb_with_narrow_boxes_for_its_points_is_one_word() -> None:
    paper = Paper().put(40, 40, "Geburtsdatum:")
    for x, sign in zip((0, 12, 20.5, 29, 41, 49.5, 58, 70, 82, 94), "19.06.1981", strict=True):
        paper.put(130 + x, 40, sign)
    assert extracted(document(paper), "Geburtsdatum") == {"Geburtsdatum": "1981-06-19"}


def test_names_of_a_heading_and_a_caption_take_the_answer_in_the_column_of_the_heading() -> None:
    paper = Paper().row(40, (40, "Angaben"), (200, "Person 1"), (350, "Person 2"))
    paper.row(60, (40, "1. Familienname"), (200, "Ruebsam"), (350, "Gottlich"))
    paper.row(80, (40, "2. Geburtsort"), (200, "Sontra"), (350, "Gera"))
    paper.row(100, (40, "3. Geschlecht"), (200, "☒ weiblich"), (350, "☐ weiblich"))
    found = extracted(document(paper), "Person1Familienname", "Person2Familienname", "Person2Geburtsort")
    assert list(found.values()) == ["Ruebsam", "Gottlich", "Gera"]
    flags = extract(document(paper), {"Person1Weiblich": FLAG, "Person2Weiblich": FLAG})
    assert flags == {"Person1Weiblich": True, "Person2Weiblich": False}


def test_sender_and_recipient_stand_under_from_and_to() -> None:
    paper = Paper().row(200, (40, "☐ Gift"), (140, "☒ Documents"))
    for place, (head, name, street) in enumerate([("From", "Isobel Farraday", "Tannery Close"), ("To", "Sol", "Lyng")]):
        paper.put(40, 40 + 60 * place, head)
        paper.row(54 + 60 * place, (40, "Name"), (120, name)).row(68 + 60 * place, (40, "Street"), (120, street))
    found = extracted(document(paper), "SenderStreet", "RecipientStreet")
    assert found == {"SenderStreet": "Tannery Close", "RecipientStreet": "Lyng"}


@pytest.mark.parametrize(
    ("typed", "answer"),
    [("__Berg_____", "Berg"), ("....Berg....", "Berg"), ("_D.A._", "D.A."), ("a_b", "a_b"), ("No.", "No.")],
)
def test_an_answer_that_was_typed_over_a_blank_is_read_without_it(typed: str, answer: str) -> None:
    line = Reading(document(Paper().put(40, 40, f"Name: {typed}"))).layout.lines[0]
    assert [token.text for cell in line.cells for token in cell.tokens] == ["Name:", answer]
