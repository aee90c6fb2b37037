"""Whatever a page says and a model answers: a value is located where it stands, and nowhere else."""

import unicodedata
from datetime import date
from decimal import Decimal

from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from documents.grounding import ground
from tests.documents.test_grounding import page, place

MONTHS = "January February March April May June July August September October November December".split()  # noqa: SIM905 - reads better
LOCATED = ("found", "ambiguous")
quick = settings(max_examples=120, deadline=None)

words = st.sampled_from(
    ["ab", "abc", "c", "1", "12", "15", "1,5", "1.5", "5", "a1", "A-1", "Müller", "Mueller", "oz", "Öz"]
)
texts = st.lists(words, min_size=1, max_size=4).map(" ".join)
cents = st.integers(min_value=1, max_value=99_999_999)
days = st.dates(min_value=date(1990, 1, 1), max_value=date(2060, 12, 31))


def folded(text: str) -> tuple[str, str]:
    """Letters and digits without dots, and with ä as ae: the two ways in which two spellings are one."""
    opened = text.lower().translate(str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue"}))
    bare, open_ = ("".join(filter(str.isalnum, unicodedata.normalize("NFKD", one))) for one in (text.lower(), opened))
    return bare, open_


def amount(value: int, thousands: str, point: str) -> str:
    """Units: `value` in cents."""
    return f"{value / 100:,.2f}".translate(str.maketrans({",": thousands, ".": point}))


styles = st.sampled_from([(",", "."), (".", ","), (" ", ","), ("", "."), ("", ","), ("'", ".")])
signs = st.sampled_from(["{}", "{} EUR", "€ {}", "${}", "{} €"])


def day_shown(day: date, style: int) -> str:
    month = MONTHS[day.month - 1]
    return (
        f"{day:%d.%m.%Y}",
        f"{day.day} {month} {day.year}",
        f"{month} {day.day}, {day.year}",
        day.isoformat(),
        f"{day.day}. {month[:3]} {day.year}",
        f"{day:%Y/%m/%d}",
    )[style]


date_styles = st.integers(min_value=0, max_value=5)


@quick
@given(value=texts, lines=st.lists(texts, min_size=1, max_size=4))
@example(value="1.5", lines=["15"])
@example(value="15", lines=["1 5"])
@example(value="1,5", lines=["1", "5"])
@example(value="Mueller", lines=["Muller"])
@example(value="ab 1,5", lines=["ab 5 1"])
@example(value="ab 1,5", lines=["15 ab"])
def test_every_word_of_a_text_that_is_located_is_in_the_quote(value: str, lines: list[str]) -> None:
    found = place(value, *lines)
    if found.state in LOCATED:
        quote = folded(found.quote)
        asked = [folded(word) for word in value.split()]
        assert any(all(word[way] in quote[way] for word in asked) for way in (0, 1))


@quick
@given(text=texts)
def test_a_text_that_is_printed_is_located(text: str) -> None:
    assert place(text, "Something else", text, "and more").state in LOCATED


@quick
@given(printed=cents, asked=cents, paper=styles, model=styles, sign=signs, as_text=st.booleans())
@example(printed=659, asked=6590, paper=("", ","), model=("", "."), sign="{}", as_text=True)
@example(printed=150, asked=15, paper=("", ","), model=("", "."), sign="{}", as_text=True)
@example(printed=123456, asked=12345600, paper=(".", ","), model=(",", "."), sign="{}", as_text=True)
def test_another_amount_is_never_located_however_both_are_spelled(
    printed: int, asked: int, paper: tuple[str, str], model: tuple[str, str], sign: str, as_text: bool
) -> None:
    assume(printed != asked)
    value = sign.format(amount(asked, *model)) if as_text else asked / 100
    assert place(value, f"Amount   {amount(printed, *paper)}").state == "not_found"


@quick
@given(value=cents, paper=styles, model=styles, sign=signs, printed_sign=signs, as_text=st.booleans())
def test_an_amount_is_located_however_it_is_spelled(
    value: int, paper: tuple[str, str], model: tuple[str, str], sign: str, printed_sign: str, as_text: bool
) -> None:
    asked = sign.format(amount(value, *model)) if as_text else float(Decimal(value) / 100)
    found = place(asked, "Invoice", f"Amount   {printed_sign.format(amount(value, *paper))}")
    assert found.state == "found"
    assert amount(value, *paper) in found.quote


@quick
@given(printed=days, asked=days, paper=date_styles, model=date_styles)
def test_a_day_is_located_exactly_when_it_is_printed(printed: date, asked: date, paper: int, model: int) -> None:
    line = f"Date   {day_shown(printed, paper)}"
    assert place(day_shown(printed, model), line).state == "found"
    if asked != printed:
        assert place(day_shown(asked, model), line).state == "not_found"


@quick
@given(states=st.lists(st.booleans(), min_size=1, max_size=4), answers=st.lists(st.booleans(), min_size=4, max_size=4))
def test_a_box_is_located_exactly_when_it_says_what_the_value_says(states: list[bool], answers: list[bool]) -> None:
    captions = ["Express delivery", "Self-employed", "Newsletter", "Married"]
    sheet = page(*(f"{'☒' if state else '☐'} {caption}" for state, caption in zip(states, captions, strict=False)))
    names = ["express_delivery", "selfEmployed", "newsletter", "is_married"]
    data = dict(zip(names, answers, strict=True))
    found = ground(data=data, pages=[sheet])
    for row, (name, answer) in enumerate(data.items()):
        is_there = row < len(states) and states[row] == answer
        assert (found[name].state in LOCATED) == is_there
        assert not is_there or round(found[name].boxes[0][1] * 50) == row


@quick
@given(word=st.text("abcdefgäöü", min_size=6, max_size=14), cut=st.integers(min_value=2, max_value=4))
def test_a_word_that_is_broken_over_two_lines_is_one_word(word: str, cut: int) -> None:
    found = place(f"Beratung {word}", f"Posten Beratung {word[:cut]}-", f"{word[cut:]} 12,00")
    assert (found.state, len(found.boxes)) == ("found", 2)


@quick
@given(digits=st.text("0123456789", min_size=12, max_size=18), group=st.integers(min_value=2, max_value=5))
def test_a_code_in_groups_is_whole_or_it_is_not_there(digits: str, group: int) -> None:
    code = f"DE{digits}"
    shown = " ".join(code[start : start + group] for start in range(0, len(code), group))
    assert place(code, f"IBAN   {shown}").state == "found"
    for part in (code[: group * 3], code[:-1], f"{code}7", code[group * 2 :]):
        assume(part != code and len(part) > group)
        assert place(part, f"IBAN   {shown}").state == "not_found"


def test_a_letter_of_which_folding_leaves_nothing_stands_nowhere() -> None:
    """U+FE70 is a letter, and without its accent a blank."""
    assert ground(data={"name": "\ufe70("}, pages=[page("ab 12")])["name"].state == "not_found"
