"""What looks like a figure in a table's cell."""

import re

_CODES = "EUR|USD|GBP|CHF|CAD|AUD|NZD|SEK|NOK|DKK|PLN|CZK|HUF|JPY"
_NUMERIC = re.compile(
    rf"^[(\[]?[-+−–]?\s*(?:[$€£¥]|[A-Z]{{1,2}}\$|{_CODES})?\s*[-+−–]?\d[\d.,'’ ]*\s*"
    rf"(?:%|[$€£¥]|{_CODES}|[-−–])?\s*[)\]]?$"
)
_RANGE = re.compile(r"^(?:[<>≤≥]\s*)?\d[\d.,]*(?:\s*[-–]\s*\d[\d.,]*)?$")
_NUMBER_WITH_UNIT = re.compile(r"^[-+−]?\d[\d.,]*\s+\S{1,10}$")
_MONEY = re.compile(r"\d[.,]\d{2}(?!\d)|\d,[-–—]|\d{1,3}(?:[.,'’ ]\d{3})+(?!\d)")
_CENTS = re.compile(r"\d[.,]\d{2}(?!\d)")
_DATE = re.compile(r"^\d{1,2}\.\s?\d{1,2}\.\s?(?:\d{2}|\d{4})$|^\d{4}\.\d{2}\.\d{2}$")
_MARK = re.compile(r"(?<=\d) ?[A-Z*]$")
_TAIL = re.compile(r"^(?:[A-Z*]|[A-Z]\d|\d[A-Z]?|\*+)$")


def is_numeric(text: str) -> bool:
    """Whether a cell is a number, an amount or a percentage by its look."""
    return bool(_NUMERIC.match(text.strip())) and not _DATE.match(text.strip())


def is_range(text: str) -> bool:
    """What counts as normal beside a result: "6.5 - 9.5", "< 5,0"."""
    return bool(_RANGE.match(text.strip()))


def is_figure(text: str) -> bool:
    """A number, or one with its unit."""
    return is_numeric(text) or bool(_NUMBER_WITH_UNIT.match(text.strip()))


def is_money(text: str) -> bool:
    """A number that is printed as amounts are: two decimals, or thousands apart."""
    plain = _unmarked(text)
    return is_numeric(plain) and bool(_MONEY.search(plain))


def has_cents(text: str) -> bool:
    """A number with two decimals, as prices are printed."""
    plain = _unmarked(text)
    return is_numeric(plain) and bool(_CENTS.search(plain))


def _unmarked(text: str) -> str:
    """Without the letter behind an amount that says its tax rate."""
    return _MARK.sub("", text.strip())


def is_tax_mark(text: str) -> bool:
    """The letter behind an amount that says its tax rate."""
    return bool(_TAIL.match(text))
