"""Values in running text are read by the words around them, in four languages; what the words do not say is left."""

from typing import Any

import pytest

from llm.offline.extract.fill import extract
from llm.offline.extract.reading import Reading
from tests.llm.offline.paper import Paper, document

TEXT, NUMBER = {"type": "string"}, {"type": "number"}
LEASE = (
    "RESIDENTIAL LEASE AGREEMENT",
    'This Agreement is made between Otter Bend Apartments LP ("Landlord") and',
    'Jasper Doe and Hannah Roe ("Tenant"), who agree as follows:',
    "The term is twelve (12) months, commencing August 1, 2025 and expiring",
    "July 31, 2026. Tenant shall pay $1,475.00 per month as rent in advance.",
    "On signing, a security deposit of $1,500.00 is paid. The dwelling shall be",
    "occupied by no more than 2 persons.",
)
MIETE = (
    "Mietvertrag",
    "Zwischen Lindenhof GbR, wohnhaft Am Wall 9, 37671 Höxterfeld, nachstehend Vermieter genannt,",
    "und Cem Arıkan, wohnhaft Gasse 2, 37603 Holzbergen, nachstehend Mieter genannt, gilt:",
    "Die Wohnung besteht aus 3 Zimmern; die Wohnfläche beträgt 68,40 m².",
)


def read(lines: tuple[str, ...], **asked: dict[str, str]) -> dict[str, Any]:
    paper = Paper()
    for number, line in enumerate(lines):
        paper.put(40, 60 + 13 * number, line)
    result: dict[str, Any] = extract({"type": "object", "properties": asked}, Reading(document(paper)))
    return result


@pytest.mark.parametrize(
    ("lines", "name", "node", "value"),
    [
        (LEASE, "landlord", TEXT, "Otter Bend Apartments LP"),
        (LEASE, "tenants", TEXT, "Jasper Doe and Hannah Roe"),
        (LEASE, "commencement_date", TEXT, "2025-08-01"),
        (LEASE, "expiration_date", TEXT, "2026-07-31"),
        (LEASE, "term", TEXT, "twelve (12) months"),
        (LEASE, "monthly_rent", NUMBER, 1475),
        (LEASE, "security_deposit", NUMBER, 1500),
        (LEASE, "occupants", NUMBER, 2),
        (MIETE, "vermieter", TEXT, "Lindenhof GbR"),
        (MIETE, "mieter", TEXT, "Cem Arıkan"),
        (MIETE, "zimmer", NUMBER, 3),
        (MIETE, "wohnflaeche", NUMBER, 68.4),
    ],
)
def test_a_sentence_tells_what_its_values_are(
    lines: tuple[str, ...], name: str, node: dict[str, str], value: Any
) -> None:
    assert read(lines, **{name: node}) == {name: value}


def test_a_value_of_another_thing_is_no_answer() -> None:
    assert read(LEASE, pet_fee=NUMBER, late_charge=NUMBER) == {"pet_fee": 0, "late_charge": 0}
