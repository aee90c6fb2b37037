"""Labels that no list has: read by what their words stand for, in four languages, and by what the document is."""

import json
from typing import Any

import pytest

from llm.content import DocumentContent
from llm.offline.extract.fill import extract
from llm.offline.extract.reading import Reading
from llm.offline.matching.naming import date_meant, number_meant
from llm.offline.matching.senses import held, meant_alike, senses_of
from llm.offline.matching.words import words_of, words_of_name
from tests.llm.offline.paper import Paper, document


def read(content: DocumentContent, *names: str, number: bool = False) -> dict[str, Any]:
    """What extraction finds for a flat schema of these names."""
    kind = {"type": "number" if number else "string"}
    schema = {"type": "object", "properties": dict.fromkeys(names, kind)}
    found = extract({"type": "json_schema", "json_schema": {"name": "t", "schema": schema}}, Reading(content))
    return dict(json.loads(json.dumps(found)))


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("customer_number", "Kundennr."),
        ("customer_number", "numéro de client"),
        ("customer_number", "debiteurnummer"),
        ("creditor_id", "Gläubiger-Identifikationsnummer"),
        ("vehicle_registration", "Fahrzeugkennzeichen"),
        ("meter_number", "Zählernummer"),
        ("meter_reading", "Zählerstand"),
        ("policy_holder", "Versicherungsschein-Inhaber"),
        ("delivery_date", "Leveringsdatum"),
        ("GlaeubigerID", "Gläubiger-ID"),
    ],
)
def test_a_property_name_finds_the_label_of_another_language(name: str, label: str) -> None:
    assert meant_alike(senses_of(words_of_name(name)), senses_of(words_of(label))) >= 0.9


@pytest.mark.parametrize(
    ("name", "label"),
    [("customer_number", "Lieferantennummer"), ("meter_number", "Kundennummer"), ("order_date", "Rechnungsdatum")],
)
def test_a_label_of_another_thing_is_not_taken(name: str, label: str) -> None:
    assert meant_alike(senses_of(words_of_name(name)), senses_of(words_of(label))) < 0.5


def test_compounds_are_taken_apart() -> None:
    assert held(senses_of(words_of("Mitgliedsnummer"))) == {"member", "number"}
    assert held(senses_of(words_of("omzetbelastingnummer"))) == {"tax", "number"}


@pytest.mark.parametrize(
    ("label", "own", "concept"),
    [
        ("Bestellung Nr.", "order", "document_number"),
        ("Bestellung Nr.", "invoice", "order_reference"),
        ("Your PO", "invoice", "order_reference"),
        ("zu Rechnung", "credit_note", "related_document_number"),
        ("Op factuur", "credit_note", "related_document_number"),
        ("LEVERINGSBON nr", "delivery_note", "document_number"),
        ("numéro de client", "invoice", "buyer_id"),
        ("Pièce n°", "invoice", "document_number"),
    ],
)
def test_whose_number_it_is_depends_on_what_the_document_is(label: str, own: str, concept: str) -> None:
    found = number_meant(words_of(label), frozenset({own}))
    assert found is not None
    assert found[0] == concept


@pytest.mark.parametrize(
    ("label", "own", "concept"),
    [
        ("Te betalen voor", "invoice", "due_date"),
        ("Zahlbar bis", "invoice", "due_date"),
        ("Ausführung", "invoice", "delivery_date"),
        ("Shipped", "delivery_note", "delivery_date"),
        ("Geldig t/m", "quote", "period_end"),
        ("Valable jusqu'au", "quote", "period_end"),
        ("Auftrag vom", "invoice", "order_date"),
        ("Belegdatum", "credit_note", "issue_date"),
    ],
)
def test_what_a_date_is_for_follows_from_the_words_of_its_label(label: str, own: str, concept: str) -> None:
    found = date_meant(words_of(label), frozenset({own}))
    assert found is not None
    assert found[0] == concept


def test_totals_are_found_by_what_their_labels_are_made_of() -> None:
    paper = Paper().put(40, 40, "Rechnung Nr. 24-3307", size=18)
    paper.row(300, (300, "Zwischentotal"), (480, "3'521.10"))
    paper.row(316, (300, "Total exkl. MWST"), (480, "3'415.47"))
    paper.row(332, (300, "MWST 8.1 %"), (480, "276.65"))
    paper.row(348, (300, "Rechnungstotal CHF"), (480, "3'692.12"))
    found = read(document(paper), "line_total", "net_total", "tax_total", "gross_total", number=True)
    assert found == {"line_total": 3521.1, "net_total": 3415.47, "tax_total": 276.65, "gross_total": 3692.12}


def test_several_labels_with_their_numbers_in_one_line_are_told_apart() -> None:
    paper = Paper().put(40, 40, "Tax Invoice", size=18)
    paper.put(40, 400, "BSB 063-142 Account 1045 8820")
    found = read(document(paper), "bsb", "account_number")
    assert found == {"bsb": "063-142", "account_number": "1045 8820"}


def test_a_unit_says_what_a_number_measures() -> None:
    paper = Paper().put(40, 40, "LEVERINGSBON nr 5520148", size=14)
    for place, (label, value) in enumerate((("BRUTO", "31.420 kg"), ("TARRA", "13.610 kg"), ("NETTO", "17.810 kg"))):
        paper.row(200 + 16 * place, (40, label), (140, value))
    found = read(document(paper), "gross_weight", "tare_weight", "net_weight", number=True)
    assert found == {"gross_weight": 31420, "tare_weight": 13610, "net_weight": 17810}


def test_the_same_label_is_the_seller_s_or_the_buyer_s_by_where_it_stands() -> None:
    paper = Paper().put(40, 40, "Bluegum Supplies Pty Ltd", size=14).put(40, 60, "ABN 55 614 830 275")
    paper.put(40, 160, "Invoice to").put(40, 174, "Karadoc Growers").put(40, 188, "ABN 54 127 904 386")
    found = read(document(paper), "seller_abn", "buyer_abn")
    assert found == {"seller_abn": "55 614 830 275", "buyer_abn": "54 127 904 386"}


def test_of_a_count_and_a_sum_behind_a_label_the_sum_is_its_amount() -> None:
    paper = Paper().put(40, 40, "Statement of fees", size=14).put(40, 300, "Total fees 20.70 $6,573.00")
    assert read(document(paper), "total_fees", number=True) == {"total_fees": 6573}


@pytest.mark.parametrize(
    ("sentence", "name", "date"),
    [
        ("Zahlbar innert 30 Tagen, d. h. bis 18.12.2024, rein netto auf unser Konto", "due_date", "2024-12-18"),
        ("Levering staat gepland op vrijdag 16 mei 2025; wij bellen u vooraf", "delivery_date", "2025-05-16"),
        ("De offerte is geldig tot en met 26 september 2024.", "valid_until", "2024-09-26"),
        ("Bitte überweisen Sie den Betrag bis spätestens 14.03.2025 auf das Konto", "due_date", "2025-03-14"),
        ("Le contrat prend effet le 1er octobre 2025 pour une durée de 12 mois", "start_date", "2025-10-01"),
        ("Die Ware wurde am 3. April 2025 geliefert.", "delivery_date", "2025-04-03"),
        ("We shipped your goods by courier on 4 November 2024.", "delivery_date", "2024-11-04"),
    ],
)
def test_a_date_in_a_sentence_is_for_what_the_sentence_says(sentence: str, name: str, date: str) -> None:
    paper = Paper().put(40, 40, "Muster AG", size=14).put(40, 400, sentence)
    assert read(document(paper), name) == {name: date}


def test_the_date_of_a_letter_stands_beside_its_place() -> None:
    paper = Paper().put(40, 40, "Huis ter Aa", size=14).put(40, 180, "Breukelen, dinsdag 11 februari 2025")
    assert read(document(paper), "issue_date") == {"issue_date": "2025-02-11"}
    assert read(document(paper), "due_date") == {"due_date": ""}


def test_a_sentence_tells_the_number_of_an_order() -> None:
    paper = Paper().put(40, 40, "Factuur", size=18).put(40, 60, "Factuurnummer 2025-17")
    paper.put(40, 300, "Hierbij berekenen wij uw order HA-6142. Uw klantnummer bij ons is 20917.")
    assert read(document(paper), "order_reference", "buyer_id") == {"order_reference": "HA-6142", "buyer_id": "20917"}


def test_a_discount_s_day_is_not_the_day_when_all_is_due() -> None:
    text = "Bei Zahlung bis 14. Juni 2024 gewähre ich 2 % Skonto, ansonsten rein netto bis 4. Juli 2024."
    paper = Paper().put(40, 40, "Rechnung", size=18).put(40, 400, text)
    assert read(document(paper), "due_date") == {"due_date": "2024-07-04"}


def test_the_seller_s_and_the_buyer_s_number_of_an_order_are_two() -> None:
    paper = Paper().put(40, 40, "Lieferschein", size=18)
    paper.put(40, 200, "Unser Auftrag").put(40, 213, "AB-393310 vom 24.02.2025")
    paper.put(40, 240, "Ihre Bestellnummer").put(40, 253, "2025/Gläser-1")
    found = read(document(paper), "order_number", "order_reference")
    assert found == {"order_number": "AB-393310", "order_reference": "2025/Gläser-1"}


def test_a_reference_may_be_words() -> None:
    paper = Paper().put(40, 40, "Rechnung", size=18).row(200, (40, "Ihre Referenz"), (160, "Birkenhof / UG"))
    assert read(document(paper), "buyer_reference") == {"buyer_reference": "Birkenhof / UG"}


def test_the_end_of_a_period_is_its_second_date() -> None:
    paper = Paper().put(40, 40, "Facture", size=18).put(40, 300, "Période du 01/01/2025 au 28/02/2025")
    found = read(document(paper), "period_start", "period_end")
    assert found == {"period_start": "2025-01-01", "period_end": "2025-02-28"}


def test_dates_of_rows_are_not_those_of_the_document() -> None:
    paper = Paper().put(40, 40, "Zahlungserinnerung", size=18).put(40, 90, "Nürnberg, 3. März 2025")
    paper.row(200, (40, "Rechnung"), (180, "vom"), (300, "fällig"), (450, "offen EUR"))
    paper.row(216, (40, "R-40118"), (180, "03.01.2025"), (300, "17.01.2025"), (450, "412,30"))
    paper.row(232, (40, "R-40167"), (180, "21.01.2025"), (300, "04.02.2025"), (450, "1.268,00"))
    paper.put(40, 300, "Bitte überweisen Sie bis spätestens 14.03.2025 auf unser Konto.")
    assert read(document(paper), "issue_date", "due_date") == {"issue_date": "2025-03-03", "due_date": "2025-03-14"}


def test_whose_dollars_and_which_order_of_dates_the_country_tells() -> None:
    paper = Paper().put(40, 40, "Tax Invoice", size=18).put(40, 60, "ABN 55 614 830 275")
    paper.row(120, (40, "Date"), (160, "07/08/2024")).row(300, (300, "Amount due"), (480, "$1,136.30"))
    assert read(document(paper), "issue_date", "currency") == {"issue_date": "2024-08-07", "currency": "AUD"}


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("previous_reading", "Ancien index"),
        ("current_reading", "Zählerstand neu"),
        ("notice_period", "Kündigungsfrist"),
        ("gross_pay", "Bruto loon"),
        ("health_insurance", "KV-Beitrag"),
        ("sum_insured", "Deckungssumme"),
        ("country_of_origin", "Pays d'origine"),
        ("collection_date", "Prélevé le"),
        ("tracking_number", "Numéro de colis"),
    ],
)
def test_phrases_and_abbreviations_mean_more_than_their_words(name: str, label: str) -> None:
    assert meant_alike(senses_of(words_of_name(name)), senses_of(words_of(label))) >= 0.58


def test_what_the_title_speaks_of_needs_not_stand_in_each_label() -> None:
    paper = Paper().put(40, 40, "Versicherungspolice", size=18)
    paper.row(200, (40, "Beginn:"), (160, "01.04.2025")).row(216, (40, "Ablauf:"), (160, "31.03.2026"))
    found = read(document(paper), "coverage_start_date", "coverage_end_date")
    assert found == {"coverage_start_date": "2025-04-01", "coverage_end_date": "2026-03-31"}


def test_what_a_label_is_of_stands_behind_its_small_word() -> None:
    paper = Paper().put(40, 40, "Stornorechnung", size=18)
    paper.row(150, (40, "Stornonummer"), (180, "Storno zu Rechnung"), (330, "Kunde"))
    paper.row(163, (40, "ST-20448"), (180, "R-61920"), (330, "77130"))
    found = read(document(paper), "document_number", "invoice_reference", "buyer_id")
    assert found == {"document_number": "ST-20448", "invoice_reference": "R-61920", "buyer_id": "77130"}


def test_a_number_of_an_order_keeps_its_letters() -> None:
    paper = Paper().put(40, 40, "INVOICE", size=18).row(150, (300, "Order No."), (420, "PO 6617/GW"))
    assert read(document(paper), "order_reference") == {"order_reference": "PO 6617/GW"}


def test_a_payment_is_taken_off_with_or_without_a_minus() -> None:
    paper = Paper().put(40, 40, "Invoice", size=18)
    paper.row(300, (300, "Total"), (480, "$1,860.80")).row(316, (300, "Payments/Credits"), (480, "-$500.00"))
    paper.row(332, (300, "Balance Due"), (480, "$1,360.80"))
    found = read(document(paper), "gross_total", "prepaid", "due_payable", number=True)
    assert found == {"gross_total": 1860.8, "prepaid": 500, "due_payable": 1360.8}


def test_two_columns_of_captions_and_answers_are_read_across() -> None:
    """One caption is known; under each stands another caption, set like it, and no answer."""
    paper = Paper().put(40, 40, "Daily inspection", size=14)
    paper.row(70, (40, "Operator"), (110, "J. Marsh"), (300, "Date"), (350, "12/03/2025"))
    paper.row(86, (40, "Truck no."), (110, "FL-22"), (300, "Hours"), (350, "4,512"))
    assert read(document(paper), "Operator", "TruckNumber") == {"Operator": "J. Marsh", "TruckNumber": "FL-22"}
