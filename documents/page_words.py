"""The words of one page as text and lines: what is looked through, and the places that come out of it."""

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

from documents.spellings import same_numbers
from llm.content import Word

Box = tuple[float, float, float, float]
_WIDE_GAP = 0.9
"""In heights of the word after it; a blank is a quarter, and thousands are set apart by less."""
_BLANK = 0.5
"""Units: the same. No blank between two words of one text is wider."""
_SEPARATORS = re.compile(
    r"[^\w\s\-/.,'’–:]+|(?<!\d):+|:+(?!\d)|(?<=\d\d:\d\d):"  # "09:40" is a time, "09" no part of it
    r"|(?<=[xX]{3})(?=\d)"  # what is masked
    r"|(?<=\d{3})(?=[^\W\d_]{3})"  # "88802Northtown" is two words set close
    r"|(?<=[^\W\d_]\.)(?=\d{3})"  # "No.2468" too
)
_STROKES = str.maketrans(
    {"ø": "o", "Ø": "o", "ł": "l", "Ł": "l", "đ": "d", "Đ": "d", "œ": "oe", "Œ": "oe", "æ": "ae", "Æ": "ae"}
)
_OPENED_OUT = str.maketrans(
    {"ä": "ae", "Ä": "ae", "ö": "oe", "Ö": "oe", "ü": "ue", "Ü": "ue", "ø": "oe", "Ø": "oe", "å": "aa", "Å": "aa"}
)
_MISREAD = str.maketrans({"l": "1", "i": "1", "o": "0"})
_SHORT_CODE = 6
"""Fewer letters and digits without a blank stand close together: "1" and "5" of two cells are not 15."""
_FEW_WORDS = 20
_FILLED = 5
"""A page with so many words in fields is a form that was filled in."""
_CENTS, _WHOLE = re.compile(r"\d\d"), re.compile(r"-?\d[\d.'’]*,?")
_BOXED_OFF, _EDGE = 2.5, 0.003
"""Units: heights of a word; fractions of the page. So near to the line between their boxes stand euros and cents."""
_NEXT = 2
"""Units: words. A dash or a bullet may stand between two pieces."""
_FARTHER = 1.5
"""How much wider than inside a code the gap after it must be for the next digits not to belong to it."""


def fold_text(text: str) -> str:
    """Letters and digits only, without case or accents: how two spellings are compared."""
    decomposed = unicodedata.normalize("NFKD", text.translate(_STROKES))
    return "".join(char for char in decomposed.casefold() if char.isalnum())


def fold_as_read(text: str) -> str:
    """The same where l, I and 1, O and 0 are not told apart: how a scan is read."""
    return fold_text(text).translate(_MISREAD)


def fold_opened_out(text: str) -> str:
    """The same with ä as ae: how a name is spelled where there are no dots."""
    return fold_text(unicodedata.normalize("NFC", text).translate(_OPENED_OUT))


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

    def adjoins(self, other: "Hit") -> bool:
        """Whether both may be parts of one block, whichever comes first."""
        return self.page == other.page and (self.continues(other) or other.continues(self))

    def is_stacked(self, other: "Hit") -> bool:
        """Whether one stands right under the other, at the same left edge."""
        high, low = sorted((self.boxes[0], other.boxes[0]), key=lambda box: box[1])
        height = high[3] - high[1]
        return self.page == other.page and abs(high[0] - low[0]) < height and 0 < low[1] - high[1] < 2.5 * height

    def distance(self, other: "Hit") -> float:
        """Vertical distance of the middles first, horizontal as the tie-break."""
        mine, theirs = self.boxes[0], other.boxes[0]
        return abs(mine[1] + mine[3] - theirs[1] - theirs[3]) * 10 + abs(mine[0] - theirs[0])


@dataclass(frozen=True)
class Line:
    """A run of words without a wide gap. `starts`: where each word begins in `text`."""

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

    @classmethod
    def of(cls, number: int, words: Sequence[Word], positions: Sequence[int]) -> "Line":
        starts, text = [], ""
        for position in positions:
            starts.append(len(text))
            text += words[position].text + " "
        return cls(number, tuple(positions), tuple(starts), text.rstrip())


class RunningText:
    """One string of folded characters, so that blanks, hyphens and line breaks do not matter.

    A match must start where a word does, or after a sign such as the colon of "No.:2468", and end likewise; a part of
    a longer code ("2017" in "FA-2017-0008") is no match.
    """

    def __init__(self, words: Sequence[Word], fold: Callable[[str], str]) -> None:
        self._owner: list[int] = []
        self._starts: set[int] = set()
        self._ends: set[int] = set()
        parts: list[str] = []
        for position, word in enumerate(words):
            for piece in _SEPARATORS.split(word.text):
                if folded := fold(piece):
                    self._starts.add(len(self._owner))
                    parts.append(folded)
                    self._owner.extend([position] * len(folded))
                    self._ends.add(len(self._owner))
        self._text = "".join(parts)

    def find(self, wanted: str) -> Iterator[tuple[int, ...]]:
        """The positions of the words of every match."""
        start = self._text.find(wanted)
        while start >= 0:
            end = start + len(wanted)
            if start in self._starts and end in self._ends:
                yield tuple(range(self._owner[start], self._owner[end - 1] + 1))
            start = self._text.find(wanted, start + 1)


@dataclass
class IndexedPage:
    """`shape` is width by height of the page, `frames` the boxes that are drawn on it."""

    number: int
    words: Sequence[Word]
    shape: float = 1.0
    frames: Sequence[Box] = ()
    lines: list[Line] = field(default_factory=list)

    def __post_init__(self) -> None:
        by_line: dict[int, list[int]] = {}
        for position, word in enumerate(self.words):
            by_line.setdefault(word.line, []).append(position)
        for members in by_line.values():
            self.lines += [Line.of(self.number, self.words, cell) for cell in self._cells(members)]

    def _cells(self, members: Sequence[int]) -> list[list[int]]:
        """Words of a line, apart where the gap is wide: "5" and "212.20" of two columns are not one number."""
        cells: list[list[int]] = []
        for position in members:
            if not cells or self._gap(cells[-1][-1], position) > _WIDE_GAP:
                cells.append([])
            cells[-1].append(position)
        return cells

    def _gap(self, left: int, right: int) -> float:
        """Units: heights of the word on the right."""
        word = self.words[right]
        return (word.x0 - self.words[left].x1) * self.shape / max(word.y1 - word.y0, 1e-6)

    @cached_property
    def cents(self) -> list[tuple[int, int]]:
        """Words of digits with the hundredths of the same amount behind them: in a box of their own, or cut off."""
        found = []
        for left, right in pairwise(range(len(self.words))):
            one, other = self.words[left], self.words[right]
            if other.line != one.line or not _CENTS.fullmatch(other.text) or not _WHOLE.fullmatch(one.text):
                continue
            if self._is_cut_off(left, right) or self._is_boxed_off(left, right):
                found.append((left, right))
        return found

    def _is_cut_off(self, left: int, right: int) -> bool:
        return self.words[left].text[-1] in ",." and -_BLANK < self._gap(left, right) < _BLANK

    def _is_boxed_off(self, left: int, right: int) -> bool:
        one, other = self.words[left], self.words[right]
        reach = _BOXED_OFF * (one.y1 - one.y0) / self.shape
        middle = (one.y0 + one.y1) / 2
        return any(
            y0 < middle < y1 and max(one.x1 - _EDGE, other.x0 - reach) <= x <= min(other.x0 + _EDGE, one.x1 + reach)
            for x0, y0, x1, y1 in self.frames
            for x in (x0, x1)
        )

    @cached_property
    def text(self) -> RunningText:
        return RunningText(self.words, fold_text)

    @cached_property
    def opened_out(self) -> RunningText:
        return RunningText(self.words, fold_opened_out)

    @cached_property
    def as_read(self) -> RunningText:
        is_scan = any(word.origin == "ocr" for word in self.words[:_FEW_WORDS])
        return RunningText(self.words if is_scan else (), fold_as_read)

    @cached_property
    def by_folded(self) -> dict[str, list[int]]:
        """Where each word stands, by its folded text."""
        found: dict[str, list[int]] = {}
        for position, word in enumerate(self.words):
            found.setdefault(fold_text(word.text), []).append(position)
        return found

    def hit(self, positions: Sequence[int]) -> Hit:
        """Boxes of the words, merged for each line."""
        boxes: dict[int, Box] = {}
        for position in positions:
            word = self.words[position]
            x0, y0, x1, y1 = boxes.get(word.line, (word.x0, word.y0, word.x1, word.y1))
            boxes[word.line] = (min(x0, word.x0), min(y0, word.y0), max(x1, word.x1), max(y1, word.y1))
        quote = " ".join(self.words[position].text for position in positions)
        return Hit(self.number, tuple(positions), tuple(boxes.values()), quote)

    @cached_property
    def _filled(self) -> int:
        return sum(word.origin == "form" and any(map(str.isalnum, word.text)) for word in self.words)

    def is_filled_in(self, hit: Hit) -> bool:
        """Whether a place is in a field of a form that was filled in."""
        origins = {self.words[position].origin for position in hit.words}
        return origins == {"form"} and self._filled >= _FILLED

    def says(self, value: str, positions: Sequence[int]) -> bool:
        """Whether words that are equal to a value without signs really say it."""
        words = [self.words[position] for position in positions]
        if not same_numbers(value, " ".join(word.text for word in words)):
            return False
        if len(words) == 1:
            return True
        if len(value.split()) == 1 and len(fold_text(value)) < _SHORT_CODE and not self._is_close(positions):
            return False
        return not self._is_cut(positions, is_code=len(value.split()) == 1)

    def _is_close(self, positions: Sequence[int]) -> bool:
        """Words of one cell; digits only when they are a comb of single ones, or groups of thousands."""
        words = [self.words[position] for position in positions]
        gaps = [self._gap(a, b) for a, b in pairwise(positions)]
        if len({word.line for word in words}) > 1 or max(gaps) > _WIDE_GAP:
            return len({word.line for word in words}) == 1 and all(len(word.text) == 1 for word in words)
        if not all(fold_text(word.text).isdigit() for word in words):
            return True
        groups = [fold_text(word.text) for word in words]
        is_comb = len(groups) > 2 and all(len(group) == 1 for group in groups)
        in_thousands = all(len(group) == 3 for group in groups[1:])
        return is_comb or in_thousands or (max(gaps) < _BLANK and tuple(positions) in self._whole_cells)

    def follows(self, hit: Hit, before: Hit) -> bool:
        """Whether a place can be the next piece of a text that is apart: cells end and begin between the two."""
        starts, ends = self._edges
        if 0 < hit.words[0] - before.words[-1] <= _NEXT:
            return True
        return hit.continues(before) and hit.words[0] in starts and before.words[-1] in ends

    @cached_property
    def _edges(self) -> tuple[set[int], set[int]]:
        """The first and the last words of all cells; what stands behind a label's colon is a first one too."""
        starts = {line.words[0] for line in self.lines}
        labelled = {at + 1 for at, word in enumerate(self.words) if word.text.endswith(":")}
        return starts | labelled, {line.words[-1] for line in self.lines}

    @cached_property
    def _whole_cells(self) -> set[tuple[int, ...]]:
        return {line.words for line in self.lines}

    def _is_cut(self, positions: Sequence[int], *, is_code: bool) -> bool:
        """Whether groups of digits go on before or after: a part of an account number is not the number."""
        groups = [fold_text(self.words[position].text) for position in positions]
        in_comb = all(len(group) == 1 for group in groups)
        starts = any(map(str.isdigit, groups[0])) or is_code
        if not in_comb and not (starts and all(map(str.isdigit, groups[1:]))):
            return False
        reach = _FARTHER * max(self._gap(a, b) for a, b in pairwise(positions))
        first, last = positions[0], positions[-1]
        before = groups[0].isdigit() or in_comb
        return self._belongs(last, last + 1, reach, in_comb) or (
            before and self._belongs(first, first - 1, reach, in_comb)
        )

    def _belongs(self, end: int, other: int, reach: float, in_comb: bool) -> bool:
        """Whether the word beside the end of a code is more of it."""
        if not 0 <= other < len(self.words) or self.words[end].line != self.words[other].line:
            return False
        folded = fold_text(self.words[other].text)
        is_more = len(folded) == 1 if in_comb else folded.isdigit()
        return is_more and self._gap(min(end, other), max(end, other)) <= reach
