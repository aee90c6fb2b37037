"""Proposals of other papers than invoices: kinds by contents, English names, tables of any columns, boxes."""

import pytest

from llm.content import DocumentContent
from llm.offline.extract.fill import extract
from llm.offline.extract.reading import Reading
from llm.offline.matching.words import words_of
from llm.offline.propose.english import in_english_words
from llm.offline.propose.kind import kind_of
from llm.offline.propose.proposal import propose
from tests.llm.offline.paper import Paper, document


def own_result(paper: Paper) -> dict[str, object]:
    """What the document gives with the schema that it is proposed."""
    reading = Reading(document(paper))
    result = extract(propose(reading).response_format, reading)
    assert isinstance(result, dict)
    return result


@pytest.mark.parametrize(
    ("language", "label", "words"),
    [
        ("de", "Personalnummer", ("employee", "number")),
        ("de", "Pers.-Nr.", ("employee", "number")),
        ("fr", "N° client", ("customer", "number")),
        ("fr", "Numéro de compteur", ("meter", "number")),
        ("nl", "Gewenste ingangsdatum", ("desired", "effective", "date")),
        ("de", "Kirchensteuer", ("church", "tax")),
        ("de", "Mahngebühr", ("reminder", "fee")),
        ("de", "Name und Anschrift des Wohnungsgebers", ("landlord", "name", "and", "address")),
        ("de", "Voraussichtlicher Entbindungstermin", ("expected", "birth", "date")),
        ("fr", "Nombre d'enfants à charge", ("dependent", "children", "count")),
        ("fr", "Couleur dominante", ("dominant", "color")),
        ("nl", "Aantal kinderen", ("children", "count")),
        ("nl", "Kosten per jaar", ("cost", "per", "year")),
    ],
)
def test_labels_are_put_into_english_word_by_word(language: str, label: str, words: tuple[str, ...]) -> None:
    said, known = in_english_words(words_of(label), language)
    assert said == words
    assert known == 1.0


def test_words_of_english_documents_stay_as_they_are() -> None:
    assert in_english_words(words_of("Inspector mood"), "en")[0] == ("inspector", "mood")


def payslip() -> Paper:
    paper = Paper().put(40, 40, "Werkstatt Amsel GmbH", size=12).put(40, 60, "Abrechnung für März 2025")
    rows = (
        ("Personalnummer:", "00418"),
        ("Steuerklasse:", "1"),
        ("Gesamtbrutto:", "3.850,00"),
        ("Lohnsteuer:", "612,33"),
        ("Kirchensteuer:", "55,10"),
        ("Nettoverdienst:", "2.652,00"),
        ("Parkplatzabzug:", "20,00"),
        ("Auszahlungsbetrag:", "2.632,00"),
    )
    for place, (label, value) in enumerate(rows):
        paper.row(100 + 18 * place, (40, label), (300, value))
    return paper


def test_a_paper_is_known_by_the_words_in_it_where_no_title_tells() -> None:
    assert kind_of(Reading(document(payslip()))).name == "Payslip"


def test_an_invoice_that_speaks_of_meters_is_a_utility_bill() -> None:
    paper = Paper().put(40, 40, "Facture", size=16).put(40, 90, "Point de livraison : 21 554 870").put(40, 110, "PDL")
    paper.put(40, 130, "Consommation 1 276 kWh").put(40, 150, "Abonnement 18,81 €").put(40, 170, "Relevé 46935")
    assert kind_of(Reading(document(paper))).name == "Utility Bill"
    plain = Paper().put(40, 40, "Facture", size=16).put(40, 90, "Date : 03/02/2024")
    assert kind_of(Reading(document(plain))).name == "Invoice"


def test_a_letter_is_what_it_speaks_of() -> None:
    paper = (
        Paper().put(40, 100, "Hartelijk dank voor uw bestelling van zaterdag.").put(40, 120, "Met vriendelijke groet")
    )
    assert kind_of(Reading(document(paper))).kind.key == "purchase_order"


def test_values_of_a_german_payslip_become_fields_with_english_names() -> None:
    found = own_result(payslip())
    assert found["employee_number"] == "00418"
    assert (found["gross_pay"], found["income_tax"], found["church_tax"]) == (3850, 612.33, 55.1)
    assert (found["net_pay"], found["payout"]) == (2652, 2632)
    others = [name for name, value in found.items() if value == 20]
    assert len(others) == 1, "a label that no list has is a field too"


def test_a_proposed_field_quotes_its_label_and_is_found_by_it() -> None:
    paper = Paper().put(40, 40, "Prüfprotokoll", size=16).put(40, 80, "Datum: 03.02.2024")
    paper.put(40, 100, "Prüfdruck: 12,50").put(40, 120, "Haltezeit: 30,00")
    reading = Reading(document(paper))
    proposal = propose(reading)
    quoting = {name: node for name, node in proposal.fields.items() if "labelled “" in node.get("description", "")}
    assert len(quoting) == 2
    assert sorted(extract(proposal.response_format, reading)[name] for name in quoting) == [12.5, 30]


def test_a_number_that_is_printed_twice_is_one_field() -> None:
    paper = Paper().put(40, 40, "Invoice", size=16).put(40, 80, "Invoice number: INV-2031")
    paper.put(40, 100, "Our bill no: INV-2031").put(40, 120, "Invoice date: 14 March 2024")
    assert list(own_result(paper).values()).count("INV-2031") == 1


def table() -> Paper:
    paper = Paper().put(40, 40, "Lieferschein", size=16).put(40, 70, "Datum: 03.02.2024")
    paper.row(120, (40, "Artikel"), (200, "Farbe"), (300, "bestellt"), (380, "Menge"))
    paper.row(138, (40, "Vase hoch"), (200, "blau"), (310, "6"), (385, "4"))
    paper.row(154, (40, "Schale flach"), (200, "grün"), (310, "3"), (385, "3"))
    return paper


def test_columns_without_known_names_are_columns_too() -> None:
    proposal = propose(Reading(document(table())))
    columns = proposal.fields["line_items"]["items"]["properties"]
    assert {"description", "color", "quantity"} <= set(columns)
    assert columns["quantity"]["type"] == "number"
    assert columns["color"]["type"] == "string"
    rows = own_result(table())["line_items"]
    assert isinstance(rows, list)
    assert [row["color"] for row in rows] == ["blau", "grün"]


def test_taxes_in_lines_of_their_own_become_an_array() -> None:
    paper = Paper().put(40, 40, "Invoice", size=16).put(40, 60, "Invoice number: 4711")
    paper.row(120, (40, "Net"), (300, "100.00")).row(136, (40, "VAT 19 % of 100.00"), (300, "19.00"))
    paper.row(152, (40, "Total"), (300, "119.00 EUR"))
    found = own_result(paper)
    assert found["taxes"] == [{"tax_rate": 19, "tax_base": 100, "tax_amount": 19}]
    assert "tax_rate" not in found


def test_boxes_are_named_in_english_and_read_by_their_captions() -> None:
    paper = Paper().put(40, 40, "Aanvraag", size=16).put(40, 60, "Achternaam: Terpstra")
    paper.put(40, 100, "[x] gehuwd").put(40, 120, "[ ] ongehuwd")
    found = own_result(paper)
    assert (found["married"], found["single"]) == (True, False)


def test_nothing_is_proposed_from_nothing() -> None:
    proposal = propose(Reading(DocumentContent("0" * 32, "x.pdf")))
    assert not any("labelled" in node.get("description", "") for node in proposal.fields.values())


def test_days_without_a_year_and_money_tell_what_columns_of_a_statement_are() -> None:
    paper = Paper().put(40, 40, "Kontoauszug", size=16).put(40, 70, "IBAN: DE89 3704 0044 0532 0130 00")
    paper.row(120, (40, "Buchung"), (120, "Wert"), (200, "Vorgang"), (440, "Betrag"))
    for place, (day, what, amount) in enumerate((("02.05.", "Miete Mai", "735,00"), ("06.05.", "Strom Mai", "64,00"))):
        paper.row(138 + 16 * place, (40, day), (120, day), (200, what), (440, amount))
    columns = propose(Reading(document(paper))).fields["transactions"]["items"]["properties"]
    assert "value_date" in columns
    assert columns["amount"]["type"] == "number"
    assert "quantity" not in columns


def persons_form() -> Paper:
    paper = Paper().put(40, 30, "Anmeldung", size=16)
    paper.row(80, (40, "Angaben zur Person"), (240, "Person 1"), (400, "Person 2"))
    rows = (
        ("Familienname", "Rubin", "Rubin"),
        ("Vorname", "Torsten", "Annegret"),
        ("Geburtsdatum", "19.06.1981", "07.02.1984"),
        ("Geburtsort", "Sontra", "Gera"),
        ("Staatsangehörigkeit", "deutsch", "polnisch"),
    )
    for place, (caption, one, other) in enumerate(rows):
        paper.row(100 + 20 * place, (40, caption), (240, one), (400, other))
    return paper


def test_columns_of_two_persons_are_two_objects_with_what_was_written_for_each() -> None:
    found = own_result(persons_form())
    assert found["person_1"] == {
        "last_name": "Rubin", "first_name": "Torsten", "birth_date": "1981-06-19", "birth_place": "Sontra",
        "nationality": "deutsch",
    }  # fmt: skip
    person = found["person_2"]
    assert isinstance(person, dict)
    assert (person["first_name"], person["birth_date"], person["nationality"]) == ("Annegret", "1984-02-07", "polnisch")


def test_boxes_with_one_caption_under_two_headings_are_told_apart_by_them() -> None:
    paper = Paper().put(40, 30, "Anmeldung", size=16)
    for x, head, street, town in ((40, "Neue Wohnung", "Anger 14", "37269 Eschwege"),
                                  (320, "Bisherige Wohnung", "Georgenweg 5", "99817 Eisenach")):  # fmt: skip
        paper.put(x, 80, head, size=9).put(x, 96, "Straße, Hausnummer", size=7).put(x, 106, street, size=11)
        paper.put(x, 124, "PLZ, Ort", size=7).put(x, 134, town, size=11)
    paper.put(40, 160, "Familienname", size=7).put(40, 170, "Rubin", size=11)
    paper.put(320, 160, "Geburtsdatum", size=7).put(320, 170, "19.06.1981", size=11)
    found = own_result(paper)
    new, old = found["new_residence"], found["previous_residence"]
    assert isinstance(new, dict)
    assert isinstance(old, dict)
    assert {"Anger 14", "37269 Eschwege"} <= set(new.values())
    assert {"Georgenweg 5", "99817 Eisenach"} <= set(old.values())


def test_the_fields_of_a_form_keep_the_order_of_the_page_and_hold_no_signature() -> None:
    paper = Paper().put(40, 30, "Application form", size=16)
    rows = (("Last name:", "Berg"), ("Date of birth:", "12/03/1970"), ("Nationality:", "Danish"), ("City:", "Aarau"))
    for place, (caption, answer) in enumerate(rows):
        paper.row(80 + 20 * place, (40, caption), (200, answer))
    paper.row(180, (40, "☒ Express"), (200, "☐ Standard")).row(220, (40, "Shoe size:"), (200, "41"))
    paper.row(260, (40, "Signature:"), (200, "A. Berg"))
    assert list(own_result(paper)) == [
        "last_name", "birth_date", "nationality", "city", "express", "standard", "shoe_size",
    ]  # fmt: skip
