"""Days that are printed in parts: without their year, as in the rows of a statement, or over a line's end."""

import re
from bisect import bisect_left
from collections.abc import Iterator
from datetime import date
from functools import cached_property

from documents.page_index import PageIndex
from documents.page_words import Hit, IndexedPage, Line, fold_text
from llm.offline.matching.words import words_of
from llm.offline.typing.dates import DateOrder, find_dates, find_day

_ORDERS: tuple[DateOrder, ...] = ("day_first", "month_first")
_NUMERIC = re.compile(r"\(?(?:\d{1,2}\.\s?\d{1,2}\.|\d{1,2}/\d{1,2}|\d\d[.-]\d\d)[),;]?")
_DAY, _MONTH = re.compile(r"\d{1,2}(?:st|nd|rd|th|er|e|\.)?"), re.compile(r"[^\W\d_]{3,9}[.,]?")
_DAY_AND_MONTH = re.compile(r"\d{1,2}\.?[ -]?[^\W\d_]{3,9}\.?")
_YEAR = re.compile(r"(?<!\d)(?:19[89]|20[0-4])\d(?!\d)")
_YEAR_AFTER = re.compile(r"['’]?(?:\d\d|\d{4})[.,)]?$")
_BREAKS = re.compile(r"(?:\d|[-./]|[^\W\d_]{3}\.?|,)$")
_TWO_WAYS = re.compile(r"\d[/-]\d")
_LEAP = 2024
_LAST_KNOWN = range(1980, 2050)
_JOINING = frozenset(["day", "of", "the", "st", "nd", "rd", "th", "er", "de", "du"])
_LINES_ON = 4
_BELOW = 0.004
"""Units: fractions of the page."""
Places = dict[tuple[int, tuple[int, ...]], Hit]


class Days:
    """Looks for days whose year stands elsewhere in the document, or whose parts stand on two lines."""

    def __init__(self, index: PageIndex) -> None:
        self._index = index

    def without_year(self, iso: str) -> tuple[list[Hit], bool]:
        """Places that print day and month of a date, when its year is the one that the document's other dates tell.

        Also whether they do so in one reading of two.
        """
        day = date.fromisoformat(iso)
        if not self._is_meant(day):
            return [], False
        sure = self._short[True].get((day.month, day.day), {})
        return (
            (list(sure.values()), False)
            if sure
            else (
                list(self._short[False].get((day.month, day.day), {}).values()),
                True,
            )
        )

    def in_parts(self, iso: str) -> list[Hit]:
        """Places where a date goes on on the next line of its column, or in the next boxes of its line ("7 | March |
        2025"), or is said in more words ("7th day of March, 2025")."""
        return list((self._broken.get(iso) or self._spread.get(iso, {})).values())

    def _is_meant(self, day: date) -> bool:
        """Whether of all years this one brings the day nearest to a date that is printed in full."""
        if not self._known:
            return self._years == {day.year}
        near = [
            date(year, 12, 31) if day.month == 2 and day.day == 29 else day.replace(year=year)
            for year in (day.year - 1, day.year, day.year + 1)
        ]
        before, this, after = map(self._from_known, near)
        return this < before and this < after

    def _from_known(self, day: date) -> int:
        number, known = day.toordinal(), self._known
        at = bisect_left(known, number)
        return min(abs(number - other) for other in known[max(at - 1, 0) : at + 1])

    @cached_property
    def _known(self) -> list[int]:
        days = (date.fromisoformat(iso) for iso in self._index.days_printed)
        return sorted({day.toordinal() for day in days if day.year in _LAST_KNOWN})

    @cached_property
    def _years(self) -> set[int]:
        return {int(year) for page in self._index.pages for word in page.words for year in _YEAR.findall(word.text)}

    @cached_property
    def _short(self) -> dict[bool, dict[tuple[int, int], Places]]:
        """By whether it can be no other day, and by month and day."""
        order, certain = self._index.date_order
        found: dict[bool, dict[tuple[int, int], Places]] = {True: {}, False: {}}
        for page in self._index.pages:
            for text, words in _short_days(page):
                for reading in (order,) if certain else _ORDERS:
                    day = find_day(text, _LEAP, reading)
                    if day is not None:
                        sure = certain or not (day.ambiguous and _TWO_WAYS.search(text))
                        key = (day.value.month, day.value.day)
                        found[sure].setdefault(key, {})[page.number, words] = page.hit(words)
        return found

    @cached_property
    def _broken(self) -> dict[str, Places]:
        order, _ = self._index.date_order
        found: dict[str, Places] = {}
        for page in self._index.pages:
            for over, under in _joints(page):
                glue = "" if over.text.endswith("-") else " "
                text, joint = over.text + glue + under.text, len(over.text)
                for day in find_dates(text, order):
                    if day.start < joint < day.end - 1:
                        begun = over.words_at(day.start, joint)
                        ended = under.words_at(0, day.end - joint - len(glue))
                        words = (*begun, *ended)
                        found.setdefault(day.iso, {})[page.number, words] = page.hit(words)
        return found

    @cached_property
    def _spread(self) -> dict[str, Places]:
        order, _ = self._index.date_order
        found: dict[str, Places] = {}
        for page in self._index.pages:
            for line in _whole_lines(page):
                for day in find_dates(line.text, order):
                    if any(map(str.isalpha, line.text[day.start : day.end])):
                        words = line.words_at(day.start, day.end)
                        found.setdefault(day.iso, {})[page.number, words] = page.hit(words)
        return found


def _whole_lines(page: IndexedPage) -> Iterator[Line]:
    """Every line without its gaps, and without the words that join the parts of a date."""
    by_line: dict[int, list[int]] = {}
    for position, word in enumerate(page.words):
        if fold_text(word.text) not in _JOINING:
            by_line.setdefault(word.line, []).append(position)
    for positions in by_line.values():
        yield Line.of(page.number, page.words, positions)


def _short_days(page: IndexedPage) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Words that may be a day and a month, and no year behind them."""
    for line in page.lines:
        if not any(map(str.isdigit, line.text)):
            continue
        for at, position in enumerate(line.words):
            text = page.words[position].text
            after = [page.words[other].text for other in line.words[at + 1 : at + 3]]
            if _NUMERIC.fullmatch(text):
                yield text.strip("(),;"), (position,)
            elif _DAY_AND_MONTH.fullmatch(text) and not (after and _YEAR_AFTER.match(after[0])):
                yield text, (position,)
            elif after and _is_pair(text, after[0]) and not (after[1:] and _YEAR_AFTER.match(after[1])):
                yield f"{text} {after[0]}", (position, line.words[at + 1])


def _is_pair(one: str, other: str) -> bool:
    return bool((_DAY.fullmatch(one) and _MONTH.fullmatch(other)) or (_MONTH.fullmatch(one) and _DAY.fullmatch(other)))


def _joints(page: IndexedPage) -> Iterator[tuple[Line, Line]]:
    """Lines that may break off within a date, each with the next one of its column."""
    for at, over in enumerate(page.lines):
        if not _BREAKS.search(over.text) or not any(map(str.isdigit, over.text[-20:])):
            continue
        last = page.hit(over.words)
        for under in page.lines[at + 1 : at + 1 + _LINES_ON]:
            below = page.words[under.words[0]].y0 > page.words[over.words[-1]].y0 + _BELOW
            if below and words_of(under.text[:12]) and page.hit(under.words).continues(last):
                yield over, under
                break
