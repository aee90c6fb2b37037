"""The words of pages, indexed by what they say: text, numbers, dates. What grounding looks values up in."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from functools import cached_property

from documents.page_words import Hit, IndexedPage, Line, fold_as_read, fold_opened_out, fold_text
from documents.spellings import centuries, number_and_unit, same_numbers
from llm.content import PageContent
from llm.offline.matching.lexicon import language_of
from llm.offline.typing.amounts import find_amounts
from llm.offline.typing.dates import DateOrder, date_order, find_dates

__all__ = ["Hit", "PageIndex", "fold_text"]

_MAX_SCATTERED, _MAX_STARTS = 40, 5
_MAX_SHUFFLED, _SHORT_WORD = 6, 3
_LETTER, _LETTERS = re.compile(r"[^\W\d_lIiOo]"), 5
_MISREAD = str.maketrans("lIO", "110")
_IS_WORD = re.compile(r"[^\W\d_]{3}")
_HYPHENED = re.compile(r"(?<=[^\W\d_]-)(?=[^\W\d_])")
_STATE = 14
"""Units: letters. Between a city and a postcode a state may stand."""
_BETWEEN_WORDS = re.compile(r",?\s+|,$")
_PIECES = re.compile(r"\s*(?:,(?!\d)|[;\n|])+\s*")
_PER = re.compile(r"(?<=[\d€$£%A-Z])\s?/\s?[^\W\d_]{1,6}")
_AMERICAN = re.compile(r"\b[A-Z]{2},? \d{5}(?:-\d{4})?\b")
_ORDERS: tuple[DateOrder, ...] = ("day_first", "month_first")
_EUROPEAN = re.compile(r"[£€]|\bVAT\b")
_FEW, _CLOSER = 4, 3
"""So many dates tell their order, when they lie so many times closer together than in the other."""
_TWO_WAYS = re.compile(r"[.,]\d{3}(?!\d)")
"""What a point or a comma may be either sign in."""
_DIGITS_OF_DATE = 3
_BOXES_OF_DATE = (3, 6, 8)
"""One box for day, month and year each, or for every digit."""
_ENOUGH = 20_000
"""Units: characters. So much tells the language."""
_MINUTES = re.compile(r"\d:\d{1,2}$")
_NUMERIC_DAY = re.compile(r"(?<![\d.,/-])(\d{1,2})([/-])\s?(\d{1,2})\2\s?(?:\d{4}|\d{2})(?![\d/])")


class PageIndex:
    """Look up values on the pages of one document. Numbers and dates are parsed once, when first asked for."""

    def __init__(self, pages: Sequence[PageContent]) -> None:
        self.pages = [
            IndexedPage(page.number, page.words, page.width / (page.height or 1.0), page.frames) for page in pages
        ]
        self._by_number = {page.number: page for page in self.pages}

    def text(self, value: str) -> list[Hit]:
        """Places that say `value`, blanks, case, hyphens, accents and line breaks aside."""
        wanted = fold_text(value)
        if not wanted:
            return self._signs(value.strip())
        found = [(page, places) for page in self.pages for places in page.text.find(wanted)]
        return [page.hit(places) for page, places in found if page.says(value, places)]

    def opened_out(self, value: str) -> list[Hit]:
        """Places that say `value` with ä for ae, or the other way round."""
        wanted = fold_opened_out(value)
        found = [(page, places) for page in self.pages for places in page.opened_out.find(wanted) if wanted]
        return [page.hit(places) for page, places in found if page.says(value, places)]

    def as_read(self, value: str) -> list[Hit]:
        """Places on scans that say a text of several letters, when 1 and l, 0 and O are taken for each other."""
        wanted = fold_as_read(value)
        if len(_LETTER.findall(value)) < _LETTERS:
            return []
        found = [(page, places) for page in self.pages for places in page.as_read.find(wanted)]
        hits = [page.hit(places) for page, places in found]
        return [hit for hit in hits if same_numbers(value.translate(_MISREAD), hit.quote.translate(_MISREAD))]

    def _signs(self, value: str) -> list[Hit]:
        return [
            page.hit((position,))
            for page in self.pages
            for position, word in enumerate(page.words)
            if value and value in word.text
        ]

    def scattered(self, value: str) -> list[Hit]:
        """A text whose lines are apart in reading order: a wrapped cell of a table, an address in a column.

        Cut into the longest pieces that stand on the page, each one below or beside the piece before it.
        """
        words = _HYPHENED.sub(" ", value).split()
        if not 2 <= len(words) <= _MAX_SCATTERED:
            return []
        for start in self._first_pieces(words):
            page = self._by_number[start[0].page]
            placed, position = [start[0]], start[1]
            while position < len(words) and (step := self._next_piece(words, position, placed[-1])):
                placed.append(step[0])
                position = step[1]
            if position == len(words):
                return [page.hit(tuple(dict.fromkeys(word for hit in placed for word in hit.words)))]
        return []

    def _first_pieces(self, words: Sequence[str]) -> list[tuple[Hit, int]]:
        for end in range(len(words) - 1, 0, -1):
            if hits := self.text(" ".join(words[:end])):
                return [(hit, end) for hit in hits[:_MAX_STARTS]]
        return []

    def _next_piece(self, words: Sequence[str], start: int, before: Hit) -> tuple[Hit, int] | None:
        for end in range(len(words), start, -1):
            piece = " ".join(words[start:end])
            places = self.text(piece) or self.shuffled(piece)
            near = [hit for hit in places if hit.page == before.page and self.page(hit.page).follows(hit, before)]
            if near:
                return min(near, key=lambda hit: hit.distance(before)), end
            if not fold_text(piece):
                return before, end
        return None

    def in_pieces(self, value: str) -> list[Hit]:
        """An address in one text: its parts, cut at commas and line breaks, stand close together in any order.

        Words of a part may stand in another order too: "Leeds LS1 4AB" for "LS1 4AB Leeds".
        """
        pieces = [piece for piece in _PIECES.split(value) if fold_text(piece)]
        places = [self.text(piece) or self.shuffled(piece) or self._stacked(piece) for piece in pieces[:_MAX_SCATTERED]]
        for first in places[0][:_MAX_STARTS] if places and all(places) else []:
            near: list[Hit] = [first]
            for hits in places[1:]:
                beside = [hit for hit in hits if any(hit.adjoins(one) for one in near)]
                near += [min(beside, key=lambda hit: hit.distance(near[-1]))] if beside else []
            if len(near) == len(places):
                words = sorted({word for hit in near for word in hit.words})
                return [self._by_number[first.page].hit(words)]
        return []

    def shuffled(self, value: str) -> list[Hit]:
        """A few words that follow each other in another order, with at most one short word between them."""
        said = {folded: word for word in _BETWEEN_WORDS.split(value) if (folded := fold_text(word))}
        wanted = Counter(folded for word in _BETWEEN_WORDS.split(value) if (folded := fold_text(word)))
        if not 2 <= wanted.total() <= _MAX_SHUFFLED or not any(map(_IS_WORD.search, said)):
            return []
        found = {(page.number, places): page for page in self.pages for places in _shuffled_on(page, wanted)}
        hits = [page.hit(places) for (_, places), page in found.items() if _same_words(page, places, said)]
        turned = list(said.values()) if wanted.total() == 2 else []  # "88802Northtown"
        return hits or (self.text(" ".join(reversed(turned))) if turned else [])

    def _stacked(self, value: str) -> list[Hit]:
        """A postcode and a city on two lines of a column, whichever comes first."""
        words = value.split()
        if not 2 <= len(words) <= _MAX_SHUFFLED or not any(map(str.isdigit, value)):
            return []
        for cut in range(1, len(words)):
            heads, tails = self.text(" ".join(words[:cut])), self.text(" ".join(words[cut:]))
            pairs = [(head, tail) for head in heads for tail in tails if head.is_stacked(tail)]
            if pairs:
                return [self.page(head.page).hit(sorted({*head.words, *tail.words})) for head, tail in pairs]
        return []

    def numbers(self, value: Decimal) -> list[Hit]:
        """Places that print this number, in any of the usual formats."""
        wanted = value.normalize()
        parted = self._parted_hits.get(wanted, [])
        lefts = {(hit.page, hit.words[:1]): hit for hit in parted}
        whole = self._number_hits.get(wanted) or ([] if parted else self._single_hits.get(wanted))
        return [lefts.get((hit.page, hit.words), hit) for hit in whole or parted] or self._unit_hits.get(wanted, [])

    @cached_property
    def _parted_hits(self) -> dict[Decimal, list[Hit]]:
        """Amounts whose hundredths stand apart from them: "496 | 33"."""
        found: dict[Decimal, list[Hit]] = {}
        for page in self.pages:
            for left, right in page.cents:
                whole, hundredths = re.sub(r"[^\d-]", "", page.words[left].text), page.words[right].text
                found.setdefault(Decimal(f"{whole}.{hundredths}").normalize(), []).append(page.hit((left, right)))
        return found

    def dates(self, iso: str) -> list[Hit]:
        """Places that print this date (YYYY-MM-DD), in any of the usual formats."""
        return self._date_hits.get((iso, True), [])

    def perhaps_dates(self, iso: str) -> list[Hit]:
        """Places that print it in one reading of two, where the document does not tell which of them is the day."""
        return self._date_hits.get((iso, False), [])

    def dates_apart(self, iso: str) -> list[Hit]:
        """Places that print it without signs between its parts, each in a box or a cell of its own: "01 05 2024"."""
        year, month, day = iso.split("-")
        order, certain = self.date_order
        ways = [f"{day}{month}{year}"] if order == "day_first" else [f"{month}{day}{year}"]
        ways += [] if certain else [f"{month}{day}{year}", f"{day}{month}{year}"]
        found = {(page.number, places): page for way in ways for page in self.pages for places in page.text.find(way)}
        short = [*(way.replace(year, year[2:]) for way in ways), f"{year}{month}{day}"]
        boxed = {(page.number, places): page for way in short for page in self.pages for places in page.text.find(way)}
        found |= {key: page for key, page in boxed.items() if len(key[1]) in _BOXES_OF_DATE}
        return [page.hit(places) for (_, places), page in found.items() if page.says(ways[0], places)]

    @cached_property
    def _number_hits(self) -> dict[Decimal, list[Hit]]:
        return self._parsed(self._lines())

    @cached_property
    def _single_hits(self) -> dict[Decimal, list[Hit]]:
        """Numbers of single words, for columns so close that their numbers read as one."""
        return self._parsed([(page, line) for page in self.pages for line in _single(page)])

    @cached_property
    def _unit_hits(self) -> dict[Decimal, list[Hit]]:
        """Numbers with a unit set close: "12kg", "1.79 EUR/l"."""
        split = [
            (page, replace(line, text=said[0]))
            for page in self.pages
            for line in _single(page)
            if (said := number_and_unit(line.text))
        ]
        rates = [
            (page, replace(line, text=_PER.sub(lambda match: " " * len(match[0]), line.text)))
            for page, line in self._lines()
            if _PER.search(line.text)
        ]
        return self._parsed([*split, *rates])

    @staticmethod
    def _parsed(lines: list[tuple[IndexedPage, Line]]) -> dict[Decimal, list[Hit]]:
        found: dict[Decimal, dict[tuple[int, tuple[int, ...]], Hit]] = {}
        for page, line in lines:
            if not any(map(str.isdigit, line.text)):
                continue
            for point in (".", ",") if _TWO_WAYS.search(line.text) else ".":
                for amount in find_amounts(line.text, point):
                    if _MINUTES.search(line.text[: amount.end]):
                        continue
                    words = line.words_at(amount.start, amount.end)
                    for value in (amount.value, amount.value / 100)[: 1 + amount.percent]:
                        found.setdefault(value.normalize(), {})[page.number, words] = page.hit(words)
        return {value: list(hits.values()) for value, hits in found.items()}

    @cached_property
    def _date_hits(self) -> dict[tuple[str, bool], list[Hit]]:
        """By date, and whether it can be no other."""
        order, certain = self.date_order
        found: dict[tuple[str, bool], dict[tuple[int, tuple[int, ...]], Hit]] = {}
        for page, line in self._lines():
            if sum(map(str.isdigit, line.text)) < _DIGITS_OF_DATE:
                continue
            for reading in (order,) if certain else _ORDERS:
                for date in find_dates(line.text, reading):
                    shown = line.text[date.start : date.end]
                    sure = certain or not (date.ambiguous and _NUMERIC_DAY.search(shown))
                    words = line.words_at(date.start, date.end)
                    for iso in centuries(date.value, shown):
                        found.setdefault((iso, sure), {})[page.number, words] = page.hit(words)
        return {key: list(hits.values()) for key, hits in found.items()}

    @property
    def days_printed(self) -> Iterable[str]:
        """Every date that is printed in full, in any reading."""
        return (iso for iso, _ in self._date_hits)

    @cached_property
    def date_order(self) -> tuple[DateOrder, bool]:
        """The order of day and month, and whether the document tells: by a day above 12, its language, its country."""
        text = "\n".join(line.text for _, line in self._lines())
        pairs = {(int(match[1]), int(match[3])) for match in _NUMERIC_DAY.finditer(text)}
        day_first, month_first = any(a > 12 >= b for a, b in pairs), any(b > 12 >= a for a, b in pairs)
        language = language_of(text[:_ENOUGH])
        order = date_order(text, language)
        told = day_first != month_first or language != "en" or (len(pairs) >= _FEW and _is_narrower(text))
        country = (_AMERICAN if order == "month_first" else _EUROPEAN).search(text)
        return order, not (day_first and month_first) and bool(told or country)

    def _lines(self) -> list[tuple[IndexedPage, Line]]:
        return [(page, line) for page in self.pages for line in page.lines]

    def filled_in(self, hits: Sequence[Hit]) -> list[Hit]:
        """Of several places those in fields, on a form that was filled in: its printed words only ask."""
        answers = [hit for hit in hits if self._by_number[hit.page].is_filled_in(hit)]
        return answers or list(hits)

    def page(self, number: int) -> IndexedPage:
        """Units: `number` is 1-based."""
        return self._by_number[number]


def _shuffled_on(page: IndexedPage, wanted: Counter[str]) -> Iterator[tuple[int, ...]]:
    size = wanted.total()
    longest = _STATE if any(map(str.isdigit, wanted)) else _SHORT_WORD
    for at in page.by_folded.get(next(iter(wanted)), ()):
        for start in range(max(0, at - size), at + 1):
            for end in (start + size, start + size + 1):
                window = range(start, min(end, len(page.words)))
                texts = Counter(fold_text(page.words[place].text) for place in window)
                between = list((texts - wanted).elements())
                if not wanted - texts and len(between) <= 1 and all(len(word) <= longest for word in between):
                    yield tuple(place for place in window if fold_text(page.words[place].text) in wanted)


def _same_words(page: IndexedPage, places: Sequence[int], said: Mapping[str, str]) -> bool:
    """Whether words that are equal without signs are so with them."""
    return all(same_numbers(said[fold_text(word.text)], word.text) for word in (page.words[place] for place in places))


def _is_narrower(text: str) -> bool:
    """Whether dates lie far closer together in one order than in the other: then it is theirs."""
    days = [{day.value.toordinal() for day in find_dates(text, order)} for order in _ORDERS]
    one, other = (max(found, default=0) - min(found, default=0) for found in days)
    return min(map(len, days)) >= _FEW and min(one, other) * _CLOSER <= max(one, other)


def _single(page: IndexedPage) -> Iterator[Line]:
    """Every word as a line of its own."""
    for position in range(len(page.words)):
        yield Line.of(page.number, page.words, [position])
