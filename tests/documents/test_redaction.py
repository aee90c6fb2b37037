"""Values that must not be seen are found however they are spelled, and nothing else goes with them."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from documents.ingest.wire import columns_as_words, words_as_columns
from documents.page_index import fold_text
from documents.sharing.masking import HIDDEN, Masker, black_boxes, masked_columns, masked_page
from documents.sharing.redaction import covers
from llm.content import PageContent, Word
from tests.documents.making import words_of


def page_of(*lines: str, number: int = 1) -> PageContent:
    return PageContent(number, 595, 842, "\n".join(lines), words_of(*lines))


def left_of(value: Any, *lines: str) -> str:
    """What stays readable of a page."""
    page = page_of(*lines)
    return masked_page(page, Masker([value]).positions([page])[1]).text


@pytest.mark.parametrize(
    ("value", "line"),
    [
        ("DE89 3704 0044 0532 0130 00", "IBAN:DE89370400440532013000"),
        ("DE89370400440532013000", "pay to DE89 3704 0044 0532 0130 00 today"),
        ("2020-08-20", "on 8/20/2020"),
        ("2020-08-20", "on 20.08.2020"),
        ("2020-08-20", "on 20 August 2020 it was"),
        ("2020-08-20", "le 20 août 2020"),
        ("2020-08-20", "file-20200820.pdf"),
        ("8/20/2020", "on 2020-08-20T10:00:00"),
        ("2020-08-20T10:00:00Z", "Aug 20, 2020"),
        (4950, "Total: $4,950.00"),
        (4950, "Summe 4.950,00 €"),
        (4950, "Summe 4 950,00 EUR"),
        (4950, "Summe 4’950.–"),
        (4950.5, "4,950.50/month"),
        ("4,950.00", "USD4950"),
        (-20, "Credit (20.00)"),
        (0.19, "VAT 19 %"),
        ("Müller-Lüdenscheidt", "Mr MULLER LUDENSCHEIDT lives"),
        ("O'Brien & Sons", "to: O’BRIEN & SONS, Cork"),
        ("Straße 5", "STRASSE 5"),
        ("EUR", "costs €50"),
        ("2468", "No.:2468"),
        ("ann@example.com", "<mailto:ann@example.com>"),
    ],
)
def test_a_value_is_found_in_other_spellings(value: Any, line: str) -> None:
    left = left_of(value, "Keep this line", line)
    assert HIDDEN in left
    assert "Keep this line" in left
    assert fold_text(str(value)) not in fold_text(left)
    assert not any(char.isdigit() for char in left) or value in ("EUR", "2468"), left


def test_a_value_is_found_over_the_end_of_a_line() -> None:
    assert left_of("Donaudampfschifffahrt", "the Donaudampf-", "schifffahrt sails") == f"the {HIDDEN}\n{HIDDEN} sails"
    assert left_of("2020-08-20", "dated 20 August", "2020 in Cork") == f"dated {HIDDEN} {HIDDEN}\n{HIDDEN} in Cork"


def test_a_value_is_found_over_the_end_of_a_line_of_a_column() -> None:
    left = left_of("Northwind Traders Incorporated", "Northwind Traders             Ship to: Oslo", "Incorporated")
    assert left == f"{HIDDEN} {HIDDEN} Ship to: Oslo\n{HIDDEN}"
    hyphenated = left_of("Northwindtraders", "Buyer Northwind-          Ship to: Oslo", "traders")
    assert hyphenated == f"Buyer {HIDDEN} Ship to: Oslo\n{HIDDEN}"


def test_a_value_is_found_everywhere_it_stands() -> None:
    pages = [page_of("Total 4,950.00", "again 4950", number=1), page_of("carried over 4.950,00", number=2)]
    hidden = Masker([4950]).positions(pages)
    assert hidden == {1: {1, 3}, 2: {2}}


@pytest.mark.parametrize(
    ("value", "line"),
    [
        (12.5, "1250 pieces"),
        ("12", "No. 1201 of 12.50"),
        (5, "15 of 0.5"),
        ("DE", "DEN Haag"),
        ("2020-08-20", "21 August 2020"),
        ("", "empty"),
        (True, "yes ☒"),
    ],
)
def test_what_only_looks_like_a_value_stays(value: Any, line: str) -> None:
    assert left_of(value, line) == line


def test_words_between_two_halves_do_not_make_them_one() -> None:
    assert "1212" not in left_of("121234", "12 121234 1234").replace(" ", "")


def test_data_is_masked_by_value_wherever_it_stands() -> None:
    masker = Masker(["Ann Smith", 4950])
    data = {"a": "Ms ann SMITH", "b": [4950.0, 12], "c": {"d": "4,950.00", "Ann Smith": True}, "e": None}
    assert masker.value(data) == {
        "a": f"Ms {HIDDEN} {HIDDEN}",
        "b": [HIDDEN, 12],
        "c": {"d": HIDDEN, f"{HIDDEN} {HIDDEN}": True},
        "e": None,
    }


def test_stored_words_are_masked_in_their_columns() -> None:
    columns = words_as_columns(words_of("Ann Smith"))
    masked = masked_columns(columns, {1})
    assert masked["text"] == ["Ann", HIDDEN]
    assert [word.x0 for word in columns_as_words(masked)] == columns["x0"]


@pytest.mark.parametrize(
    ("pattern", "path", "covered"),
    [
        ("iban", "iban", True),
        ("address", "address.street.name", True),
        ("lines.*.total", "lines.12.total", True),
        ("lines.*.total", "lines.x.total", False),
        ("lines.0", "lines.0.total", True),
        ("lines.0", "lines.01.total", False),
        ("iban", "iban2", False),
        ("a.b", "a", False),
    ],
)
def test_a_path_covers_what_is_below_it(pattern: str, path: str, covered: bool) -> None:
    assert covers(pattern, path) is covered


_NAMES = st.text("abcdefghijklmnopqrstuvwxyzäöüß", min_size=5, max_size=12)
_VALUES = st.one_of(
    st.lists(_NAMES, min_size=1, max_size=4).map(" ".join),
    st.integers(10_000, 9_999_999),
    st.decimals(1000, 99_999, places=2).map(float),
    st.dates().filter(lambda day: 1970 <= day.year <= 2069).map(lambda day: day.isoformat()),
    st.from_regex(r"[A-Z]{2}-\d{4}-\d{4}", fullmatch=True),
)


def _spellings(value: Any) -> list[str]:
    if isinstance(value, int | float):
        both = f"{value:,.2f}"
        return [both, both.replace(",", " "), both.translate({44: ".", 46: ","}), f"${both}", f"{value:.2f}"]
    text = str(value)
    if text[:4].isdecimal():
        year, month, day = text.split("-")
        return [text, f"{day}.{month}.{year}", f"{int(month)}/{int(day)}/{year}", f"{day}/{month}/{year[2:]}"]
    return [text, text.upper(), text.replace("-", " "), text.replace(" ", "-")]


@settings(max_examples=60, deadline=None)
@given(value=_VALUES, data=st.data())
def test_no_spelling_of_any_value_is_left(value: Any, data: st.DataObject) -> None:
    """The value in every spelling among other words, at any place of a page of a few columns."""
    others = data.draw(st.lists(st.sampled_from(["Total:", "of", "Oslo", "7", "page", "–"]), min_size=4, max_size=30))
    for spelling in _spellings(value):
        others.insert(data.draw(st.integers(0, len(others))), spelling)
    width = data.draw(st.integers(2, 6))
    words = [piece for text in others for piece in text.split(" ")]
    placed = tuple(
        Word(text, (at % width) / 6, (at // width) / 50, (at % width) / 6 + 0.16, (at // width) / 50 + 0.015,
             line=at // width)
        for at, text in enumerate(words)
    )  # fmt: skip
    page = PageContent(1, 595, 842, "", placed)
    left = masked_page(page, Masker([value]).positions([page])[1])
    shown = fold_text(left.text)
    for spelling in _spellings(value):
        assert fold_text(spelling) not in shown, left.text


def test_what_ocr_read_is_painted_over_more_widely() -> None:
    words = (Word("77123", 0.4, 0.5, 0.5, 0.52, origin="ocr"), Word("77123", 0.4, 0.6, 0.5, 0.62))
    page = PageContent(1, 600, 800, "", words)
    ocr, printed = black_boxes(page, Masker(["77123"]).positions([page])[1])
    assert printed == [0.4, 0.6, 0.5, 0.62]
    assert ocr == pytest.approx([0.4 - 0.016 * 800 / 600, 0.497, 0.5 + 0.016 * 800 / 600, 0.523])
