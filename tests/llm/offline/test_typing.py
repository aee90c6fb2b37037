"""Numbers, dates and codes: what is printed is what is read."""

from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm.offline.typing.amounts import decimal_point, find_amounts, parse_amount
from llm.offline.typing.codes import find_codes
from llm.offline.typing.dates import date_order, find_dates, parse_date
from llm.offline.typing.places import find_place

MONTHS = {
    "en": [
        "January",
        "February",
        "March",
        "April",
        "May",
        "June",
        "July",
        "August",
        "September",
        "October",
        "November",
        "December",
    ],
    "de": [
        "Januar",
        "Februar",
        "März",
        "April",
        "Mai",
        "Juni",
        "Juli",
        "August",
        "September",
        "Oktober",
        "November",
        "Dezember",
    ],
    "fr": [
        "janvier",
        "février",
        "mars",
        "avril",
        "mai",
        "juin",
        "juillet",
        "août",
        "septembre",
        "octobre",
        "novembre",
        "décembre",
    ],
    "nl": [
        "januari",
        "februari",
        "maart",
        "april",
        "mei",
        "juni",
        "juli",
        "augustus",
        "september",
        "oktober",
        "november",
        "december",
    ],
}
days = st.dates(min_value=date(1970, 1, 1), max_value=date(2069, 12, 31))
cents = st.integers(min_value=-99_999_999, max_value=99_999_999)


@given(days, st.sampled_from(sorted(MONTHS)), st.sampled_from(["{d}. {m} {y}", "{d} {m} {y}", "{d}-{m}-{y}"]))
def test_a_date_with_a_month_name_reads_as_it_was_printed(day: date, language: str, form: str) -> None:
    printed = form.format(d=day.day, m=MONTHS[language][day.month - 1], y=day.year)
    assert parse_date(printed) == day


@given(days, st.sampled_from(["%d.%m.%Y", "%d/%m/%Y", "%d-%m-%Y", "%Y-%m-%d", "%d.%m.%y", "%Y%m%d"]))
def test_a_numeric_date_with_the_day_first_reads_as_it_was_printed(day: date, form: str) -> None:
    assert parse_date(day.strftime(form), "day_first") == day


@given(days)
def test_an_american_date_reads_as_it_was_printed_and_says_when_it_is_ambiguous(day: date) -> None:
    found = find_dates(day.strftime("due %m/%d/%Y."), "month_first")
    assert [item.value for item in found] == [day]
    assert found[0].ambiguous == (day.day <= 12 and day.day != day.month)


def test_the_order_of_day_and_month_comes_from_the_dates_of_the_document() -> None:
    assert date_order("from 03/04/2020 to 03/25/2020") == "month_first"
    assert date_order("from 03/04/2020 to 25/03/2020") == "day_first"
    assert date_order("03/04/2020, total $5", "en") == "month_first"
    assert date_order("03/04/2020, total 5 €", "en") == "day_first"


def test_several_dates_that_allow_both_orders_are_read_so_that_they_lie_together() -> None:
    assert date_order("02/09/2024 05/09/2024 08/09/2024 01/10/2024, in USD", "en") == "day_first"
    assert date_order("09/02/2024 09/05/2024 09/08/2024 10/01/2024, in EUR €", "en") == "month_first"
    assert date_order("02/09/2024 05/09/2024, in USD", "en") == "month_first"


@pytest.mark.parametrize("line", ["LS18 1AB Norwich", "Norwich LS18 1AB", "Norwich, LS18 1AB"])
def test_british_postcodes_are_known_before_and_behind_their_town(line: str) -> None:
    place = find_place(line)
    assert place is not None
    assert (place.postcode, place.city) == ("LS18 1AB", "Norwich")


def test_a_british_postcode_without_a_town_is_no_place() -> None:
    assert find_place("LS18 1AB") is None


@given(cents, st.sampled_from([(",", "."), (".", ","), (" ", ","), ("'", "."), ("", "."), ("", ",")]))
def test_an_amount_reads_as_it_was_printed(value: int, signs: tuple[str, str]) -> None:
    thousands, point = signs
    whole, rest = divmod(abs(value), 100)
    printed = f"{whole:,}".replace(",", thousands) + f"{point}{rest:02d}"
    for text in (f"{'-' if value < 0 else ''}{printed} €", f"{printed}{'-' if value < 0 else ''}"):
        assert parse_amount(text) == Decimal(value) / 100


@pytest.mark.parametrize(
    ("text", "value", "currency"),
    [
        ("1.234,56 EUR", "1234.56", "EUR"),
        ("$ 1,500", "1500", "USD"),
        ("£12.-", "12", "GBP"),
        ("CHF 1'050.20", "1050.20", "CHF"),
        ("-20,48 €", "-20.48", "EUR"),
        ("100,00-", "-100.00", ""),
        ("0.025 €", "0.025", "EUR"),
    ],
)
def test_an_amount_keeps_sign_and_currency(text: str, value: str, currency: str) -> None:
    (found,) = find_amounts(text)
    assert (found.value, found.currency) == (Decimal(value), currency)


@pytest.mark.parametrize("text", ["FA-2017-0010", "RE-20201121/508", "A4", "2013-471331", "v1.2.3.4"])
def test_a_code_is_no_amount(text: str) -> None:
    assert find_amounts(text) == []


def test_three_digits_behind_the_only_separator_follow_the_decimal_sign_of_the_document() -> None:
    assert decimal_point("27,50 and 1.099,00") == ","
    assert parse_amount("5,000", ",") == Decimal("5")
    assert parse_amount("5,000", ".") == Decimal("5000")


def test_codes_are_found_in_running_text() -> None:
    text = (
        "IBAN : FR20 1242 1242 1242 1242 1242 124 - BIC : COBADEFFXXX, VAT DE136695976, a@b.example, +33 4 50 44 68 99"
    )
    assert [code.value for code in find_codes("iban", text)] == ["FR20 1242 1242 1242 1242 1242 124"]
    assert [code.value for code in find_codes("vat_id", text)] == ["DE136695976"]
    assert [code.value for code in find_codes("email", text)] == ["a@b.example"]
    assert [code.value for code in find_codes("phone", "Tel. +33 4 50 44 68 99")] == ["+33 4 50 44 68 99"]
    assert [code.value for code in find_codes("bic", text)][-1] == "COBADEFFXXX"


@pytest.mark.parametrize(
    ("text", "iban"),
    [
        ("DE89 3704 0044 0532 0130 00 77 rest", "DE89 3704 0044 0532 0130 00"),
        ("DE88 3704 0044 0532 0130 00", "DE88 3704 0044 0532 0130 00"),
        ("CH93 0076 2011 6238 5295 7", "CH93 0076 2011 6238 5295 7"),
        ("AB12 BE68 5390 0754 7034", "BE68 5390 0754 7034"),
        ("GR16 0110 1250 0000 0001 2300 695", "GR16 0110 1250 0000 0001 2300 695"),
    ],
)
def test_an_iban_ends_where_its_country_and_its_check_digits_say(text: str, iban: str) -> None:
    assert [code.value for code in find_codes("iban", text)] == [iban]


@pytest.mark.parametrize(
    "vat_id",
    [
        "DE 136 695 976",
        "NL 0044.95.445.B01",
        "BE 0428.759.497",
        "FR 40 303 265 045",
        "EL 094259216",
        "CHE-100.155.212",
        "GB 980 7806 84",
        "NO 995 525 828 MVA",
    ],
)
def test_a_vat_id_is_known_in_any_spelling_by_its_check_digits(vat_id: str) -> None:
    assert [code.value for code in find_codes("vat_id", f"Our id: {vat_id} of 2026")] == [vat_id]


def test_numbers_whose_check_digits_do_not_hold_are_no_vat_ids() -> None:
    assert find_codes("vat_id", "DE 136 695 977") == []
    assert find_codes("vat_id", "IBAN PL61 1090 1014 0000 0712 1981 2874") == []


@pytest.mark.parametrize(
    ("line", "postcode", "city"),
    [
        ("80333 München", "80333", "München"),
        ("DE 10369 Berlin", "10369", "Berlin"),
        ("Redmond, WA 98052", "98052", "Redmond"),
        ("1012 AB Amsterdam", "1012 AB", "Amsterdam"),
        ("75018 PARIS, FR", "75018", "PARIS"),
    ],
)
def test_a_place_has_postcode_and_city(line: str, postcode: str, city: str) -> None:
    place = find_place(line)
    assert place is not None
    assert (place.postcode, place.city) == (postcode, city)


PIECES = st.one_of(
    st.text(max_size=12),
    st.sampled_from(
        ["12.03.2021", "3 mars 2020", "1.234,56 €", "(12.00)", "-5", "12%", "DE89 3704 0044 0532 0130 00", " "]
    ),
)


@given(st.lists(PIECES, max_size=8).map("".join))
def test_whatever_is_found_in_a_text_stands_there_alone_from_left_to_right(text: str) -> None:
    for found in (find_dates(text), find_amounts(text)):
        ends = [0]
        for item in found:
            assert ends[-1] <= item.start < item.end <= len(text)
            assert any(char.isdigit() for char in text[item.start : item.end])
            ends.append(item.end)
    for kind in ("iban", "bic", "vat_id", "email", "url", "phone", "time"):
        for code in find_codes(kind, text):
            assert code.value.strip()
            assert code.value in text
    place = find_place(text)
    assert place is None or (place.city in text and place.postcode in text)


@given(st.text(alphabet=st.characters(blacklist_categories=["Nd"]), max_size=40))
def test_a_text_without_digits_is_no_amount_and_no_date(text: str) -> None:
    assert (find_amounts(text), find_dates(text), parse_amount(text)) == ([], [], None)
