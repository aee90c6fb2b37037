"""Dates as documents print them, to ISO. The order of day and month is decided from the whole document."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from pathlib import Path
from typing import Literal

from llm.offline.typing.folding import fold

DateOrder = Literal["day_first", "month_first"]
_SEVERAL, _CLOSER = 4, 3
"""So many dates decide about their order, when they lie so many times closer together than in the other."""


@dataclass(frozen=True, slots=True)
class FoundDate:
    """A date in a text. `ambiguous`: the order settled it. Units: start, end in characters."""

    value: date
    ambiguous: bool
    start: int
    end: int

    @property
    def iso(self) -> str:
        return self.value.isoformat()


_ISO = re.compile(r"(?<!\d)(?P<y>\d{4})[-/.](?P<m>\d{1,2})[-/.](?P<d>\d{1,2})(?!\d)")
_COMPACT = re.compile(r"(?<!\d)(?P<y>(?:19|20)\d{2})(?P<m>0[1-9]|1[0-2])(?P<d>0[1-9]|[12]\d|3[01])(?!\d)")
_NUMERIC = re.compile(
    r"(?<![\d.,/])(?P<a>\d{1,2})(?P<sep>[./-])\s?(?P<b>\d{1,2})(?P=sep)\s?(?P<y>\d{4}|\d{2})(?![\d/])(?!\.\d)"
)
_DAY_NAME = re.compile(
    r"(?<!\d)(?P<d>\d{1,2})(?:st|nd|rd|th|er|e)?[.\s-]{0,2}\s?(?P<name>[a-z]{3,9})[.,\s-]{1,3}(?P<y>\d{4}|\d{2})(?!\d)"
)
_NAME_DAY = re.compile(r"(?<![a-z])(?P<name>[a-z]{3,9})\.?\s(?P<d>\d{1,2})(?:st|nd|rd|th)?,?\s(?P<y>\d{4})(?!\d)")


_DAY_FIRST = re.compile(
    r"[€£]|\b(?:A|NZ|S|HK)\$"
    r"|\b(?:VAT|AUD|NZD|SGD|HKD|ABN|ACN|NZBN|BSB|GST Reg|PTY|Pty|UEN|IRD|Limited|PLC)\b"
)
"""What papers of Australia, New Zealand, Singapore, Hong Kong, Ireland and Britain say."""


_DAY_AND_NAME = re.compile(
    r"^(?:(?P<d>\d{1,2})(?:st|nd|rd|th|er|e)?\.?[ -]?(?P<name>[a-z]{3,9})|(?P<first>[a-z]{3,9})\.? (?P<day>\d{1,2}))\b"
)
_DAY_AND_MONTH = re.compile(r"^(?P<a>\d{1,2})(?P<sep>[./-])(?P<b>\d{1,2})(?:\.|(?![\d./,-]))")


@lru_cache(maxsize=1)
def _months() -> dict[str, int]:
    data = json.loads(Path(__file__).with_name("months.json").read_text(encoding="utf-8"))
    names = dict(data.pop("short"))
    for months in data.values():
        names.update({name: number for number, name in enumerate(months, 1)})
    return names


def find_dates(text: str, order: DateOrder = "day_first") -> list[FoundDate]:
    """All dates in `text`, from left to right, none overlapping another."""
    found: list[FoundDate] = []
    for candidate in sorted(_readings(_same_length(text), order), key=lambda item: (item.start, -item.end)):
        if not found or candidate.start >= found[-1].end:
            found.append(candidate)
    return found


def parse_date(text: str, order: DateOrder = "day_first") -> date | None:
    """The date that `text` is, or None when it is anything else or more."""
    dates = find_dates(text.strip(), order)
    if len(dates) == 1 and dates[0].start == 0 and dates[0].end == len(text.strip()):
        return dates[0].value
    return None


def find_day(text: str, year: int, order: DateOrder = "day_first") -> FoundDate | None:
    """The date that a text without a year begins with ("03 Feb", "12.02.", "2/3"), in the year given."""
    plain = _same_length(text)
    named = _DAY_AND_NAME.match(plain)
    if named is not None:
        month = _months().get(named["name"] or named["first"])
        day = int(named["d"] or named["day"])
        return next(_made(named, year, month, day), None) if month else None
    match = _DAY_AND_MONTH.match(plain)
    if match is None:
        return None
    a, b = int(match["a"]), int(match["b"])
    day, month = (a, b) if order == "day_first" or match["sep"] == "." or a > 12 else (b, a)
    return next(_made(match, year, month, day, ambiguous=a <= 12 and b <= 12 and a != b), None)


def date_order(text: str, language: str = "en") -> DateOrder:
    """Decide from numeric dates that allow one reading only, else from signs of the country, else the language."""
    first = second = 0
    for match in _NUMERIC.finditer(text):
        a, b = int(match["a"]), int(match["b"])
        first += a > 12 >= b
        second += b > 12 >= a
    if first != second:
        return "day_first" if first > second else "month_first"
    if narrower := _narrower(text):
        return narrower
    if re.search(r"(?<!\d)\d{1,2}\.\d{1,2}\.\d{2,4}", text):
        return "day_first"
    return "month_first" if language == "en" and _is_american(text) else "day_first"


def _is_american(text: str) -> bool:
    """Signs of the United States, and none of countries that write the day first and pay in dollars or in English."""
    signs = re.search(r"\$|\b[A-Z]{2},? \d{5}(?:-\d{4})?\b|\bUSD\b|\bZIP\b|\bSSN\b|\bEIN\b", text)
    return bool(signs) and not _DAY_FIRST.search(text)


def _narrower(text: str) -> DateOrder | None:
    """Dates of one paper lie close together: the order in which several are far closer than in the other."""
    found = {(int(match["y"]), int(match["a"]), int(match["b"])) for match in _NUMERIC.finditer(text)}
    if len(found) < _SEVERAL or any(max(a, b) > 12 or min(a, b) < 1 for _, a, b in found):
        return None
    day_first = [date(2000 + y % 100, b, a).toordinal() for y, a, b in found]
    month_first = [date(2000 + y % 100, a, b).toordinal() for y, a, b in found]
    one, other = max(day_first) - min(day_first), max(month_first) - min(month_first)
    if min(one, other) * _CLOSER > max(one, other):
        return None
    return "day_first" if one < other else "month_first"


def _same_length(text: str) -> str:
    """Folded text of the same length, so that positions hold (a sign that folds to more stays itself)."""
    return "".join(folded if len(folded := fold(char)) == 1 else char for char in text)


def _readings(text: str, order: DateOrder) -> Iterator[FoundDate]:
    for pattern in (_ISO, _COMPACT):
        for match in pattern.finditer(text):
            yield from _made(match, int(match["y"]), int(match["m"]), int(match["d"]))
    for match in _NUMERIC.finditer(text):
        yield from _numeric(match, order)
    for pattern in (_DAY_NAME, _NAME_DAY):
        for match in pattern.finditer(text):
            month = _months().get(match["name"])
            if month:
                yield from _made(match, _year(match["y"]), month, int(match["d"]))


def _numeric(match: re.Match[str], order: DateOrder) -> Iterator[FoundDate]:
    a, b, year = int(match["a"]), int(match["b"]), _year(match["y"])
    day, month = (a, b) if order == "day_first" or match["sep"] == "." else (b, a)
    if month > 12:
        day, month = month, day
    yield from _made(match, year, month, day, ambiguous=a <= 12 and b <= 12 and a != b)


def _made(match: re.Match[str], year: int, month: int, day: int, *, ambiguous: bool = False) -> Iterator[FoundDate]:
    try:
        value = date(year, month, day)
    except ValueError:
        return
    if 1900 <= value.year <= 2100:
        yield FoundDate(value, ambiguous, match.start(), match.end())


def _year(text: str) -> int:
    year = int(text)
    if len(text) == 4:
        return year
    return 2000 + year if year < 70 else 1900 + year
