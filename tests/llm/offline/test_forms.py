"""Forms that people fill in: captions above, inside or left of a box; what is empty stays empty."""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from llm.content import DocumentContent
from llm.offline.engine import reply
from llm.offline.extract.reading import Reading
from llm.offline.propose.proposal import propose
from tests.llm.offline.paper import Paper, document
from tests.llm.offline.test_extraction import NUMBER, TEXT, extract

CAPTIONS = {
    "en": ("Last name", "First name", "Date of birth", "Town", "Employer", "Monthly income"),
    "de": ("Nachname", "Vorname", "Geburtsdatum", "Wohnort", "Arbeitgeber", "Monatliches Einkommen"),
    "fr": ("Nom", "Prénom", "Date de naissance", "Ville", "Employeur", "Revenu mensuel"),
    "nl": ("Achternaam", "Voornaam", "Geboortedatum", "Woonplaats", "Werkgever", "Maandinkomen"),
}
ANSWERS = ("Lindqvist", "Anna", "09.10.59", "Aarau", "Nordhafen Spedition", "2 145,85")
FIELDS = {
    "last_name": TEXT,
    "first_name": TEXT,
    "birth_date": TEXT,
    "city": TEXT,
    "employer": TEXT,
    "monthly_income": NUMBER,
}


def boxes(captions: Sequence[str], answers: Sequence[str], *, way: str) -> DocumentContent:
    """Two boxes in a row."""
    paper = Paper().put(56, 50, "Formular", size=16)
    for place, (caption, answer) in enumerate(zip(captions, answers, strict=True)):
        x, y = 59 + 245 * (place % 2), 100 + 46 * (place // 2)
        if way == "beside":
            paper.put(x, y, caption, size=8).put(x + 110, y, answer, size=8)
        else:
            paper.put(x, y, caption, size=7).put(x + 4, y + 14, answer)
    return document(paper)


@pytest.mark.parametrize("way", ["inside", "beside"])
@pytest.mark.parametrize("language", list(CAPTIONS))
def test_what_people_write_behind_or_under_a_caption_is_found_in_any_language(language: str, way: str) -> None:
    found = extract(boxes(CAPTIONS[language], ANSWERS, way=way), FIELDS)
    assert found == {
        "last_name": "Lindqvist",
        "first_name": "Anna",
        "birth_date": "1959-10-09",
        "city": "Aarau",
        "employer": "Nordhafen Spedition",
        "monthly_income": 2145.85,
    }


@pytest.mark.parametrize("way", ["inside", "beside"])
@pytest.mark.parametrize("language", list(CAPTIONS))
def test_an_empty_box_stays_empty_and_takes_nothing_from_its_neighbours(language: str, way: str) -> None:
    answers = ("Lindqvist", "", "", "Aarau", "", "")
    found = extract(boxes(CAPTIONS[language], answers, way=way), FIELDS)
    assert found == dict.fromkeys(FIELDS, "") | {"last_name": "Lindqvist", "city": "Aarau", "monthly_income": 0}


def test_where_form_fields_are_filled_in_printed_text_is_no_answer() -> None:
    paper = Paper().put(40, 50, "Tax statement", size=14)
    for place, (caption, answer) in enumerate(
        [("Rents", "1,500"), ("Royalties", ""), ("Fishing proceeds", "700"), ("Section 409A deferrals", "1,000")]
    ):
        paper.put(40, 100 + 40 * place, caption, size=8).put(40, 112 + 40 * place, "$")
        paper.put(115, 112 + 40 * place, answer, origin="form")
    paper.put(300, 152, "Information for the office").put(40, 300, "Notice", size=8)
    for place, word in enumerate(("Nordhafen", "Spedition")):
        paper.put(200 + 60 * place, 60, word, origin="form")
    found = extract(document(paper), dict.fromkeys(("Rents", "Royalties", "FishingProceeds", "409ADeferrals"), TEXT))
    assert found == {"Rents": "1,500", "Royalties": "", "FishingProceeds": "700", "409ADeferrals": "1,000"}


def proposed(paper: DocumentContent) -> dict[str, Any]:
    """The fields of the proposal and what they find."""
    answer = reply(messages=[], tools=[], document=paper, response_format={"type": "json_object"})
    found: dict[str, Any] = json.loads(answer.text)
    return found


@pytest.mark.parametrize("way", ["inside", "beside"])
@pytest.mark.parametrize("language", list(CAPTIONS))
def test_a_form_gets_a_field_for_each_thing_it_asks_for_by_an_english_name(language: str, way: str) -> None:
    answers = ("Lindqvist", "Anna", "09.10.59", "Aarau", "", "2 145,85")
    found = proposed(boxes(CAPTIONS[language], answers, way=way))
    assert list(found) == list(FIELDS)
    assert found == {
        "last_name": "Lindqvist",
        "first_name": "Anna",
        "birth_date": "1959-10-09",
        "city": "Aarau",
        "employer": "",
        "monthly_income": 2145.85,
    }


def test_a_box_whose_caption_nobody_taught_us_becomes_a_field_too() -> None:
    captions = ("Nachname", "Vorname", "Geburtsdatum", "Wohnort", "Schuhgröße", "Lieblingsfarbe")
    answers = ("Lindqvist", "Anna", "09.10.1959", "Aarau", "41", "")
    found = proposed(boxes(captions, answers, way="inside"))
    assert found["shoe_size"] == "41"
    assert "lieblingsfarbe" not in found


def test_an_invoice_that_asks_for_an_address_is_no_form() -> None:
    paper = Paper().put(40, 40, "RECHNUNG", size=18)
    for place, (caption, answer) in enumerate(
        [("Rechnungsnummer:", "R-17"), ("Straße:", "Hafenweg 3"), ("PLZ:", "30159"), ("Ort:", "Aarau"), ("Land:", "CH")]
    ):
        paper.row(100 + 20 * place, (40, caption), (180, answer))
    assert propose(Reading(document(paper))).name == "Invoice"


def test_every_answer_in_a_form_field_becomes_a_field_named_after_its_caption() -> None:
    paper = Paper().put(40, 40, "Form K-17", size=14).put(40, 56, "Form K-17 (Rev. 2020)", size=8)
    paper.put(40, 100, "1 Name of the applicant", size=8).put(40, 112, "Anna Lindqvist", origin="form")
    paper.put(40, 140, "Exempt payee code (if any)", size=8).put(160, 139, "5", origin="form")
    paper.put(40, 180, "Number of the", size=8).put(40, 190, "permit", size=8).put(80, 189, "XK-204", origin="form")
    paper.put(40, 230, "2 Town", size=8).put(40, 242, "Aarau am Hafen", origin="form")
    found = proposed(document(paper))
    assert {"Anna Lindqvist", "5", "XK-204", "Aarau am Hafen"} <= set(map(str, found.values()))
    assert {"exempt_payee_code", "permit_number", "city"} <= set(found)


def test_pairs_in_running_lines_are_told_apart_and_an_empty_one_takes_no_caption() -> None:
    paper = Paper().put(56, 50, "Demande de logement", size=16)
    for place, line in enumerate(
        (
            "Nom : Perrault Prénom : Anna",
            "Né(e) le : 09/10/1959",
            "Code postal : 21000 Ville : Dijon",
            "Profession : infirmière Employeur :",
            "Situation familiale : [x] célibataire [ ] marié(e)",
        )
    ):
        paper.put(56, 100 + 20 * place, line)
    found = proposed(document(paper))
    assert found["last_name"] == "Perrault"
    assert (found["first_name"], found["birth_date"]) == ("Anna", "1959-10-09")
    assert (found["postcode"], found["city"]) == ("21000", "Dijon")
    assert (found["occupation"], found["employer"]) == ("infirmière", "")
    assert (found["single"], found["married"]) == (True, False)


def test_captions_under_the_lines_that_people_write_on_belong_to_what_is_over_them() -> None:
    paper = Paper().put(56, 50, "Application form", size=16)
    for place, row in enumerate(
        (
            (("Lindqvist", "Last name"), ("Anna", "First name")),
            (("7 Mill Lane", "Street and number"), ("Aarau", "City")),
            (("12 March 1970", "Date of birth"), ("", "Nationality")),
        )
    ):
        for side, (answer, caption) in enumerate(row):
            paper.put(56 + 240 * side, 100 + 40 * place, answer)
            paper.put(56 + 240 * side, 114 + 40 * place, caption, size=7)
    assert proposed(document(paper)) == {
        "last_name": "Lindqvist",
        "first_name": "Anna",
        "street": "7 Mill Lane",
        "city": "Aarau",
        "birth_date": "1970-03-12",
        "nationality": "",
    }


def test_captions_that_nobody_taught_us_are_captions_in_a_column_of_known_ones() -> None:
    paper = Paper().put(56, 50, "Registration form", size=16)
    for place, (caption, answer) in enumerate(
        (
            ("First name *", "Anna"),
            ("Surname *", "Lindqvist"),
            ("Town/City", "Aarau"),
            ("Post code", "AB1 2CD"),
            ("Shoe size", "41"),
            ("Emergency contact", "Paul Berg"),
        )
    ):
        paper.row(100 + 20 * place, (56, caption), (220, answer))
    found = proposed(document(paper))
    assert found == {
        "first_name": "Anna",
        "last_name": "Lindqvist",
        "city": "Aarau",
        "postcode": "AB1 2CD",
        "shoe_size": "41",
        "emergency_contact": "Paul Berg",
    }


def sender_and_receiver() -> DocumentContent:
    """One box asks for name and address at once, the others one by one."""
    paper = Paper().put(54, 40, "SENDER’S name, street address, city and ZIP code", size=8)
    for place, line in enumerate(("Harbour Mills", "P.O. Box 12", "New Haven, CT 06520")):
        paper.put(52, 52 + 10 * place, line, size=9.4, origin="form")
    for place, (caption, answer) in enumerate(
        (
            ("CARRIER’S name", "Jo Doe"),
            ("Street address (including apt. no.)", "150 Elm Road"),
            ("City or town", "Reno"),
        )
    ):
        paper.put(54, 120 + 36 * place, caption, size=8)
        paper.put(52, 136 + 36 * place, answer, size=9.4, origin="form")
    return document(paper)


def test_an_address_over_several_lines_or_boxes_is_taken_whole_and_without_the_name() -> None:
    wanted = dict.fromkeys(("sender_name", "sender_address", "carrier_name", "carrier_address"), TEXT)
    assert extract(sender_and_receiver(), wanted) == {
        "sender_name": "Harbour Mills",
        "sender_address": "P.O. Box 12 New Haven, CT 06520",
        "carrier_name": "Jo Doe",
        "carrier_address": "150 Elm Road Reno",
    }


def test_a_field_for_name_and_address_takes_all_lines_of_the_box() -> None:
    found = extract(sender_and_receiver(), {"sender_name_address": TEXT})
    assert found == {"sender_name_address": "Harbour Mills P.O. Box 12 New Haven, CT 06520"}


def test_a_box_behind_a_colon_belongs_to_the_words_before_it() -> None:
    paper = Paper().row(
        50,
        (40, "Live Delivery:"),
        (120, "☐"),
        (160, "Online Delivery:"),
        (250, "☒"),
        (290, "Video Delivery:"),
        (380, "☒"),
    )
    flags = {name: {"type": "boolean"} for name in ("live_delivery", "online_delivery", "video_delivery")}
    assert extract(document(paper), flags) == {"live_delivery": False, "online_delivery": True, "video_delivery": True}


@pytest.mark.parametrize(
    ("married", "self_employed"),
    [
        ("Married", "Self-employed"),
        ("verheiratet", "selbständig"),
        ("Marié(e)", "Travailleur indépendant"),
        ("gehuwd", "zelfstandig"),
    ],
)
def test_what_a_box_says_in_its_language_is_known_by_its_english_name(married: str, self_employed: str) -> None:
    paper = Paper().put(40, 50, f"☒ {married}").put(40, 70, f"☐ {self_employed}").put(40, 90, "☒ Newsletter")
    flags = {name: {"type": "boolean"} for name in ("married", "self_employed", "newsletter", "has_children")}
    assert extract(document(paper), flags) == {
        "married": True, "self_employed": False, "newsletter": True, "has_children": False
    }  # fmt: skip


@pytest.mark.parametrize(
    ("question", "yes", "no"),
    [("Electric vehicle?", "yes", "no"), ("Elektrisch voertuig?", "ja", "nee"), ("Fahrzeug elektrisch", "ja", "nein")],
)
@pytest.mark.parametrize("boxes_first", [True, False])
def test_yes_and_no_boxes_answer_the_question_before_them(question: str, yes: str, no: str, boxes_first: bool) -> None:
    said = (f"☐ {yes}", f"☑ {no}") if boxes_first else (f"{yes} ☐", f"{no} ☑")
    paper = Paper().row(50, (40, question), (250, said[0]), (310, said[1]))
    names = question.strip("?").replace(" ", "_").lower()
    flags = {name: {"type": "boolean"} for name in (names, f"{names}_{yes}", f"{names}_{no}")}
    assert extract(document(paper), flags) == {names: False, f"{names}_{yes}": False, f"{names}_{no}": True}


@pytest.mark.parametrize("signs", ["☐☒", "○◉", "○●", "□■", "❏✕"])
def test_the_chosen_option_answers_its_question_as_text_and_as_a_flag(signs: str) -> None:
    empty, filled = signs
    paper = Paper().put(40, 50, "Marital status:").put(130, 50, f"{empty} single").put(200, 50, f"{filled} married")
    paper.put(40, 90, "Kind of parcel").put(40, 104, f"{filled} Gift").put(40, 118, f"{empty} Sale of goods")
    wanted = {
        "marital_status": TEXT,
        "parcel_kind": {"type": "string", "enum": ["gift", "sale of goods"]},
        "status_single": {"type": "boolean"},
        "parcel_gift": {"type": "boolean"},
    }
    assert extract(document(paper), wanted) == {
        "marital_status": "married", "parcel_kind": "gift", "status_single": False, "parcel_gift": True
    }  # fmt: skip


def test_captions_of_one_print_under_their_answers_are_known_without_their_words() -> None:
    paper = Paper().put(56, 50, "Mandate reference TV-17", size=10)
    for place, (answer, caption) in enumerate(
        (
            ("Thorsten Berg", "Inhaber des Zugangs"),
            ("Nordbank Aarau", "Stammhaus (Name)"),
            ("", "Zimmer"),
            ("R2", "Raum"),
        )
    ):
        paper.put(60, 100 + 40 * place, answer, size=12).put(56, 116 + 40 * place, caption, size=7)
    wanted = dict.fromkeys(("inhaber_des_zugangs", "stammhaus", "zimmer", "raum", "mandate_reference"), TEXT)
    assert extract(document(paper), wanted) == {
        "inhaber_des_zugangs": "Thorsten Berg",
        "stammhaus": "Nordbank Aarau",
        "zimmer": "",
        "raum": "R2",
        "mandate_reference": "TV-17",
    }


def test_small_captions_in_boxes_keep_what_stands_in_theirs() -> None:
    """The boxes are as wide as they are: what begins right of the next caption is not theirs, whatever it says."""
    paper = Paper().put(300, 40, "Income", size=12)
    rows = (
        ((40, "GRANTOR'S office", "Prairie Lakes"), (220, "Grantor's RTN (optional)", "091400554")),
        ((40, "1 Yield of the year", "$ 1,207.64"), (220, "2 Fine for early end", "")),
        ((40, "Account (see instructions)", "SV-0092"), (220, "3 Region", "SD")),
    )
    for place, row in enumerate(rows):
        for x, caption, answer in row:
            paper.put(x, 80 + 40 * place, caption, size=7).put(x, 90 + 40 * place, answer)
    names = ("GrantorOffice", "GrantorRTN", "YieldOfTheYear", "FineForEarlyEnd", "Account", "Region")
    found = extract(document(paper), dict.fromkeys(names, TEXT))
    assert list(found.values()) == ["Prairie Lakes", "091400554", "1,207.64", "", "SV-0092", "SD"]


@pytest.mark.parametrize(
    ("caption", "answer", "wanted"),
    [
        ("Postleitzahl und Ort", "53844 Troisberg", {"postcode": "53844", "city": "Troisberg"}),
        ("Postcode en woonplaats", "2047 KD Aardam", {"Postcode": "2047 KD", "Woonplaats": "Aardam"}),
        ("Code postal et ville", "21000 Dijon", {"ville": "Dijon", "code_postal": "21000"}),
        (
            "City, state and ZIP code",
            "Watertown, SD 57201",
            {"city": "Watertown", "city_state_zip": "Watertown, SD 57201"},
        ),
        ("Ort, Datum", "Troisberg, den 14. Juni 2025", {"Ort": "Troisberg", "Datum": "2025-06-14"}),
        ("Place and date", "Leeds, 3 May 2025", {"signature_place": "Leeds", "signature_date": "2025-05-03"}),
        ("Vorname und Name", "Anna Maria von Berg", {"first_name": "Anna Maria", "last_name": "von Berg"}),
        ("Nom et prénom", "Berg Anna", {"prenom": "Anna"}),
        ("Achternaam en voorletters", "Berg, A.M.", {"AchternaamVoorletters": "Berg, A.M.", "achternaam": "Berg"}),
    ],
)
def test_an_answer_to_several_things_is_cut_as_its_caption_says(
    caption: str, answer: str, wanted: dict[str, str]
) -> None:
    paper = Paper().put(56, 50, "Formular", size=16).put(56, 100, caption, size=7).put(56, 112, answer)
    assert {name: extract(document(paper), {name: TEXT})[name] for name in wanted} == wanted


def test_name_address_and_phone_in_one_box_are_told_apart_and_boxes_below_belong_to_their_owner() -> None:
    paper = Paper().put(40, 60, "PAYER'S name, street address, city or town, state, ZIP code,", size=7)
    paper.put(40, 67, "and telephone no.", size=7).put(320, 60, "OMB No. 1545-0112", size=7)
    for place, line in enumerate(("Prairie Savings", "77 Elevator Road", "Brookings, SD 57006", "(605) 555-0148")):
        paper.put(40, 78 + 11 * place, line)
    boxes = ("HOLDER'S name", "Leo Vander"), ("Street address", "4402 Coteau Dr."), ("City, ZIP code", "Hill, SD 57201")
    for place, (caption, answer) in enumerate(boxes):
        paper.put(40, 140 + 36 * place, caption, size=7).put(40, 150 + 36 * place, answer)
    names = ("PayerName", "PayerAddress", "PayerPhone", "HolderName", "HolderStreet", "HolderCityStateZip")
    found = extract(document(paper), dict.fromkeys(names, TEXT))
    assert list(found.values()) == [
        "Prairie Savings",
        "77 Elevator Road Brookings, SD 57006",
        "(605) 555-0148",
        "Leo Vander",
        "4402 Coteau Dr.",
        "Hill, SD 57201",
    ]


def test_the_sentence_that_names_the_answer_names_its_field() -> None:
    paper = Paper().put(40, 40, "Form K-17", size=14).put(40, 56, "Form K-17 (Rev. 2020)", size=8)
    paper.put(40, 100, "1 Trading name (as on your permit). It is required; do not leave it blank.", size=8)
    paper.put(40, 112, "Harbour Mills", origin="form")
    paper.put(40, 140, "5 Depot (number and row). See the rules.", size=8).put(40, 152, "12 North", origin="form")
    for place in range(3):
        paper.put(40, 200 + 40 * place, f"Remark {place}", size=8).put(40, 212 + 40 * place, "none", origin="form")
    found = proposed(document(paper))
    assert (found["trading_name"], found["depot"]) == ("Harbour Mills", "12 North")


def test_own_fields_part_what_one_line_asks_for_and_name_what_an_owner_fills_in() -> None:
    paper = Paper().put(56, 40, "Registration form", size=16)
    rows = (
        ("Vorname und Name", ("Anna Berg",)),
        ("Straße und Hausnummer", ("Hafenweg 7",)),
        ("Postleitzahl und Ort", ("53844 Troisberg",)),
        ("Name und Anschrift des Arbeitgebers", ("Nordhafen GmbH", "Kai 3", "20457 Hamburg")),
        ("Ort, Datum", ("Troisberg, 14.06.2025",)),
    )
    y = 90
    for caption, answers in rows:
        paper.put(56, y, caption, size=7)
        for place, answer in enumerate(answers):
            paper.put(56, y + 11 + 12 * place, answer)
        y += 24 + 12 * len(answers)
    found = proposed(document(paper))
    assert found.items() >= {
        "full_name": "Anna Berg", "street": "Hafenweg 7", "postcode_and_city": "53844 Troisberg",
        "signing_place": "Troisberg", "signing_date": "2025-06-14",
    }.items()  # fmt: skip
    assert {"Nordhafen GmbH", "Kai 3 20457 Hamburg"} <= set(map(str, found.values()))
