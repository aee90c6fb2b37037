"""Check boxes and their captions."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from llm.offline.layout.model import Cell, Check, Line, Token
from llm.offline.layout.signs import CHECKED, UNCHECKED

_PRINTED = re.compile(r"^[\[(]\s*([xX×✓✔✗✕✖]?)_?\s*[\])]$")
_NEAR = 2.5
"""Units: line heights. How far a box may be from its caption."""
_MOST_OPTIONS = 14
"""Units: lines. How far over a column of boxes the question may stand."""


@dataclass(frozen=True, slots=True)
class _Mark:
    cell: Cell
    place: int
    state: bool

    @property
    def token(self) -> Token:
        return self.cell.tokens[self.place]


def find_checks(lines: Sequence[Line]) -> list[Check]:
    """All check boxes, as signs or printed as [x] and [ ]."""
    found: list[Check] = []
    for line in lines:
        marks = [_Mark(cell, place, state) for cell in line.cells for place, state in _marks(cell)]
        if not marks:
            continue
        first = _left_option(line, marks, 0)
        asked = _question(lines, line, marks[0], first[0].x0 if first else marks[0].token.x0, found)
        for order, mark in enumerate(marks):
            said = _left_option(line, marks, order)
            captions = [_text(said)] if said else []
            captions += [text for text in _captions(lines, line, mark.cell, mark.place) if text not in captions]
            if not captions:
                continue
            right = said or _right_tokens(line, mark)
            question = _own_question(line, marks, order) or asked
            found.append(
                Check(
                    mark.state,
                    mark.token,
                    tuple(captions),
                    question if question != captions[0] else "",
                    tuple(token.index for token in right),
                )
            )
    return found


def _marks(cell: Cell) -> Iterator[tuple[int, bool]]:
    for place, token in enumerate(cell.tokens):
        if token.text in CHECKED:
            yield place, True
        elif token.text in UNCHECKED:
            yield place, False
        elif match := _PRINTED.match(token.text):
            yield place, bool(match.group(1))
        elif token.text + "".join(after.text for after in cell.tokens[place + 1 : place + 2]) in {"[]", "()"}:
            yield place, False


def _is_mark(token: Token) -> bool:
    return token.text in CHECKED or token.text in UNCHECKED or bool(_PRINTED.match(token.text))


def _text(tokens: Sequence[Token]) -> str:
    return " ".join(token.text for token in tokens)


def _between(line: Line, start: float, end: float) -> list[Token]:
    return [token for cell in line.cells for token in cell.tokens if start - 0.5 <= token.x0 and token.x1 <= end + 0.5]


def _worded(tokens: Sequence[Token]) -> bool:
    return any(map(str.isalpha, "".join(token.text for token in tokens)))


def _left_option(line: Line, marks: Sequence[_Mark], order: int) -> list[Token]:
    """The words of "yes ☐ no ☒", where each of several boxes stands behind its words and nothing behind the last."""
    height = marks[0].token.height
    if len(marks) < 2 or _worded(_right_tokens(line, marks[-1])):
        return []
    starts = [0.0, *(mark.token.x1 for mark in marks)]
    parts = [_between(line, start, mark.token.x0) for start, mark in zip(starts, marks, strict=False)]
    if not all(
        _worded(part) and mark.token.x0 - part[-1].x1 < _NEAR * height for part, mark in zip(parts, marks, strict=True)
    ):
        return []
    kept: list[Token] = []
    for token in reversed(parts[order]):
        if kept and (token.text.endswith((":", "?")) or kept[-1].x0 - token.x1 > height):
            break
        kept.append(token)
    return kept[::-1]


def _right_tokens(line: Line, mark: _Mark) -> list[Token]:
    """The words right of a box up to the next one."""
    found: list[Token] = []
    for token in _between(line, mark.token.x1, float("inf")):
        if _is_mark(token) or (found or [mark.token])[-1].x1 + _NEAR * mark.token.height < token.x0:
            break
        found.append(token)
    return found


def _own_question(line: Line, marks: Sequence[_Mark], order: int) -> str:
    """The words behind which a second group of boxes begins on the same line: "yes ☐ no ☐   Smoker? ☐ yes …"."""
    if not order:
        return ""
    found = ""
    for before, mark in pairwise(marks[: order + 1]):
        between = _between(line, before.token.x1, mark.token.x0)
        asked = [at for at, token in enumerate(between) if token.text.endswith((":", "?"))]
        if asked:
            start = max(
                (at + 1 for at in range(asked[-1]) if between[at + 1].x0 - between[at].x1 > between[at].height),
                default=0,
            )
            found = _text(between[start : asked[-1] + 1])
    return found


def _question(lines: Sequence[Line], line: Line, mark: _Mark, start: float, before: Sequence[Check]) -> str:
    """What the boxes of a line answer: the words before `start`, else what stands over the column of boxes."""
    left = [cell for cell in line.cells if cell.x0 < start - 1 and _worded(_between(line, cell.x0, start))]
    if left:
        inside = [token for token in left[-1].tokens if token.x1 <= start + 1]
        return _whole(lines, line, left[-1]) if len(inside) == len(left[-1].tokens) else _text(inside)
    floor = line
    for over in reversed(lines[max(0, line.index - _MOST_OPTIONS) : line.index]):
        if over.page != line.page or floor.y0 - over.y1 > 1.6 * mark.cell.height:
            return ""
        column = [cell for cell in over.cells if any(map(_is_mark, cell.tokens)) and _aligned(cell, mark)]
        if column:
            token = column[0].tokens[0]
            return next((check.question for check in before if check.token.index == token.index), "")
        head = next((c for c in over.cells if c.x0 <= mark.token.x0 + mark.cell.height and c.x1 > mark.token.x0), None)
        if head is not None and _worded(head.tokens) and not any(map(_is_mark, head.tokens)):
            return head.text
        floor = over
    return ""


def _aligned(cell: Cell, mark: _Mark) -> bool:
    return _is_mark(cell.tokens[0]) and abs(cell.tokens[0].x0 - mark.token.x0) < 0.5 * mark.cell.height


def _whole(lines: Sequence[Line], line: Line, cell: Cell) -> str:
    """A question that runs on over the next line."""
    words = [cell.text]
    for below in lines[line.index + 1 : line.index + 2]:
        for other in below.cells:
            near = other.page == cell.page and other.overlap(cell) > 0 and other.y0 - cell.y1 < 0.5 * cell.height
            if near and other.text[:1].islower() and not any(map(_is_mark, other.tokens)):
                words.append(other.text)
    return " ".join(words)


def _captions(lines: Sequence[Line], line: Line, cell: Cell, place: int) -> Iterator[str]:
    """Right of the box, or left of it where a colon leads to it; else the words above it, those left of it."""
    right = _words(cell.tokens[place + 1 :])
    if not right:
        after = next((other for other in line.cells if other.x0 >= cell.x1 - 1 and other is not cell), None)
        near = after is not None and after.x0 - cell.x1 < _NEAR * cell.height
        right = _words(after.tokens) if after is not None and near else ""
    leads_on = right.endswith(":")  # to the next box
    if (leads_on or not right) and (asked := _asked_before(line, cell, place)):
        yield asked
        return
    if right:
        yield right
    above = _stack_above(lines, line, cell)
    left = next((other for other in reversed(line.cells) if other.x1 <= cell.x0 + 1 and other is not cell), None)
    if left is not None and cell.x0 - left.x1 < 12 * cell.height:
        beside = [part.text for part in _column(lines, line.index, left)]
        yield " ".join([*beside, left.text])
    if above:
        yield above


def _asked_before(line: Line, cell: Cell, place: int) -> str:
    """The label of "Express delivery: [x]", in the box's own cell or in the one before; "" without a colon."""
    before = cell.tokens[:place]
    if not before:
        left = next((other for other in reversed(line.cells) if other.x1 <= cell.x0 + 1 and other is not cell), None)
        before = left.tokens if left is not None and cell.x0 - left.x1 < 4 * cell.height else ()
    words = _words(before[::-1])
    return " ".join(reversed(words.split())) if words.split(" ")[0].endswith(":") else ""


def _words(tokens: Sequence[Token]) -> str:
    words: list[str] = []
    for token in tokens:
        if token.text == "]" and not words:
            continue
        if token.text == "[" or _is_mark(token):
            break
        words.append(token.text)
    text = " ".join(words)
    return text if any(map(str.isalpha, text)) else ""


def _stack_above(lines: Sequence[Line], line: Line, cell: Cell) -> str:
    return " ".join(part.text for part in _column(lines, line.index, cell))


def _column(lines: Sequence[Line], index: int, cell: Cell) -> list[Cell]:
    """Up to four cells that stand close above each other over `cell`, top first."""
    stack: list[Cell] = []
    floor = cell
    for line in reversed(lines[max(0, index - 8) : index]):
        over = next((other for other in line.cells if other.overlap(cell) > 0), None)
        if over is None or line.page != cell.page:
            continue
        if floor.y0 - over.y1 > 1.6 * over.height or len(stack) >= 4:
            break
        if any(map(_is_mark, over.tokens)):
            break
        stack.insert(0, over)
        floor = over
    return stack
