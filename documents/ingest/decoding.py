"""From what the recognizer thinks of each column of a line to characters with places, and to words."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median_low

import numpy as np
import numpy.typing as npt

Columns = npt.NDArray[np.float32]
Flags = npt.NDArray[np.bool_]

_SIGNS = frozenset("□▢❑☐☑☒✅✓✔✗✘■•●○◦►▶")
_LETTER_ENDS = 0.15
_WIDE_WHITE, _UNUSUAL = 0.3, 2.6
_EVEN, _NEARLY_EVEN, _ENOUGH, _APART, _EMPTY = 0.07, 0.2, 6, 1.5, 0.6
"""Print of fixed pitch has white around its narrow characters, which are no spaces: there the pitch tells.
Source: unevenness of receipts' lines 0.01–0.06, of other print 0.05–0.28."""
_SMALL_IN_CAPITALS, _NOUGHT_IN_LETTERS = re.compile("(?<=[A-Z])[il](?=[A-Z])"), re.compile("(?<=[A-Z])0(?=[A-Z])")
_LETTERS_OF_A_WORD = 5
_BETWEEN_FIGURES = 0.45
_NARROW = frozenset(".,:;'-")
_SPACES = ((0.5, 0.0), (0.001, 0.2), (0.05, 0.1))
"""Units: likelihood of a space, and white in heights of the ink. Source: 38,000 pairs of characters on printed pages:
of those that meet one of these three in 50 belong to one word, of the spaces one in eight was not read as such."""


@dataclass(frozen=True, slots=True)
class Character:
    """A printed character.

    Units: `x` is the middle in columns of the picture of the line; `space` is how likely one stands before it; 0–1.
    """

    text: str
    x: float
    confidence: float
    space: float = 0.0


@dataclass(frozen=True, slots=True)
class LineWord:
    """Units: x0, x1 in columns of the picture of the line."""

    text: str
    x0: float
    x1: float
    confidence: float


class Alphabet:
    """The characters that a recognizer knows; the first stands for none."""

    def __init__(self, characters: Sequence[str]) -> None:
        self.characters = [unicodedata.normalize("NFC", character) for character in characters]
        self._space = self.characters.index(" ")
        self._western = np.array(
            [0, *(at for at, character in enumerate(self.characters) if at and is_western(character))]
        )

    def decode(self, columns: Columns, step: float, *, western: bool) -> list[Character]:
        """The likeliest characters; `western` leaves East Asian ones and symbols out of the choice.

        Units: `step` is the width of one of the `columns` in the picture of the line.
        """
        seen = columns[:, self._western] if western else columns
        best = seen.argmax(axis=1)
        sure = seen[np.arange(len(best)), best].tolist()
        names = (self._western[best] if western else best).tolist()
        spaces = columns[:, self._space]
        found: list[Character] = []
        start = 0
        for at, name in enumerate(names):
            if name in (0, self._space) or (at and name == names[at - 1]):
                continue
            space = float(spaces[start : at + 1].max())
            found.append(Character(self.characters[name], (at + 0.5) * step, float(sure[at]), space))
            start = at
        return found


def is_western(character: str) -> bool:
    """A letter of Europe, a digit, or a sign that documents have."""
    if character in _SIGNS or character == " ":
        return True
    first = character[0]
    if unicodedata.category(first)[0] in "LM":
        return ord(first) < 0x2000 and unicodedata.name(first, "?").split()[0] in ("LATIN", "GREEK", "CYRILLIC")
    return ord(first) < 0x0300 or 0x2010 <= ord(first) <= 0x203A or 0x20A0 <= ord(first) <= 0x20BF or first in "№™−≤≥≈"


def is_east_asian(character: str) -> bool:
    return unicodedata.east_asian_width(character[0]) in "WF"


@dataclass(frozen=True, slots=True)
class Spread:
    """How the characters of a line are spread. Units: columns of the picture of the line.

    `whites` are the gaps between them; `high` is the height of the ink, as much wider as the line was made.
    `uneven` is how far, on average, they are from standing in cells of one width: print of fixed pitch has little.
    """

    characters: tuple[Character, ...]
    left: float
    whites: tuple[tuple[float, float], ...]
    right: float
    high: float
    pitch: float
    uneven: float

    @property
    def usual(self) -> float:
        return median_low([end - start for start, end in self.whites]) if self.whites else 0.0


def spread_of(characters: Sequence[Character], ink: Flags, stretch: float = 1.0) -> Spread | None:
    """Find the ink of each character; `ink` says where the picture of the line is not paper.

    Units: `stretch` is how much wider the picture of the line is than the line was.
    """
    if not characters:
        return None
    dark: Flags = np.asarray(ink.any(axis=0))
    rows = np.flatnonzero(ink.any(axis=1))
    high = stretch * float(rows[-1] - rows[0] + 1 if rows.size else ink.shape[0])
    whites = tuple(_widest_white(dark, one.x, other.x) for one, other in pairwise(characters))
    left, right = _edge(dark, characters[0].x, -1, high), _edge(dark, characters[-1].x, 1, high)
    sides = [left, *(side for white in whites for side in white), right]
    steps = np.diff([(start + end) / 2 for start, end in zip(sides[::2], sides[1::2], strict=True)])
    pitch, uneven = _pitch(steps)
    return Spread(tuple(characters), left, whites, right, high, pitch, uneven)


def _pitch(steps: npt.NDArray[np.float64]) -> tuple[float, float]:
    if not steps.size:
        return 0.0, 1.0
    near = steps[steps < 1.5 * np.median(steps)]
    pitch = max(1.0, float(np.median(near if near.size else steps)))
    cells = steps[steps < 4.5 * pitch] / pitch
    return pitch, float(np.abs(cells - np.round(cells)).mean()) if cells.size else 1.0


def is_typed(lines: Sequence[Spread]) -> bool:
    """Whether a page is print of fixed pitch, as most receipts are."""
    uneven = [line.uneven for line in lines if len(line.characters) >= _ENOUGH]
    return bool(uneven) and median_low(uneven) < _EVEN


def words_of(line: Spread, *, typed: bool = False) -> list[LineWord]:
    """Group the characters of a line; `typed` when the page is print of fixed pitch."""
    fixed = line.uneven < _EVEN and len(line.characters) >= (3 if typed else _ENOUGH)
    nearly = typed and not fixed and line.uneven < _NEARLY_EVEN
    words: list[LineWord] = []
    first, left = 0, line.left
    centre = line.left
    for at, (start, end) in enumerate(line.whites):
        one, other = line.characters[at], line.characters[at + 1]
        behind = line.whites[at + 1][0] if at + 1 < len(line.whites) else line.right
        step, centre = (end + behind) / 2 - (centre + start) / 2, end
        is_tight = bool({one.text, other.text} & _NARROW)
        is_read = other.space >= _SPACES[0][0] and not is_tight
        parts = end - start > _EMPTY * line.pitch and (is_read or step > _APART * line.pitch)
        if not fixed and not (nearly and is_tight):
            figures = one.text.isdigit() and other.text.isdigit()
            parts = _parts(end - start, line, other.space, figures=figures)
        if parts or is_east_asian(one.text) or is_east_asian(other.text):
            words.append(_word(line.characters[first : at + 1], left, start))
            first, left = at + 1, end
    words.append(_word(line.characters[first:], left, line.right))
    return words


def _parts(white: float, line: Spread, space: float, *, figures: bool) -> bool:
    """Whether words part here: a space was read, or nearly and there is white, or there is very much of it.

    Between `figures` white says less: all are as wide as a nought.
    """
    if figures and space < _SPACES[0][0]:
        return white >= max(_BETWEEN_FIGURES * line.high, _UNUSUAL * line.usual)
    if any(space >= likely and white >= least * line.high for likely, least in _SPACES):
        return True
    return white >= max(_WIDE_WHITE * line.high, _UNUSUAL * line.usual)


def _word(characters: Sequence[Character], x0: float, x1: float) -> LineWord:
    text = _likely("".join(character.text for character in characters))
    return LineWord(text, x0, max(x1, x0 + 1), sum(one.confidence for one in characters) / len(characters))


def _likely(text: str) -> str:
    """The word with what only looks like a figure or a small letter put right: GAZ0LE, TlN."""
    letters = [one for one in text if one.isalpha()]
    small = [one for one in letters if one.islower()]
    if len(letters) - len(small) >= 2 and len(small) == 1:
        text = _SMALL_IN_CAPITALS.sub("I", text)
    if len(letters) >= _LETTERS_OF_A_WORD and not small and [one for one in text if one.isdigit()] == ["0"]:
        text = _NOUGHT_IN_LETTERS.sub("O", text)
    return text


def _widest_white(dark: Flags, start: float, end: float) -> tuple[float, float]:
    """The widest run of columns without ink between two middles; where all is ink, the middle."""
    first, last = int(start), max(int(start) + 1, int(end) + 1)
    best, run = (0, 0), 0
    for at, is_dark in enumerate(dark[first:last].tolist()):
        run = 0 if is_dark else run + 1
        if run > best[1] - best[0]:
            best = (at + 1 - run, at + 1)
    if best[1] == best[0]:
        return (start + end) / 2, (start + end) / 2
    return float(first + best[0]), float(first + best[1])


def _edge(dark: Flags, middle: float, direction: int, high: float) -> float:
    """Where the ink of the outermost character ends; behind white it is that of something else."""
    at, reach = round(middle), round(0.9 * high)
    inside = dark[max(0, at - reach) : at + 1][::-1] if direction < 0 else dark[at : at + reach]
    places = np.flatnonzero(inside)
    if places.size:
        ends = np.flatnonzero(np.diff(places) > max(2.0, _LETTER_ENDS * high))
        out = int(places[ends[0] if ends.size else -1]) + 1
    else:
        out = 0
    return float(max(0, at - out + 1)) if direction < 0 else float(min(len(dark), at + out))
