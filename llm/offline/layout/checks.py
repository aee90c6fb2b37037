"""Check boxes and their captions."""

import re
from collections.abc import Iterator, Sequence

from llm.offline.layout.lines import CHECKED, UNCHECKED
from llm.offline.layout.model import Cell, Check, Line, Token

_PRINTED = re.compile(r"^[\[(]\s*([xX✓✔✗]?)\s*[\])]$")


def find_checks(lines: Sequence[Line]) -> list[Check]:
    """All check boxes, as signs or printed as [x] and [ ]."""
    found = []
    for line in lines:
        for cell in line.cells:
            for place, state in _marks(cell):
                found.append(Check(state, cell.tokens[place], tuple(_captions(lines, line, cell, place))))
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


def _captions(lines: Sequence[Line], line: Line, cell: Cell, place: int) -> Iterator[str]:
    """Right of the box, or left of it where a colon leads to it; else the words above it, those left of it."""
    right = _words(cell.tokens[place + 1 :])
    if not right:
        after = next((other for other in line.cells if other.x0 >= cell.x1 - 1 and other is not cell), None)
        near = after is not None and after.x0 - cell.x1 < 2.5 * cell.height
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
        if token.text in CHECKED or token.text in UNCHECKED or token.text == "[" or _PRINTED.match(token.text):
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
        if any(token.text in CHECKED or token.text in UNCHECKED for token in over.tokens):
            break
        stack.insert(0, over)
        floor = over
    return stack
