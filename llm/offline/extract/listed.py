"""Rows that a schema asks for under a line that names its columns: without boxes, figures or a word that is known."""

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from statistics import median

from llm.offline.extract.targets import Target
from llm.offline.layout.model import Cell, Layout, Line, Row, Table
from llm.offline.layout.signs import CHECKED, UNCHECKED
from llm.offline.tables.accounts import without_sums
from llm.offline.tables.bodies import is_carried, is_sum, words_in
from llm.offline.tables.columns import Columns
from llm.offline.tables.figures import is_figure
from llm.offline.tables.finding import cropped
from llm.offline.tables.heads import Head

NAMED = 0.55
"""Units: score. A column's name says at least so much of what is asked for."""
_LONGEST = 48
"""Units: characters of a column's name."""
_NEAR, _FAR, _CLOSE = 1.6, 3.2, 0.6
"""Units: heights. How close the lines of a head are, how far a row may be from the one before, and a line of a row."""
_EVEN = 1.8
"""How much farther than the others one row may be from the one before."""
_MOST_ROWS = 200
Scorer = Callable[[Target, str], float]
Pieces = list[tuple[int, Cell]]


def lists_under(layout: Layout, targets: Sequence[Target], score: Scorer) -> Iterator[Table]:
    """A table for each line whose cells name two of the targets."""
    for place in range(len(layout.lines)):
        head = _head(layout.lines, place, targets, score)
        table = _table(layout, place, head) if head is not None else None
        if table is not None:
            yield table


def _head(lines: Sequence[Line], place: int, targets: Sequence[Target], score: Scorer) -> Head | None:
    """The names of columns on a line, with what stands right over or under them where that says more."""
    cells = [cell for cell in lines[place].cells if _may_name(cell)]
    own = [[cell] for cell in cells]
    if len(cells) < 2 or not any(score(target, cell.text) >= NAMED for cell in cells for target in targets):
        return None
    best: tuple[float, list[list[Cell]], set[int]] = (0.0, [], set())
    for beside in ((), (1,), (-1,), (-1, 1)):
        columns, used = [list(column) for column in own], {lines[place].index}
        for offset in beside:
            used |= _joined(columns, lines, place, offset)
        found = _named(columns, targets, score)
        if found > best[0] + 0.01:
            best = (found, columns, used)
    if best[0] < 2 * NAMED:
        return None
    return Head(tuple(tuple(sorted(column, key=lambda c: (c.line, c.x0))) for column in best[1]), frozenset(best[2]), 2)


def _may_name(cell: Cell) -> bool:
    signs = any(token.text in CHECKED or token.text in UNCHECKED for token in cell.tokens)
    worded = any(map(str.isalpha, cell.text)) and len(cell.text) <= _LONGEST
    return worded and not signs and not is_figure(cell.text) and not cell.text.rstrip().endswith(":")


def _joined(columns: list[list[Cell]], lines: Sequence[Line], place: int, offset: int) -> set[int]:
    """Put the cells of the next line to the columns that they stand over or under; empty where they are no names."""
    if not 0 <= place + offset < len(lines):
        return set()
    near, line = lines[place + offset], lines[place]
    height = max(cell.height for cell in line.cells)
    if near.page != line.page or abs(near.middle - line.middle) > _NEAR * height:
        return set()
    if not all(_may_name(cell) for cell in near.cells):
        return set()
    for cell in near.cells:
        for column in columns:
            if column[0].overlap(cell) > 0:
                column.append(cell)
                break
    return {near.index}


def _named(columns: Sequence[Sequence[Cell]], targets: Sequence[Target], score: Scorer) -> float:
    """How well columns name targets, each column and each target once; 0 unless they name two."""
    pairs = sorted(
        (
            (score(target, " ".join(cell.text for cell in column)), number, place)
            for number, target in enumerate(targets)
            for place, column in enumerate(columns)
        ),
        reverse=True,
    )
    total, numbers, places = 0.0, set(), set()
    for found, number, place in pairs:
        if found >= NAMED and number not in numbers and place not in places:
            total += found
            numbers.add(number)
            places.add(place)
    return total if len(numbers) >= 2 and 2 * len(numbers) >= min(len(columns), len(targets)) else 0.0


def _table(layout: Layout, place: int, head: Head) -> Table | None:
    first = layout.lines[place]
    under = [line for line in layout.lines if line.page == first.page and line.index > max(head.lines)]
    frames = {cell.tokens[0].frame for column in head.columns for cell in column}
    if len(frames) == 1 and (number := frames.pop()) >= 0 and not layout.frames[number].is_line:
        under = cropped(under, low=layout.frames[number].x0, high=layout.frames[number].x1)
    body = _body(under, head)
    if not body:
        return None
    columns = Columns(head, body)
    rows = _rows(body, columns)
    if not rows:
        return None
    lines = frozenset(cell.line for row in rows for _, cell in row) | head.lines
    held = tuple(Row(tuple(tuple(cell for at, cell in row if at == n) for n in range(len(columns)))) for row in rows)
    return without_sums(Table(head.texts, held, lines, first.page, tuple(columns.limits)))


def _body(under: Sequence[Line], head: Head) -> list[Line]:
    """The lines under a head down to a wide gap, a sum, boxes to check or a label with its value."""
    body: list[Line] = []
    floor = max(cell.y1 for column in head.columns for cell in column)
    for line in under:
        inside = [cell for cell in line.cells if cell.x1 > head.x0 - head.height and cell.x0 < head.x1 + head.height]
        if not inside:
            continue
        height = max(head.height, max(cell.height for cell in inside))
        if min(cell.y0 for cell in inside) - floor > _FAR * height or len(body) >= _MOST_ROWS or _ends(inside):
            break
        body.append(line)
        floor = max(cell.y1 for cell in inside)
    return body


def _ends(cells: Sequence[Cell]) -> bool:
    first = cells[0]
    signed = first.tokens[0].text in CHECKED | UNCHECKED
    summed = is_sum(words_in([(0, cell) for cell in cells])) and all(is_figure(cell.text) for cell in cells[1:])
    return summed or signed or any(token.text.endswith(":") for token in first.tokens)


def _rows(body: Sequence[Line], columns: Columns) -> list[Pieces]:
    """The rows: lines that fill two columns, with the lines close under them that go on with their words."""
    rows: list[Pieces] = []
    tops: list[float] = []
    for line in body:
        pieces = columns.pieces(line)
        if not pieces or is_carried(words_in(pieces)):
            continue
        top, height = min(c.y0 for _, c in pieces), max(c.height for _, c in pieces)
        gap = top - max(c.y1 for _, c in rows[-1]) if rows else 0.0
        if rows and (_is_same_box(rows[-1], pieces) or _goes_on(rows[-1], pieces, gap, height)):
            rows[-1] += pieces
        elif len({column for column, _ in pieces}) < 2 or _crosses(pieces, columns) or _is_far(tops, top, height):
            break
        else:
            rows.append(pieces)
            tops.append(top)
    return rows


def _is_same_box(row: Pieces, pieces: Pieces) -> bool:
    """Whether one box is drawn around two lines."""
    return {cell.tokens[0].frame for _, cell in row} == {cell.tokens[0].frame for _, cell in pieces} != {-1}


def _goes_on(row: Pieces, pieces: Pieces, gap: float, height: float) -> bool:
    filled, here = {column for column, _ in row}, {column for column, _ in pieces}
    worded = not any(is_figure(cell.text) for _, cell in pieces)
    return (gap < _CLOSE * height and here < filled and worded and min(filled) not in here | {-1}) or (
        len(here) == 1 and here < filled and worded and gap < _CLOSE * height / 2
    )


def _crosses(pieces: Pieces, columns: Columns) -> bool:
    """Whether words stand through several columns: a heading or a note, no row."""
    return any(sum(cell.x0 < limit < cell.x1 for limit in columns.limits) > 1 for _, cell in pieces)


def _is_far(tops: Sequence[float], top: float, height: float) -> bool:
    if len(tops) < 2:
        return False
    usual = median(after - before for before, after in pairwise(tops))
    return top - tops[-1] > _EVEN * usual + height
