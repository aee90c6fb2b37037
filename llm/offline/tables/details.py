"""The name of an item and what stands under it: a line that was broken for want of room, or one of its own."""

import re
from collections.abc import Sequence
from itertools import pairwise

from llm.offline.layout.model import Cell, Row, Table

_SMALLER = 0.93
"""What stands under a name in so much smaller print is no part of it."""
_COUNT = re.compile(r"^\d{1,3}\.?$")
_BLANK = 0.28
"""Units: line heights. The width of a blank."""


def edge_of(table: Table, column: int) -> float:
    """How far right the words of a column go. Units: points."""
    return max((cell.x1 for row in table.rows for cell in row.cells[column]), default=0.0)


def parted(row: Row, column: int, edge: float) -> tuple[list[Cell], list[Cell]]:
    """The cells of a name, and those of the lines under it that say more.

    A line goes on with the one before when its first word had found no room there.
    """
    cells = _by_line(row.cells[column])
    if not cells:
        return [], []
    start = next((at for at, line in enumerate(cells) if any(map(str.isalpha, line[0].text))), 0)
    name, rest = list(cells[start]), [cell for line in cells[:start] for cell in line]
    for at in range(start + 1, len(cells)):
        above, line = cells[at - 1], cells[at]
        first = line[0]
        room = edge - above[-1].x1
        wide = first.tokens[0].x1 - first.tokens[0].x0 + _BLANK * first.height
        smaller = first.height < _SMALLER * name[0].height
        if smaller or room > wide or first.text.split(" ")[0].endswith(":"):
            rest += [cell for later in cells[at:] for cell in later]
            break
        name += line
    return name, rest


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
