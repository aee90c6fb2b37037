"""Which box each word stands in, and which line it stands on, as the drawing of the page says."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from llm.content import PageContent
from llm.offline.layout.model import Frame, Token
from llm.offline.layout.signs import CHECKED, UNCHECKED

_ON = (0.5, 0.75)
"""Units: heights of a word. How far the line that it stands on is over or under its lower edge."""
_APART = 7.0
"""Units: heights. Words farther apart on one line are those of several columns: it is the line of a row."""
_MIXED = 1.07
_SIDE = 3.0
"""Units: points."""
_FLUSH = 1.5
"""Units: points. A line that ends where its words do underlines them."""


def frames_of(page: PageContent) -> list[Frame]:
    """The boxes and lines of a page in its own units."""
    width, height = page.width or 1.0, page.height or 1.0
    return [Frame(page.number, x0 * width, y0 * height, x1 * width, y1 * height) for x0, y0, x1, y1 in page.frames]


def placed(tokens: Sequence[Token], frames: Sequence[Frame], first: int) -> list[Token]:
    """The words with the number of the smallest box around each, and of the blank that it was written on."""
    boxes = sorted(
        ((frame, first + place) for place, frame in enumerate(frames) if not frame.is_line), key=lambda it: it[0].area
    )
    held = [replace(token, frame=_around(token, boxes)) for token in tokens]
    lines = [
        (frame, first + place)
        for place, frame in enumerate(frames)
        if frame.is_line and not any(_is_upper_side(frame, box) for box, _ in boxes)
    ]
    on = {token.index: _under(token, lines) for token in held}
    blanks = _blanks([token for token in held if on[token.index] >= 0], on, {number: line for line, number in lines})
    return [replace(token, blank=on[token.index]) if on[token.index] in blanks else token for token in held]


def _is_upper_side(line: Frame, box: Frame) -> bool:
    """Whether a line is where a box begins: words close over it are its caption."""
    return abs(line.y0 - box.y0) < _SIDE and line.x0 < box.x1 - _SIDE and box.x0 + _SIDE < line.x1


def _around(token: Token, boxes: Sequence[tuple[Frame, int]]) -> int:
    x, y = (token.x0 + token.x1) / 2, token.middle
    return next((number for box, number in boxes if box.x0 <= x <= box.x1 and box.y0 <= y <= box.y1), -1)


def _under(token: Token, lines: Sequence[tuple[Frame, int]]) -> int:
    x, low, high = (token.x0 + token.x1) / 2, token.y1 - _ON[0] * token.height, token.y1 + _ON[1] * token.height
    return next((number for line, number in lines if line.x0 <= x <= line.x1 and low <= line.y0 <= high), -1)


def _blanks(tokens: Sequence[Token], on: dict[int, int], lines: dict[int, Frame]) -> set[int]:
    """The lines that answers were written on: not those under rows of a table, or under words to stress them."""
    written: dict[int, list[Token]] = defaultdict(list)
    for token in sorted(tokens, key=lambda token: token.x0):
        written[on[token.index]].append(token)
    return {number for number, words in written.items() if _is_blank(lines[number], words)}


def _is_blank(line: Frame, words: Sequence[Token]) -> bool:
    stressed = words[0].x0 - line.x0 < _FLUSH and line.x1 - words[-1].x1 < _FLUSH
    smaller, larger = min(word.height for word in words), max(word.height for word in words)
    if larger >= _MIXED * smaller or any(word.text in CHECKED or word.text in UNCHECKED for word in words):
        return False  # a caption and its answer, or options: a row of a form
    apart = any(after.x0 - word.x1 > _APART * word.height for word, after in pairwise(words))
    return not (stressed or apart)
