"""The place and the date of a signature are read however a form asks for them."""

from typing import Any

import pytest

from llm.offline.extract.fill import extract
from llm.offline.extract.reading import Reading
from tests.llm.offline.paper import Paper, document

ASKED = {"signature_place": {"type": "string"}, "signature_date": {"type": "string"}}


def read(*rows: tuple[tuple[float, str], ...]) -> dict[str, Any]:
    paper = Paper()
    paper.put(40, 40, "Declaration", size=14)
    paper.row(90, (40, "Date of birth"), (300, "04.05.1989"))
    for number, row in enumerate(rows):
        paper.row(600 + 14 * number, *row)
    result: dict[str, Any] = extract({"type": "object", "properties": ASKED}, Reading(document(paper)))
    return result


@pytest.mark.parametrize(
    "rows",
    [
        (((40, "Troisberg, den 14.06.2025"), (300, "M. Roth")), ((40, "Ort, Datum"), (300, "Unterschrift"))),
        (((40, "Place, date"), (300, "Signature")), ((40, "Troisberg, 14 June 2025"),)),
        (((40, "Fait à"), (90, "Troisberg"), (200, ", le"), (260, "14/06/2025")), ((40, "Cachet et signature"),)),
        (((40, "À .... Troisberg .... , le .... 14.06.2025 ...."),), ((40, "Signature :"),)),
        (
            ((40, "Troisberg"), (180, "14-06-2025"), (300, "M. Roth")),
            ((40, "plaats"), (180, "datum"), (300, "handtekening")),
        ),
    ],
)
def test_place_and_date_are_those_beside_the_signature(rows: tuple[tuple[tuple[float, str], ...], ...]) -> None:
    assert read(*rows) == {"signature_place": "Troisberg", "signature_date": "2025-06-14"}


def test_who_signed_is_no_place() -> None:
    rows = (((40, "M. Roth"), (300, "12 Jan 2025")), ((40, "signed / date"),))
    assert read(*rows) == {"signature_place": "", "signature_date": "2025-01-12"}


def test_a_date_far_from_every_signature_is_not_its_date() -> None:
    assert read(((40, "Signature"),)) == {"signature_place": "", "signature_date": ""}
