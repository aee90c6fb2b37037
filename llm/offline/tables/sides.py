"""What stands beside each other on a page and has nothing to do with each other: a column of boxes beside a table.

The lines of a table stand at one height on both sides; those of two columns stand wherever they fall.
"""

from collections.abc import Sequence
from dataclasses import replace

from llm.offline.layout.model import Cell, Line
from llm.offline.tables.figures import has_cents
from llm.offline.tables.heads import names_of

_GUTTER = 0.8
"""Units: line heights. The white between two columns is wider, all the way down."""
_LEVEL = 0.1
"""Units: line heights. How exactly the two sides of a row stand at one height."""
_SIDE = 5
"""Units: lines. Each side has as many."""
_APART = 4
"""So many lines show that the sides stand apart."""
_MOST = 0.55
_ON_END = 4
"""So many lines on end at one height are rows."""
_ROWS, _WORD = 3, 3
"""So many lines of one side end with amounts, and say what for in so many letters."""


def sides(lines: Sequence[Line]) -> tuple[list[Line], list[Line]]:
    """The lines of a page without the column beside them, and that column; ([…all], []) where there is none."""
    best: tuple[int, float, int, int] | None = None
    for x in sorted({round(cell.x0 / 3) * 3.0 for line in lines for cell in line.cells}):
        for first, last in _runs(lines, x):
            apart = _apart(lines[first:last], x)
            if apart and (best is None or apart > best[0]):
                best = apart, x, first, last
    if best is None:
        return list(lines), []
    _, x, first, last = best
    left = [part for line in lines[first:last] if (part := _part(line, x, right=False))]
    right = [part for line in lines[first:last] if (part := _part(line, x, right=True))]
    main, beside = (right, left) if _money(right) >= _money(left) else (left, right)
    return [*lines[:first], *main, *lines[last:]], beside


def _runs(lines: Sequence[Line], x: float) -> list[tuple[int, int]]:
    """Where lines on end leave a gutter left of `x`, and are no rows that go through."""
    level = [_is_level(line, x) for line in lines] + [False] * _ON_END
    found: list[tuple[int, int]] = []
    start, inside = 0, False
    for place, line in enumerate([*lines, None]):
        rows = any(all(level[at : at + _ON_END]) for at in range(max(0, place - _ON_END + 1), place + 1))
        crossed = line is None or any(_crosses(cell, x) for cell in line.cells)
        headed = line is not None and level[place] and _is_head(line, x)
        if crossed or rows or headed:
            if place - start >= 2 * _SIDE and not inside:
                found.append((start, place))
            start = place + 1
            inside = headed or (inside and not crossed)
    return found


def _is_head(line: Line, x: float) -> bool:
    """Whether names of columns stand on both sides: the table goes through."""
    named = [cell for cell in line.cells if names_of(cell.text) and not any(map(str.isdigit, cell.text))]
    return len({cell.x0 >= x - 3.0 for cell in named}) > 1


def _is_level(line: Line, x: float) -> bool:
    """Whether what stands left and right of `x` stands at one height."""
    left, right = _part(line, x, right=False), _part(line, x, right=True)
    if left is None or right is None:
        return False
    one, other = left.cells[-1], right.cells[0]
    near = min(abs(one.y1 - other.y1), abs(one.y0 - other.y0), abs(one.middle - other.middle))
    return near <= _LEVEL * one.height


def _crosses(cell: Cell, x: float) -> bool:
    return cell.x0 < x - 3.0 and cell.x1 > x - _GUTTER * cell.height


def _apart(lines: Sequence[Line], x: float) -> int:
    """How many lines show that what stands left and right of `x` is not one; 0 when too few do."""
    left = [part for line in lines if (part := _part(line, x, right=False)) is not None]
    right = [part for line in lines if (part := _part(line, x, right=True)) is not None]
    both = len(left) + len(right) - len(lines)
    shifted = both - sum(_is_level(line, x) for line in lines)
    alone = min(len(left), len(right)) - both
    apart = shifted + 2 * alone
    enough = min(len(left), len(right)) >= _SIDE and shifted + alone >= _APART and apart >= _MOST * len(lines)
    return apart if enough and max(_money(left), _money(right)) >= _ROWS else 0


def _part(line: Line, x: float, *, right: bool) -> Line | None:
    cells = tuple(cell for cell in line.cells if (cell.x0 >= x - 3.0) == right)
    return replace(line, cells=cells) if cells else None


def _money(lines: Sequence[Line]) -> int:
    """How many lines say something and what it comes to."""
    ends = [line for line in lines if has_cents(line.cells[-1].text)]
    return sum(any(sum(map(str.isalpha, cell.text)) > _WORD for cell in line.cells[:-1]) for line in ends)
