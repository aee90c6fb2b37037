"""Addresses and whose they are."""

import pytest

from llm.offline.extract.parties import find_parties
from llm.offline.extract.reading import Reading
from llm.offline.typing.places import find_place, is_country, lone_postcode
from tests.llm.offline.paper import Paper, document

Parts = dict[str, str]


def party(role: str, paper: Paper) -> Parts:
    """The parts of the party that is surest to have a role."""
    found = [one for one in find_parties(Reading(document(paper))) if one.role == role]
    best = max(found, key=lambda one: one.certainty)
    return {name: value.text for name, value in best.parts.items()}


@pytest.mark.parametrize(
    ("line", "postcode", "city"),
    [
        ("Abergavenny NP7 5BW", "NP7 5BW", "Abergavenny"),
        ("Galway H91 F6N2", "H91 F6N2", "Galway"),
        ("MILDURA VIC 3502", "3502", "MILDURA"),
        ("Dayton, Ohio 45402", "45402", "Dayton"),
        ("Québec (Québec) G1K 6A5", "G1K 6A5", "Québec"),
        ("KERIKERI 0230", "0230", "KERIKERI"),
        ("39240 Calbe (Saale)", "39240", "Calbe (Saale)"),
    ],
)
def test_places_of_many_countries_are_known(line: str, postcode: str, city: str) -> None:
    place = find_place(line)
    assert place is not None
    assert (place.postcode, place.city) == (postcode, city)


@pytest.mark.parametrize("line", ["1902 Troy Street", "2418 Presidio Way", "2025 Januar", "1000 EUR", "0176 Tax ID"])
def test_a_number_before_words_is_not_always_a_postcode(line: str) -> None:
    assert find_place(line) is None


def test_countries_and_lone_postcodes() -> None:
    assert is_country("België")
    assert is_country("Österreich / Austria")
    assert not is_country("Versicherungsbüro")
    assert lone_postcode("TD9 7BQ") == "TD9 7BQ"
    assert lone_postcode("Order 17") == ""


def test_a_postcode_under_its_city_belongs_to_the_address() -> None:
    paper = Paper().put(40, 60, "Exporter (name, address)", size=8)
    for number, line in enumerate(["Orrin Mills Ltd", "4 Teviot Crescent", "HAWICK", "TD9 7BQ"]):
        paper.put(40, 74 + 14 * number, line)
    found = party("seller", paper)
    assert (found["name"], found["line1"], found["city"], found["postcode"]) == (
        "Orrin Mills Ltd",
        "4 Teviot Crescent",
        "HAWICK",
        "TD9 7BQ",
    )


def test_the_foot_of_a_page_names_the_seller_in_one_line() -> None:
    paper = (
        Paper().put(40, 60, "Bill to:").put(40, 74, "Jane Doe").put(40, 88, "5 Low Road").put(40, 102, "Leeds LS1 4AB")
    )
    paper.put(40, 800, "Corrib Foods DAC, Unit 12 Liosbaun Park, Galway H91 F6N2. Phone 091 555 200", size=7)
    found = party("seller", paper)
    assert (found["name"], found["street"], found["postcode"]) == (
        "Corrib Foods DAC",
        "Unit 12 Liosbaun Park",
        "H91 F6N2",
    )


def test_a_name_over_two_lines_ends_with_its_legal_form() -> None:
    paper = Paper()
    for number, line in enumerate(["Wiesinger & Söhne", "Gartenmöbel OG", "Traunuferstraße 55", "4600 Wels"]):
        paper.put(300, 60 + 14 * number, line)
    assert party("seller", paper)["name"] == "Wiesinger & Söhne Gartenmöbel OG"


def test_an_order_is_from_the_buyer_and_its_confirmation_from_the_seller() -> None:
    def order(title: str) -> Paper:
        paper = Paper().put(40, 60, "Maschinenfabrik AG · Chemnitzer Straße 2 · 09392 Auerswalde", size=7)
        for number, line in enumerate(["Thiemeke GmbH", "Werkstraße 18", "39240 Calbe"]):
            paper.put(40, 80 + 14 * number, line)
        return paper.put(40, 160, title, size=16)

    assert party("buyer", order("Bestellung"))["name"] == "Maschinenfabrik AG"
    assert party("seller", order("Bestellung"))["name"] == "Thiemeke GmbH"
    assert party("seller", order("Auftragsbestätigung"))["name"] == "Maschinenfabrik AG"


def test_the_letterhead_s_fuller_name_stands_for_the_sender_s() -> None:
    paper = Paper().put(40, 40, "Malerbetrieb Jörg Oehmke", size=18)
    paper.put(40, 80, "J. Oehmke, Ziegeleiweg 21, 17235 Neustrelitz", size=7)
    for number, line in enumerate(["Hausverwaltung Seenplatte GmbH", "Tiergartenstraße 30", "17235 Neustrelitz"]):
        paper.put(40, 95 + 14 * number, line)
    assert party("seller", paper)["name"] == "Malerbetrieb Jörg Oehmke"
    assert party("buyer", paper)["name"] == "Hausverwaltung Seenplatte GmbH"
