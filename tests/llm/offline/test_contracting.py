"""Contracts name their parties in a sentence, with the roles that they have from then on."""

import pytest

from llm.offline.extract.contracting import contract_parties
from llm.offline.extract.reading import Reading
from tests.llm.offline.paper import Paper, document


@pytest.mark.parametrize(
    ("lines", "seller", "buyer"),
    [
        (
            (
                "Entre la société Thermo SAS, au capital de 40 000 €, sise 8 rue des Forges, 67210 Obernheim,",
                "ci-après « le Prestataire », et Mme Anna Kalt, demeurant 31 route du Lac, 67140 Barrwiller,",
                "ci-après « le Client ».",
            ),
            ("Thermo SAS", "8 rue des Forges", "67210", "Obernheim"),
            ("Anna Kalt", "31 route du Lac", "67140", "Barrwiller"),
        ),
        (
            (
                "Zwischen der Firma Nordhafen GmbH, Kai 3, 20457 Hamburg, nachfolgend „Vermieter“ genannt,",
                "und Herrn Paul Berg, wohnhaft Hafenweg 7, 53844 Troisberg, nachfolgend „Mieter“ genannt,",
            ),
            ("Nordhafen GmbH", "Kai 3", "20457", "Hamburg"),
            ("Paul Berg", "Hafenweg 7", "53844", "Troisberg"),
        ),
        (
            (
                'This agreement is made between Harbour Ltd, 12 Mill Lane, Leeds LS1 4AB (the "Supplier"),',
                'and Quay Foods Ltd, 3 Dock Street, Hull HU1 1AA (hereinafter the "Customer").',
            ),
            ("Harbour Ltd", "12 Mill Lane", "LS1 4AB", "Leeds"),
            ("Quay Foods Ltd", "3 Dock Street", "HU1 1AA", "Hull"),
        ),
        (
            (
                "Tussen Kade B.V., gevestigd te Havenweg 3, 3016 CJ Rotterdam, hierna te noemen “Verhuurder”,",
                "en mevrouw Anna Berg, wonende Kerkstraat 9, 9712 AB Groningen, hierna te noemen “Huurder”,",
            ),
            ("Kade B.V.", "Havenweg 3", "3016 CJ", "Rotterdam"),
            ("Anna Berg", "Kerkstraat 9", "9712 AB", "Groningen"),
        ),
    ],
)
def test_the_parties_of_a_contract_are_read_from_its_first_sentence(
    lines: tuple[str, ...], seller: tuple[str, ...], buyer: tuple[str, ...]
) -> None:
    paper = Paper()
    for place, line in enumerate(lines):
        paper.put(40, 80 + 14 * place, line, size=8)
    found = {party.role: party.parts for party in contract_parties(Reading(document(paper)))}
    for role, wanted in (("seller", seller), ("buyer", buyer)):
        assert tuple(found[role][part].text for part in ("name", "line1", "postcode", "city")) == wanted


def test_a_text_that_names_one_role_names_no_parties() -> None:
    paper = Paper().put(40, 80, 'Between us: Harbour Ltd (the "Supplier") delivers on Monday and Tuesday.', size=8)
    assert contract_parties(Reading(document(paper))) == []
