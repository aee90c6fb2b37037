"""Form fields are read by what their file calls them, where the page itself says nothing near them."""

from dataclasses import replace
from typing import Any

from llm.content import FieldName
from llm.offline.extract.fill import extract
from llm.offline.extract.reading import Reading
from tests.llm.offline.paper import HEIGHT, WIDTH, Paper, document

PLACES = (("Marta Kovač", 100.0), ("Aleksi Niemi", 130.0), ("☒", 160.0), ("☐", 190.0), ("12/04/2031", 220.0))


def read(*names: str, **properties: dict[str, Any]) -> dict[str, Any]:
    """What is read from a form that prints no captions, with fields of these names."""
    paper = Paper()
    paper.put(40, 40, "Registration of a claim", size=14)
    for text, y in PLACES:
        paper.put(300, y, text, origin="form")
    fields: list[FieldName] = [
        (295 / WIDTH, (y - 4) / HEIGHT, 500 / WIDTH, (y + 14) / HEIGHT, name)
        for (_, y), name in zip(PLACES, names, strict=True)
    ]
    content = document(paper)
    content = replace(content, pages=(replace(content.pages[0], fields=tuple(fields)),))
    result: dict[str, Any] = extract({"type": "object", "properties": properties}, Reading(content))
    return result


TEXT, TRUTH = {"type": "string"}, {"type": "boolean"}
NAMES = ("Insured Name", "Witness Name", "Injured Yes", "Police Report", "Date of expiry")


def test_names_of_fields_say_what_was_typed_in() -> None:
    assert read(*NAMES, insured_name=TEXT, witness_name=TEXT, injured=TRUTH, police_report=TRUTH) == {
        "insured_name": "Marta Kovač",
        "witness_name": "Aleksi Niemi",
        "injured": True,
        "police_report": False,
    }


def test_a_field_of_another_name_is_no_answer() -> None:
    assert read(*NAMES, mortgage_lender=TEXT) == {"mortgage_lender": ""}
