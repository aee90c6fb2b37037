"""Words of pages as one run of letters and digits that remember where they come from: how a value is found although it
is glued to others, spaced out, or broken over lines and columns."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache

from documents.page_index import fold_text
from documents.sharing.spellings import Secret, same_number
from llm.content import PageContent
from llm.offline.typing.amounts import parse_number
from llm.offline.typing.dates import find_dates

Place = tuple[int, int]
"""A word: number of its page, position on it."""

_SHORT_WORD, _SHORT_NUMBER = 4, 6
"""A text of fewer letters, or a number of fewer digits, is only itself when nothing like it stands right beside it."""
_BLANK = re.compile(r"\s")


@lru_cache(maxsize=4096)
def _folded(char: str) -> str:
    return fold_text(char)


class Letters:
    """The letters and digits of all pages in reading order."""

    def __init__(self, pages: Sequence[PageContent]) -> None:
        self._pages = pages
        self._words = [(page, at) for page in pages for at in range(len(page.words))]
        self._raw = [word.text for page in pages for word in page.words]
        owner: list[int] = []
        inside: list[int] = []
        parts: list[str] = []
        for number, text in enumerate(self._raw):
            for at, char in enumerate(text):
                folded = _folded(char)
                parts.append(folded)
                owner.extend([number] * len(folded))
                inside.extend([at] * len(folded))
        self._compact, self._owner, self._inside = "".join(parts), owner, inside

    def places_of(self, secret: Secret) -> set[Place]:
        """Every word that is part of the value, however it is spelled."""
        found: set[int] = set()
        for text in secret.texts:
            found |= self._texts(text)
        for digits in secret.digits:
            found |= self._numbers(digits, secret)
        if secret.dates:
            found |= self._dates(secret.dates)
        for sign in secret.signs:
            found |= {number for number, text in enumerate(self._raw) if sign in text}
        return {(self._words[number][0].number, self._words[number][1]) for number in found}

    def _runs(self, wanted: str) -> Iterator[tuple[int, int]]:
        start = self._compact.find(wanted)
        while start >= 0:
            yield start, start + len(wanted)
            start = self._compact.find(wanted, start + 1)

    def _touched(self, start: int, end: int) -> set[int]:
        return set(range(self._owner[start], self._owner[end - 1] + 1))

    def _texts(self, wanted: str) -> set[int]:
        short = len(wanted) < (_SHORT_NUMBER if wanted.isdecimal() else _SHORT_WORD)
        found: set[int] = set()
        for start, end in self._runs(wanted):
            if not short or self._stands_alone(start, end):
                found |= self._touched(start, end)
        return found

    def _numbers(self, wanted: str, secret: Secret) -> set[int]:
        """Digits that read as the number or the date, whatever separates them."""
        found: set[int] = set()
        for start, end in self._runs(wanted):
            if self._stands_alone(start, end) and self._reads_as(start, end, secret):
                found |= self._touched(start, end)
        return found

    def _reads_as(self, start: int, end: int, secret: Secret) -> bool:
        first, last = self._owner[start], self._owner[end - 1]
        texts = self._raw[first : last + 1]
        texts[-1] = texts[-1][: self._inside[end - 1] + 1]
        texts[0] = texts[0][self._inside[start] :]
        raw = _BLANK.sub(" ", " ".join(texts))
        if len(wanted := "".join(filter(str.isdigit, raw))) == 8 and secret.dates:
            return any(wanted in (iso[:4] + iso[5:7] + iso[8:], iso[8:] + iso[5:7] + iso[:4],
                                  iso[5:7] + iso[8:] + iso[:4]) for iso in secret.dates)  # fmt: skip
        readings = [value for point in ".," if (value := parse_number(raw, point)) is not None]
        if self._follows(end - 1, "%"):
            readings += [value / 100 for value in readings]
        return any(same_number(value) in secret.numbers for value in readings)

    def _follows(self, edge: int, sign: str) -> bool:
        number, at = self._owner[edge], self._inside[edge]
        rest = self._raw[number][at + 1 :] or (self._raw[number + 1] if number + 1 < len(self._raw) else "")
        return rest.startswith(sign)

    def _stands_alone(self, start: int, end: int) -> bool:
        return self._ends(start, -1) and self._ends(end - 1, 1)

    def _ends(self, edge: int, step: int) -> bool:
        """Whether what stands beside the edge, in the same word, is no letter or digit of the same kind."""
        text, at = self._raw[self._owner[edge]], self._inside[edge]
        beside = text[at + step] if 0 <= at + step < len(text) else ""
        further = text[at + 2 * step] if 0 <= at + 2 * step < len(text) else ""
        if text[at].isdigit():
            return not (beside.isdigit() or (beside in (".", ",") and further.isdigit()))
        return not beside.isalnum()

    def _dates(self, wanted: frozenset[str]) -> set[int]:
        """Dates in the text as it runs on, also over the end of a line."""
        text, starts = self._running_text
        found: set[int] = set()
        for order in ("day_first", "month_first"):
            for date in find_dates(text, "day_first" if order == "day_first" else "month_first"):
                if date.iso in wanted:
                    first, after = bisect_left(starts, date.start + 1) - 1, bisect_left(starts, date.end)
                    found |= set(range(max(first, 0), after))
        return found

    @cached_property
    def _running_text(self) -> tuple[str, list[int]]:
        starts, length = [], 0
        for text in self._raw:
            starts.append(length)
            length += len(text) + 1
        return " ".join(self._raw), starts
