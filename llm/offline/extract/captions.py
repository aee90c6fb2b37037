"""The label parts of cells: what stands before a colon, before a number, or all of a cell."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from llm.offline.layout.model import Cell, Layout, Token
from llm.offline.layout.signs import CHECKED, UNCHECKED
from llm.offline.matching.words import words_of

LEADING_NUMBER = re.compile(r"^(?:\(?(?:\d{1,2}(?:\.\d{1,2})?[a-z]?|[a-z])[.)]?|\([a-z]\.\d{1,2}\))$", re.IGNORECASE)
"""What numbers the boxes of forms: "10", "2.1", "7a.", "b", "(A)", "(D.1)"."""
_BOX_NUMBER = re.compile(r"^\d{1,2}(?:\.\d{1,2})?[a-z]?$")
_PARTS = frozenset({"-", "–", "|", "●", "•", "·", "/", "=", "—"})
_LONGEST = 6
"""Units: words. What stands before a number in running text and may still name it."""


@dataclass(frozen=True, slots=True)
class Caption:
    """The label part of a cell, tokens `start`–`end`. `inline`: a number follows it in the cell."""

    cell: Cell
    end: int
    words: tuple[str, ...]
    colon: bool
    start: int = 0
    inline: bool = False


def captions_of(layout: Layout, cell: Cell) -> list[Caption]:
    """The label part of `cell`; for a caption over several lines a second one with all its words."""
    tokens = cell.tokens
    first = 1 if len(tokens) > 1 and LEADING_NUMBER.match(tokens[0].text) else 0
    end, colon = _caption_end(tokens, first)
    text = " ".join(token.text for token in tokens[first:end]).split("(")[0]
    alternatives = [part for part in text.split("/") if part.strip()] if text.count("/") == 1 else []
    found = [Caption(cell, end, words_of(part), colon) for part in (text, *alternatives) if words_of(part)]
    if end == len(tokens) and not colon:
        found.extend(_long_caption(layout, cell, text))
    return found


def _caption_end(tokens: Sequence[Token], first: int) -> tuple[int, bool]:
    for place in range(first, len(tokens)):
        text = tokens[place].text
        if text in CHECKED or text in UNCHECKED:
            return place, False
        if text.endswith(":") or text == ":":
            return place + 1, True
        if place > first and text.endswith(".") and len(text) > 5 and place + 1 < len(tokens):
            return len(tokens), False
    return len(tokens), False


def _long_caption(layout: Layout, cell: Cell, text: str) -> list[Caption]:
    """Captions of form boxes run on below in the same small print; their values are set apart or in another size."""
    words, last = [text], cell
    for line in layout.lines[cell.line + 1 : cell.line + 9]:
        if line.page != cell.page or line.y0 - last.y1 > 0.9 * last.height:
            break
        below = [other for other in line.cells if abs(other.x0 - cell.x0) < 1.6 * cell.height]
        if below and same_print(below[0], cell) and not any(map(str.isdigit, below[0].text)):
            words.append(below[0].text.split("(")[0])
            last = replace(below[0], x0=min(cell.x0, below[0].x0))
    if last is cell:
        return []
    return [Caption(last, len(last.tokens), words_of(" ".join(words)), False)]


def segments_of(cell: Cell) -> Iterator[Caption]:
    """The words before each number of a cell ("BSB 063-142 Account 1045 8820"), back to the number before."""
    tokens = cell.tokens
    start = 0
    for place, token in enumerate(tokens):
        if _is_figure(token):
            begin = max(start, place - _LONGEST)
            words = words_of(" ".join(other.text for other in tokens[begin:place]).split("(")[0])
            if begin < place and words:
                yield Caption(cell, place, words, tokens[place - 1].text.endswith(":"), begin, inline=True)
            start = place + 1
        elif _ends_part(token) and not (place + 1 < len(tokens) and _is_figure(tokens[place + 1])):
            start = place + 1
    if 0 < start < len(tokens) <= start + 3 and _is_figure(tokens[start - 1]) and tokens[start].text[0].isupper():
        words = words_of(" ".join(other.text for other in tokens[start:]))
        if words:
            yield Caption(cell, len(tokens), words, tokens[-1].text.endswith(":"), start)


def _is_figure(token: Token) -> bool:
    return any(map(str.isdigit, token.text))


def _ends_part(token: Token) -> bool:
    text = token.text
    return text in _PARTS or text.endswith((",", ";")) or (text.endswith(".") and len(text) > 5)


def same_print(below: Cell, cell: Cell) -> bool:
    """Whether two cells are set alike: values of forms are larger than their captions, or typed in."""
    alike = abs(below.height - cell.height) < 0.12 * cell.height
    return alike and below.tokens[0].origin == cell.tokens[0].origin


def is_numbered(cell: Cell) -> bool:
    """Whether a cell begins like the caption of a form's box: "10 Gross proceeds"."""
    first = cell.tokens[0].text
    return (
        len(cell.tokens) > 1
        and bool(_BOX_NUMBER.match(first))
        and cell.tokens[1].text[:1].isupper()
        and _wordy_cell(cell)
    )


def _wordy_cell(cell: Cell) -> bool:
    rest = [token.text.rstrip("?:.,") for token in cell.tokens[1:]]
    return sum(text.isalpha() and text.islower() for text in rest) > 0.3 * len(rest) or len(rest) == 1
