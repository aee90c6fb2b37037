"""Where the captions of a form stand: in a column of their own, over what people wrote, or under it."""

from collections.abc import Iterable, Sequence
from itertools import groupby

from llm.offline.layout.analysis import cells_below
from llm.offline.layout.model import Cell, Layout

LARGER = 1.12
"""How much larger than its caption an answer in a box is set, at least."""
_ENOUGH = 3
"""So many captions say how the form is made."""


def in_columns(cells: Sequence[Cell], labels: Iterable[Cell]) -> frozenset[int]:
    """First words of cells that stand in a column of known captions, set like them: they are captions too."""
    known = {cell.tokens[0].index for cell in labels}
    found: set[int] = set()
    ordered = sorted(cells, key=lambda cell: (cell.page, round(cell.height, 0), round(cell.x0 / 2)))
    for _, group in groupby(ordered, key=lambda cell: (cell.page, round(cell.height, 0), round(cell.x0 / 2))):
        firsts = {cell.tokens[0].index for cell in group}
        if len(firsts & known) >= _ENOUGH and 2 * len(firsts & known) >= len(firsts):
            found |= firsts
    return frozenset(found)


def cell_over(layout: Layout, cell: Cell) -> Cell | None:
    """The larger print right over a small caption, beginning where it does."""
    for line in reversed(layout.lines[max(0, cell.line - 2) : cell.line]):
        for other in line.cells:
            near = other.page == cell.page and 0 <= cell.y0 - other.y1 + 0.3 * cell.height < 1.3 * cell.height
            if near and abs(other.x0 - cell.x0) < 2 * cell.height and other.height >= LARGER * cell.height:
                return other
    return None


def captions_are_under(layout: Layout, labels: Sequence[Cell]) -> bool:
    """Whether the captions stand under the lines that people write on: nearer to what is over them than under them."""
    over = 0
    for cell in labels:
        answer = cell_over(layout, cell)
        below = next(iter(cells_below(layout, cell)), None)
        over += answer is not None and (below is None or below.y0 - cell.y1 > 2 * max(1.0, cell.y0 - answer.y1))
    return over >= _ENOUGH and 2 * over >= len(labels)
