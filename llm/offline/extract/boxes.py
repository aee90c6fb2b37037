"""Where the captions of a form stand: in a column of their own, over what people wrote, or under it."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import groupby, pairwise

from llm.offline.layout.analysis import cells_below
from llm.offline.layout.model import Cell, Layout

LARGER = 1.12
"""How much larger than its caption an answer in a box is set, at least."""
_ENOUGH = 3
"""So many captions say how the form is made."""
_LEVEL = 3.0
"""Units: points. How exactly what stands in a column begins at one place."""
_LONGEST = 8
"""Units: words of a caption."""


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


def in_lists(layout: Layout, labels: Iterable[Cell]) -> frozenset[int]:
    """First words of captions whose answers stand beside them: two columns, labels in the left one and none right."""
    known = {cell.tokens[0].index for cell in labels}
    columns: dict[tuple[int, int, int], list[tuple[int, int]]] = defaultdict(list)
    for line in layout.lines:
        for cell, right in pairwise(line.cells):
            place = line.page, round(cell.x0 / _LEVEL), round(right.x0 / _LEVEL)
            columns[place].append((cell.tokens[0].index, right.tokens[0].index))
    found: set[int] = set()
    for pairs in columns.values():
        named = sum(left in known for left, _ in pairs)
        if named >= _ENOUGH and 2 * named >= len(pairs) and not any(right in known for _, right in pairs):
            found.update(left for left, _ in pairs)
    return frozenset(found)


def cell_over(layout: Layout, cell: Cell) -> Cell | None:
    """The larger print right over a small caption, beginning where it does."""
    for line in reversed(layout.lines[max(0, cell.line - 2) : cell.line]):
        for other in line.cells:
            near = other.page == cell.page and 0 <= cell.y0 - other.y1 + 0.3 * cell.height < 1.3 * cell.height
            if near and abs(other.x0 - cell.x0) < 2 * cell.height and other.height >= LARGER * cell.height:
                return other
    return None


def answers_over(layout: Layout) -> dict[int, Cell | None]:
    """First words of the captions that stand under what people wrote, with what stands over each (None: empty).

    Captions of one print are all set the same way: several must be nearer to what is over them than to what is under.
    """
    prints: dict[tuple[int, int], list[Cell]] = defaultdict(list)
    for cell in layout.cells:
        if _may_be_caption(cell):
            prints[cell.page, round(2 * cell.height)].append(cell)
    found: dict[int, Cell | None] = {}
    for cells in prints.values():
        over = {cell.tokens[0].index: _answer_over(layout, cell) for cell in cells}
        above = sum(_has_larger_below(layout, cell) for cell in cells)
        if sum(answer is not None for answer in over.values()) >= max(_ENOUGH, 2 * above):
            found.update(over)
    return found


def _may_be_caption(cell: Cell) -> bool:
    words = cell.text.split("(")[0]
    return cell.tokens[0].origin != "form" and len(cell.tokens) <= _LONGEST and not any(map(str.isdigit, words))


def _answer_over(layout: Layout, cell: Cell) -> Cell | None:
    answer = cell_over(layout, cell)
    if answer is None:
        return None
    below = next((c for c in cells_below(layout, cell) if c.height >= LARGER * cell.height), None)
    return answer if below is None or below.y0 - cell.y1 > 1.6 * max(1.0, cell.y0 - answer.y1) else None


def _has_larger_below(layout: Layout, cell: Cell) -> bool:
    below = next(iter(cells_below(layout, cell, reach=1.6)), None)
    close = below is not None and below.height >= LARGER * cell.height and abs(below.x0 - cell.x0) < 2 * cell.height
    return close and _answer_over(layout, cell) is None
