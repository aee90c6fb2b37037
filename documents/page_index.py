"""The words of pages, indexed by what they say: text, numbers, dates. What grounding looks values up in."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property

from llm.content import PageContent, Word
from llm.offline.typing.amounts import find_amounts
from llm.offline.typing.dates import find_dates

Box = tuple[float, float, float, float]
_MAX_SCATTERED, _MAX_STARTS = 40, 5
_WIDE_GAP = 0.9
"""In heights of the word after it; a blank is a quarter, and thousands are set apart by less."""
_SEPARATORS = re.compile(r"[^\w\s\-/.,'’–]+|(?<=\d{3})(?=[^\W\d_]{3})")  # "88802Northtown" is two words set close


def fold_text(text: str) -> str:
    """Letters and digits only, without case or accents: how two spellings are compared."""
    decomposed = unicodedata.normalize("NFKD", text)
    return "".join(char for char in decomposed.casefold() if char.isalnum())


@dataclass(frozen=True, slots=True)
class Hit:
    """A run of words that says a value. Units: boxes are fractions of the page, one box for each line it runs over."""

    page: int
    words: tuple[int, ...]
    boxes: tuple[Box, ...]
    quote: str

    def overlaps_rows(self, other: "Hit") -> bool:
        """Whether both stand on one row: their vertical extents overlap by half of the smaller one."""
        top, bottom = max(self.boxes[0][1], other.boxes[0][1]), min(self.boxes[-1][3], other.boxes[-1][3])
        height = min(self.boxes[-1][3] - self.boxes[0][1], other.boxes[-1][3] - other.boxes[0][1])
        return bottom - top >= height / 2

    def continues(self, other: "Hit") -> bool:
        """Whether this can be the next line of that: a little below it in its column, or beside it."""
        mine, theirs = self.boxes[0], other.boxes[-1]
        below, height = mine[1] - theirs[1], max(theirs[3] - theirs[1], 0.005)
        in_column = mine[0] < theirs[2] + height and mine[2] > theirs[0] - height
        return (in_column and 0 < below < 4 * height) or (abs(below) < height / 2 and mine[0] >= theirs[2] - height)

    def distance(self, other: "Hit") -> float:
        """Vertical distance of the middles first, horizontal as the tie-break."""
        mine, theirs = self.boxes[0], other.boxes[0]
        return abs(mine[1] + mine[3] - theirs[1] - theirs[3]) * 10 + abs(mine[0] - theirs[0])


@dataclass(frozen=True)
class _Line:
    page: int
    words: tuple[int, ...]
    starts: tuple[int, ...]
    text: str

    def words_at(self, start: int, end: int) -> tuple[int, ...]:
        """Word indexes that characters start..end of the line's text touch."""
        ends = (*self.starts[1:], len(self.text) + 1)
        return tuple(
            word
            for word, first, after in zip(self.words, self.starts, ends, strict=True)
            if first < end and after - 1 > start
        )


@dataclass
class _IndexedPage:
    """`shape` is width by height of the page."""

    number: int
    words: Sequence[Word]
    shape: float = 1.0
    lines: list[_Line] = field(default_factory=list)
    compact: str = ""
    owner: list[int] = field(default_factory=list)
    starts: set[int] = field(default_factory=set)
    ends: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._index_lines()
        self._index_text()

    def _index_lines(self) -> None:
        by_line: dict[int, list[int]] = {}
        for position, word in enumerate(self.words):
            by_line.setdefault(word.line, []).append(position)
        for members in by_line.values():
            for cell in self._cells(members):
                starts, text = [], ""
                for position in cell:
                    starts.append(len(text))
                    text += self.words[position].text + " "
                self.lines.append(_Line(self.number, tuple(cell), tuple(starts), text.rstrip()))

    def _cells(self, members: Sequence[int]) -> list[list[int]]:
        """Words of a line, apart where the gap is wide: "5" and "212.20" of two columns are not one number."""
        cells: list[list[int]] = []
        for position in members:
            word, before = self.words[position], self.words[cells[-1][-1]] if cells else None
            wide = before is None or (word.x0 - before.x1) * self.shape > _WIDE_GAP * (word.y1 - word.y0)
            if wide:
                cells.append([])
            cells[-1].append(position)
        return cells

    def _index_text(self) -> None:
        """One string of folded characters, so that blanks, hyphens and line breaks do not matter.

        A match must start where a word does, or after a sign such as the colon of "No.:2468", and end likewise; a
        part of a longer code ("2017" in "FA-2017-0008") is no match.
        """
        parts: list[str] = []
        length = 0
        for position, word in enumerate(self.words):
            for piece in _SEPARATORS.split(word.text):
                folded = fold_text(piece)
                if not folded:
                    continue
                self.starts.add(length)
                parts.append(folded)
                self.owner.extend([position] * len(folded))
                length += len(folded)
                self.ends.add(length)
        self.compact = "".join(parts)

    def hit(self, positions: tuple[int, ...]) -> Hit:
        """Boxes of the words, merged for each line."""
        boxes: dict[int, Box] = {}
        for position in positions:
            word = self.words[position]
            x0, y0, x1, y1 = boxes.get(word.line, (word.x0, word.y0, word.x1, word.y1))
            boxes[word.line] = (min(x0, word.x0), min(y0, word.y0), max(x1, word.x1), max(y1, word.y1))
        quote = " ".join(self.words[position].text for position in positions)
        return Hit(self.number, positions, tuple(boxes.values()), quote)


class PageIndex:
    """Look up values on the pages of one document. Numbers and dates are parsed once, when first asked for."""

    def __init__(self, pages: Sequence[PageContent]) -> None:
        self._pages = [_IndexedPage(page.number, page.words, page.width / (page.height or 1.0)) for page in pages]
        self._by_number = {page.number: page for page in self._pages}

    def text(self, value: str) -> list[Hit]:
        """Places that say `value`, blanks, case, hyphens, accents and line breaks aside."""
        wanted = fold_text(value)
        if not wanted:
            return self._signs(value.strip())
        hits = []
        for page in self._pages:
            start = page.compact.find(wanted)
            while start >= 0:
                end = start + len(wanted)
                if start in page.starts and end in page.ends:
                    hits.append(page.hit(tuple(range(page.owner[start], page.owner[end - 1] + 1))))
                start = page.compact.find(wanted, start + 1)
        return hits

    def _signs(self, value: str) -> list[Hit]:
        return [
            page.hit((position,))
            for page in self._pages
            for position, word in enumerate(page.words)
            if value and value in word.text
        ]

    def scattered(self, value: str) -> list[Hit]:
        """A text whose lines are apart in reading order: a wrapped cell of a table, an address in a column.

        Cut into the longest pieces that stand on the page, each one below or beside the piece before it.
        """
        words = value.split()
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
            near = [hit for hit in self.text(piece) if hit.page == before.page and hit.continues(before)]
            if near:
                return min(near, key=lambda hit: hit.distance(before)), end
            if not fold_text(piece):
                return before, end
        return None

    def numbers(self, value: Decimal) -> list[Hit]:
        """Places that print this number, in any of the usual formats."""
        wanted = value.normalize()
        return self._number_hits.get(wanted) or self._single_hits.get(wanted, [])

    def dates(self, iso: str) -> list[Hit]:
        """Places that print this date (YYYY-MM-DD), in any of the usual formats."""
        return self._date_hits.get(iso, [])

    @cached_property
    def _number_hits(self) -> dict[Decimal, list[Hit]]:
        return self._parsed(self._lines())

    @cached_property
    def _single_hits(self) -> dict[Decimal, list[Hit]]:
        """Numbers of single words, for columns so close that their numbers read as one."""
        words = [
            (page, _Line(page.number, (n,), (0,), word.text))
            for page in self._pages
            for n, word in enumerate(page.words)
        ]
        return self._parsed(words)

    @staticmethod
    def _parsed(lines: list[tuple[_IndexedPage, _Line]]) -> dict[Decimal, list[Hit]]:
        found: dict[Decimal, dict[tuple[int, tuple[int, ...]], Hit]] = {}
        for page, line in lines:
            for point in (".", ","):
                for amount in find_amounts(line.text, point):
                    words = line.words_at(amount.start, amount.end)
                    for value in (amount.value, amount.value / 100)[: 1 + amount.percent]:
                        found.setdefault(value.normalize(), {})[page.number, words] = page.hit(words)
        return {value: list(hits.values()) for value, hits in found.items()}

    @cached_property
    def _date_hits(self) -> dict[str, list[Hit]]:
        found: dict[str, dict[tuple[int, tuple[int, ...]], Hit]] = {}
        for page, line in self._lines():
            dates = [*find_dates(line.text, "day_first"), *find_dates(line.text, "month_first")]
            for date in dates:
                words = line.words_at(date.start, date.end)
                found.setdefault(date.iso, {})[page.number, words] = page.hit(words)
        return {value: list(hits.values()) for value, hits in found.items()}

    def _lines(self) -> list[tuple[_IndexedPage, _Line]]:
        return [(page, line) for page in self._pages for line in page.lines]

    def label_score(self, hit: Hit, tokens: Sequence[str], *, both_sides: bool = False) -> float:
        """How much the words before and above a place are like a property's name. 0 = not at all.

        Nearer words count more; the word must begin like the token (four letters at least, or be it).
        """
        page = self._by_number[hit.page]
        score = 0.0
        for nearness, word in _neighbours(page, hit, both_sides=both_sides):
            folded = fold_text(word.text)
            if any(_alike(folded, token) for token in tokens):
                score += nearness
        return score

    def label_before(self, hit: Hit) -> str:
        """The text on the row before a place, back to the last thing that is a value itself: its printed label."""
        page = self._by_number[hit.page]
        x0, y0, _, y1 = hit.boxes[0]
        middle = (y0 + y1) / 2
        row = [word for word in page.words if word.y0 <= middle <= word.y1 and word.x1 <= x0 + 0.01]
        label: list[str] = []
        for word in sorted(row, key=lambda word: -word.x1):
            if any(map(str.isdigit, word.text)):
                break
            label.insert(0, word.text)
        return " ".join(label)


def _neighbours(page: _IndexedPage, hit: Hit, *, both_sides: bool) -> list[tuple[float, Word]]:
    x0, y0, x1, y1 = hit.boxes[0]
    middle, height = (y0 + y1) / 2, max(y1 - y0, 0.005)
    near = []
    for position, word in enumerate(page.words):
        if position in hit.words:
            continue
        gap = max(x0 - word.x1, word.x0 - x1 if both_sides else -1.0)
        if word.y0 <= middle <= word.y1 and gap >= -0.01:
            near.append((1.0 / (1.0 + 4 * max(gap, 0.0)), word))
        elif 0 < y0 - word.y1 < 3 * height and word.x0 < x1 and word.x1 > x0:
            near.append((0.6, word))
    return near


def _alike(word: str, token: str) -> bool:
    if not word or not token:
        return False
    return word == token or (min(len(word), len(token)) >= 4 and (word.startswith(token) or token.startswith(word)))
