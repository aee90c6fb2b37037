"""Every value is tied to the words it came from, or said to stand nowhere."""

import json
from dataclasses import replace
from typing import Any

import pytest

from documents.grounding import Grounding, ground
from llm.content import PageContent, Word


def page(*lines: str, number: int = 1) -> PageContent:
    """A page of text lines; words of a line stand at their character's column, 100 columns wide, 50 lines high."""
    words = []
    for row, line in enumerate(lines):
        column = 0
        for piece in line.split(" "):
            if piece:
                words.append(
                    Word(piece, column / 100, row / 50, (column + len(piece)) / 100, row / 50 + 0.015, line=row)
                )
            column += len(piece) + 1
    return PageContent(number, 595, 842, "\n".join(lines), tuple(words))


def place(value: Any, *lines: str, name: str = "field") -> Grounding:
    return ground(data={name: value}, pages=[page(*lines)])[name]


@pytest.mark.parametrize(
    ("value", "line", "quote"),
    [
        ("RE-20201121/508", "Rechnung RE-20201121/508 vom", "RE-20201121/508"),
        ("Au bon moulin", "Vendeur: Au bon moulin SARL", "Au bon moulin"),
        ("DE88200800000970375700", "IBAN DE88 2008 0000 0970 3757 00", "DE88 2008 0000 0970 3757 00"),
        ("2468", "Receipt # No.:2468", "No.:2468"),
        ("Malaucène", "84340 Malaucène", "Malaucène"),
        (4950, "Total $4,950", "$4,950"),
        (1234.56, "Summe 1.234,56 EUR", "1.234,56 EUR"),
        (1234.56, "Total 1 234,56 €", "1 234,56 €"),
        (-12.5, "Gutschrift 12,50-", "12,50-"),
        (0.0, "TVA 0,00", "0,00"),
        (10, "Discount 10%", "10%"),
        (0.1, "Discount 10%", "10%"),
        ("2020-08-20", "Date: 8/20/2020", "8/20/2020"),
        ("2020-11-21", "Datum 21.11.2020", "21.11.2020"),
        ("2017-11-03", "le 3 novembre 2017", "3 novembre 2017"),
        ("EUR", "Betrag 12,00 €", "€"),
        ("Euro", "Betrag 12,00 €", "€"),
        ("€", "Betrag 12,00 EUR", "EUR"),
        ("1.234,56 €", "Total 1,234.56", "1,234.56"),
        ("EUR 1,234.56", "Summe 1.234,56", "1.234,56"),
        ("kr 1 234,50", "Total 1.234,50", "1.234,50"),
        ("19%", "USt 19 % von 100", "19 %"),
        ("19%", "USt 19,0% von 19 Stück", "19,0%"),
        ("0.19", "USt 19%", "19%"),
        (12, "Gewicht 12kg", "12kg"),
        (1.789, "Prix 1,789 EUR/l", "1,789"),
        ("12,0 kg", "Gewicht 12 kg", "12 kg"),
        ("12 kg", "Gewicht 12,00 kg", "12,00 kg"),
        ("20.11.2020", "Date: November 20, 2020", "November 20, 2020"),
        ("2020-11-20T00:00:00Z", "Date: 20-Nov-20", "20-Nov-20"),
        ("2024-05-01", "Datum der Rechnung  01   05   2024", "01 05 2024"),
        ("2024-05-01", "Datum der Rechnung  0  1  0  5  2  0  2  4", "0 1 0 5 2 0 2 4"),
        ("1957-11-17", "Born 17-Nov-57", "17-Nov-57"),
        ("+49 30 1234567", "Tel. 030 / 123 45 67", "030 / 123 45 67"),
        ("+49 30 1234567", "Tel. +49 (0)30 1234567", "+49 (0)30 1234567"),
        ("Mueller GmbH", "Firma Müller GmbH", "Müller GmbH"),
        ("Müller GmbH", "Firma Mueller GmbH", "Mueller GmbH"),
        ("Bjorn Aasen", "Navn Bjørn Aasen", "Bjørn Aasen"),
        ("Doe, John", "Name John Doe", "John Doe"),
        ("1 High St, Leeds LS1 4AB", "1 High St LS1 4AB Leeds", "1 High St LS1 4AB Leeds"),
        ("001234567", "Konto 00.123.456.7", "00.123.456.7"),
        ("Jane Doe", "First name: Jane   Last name: Doe", "Jane Doe"),
        ("07:51", "Le 02/08/2024 à 07h51", "07h51"),
        ("07:51", "LE 02/08/24 A 07:51:36", "07:51:36"),
        ("19:05:00", "at 7:05 PM", "7:05 PM"),
        ("2094", "Kaart: xxxxxxxxxxx2094", "xxxxxxxxxxx2094"),
    ],
)
def test_a_value_is_found_in_the_form_in_which_it_is_printed(value: Any, line: str, quote: str) -> None:
    found = place(value, "Something else", line)
    assert (found.state, found.page, found.quote) == ("found", 1, quote)


@pytest.mark.parametrize(
    ("value", "line", "quote"),
    [
        (218.48, "Total HT -218,48 €", "-218,48 €"),
        (-218.48, "Total HT 218,48 €", "218,48 €"),
        (218.48, "Total 218,48 of -218,48", "218,48"),
    ],
)
def test_an_amount_is_found_under_the_other_sign_only_when_its_own_is_not_there(
    value: float, line: str, quote: str
) -> None:
    found = place(value, line)
    assert (found.state, found.quote) == ("found", quote)


def test_a_value_that_runs_over_two_lines_has_a_box_on_each() -> None:
    found = place("Wissenschaftliche Beratung", "Posten 1 Wissenschaft-", "liche Beratung")
    assert found.state == "found"
    assert len(found.boxes) == 2


@pytest.mark.parametrize("value", ["Invented Ltd", 99.99, "1999-01-01", True])
def test_a_value_that_stands_nowhere_is_said_to_stand_nowhere(value: Any) -> None:
    assert place(value, "Total 12.00", "Date 2020-01-01").state == "not_found"


@pytest.mark.parametrize(
    ("value", "line"),
    [
        ("65.9", "Total 6,59"),
        ("15", "1 5 pieces"),
        ("060", "Total 60,00"),
        ("683", "Total 6,83"),
        (20, "printed at 15:20"),
        ("09", "printed at 09:40"),
        ("H 12", "Artikel 12 H 40"),
        ("10115", "Total 10,115.00 EUR"),
        ("DE08700901", "IBAN DE08 7009 01 23 4567"),
        ("2020-11-03", "Datum 11.03.2020 und 03.12.2020"),
        ("2020-11-20", "on 11/21/2020 and 12/25/2020"),
        ("2020-12-11", "on 11/12/2020, due 11/25/2020"),
        ("Müller Handel", "Müller Bau und Weber Handel"),
        ("Michal", "Name Michael"),
        ("not_applicable", "not for sale, applicable law"),
    ],
)
def test_what_only_looks_like_a_value_is_not_the_value(value: Any, line: str) -> None:
    assert place(value, line, name="postcode" if value == "10115" else "field").state == "not_found"


@pytest.mark.parametrize("value", ["", 0, False, [], None, {}])
def test_the_schema_s_empty_value_is_absent_not_missing(value: Any) -> None:
    assert place(value, "Total 12.00, 10 pieces").state == "absent"


def test_on_a_scan_a_text_is_found_although_one_and_l_are_taken_for_each_other() -> None:
    printed = page("20133 Apfelschorle 20×0,51   Kasten", "Brot 65.9")
    scan = replace(printed, words=tuple(replace(word, origin="ocr") for word in printed.words))
    assert ground(data={"item": "Apfelschorle 20×0,5 l"}, pages=[scan])["item"].quote == "Apfelschorle 20×0,51"
    assert ground(data={"item": "Apfelschorle 20×0,5 l"}, pages=[printed])["item"].state == "not_found"
    assert ground(data={"item": "Schwarzbrot 6,59"}, pages=[scan])["item"].state == "not_found"


def test_a_name_with_a_hyphen_is_found_over_the_lines_of_its_column() -> None:
    sheet = page(
        "Adresse : 9 chemin des Aulnes, Bessières-le-   Adresse : ZA",
        "          Haut                              Nord",
    )
    found = ground(data={"address": "9 chemin des Aulnes, Bessières-le-Haut"}, pages=[sheet])["address"]
    assert (found.state, len(found.boxes)) == ("found", 2)


def test_a_part_of_a_longer_code_is_not_the_value() -> None:
    assert place("2017", "Invoice FA-2017-0008").state == "not_found"
    assert place(2017, "Invoice FA-2017-0008").state == "not_found"


def test_the_same_amount_twice_is_told_apart_by_its_label() -> None:
    lines = ("Subtotal    110.00", "Shipping      0.00", "Total       110.00")
    assert place(110, *lines, name="subtotal").boxes[0][1] == 0
    assert place(110, *lines, name="total").boxes[0][1] == pytest.approx(2 / 50)


def test_the_same_amount_twice_without_a_telling_label_is_ambiguous() -> None:
    assert place(110, "A 110.00", "B 110.00", name="deposit").state == "ambiguous"


def test_values_of_one_row_are_looked_for_on_one_row() -> None:
    table = page("Item        Qty  Total", "Nougat       1   5.00", "Oil          1   5.00", "Bread        1   7.00")
    rows = [{"item": "Nougat", "qty": 1, "total": 5}, {"item": "Oil", "qty": 1, "total": 5}]
    places = ground(data={"lines": rows}, pages=[table])
    assert all(found.state == "found" for found in places.values())
    assert places["lines.0.total"].boxes[0][1] == pytest.approx(1 / 50)
    assert places["lines.1.total"].boxes[0][1] == pytest.approx(2 / 50)
    assert places["lines.1.qty"].boxes[0][1] == pytest.approx(2 / 50)


def test_rows_without_any_clear_value_take_the_places_one_after_the_other() -> None:
    places = ground(data={"marks": ["x9", "x9"]}, pages=[page("x9", "x9")])
    assert [(found.state, found.boxes[0][1]) for found in places.values()] == [("found", 0), ("found", 1 / 50)]
    places = ground(data={"marks": ["x9", "x9"]}, pages=[page("x9", "x9", "x9")])
    assert {found.state for found in places.values()} == {"ambiguous"}


def test_a_question_is_answered_by_the_box_that_is_checked() -> None:
    form = page("Married:          ☐ Yes  ☒ No", "Self-employed:    ☒ Yes  ☐ No")
    places = ground(data={"married": False, "self_employed": "yes", "is_married": True}, pages=[form])
    assert (places["married"].state, places["married"].boxes[0][:2]) == ("found", (0.25, 0))
    assert (places["self_employed"].state, places["self_employed"].boxes[0][:2]) == ("found", (0.18, 1 / 50))
    assert places["is_married"].state == "not_found"


def test_a_property_named_after_an_answer_means_that_box() -> None:
    form = page("Electric car:   ☒ Yes   ☐ No")
    places = ground(data={"electric_car_yes": True, "electric_car_no": False, "ElectricCarNo": True}, pages=[form])
    assert [found.quote for found in places.values()] == ["☒", "☐", ""]
    assert places["ElectricCarNo"].state == "not_found"


def test_an_answer_in_words_is_found_at_the_option_that_is_checked() -> None:
    form = page("Marital status:   ☐ single   ☒ married   ☐ widowed")
    assert place("married", *form.text.splitlines(), name="marital_status").quote == "☒ married"
    assert place("single", *form.text.splitlines(), name="marital_status").state == "not_found"
    assert place("single", *form.text.splitlines(), name="remark").quote == "single"


def test_an_option_is_found_by_the_name_that_stands_beside_it_in_the_result() -> None:
    form = page("☒ Express", "☐ Standard", "☐ Pick-up")
    options = [{"label": label, "checked": label == "Express"} for label in ("Express", "Standard", "Pick-up")]
    places = ground(data={"delivery": options}, pages=[form])
    tops = [round(places[f"delivery.{row}.checked"].boxes[0][1] * 50) for row in range(3)]
    assert tops == [0, 1, 2]


def test_the_order_of_day_and_month_that_a_document_does_not_tell_is_left_open() -> None:
    assert place("2024-08-07", "Date 07/08/2024").state == place("2024-07-08", "Date 07/08/2024").state == "ambiguous"
    assert place("2024-08-07", "Date 07/08/2024, total £12.00").state == "found"
    assert place("2024-07-08", "Date 07/08/2024, total £12.00").state == "not_found"
    assert place("2024-07-08", "Date 07/08/2024", "Reno, NV 89501").state == "found"
    assert place("2024-08-07", "Date 07/08/2024", "Reno, NV 89501").state == "not_found"


def test_a_number_of_the_document_in_two_places_is_one_thing_said_twice() -> None:
    assert place("4406172", "Invoice 4406172", "Please quote 4406172", name="document_number").state == "found"
    assert place(4406172, "A 4406172", "B 4406172", name="amount").state == "ambiguous"


def test_two_names_of_one_value_take_a_place_each_by_their_labels() -> None:
    form = page("State income    1,000.00", "Other pay       1,000.00")
    places = ground(data={"bonus": 1000, "state_income": 1000}, pages=[form])
    assert (places["state_income"].state, places["state_income"].boxes[0][1]) == ("found", 0)
    assert (places["bonus"].state, places["bonus"].boxes[0][1]) == ("found", 1 / 50)


def test_on_a_form_that_was_filled_in_an_answer_is_a_field_not_a_printed_word() -> None:
    sheet = page("Enter the code (C=C corp, S=S corp) S", "Name Jane Anna Maria Doe")
    filled = tuple(
        replace(word, origin="form") if word.text in {"S", "Jane", "Anna", "Maria", "Doe"} else word
        for word in sheet.words
    )
    places = ground(data={"code": "S"}, pages=[replace(sheet, words=filled)])
    assert (places["code"].state, places["code"].quote, places["code"].source) == ("found", "S", "form")


def test_a_checked_box_is_found_by_the_words_beside_it() -> None:
    form = page("☒ Video delivery", "☐ Live delivery", "☒ Online delivery")
    places = ground(data={"video_delivery": True, "online_delivery": True, "live_delivery": False}, pages=[form])
    assert places["video_delivery"].boxes[0][1] == 0
    assert places["online_delivery"].boxes[0][1] == pytest.approx(2 / 50)
    assert (places["live_delivery"].state, places["live_delivery"].quote) == ("found", "☐")


def test_an_address_whose_lines_are_apart_is_found_piece_by_piece() -> None:
    letter = page("Seller Ltd       Invoice 7", "12 High Street   Date 1 May 2024", "Leeds            Due soon")
    found = ground(data={"address": "12 High Street, Leeds"}, pages=[letter])["address"]
    assert found.state == "found"
    assert len(found.boxes) == 2


def test_the_page_is_named_for_a_document_of_many_pages() -> None:
    pages = [page(f"Page {n}", f"Reference AB{n:04}", number=n) for n in range(1, 51)]
    assert ground(data={"reference": "AB0037"}, pages=pages)["reference"].page == 37


def test_grounding_is_plain_json_and_the_same_each_time() -> None:
    data = {"total": 12, "lines": [{"a": "x"}, {"a": ""}], "odd": {"deep": [[1, 2], []]}}
    once, again = (
        json.dumps({p: g.as_json() for p, g in ground(data=data, pages=[page("Total 12")]).items()}) for _ in range(2)
    )
    assert once == again
    assert set(json.loads(once)) == {"total", "lines.0.a", "lines.1.a", "odd.deep.0.0", "odd.deep.0.1", "odd.deep.1"}


def test_a_document_without_words_grounds_nothing_and_breaks_nothing() -> None:
    assert ground(data={"total": 1}, pages=[PageContent(1, 1, 1, "")])["total"].state == "not_found"
    assert ground(data={"total": 1}, pages=[])["total"].state == "not_found"


def test_the_parts_of_an_address_pull_each_other_together() -> None:
    letter = page("Seller Ltd", "12345 Northtown", "", "", "", "Buyer Ltd", "12345 Southtown")
    data = {"seller": {"postcode": "12345", "city": "Northtown"}, "buyer": {"postcode": "12345", "city": "Southtown"}}
    places = ground(data=data, pages=[letter])
    assert places["seller.postcode"].boxes[0][1] == pytest.approx(1 / 50)
    assert places["buyer.postcode"].boxes[0][1] == pytest.approx(6 / 50)
    assert {found.state for found in places.values()} == {"found"}


def test_the_quote_holds_the_signs_between_the_words() -> None:
    assert place("SF25 (30 %) Typ", "Vollkasko SF25 (30 %) Typ 3").quote == "SF25 (30 %) Typ"


def test_a_wrapped_cell_of_a_table_is_found_although_its_lines_are_apart_in_reading_order() -> None:
    table = page(
        "Item                 Qty   Total",
        "Mineral water         20   109.80",
        "12 x 1.0 l bottles",
        "Deposit  20  55.46",
    )
    found = ground(data={"lines": [{"item": "Mineral water 12 x 1.0 l bottles"}]}, pages=[table])["lines.0.item"]
    assert (found.state, len(found.boxes)) == ("found", 2)
    assert ground(data={"item": "Mineral water Deposit 9"}, pages=[table])["item"].state == "not_found"


def test_a_label_that_means_the_property_decides_between_places_in_any_language() -> None:
    lines = (
        "Item            Line total",
        "Training          4,500.00",
        "Subtotal          4,500.00",
        "Total   4,950.00",
    )
    assert place(4500, *lines, name="net_total").boxes[0][1] == pytest.approx(2 / 50)
    lines = ("Zwischensumme    100,00", "Gesamtbetrag     100,00")
    assert place(100, *lines, name="gross_total").boxes[0][1] == pytest.approx(1 / 50)


@pytest.mark.parametrize("row", ["Nougat         5   212.20   1061.00", "Nougat 5 212.20 1061.00"])
def test_numbers_of_neighbouring_columns_are_not_read_as_one(row: str) -> None:
    places = ground(data={"lines": [{"qty": 5, "price": 212.2, "total": 1061}]}, pages=[page("Item Qty Price", row)])
    assert [found.quote for found in places.values()] == ["5", "212.20", "1061.00"]


def test_a_postcode_that_is_set_close_to_its_city_is_found_and_so_is_the_city() -> None:
    assert place("88802", "88802Northtown").state == place("Northtown", "88802Northtown").state == "found"


def test_one_name_of_two_parties_stands_beside_the_address_of_each() -> None:
    lines = ("Dijkstra VOF", "Dorpsstraat 15", "2539 Leiden", "", "", "", "Dijkstra VOF", "Havenkade 186", "5005 Breda")
    data = {
        "seller_name": "Dijkstra VOF",
        "seller_address": {"street": "Dorpsstraat 15", "city": "Leiden"},
        "buyer_name": "Dijkstra VOF",
        "buyer_address": {"street": "Havenkade 186", "city": "Breda"},
    }
    found = ground(data=data, pages=[page(*lines)])
    rows = {name: found[name].boxes[0][1] for name in ("seller_name", "buyer_name")}
    assert rows == {"seller_name": 0, "buyer_name": pytest.approx(6 / 50)}
