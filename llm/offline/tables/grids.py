"""Tables whose cells are boxes: what is drawn says which words are one cell, which cells one row, what stands over it.

Every row may be the first under a head; which of these tables is meant shows by what a schema asks for.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from llm.offline.layout.model import Cell, Frame, Layout, Row, Table, Token
from llm.offline.matching.words import words_of
from llm.offline.tables.bodies import is_sum
from llm.offline.tables.figures import is_figure, is_money, is_numeric

_EDGE = 3.0
"""Units: points. How exactly boxes touch and stand under each other."""
_BETWEEN = 2.2
"""Units: heights of a row. How much room empty rows take between two that were filled in, at most."""
_FEWEST, _MOST_COLUMNS, _MOST_ROWS = 2, 40, 400
_LONGEST = 90
"""Units: characters. A longer text is no name of a column."""
_MOST_FRAMES = 1_500


@dataclass(frozen=True, slots=True)
class _Box:
    frame: Frame
    cells: tuple[Cell, ...]

    @property
    def text(self) -> str:
        return " ".join(cell.text for cell in self.cells)


_Band = list[_Box]


def find_grids(layout: Layout) -> list[Table]:
    """The tables of boxes, one for each row that may begin one."""
    if not 0 < len(layout.frames) <= _MOST_FRAMES:
        return []
    boxes = _boxes(layout)
    tables: list[Table] = []
    for page in sorted({box.frame.page for box in boxes}):
        bands = _bands([box for box in boxes if box.frame.page == page])
        for at in range(len(bands)):
            table = _table(bands, at, [box for box in boxes if box.frame.page == page])
            if table is not None:
                tables.append(table)
    return tables


def _boxes(layout: Layout) -> list[_Box]:
    held: dict[int, list[Cell]] = defaultdict(list)
    for cell in layout.cells:
        frame = cell.tokens[0].frame
        if 0 <= frame < len(layout.frames) and not layout.frames[frame].is_line:
            held[frame].append(cell)
    return [_Box(layout.frames[frame], tuple(cells)) for frame, cells in held.items()]


def _bands(boxes: Sequence[_Box]) -> list[_Band]:
    """Boxes of the same height at the same height, from left to right."""
    bands: list[_Band] = []
    for box in sorted(boxes, key=lambda box: (box.frame.y0, box.frame.x0)):
        same = next((band for band in bands[::-1][:8] if _is_beside(band[0].frame, box.frame)), None)
        if same is None:
            bands.append([box])
        else:
            same.append(box)
    return [sorted(band, key=lambda box: box.frame.x0) for band in bands]


def _is_beside(one: Frame, other: Frame) -> bool:
    return abs(one.y0 - other.y0) < _EDGE and abs(one.y1 - other.y1) < _EDGE


def _table(bands: Sequence[_Band], at: int, boxes: Sequence[_Box]) -> Table | None:
    """The table of which band `at` is the first row."""
    rows = _rows(bands, at)
    spans = _spans([box.frame for row in rows for box in row])
    if not _FEWEST <= len(spans) <= _MOST_COLUMNS or max(map(len, rows)) < _FEWEST:
        return None
    texts = _heads(spans, bands[at][0].frame, boxes)
    if sum(map(bool, texts)) < _FEWEST:
        return None
    if any(is_numeric(text) or is_money(text) or len(text) > _LONGEST for text in texts if text):
        return None
    if any(_is_stacked(box) for row in rows for box in row):
        return None
    filled = [_row(row, spans) for row in rows]
    kept = tuple(row for row in filled if not _is_only_counted(row))
    covered = frozenset(cell.line for row in rows for box in row for cell in box.cells)
    return Table(texts, kept, covered, bands[at][0].frame.page) if kept else None


def _rows(bands: Sequence[_Band], at: int) -> list[_Band]:
    """The bands from `at` on whose boxes stand under each other, down to a gap, a sum or boxes of another kind."""
    rows = [bands[at]]
    last = bands[at][0].frame
    for band in bands[at + 1 :]:
        frame = band[0].frame
        if frame.y0 < last.y1 - _EDGE:
            continue
        room = _BETWEEN * max(frame.y1 - frame.y0, last.y1 - last.y0)
        if frame.y0 - last.y1 > room or len(rows) >= _MOST_ROWS:
            break
        spans = _spans([box.frame for row in rows for box in row])
        if len(band) == 1 and len(spans) > 1 and _covers(frame, spans):
            last = frame
            continue
        if is_sum(band[0].text) or not _fits(band, spans):
            break
        rows.append(band)
        last = frame
    return rows


def _spans(frames: Sequence[Frame]) -> list[tuple[float, float]]:
    """The columns that boxes stand in, left to right."""
    spans: list[tuple[float, float]] = []
    for frame in frames:
        if not any(_is_one(frame, span) for span in spans):
            spans.append((frame.x0, frame.x1))
    return sorted(spans)


def _is_stacked(box: _Box) -> bool:
    """Whether a box holds the figures of several rows, one under the other: lines are drawn between columns only."""
    figures = {cell.line for cell in box.cells if is_figure(cell.text)}
    return len(figures) > 1 and len(figures) == len({cell.line for cell in box.cells})


def _is_one(frame: Frame, span: tuple[float, float]) -> bool:
    return abs(frame.x0 - span[0]) < _EDGE and abs(frame.x1 - span[1]) < _EDGE


def _covers(frame: Frame, spans: Sequence[tuple[float, float]]) -> bool:
    return frame.x0 <= spans[0][0] + _EDGE and frame.x1 >= spans[-1][1] - _EDGE


def _fits(band: _Band, spans: Sequence[tuple[float, float]]) -> bool:
    """Whether each box of a row stands in a column, or where no box stood in the rows before."""
    return all(
        any(_is_one(box.frame, span) for span in spans)
        or all(min(box.frame.x1, span[1]) - max(box.frame.x0, span[0]) < _EDGE for span in spans)
        for box in band
    )


def _heads(spans: Sequence[tuple[float, float]], first: Frame, boxes: Sequence[_Box]) -> tuple[str, ...]:
    """The words over each column: of the box that touches its first row.

    A box over several columns gives each what stands over it, or all that it says where words do not fall to each.
    """
    over = [_over(span, first, boxes) for span in spans]
    held = list(zip(over, spans, strict=True))
    texts = [" ".join(token.text for token in _within(box, span)) if box else "" for box, span in held]
    empty = [box for (box, _), text in zip(held, texts, strict=True) if box is not None and not text]
    return tuple(box.text if box and box in empty else text for box, text in zip(over, texts, strict=True))


def _over(span: tuple[float, float], first: Frame, boxes: Sequence[_Box]) -> _Box | None:
    for box in boxes:
        frame = box.frame
        touches = abs(frame.y1 - first.y0) < _EDGE and frame.x0 <= span[0] + _EDGE and frame.x1 >= span[1] - _EDGE
        if touches and frame.y0 < first.y0 - _EDGE:
            return box
    return None


def _within(box: _Box, span: tuple[float, float]) -> list[Token]:
    tokens = [token for cell in box.cells for token in cell.tokens]
    wider = not _is_one(box.frame, span)
    return [t for t in tokens if not wider or span[0] - 1 <= (t.x0 + t.x1) / 2 <= span[1] + 1]


def _row(band: _Band, spans: Sequence[tuple[float, float]]) -> Row:
    return Row(tuple(tuple(cell for box in band if _is_one(box.frame, span) for cell in box.cells) for span in spans))


def _is_only_counted(row: Row) -> bool:
    """Whether a row has its number and nothing else: nobody filled it in."""
    told = [cell.text for cells in row.cells for cell in cells]
    return len(told) <= 1 and all(len(words_of(text)) <= 1 and len(text) <= 3 for text in told)
