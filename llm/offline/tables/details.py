"""The name of an item and what stands under it: a line that was broken for want of room, or one of its own."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from llm.offline.layout.model import Cell, Row, Table

_SMALLER = 0.93
"""What stands under a name in so much smaller print is no part of it."""
_ROOMY = 3.0
"""Units: line heights. With so much room left, a line was ended on purpose."""
_COUNT = re.compile(r"^\d{1,3}\.?$")
_NUMBER = re.compile(r"^(?=.*\d)\S+$|^[A-Z0-9]+[-./][A-Z0-9./-]+$")
_BLANK = 0.28
"""Units: line heights. The width of a blank."""


@dataclass(frozen=True, slots=True)
class Edge:
    """How far right the words of a column go, and how far they could. Units: points."""

    used: float
    limit: float


def edge_of(table: Table, column: int) -> Edge:
    """The right edge of a column's words."""
    used = max((cell.x1 for row in table.rows for cell in row.cells[column]), default=0.0)
    return Edge(used, max(used, table.limits[column]) if column < len(table.limits) else used)


def parted(row: Row, column: int, edge: Edge) -> tuple[list[Cell], list[Cell]]:
    """The cells of a name, and those of the other lines: what stands under it, or a number over it.

    A line goes on with the one before when its first word had found no room there.
    """
    lines = _by_line(row.cells[column])
    worded = [at for at, line in enumerate(lines) if _is_wordy(line)]
    if not lines:
        return [], []
    start = worded[0] if worded else 0
    name, rest = list(lines[start]), [cell for line in lines[:start] for cell in line]
    for at in range(start + 1, len(lines)):
        if not _goes_on(lines[at - 1][-1], lines[at][0], edge) or lines[at][0].height < _SMALLER * name[0].height:
            rest += [cell for later in lines[at:] for cell in later]
            break
        name += lines[at]
    return name, rest


def _is_wordy(line: Sequence[Cell]) -> bool:
    """Whether a line says something: one word with digits, or capitals with a dash, is a number of something."""
    text = " ".join(cell.text for cell in line)
    return any(map(str.isalpha, text)) and (" " in text or not _NUMBER.match(text))


def _goes_on(above: Cell, line: Cell, edge: Edge) -> bool:
    first = line.tokens[0]
    wide = first.x1 - first.x0 + _BLANK * line.height
    if first.text.endswith(":") or edge.used - above.x1 > wide:
        return False
    return edge.limit - above.x1 <= wide + _ROOMY * line.height


def is_counted(table: Table, column: int) -> bool:
    """Whether the words of a column begin with the number of the row: 1, 2, 3."""
    firsts = [row.cells[column][0].tokens for row in table.rows if row.cells[column]]
    numbers = [int(tokens[0].text.rstrip(".")) for tokens in firsts if _COUNT.match(tokens[0].text) and len(tokens) > 1]
    steps = {after - before for before, after in pairwise(numbers)}
    return len(numbers) == len(firsts) >= 2 and len(steps) == 1 and steps <= {1, 10} and numbers[0] in steps


def _by_line(cells: Sequence[Cell]) -> list[list[Cell]]:
    lines: list[list[Cell]] = []
    for cell in sorted(cells, key=lambda cell: (cell.line, cell.x0)):
        if lines and lines[-1][0].line == cell.line:
            lines[-1].append(cell)
        else:
            lines.append([cell])
    return lines
