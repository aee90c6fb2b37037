"""What stands under the headings of a page: down to the next heading like it, sideways to the one beside it."""

from collections.abc import Sequence
from dataclasses import dataclass

from llm.offline.extract.heads import Head, is_lettered, is_part
from llm.offline.extract.reading import Reading
from llm.offline.layout.model import Cell, Frame, Token

_LEVEL = 0.06
"""How much the prints of two headings of one level may differ."""
_ALIGNED = 4.0
"""Units: points. How exactly headings over each other begin, end or are centred at one place."""
_STEPS = 160
_WIDE = 0.35
"""How much of a page is more than a column."""


@dataclass(frozen=True, slots=True)
class Area:
    """A part of a page. Units: page points."""

    page: int
    x0: float
    y0: float
    x1: float
    y1: float

    def holds(self, token: Token) -> bool:
        """Whether a word stands in it."""
        middle = (token.x0 + token.x1) / 2
        return token.page == self.page and self.x0 <= middle <= self.x1 and self.y0 <= token.middle <= self.y1

    def is_beside(self, cell: Cell) -> bool:
        """Whether a cell stands left of it at its height: the caption of a row."""
        return cell.page == self.page and cell.x1 <= self.x0 + cell.height and self.y0 <= cell.middle <= self.y1


def areas_of(chosen: Sequence[Head], heads: Sequence[Head], reading: Reading, within: Area | None) -> list[Area]:
    """The area of each chosen heading. `heads`: all that may be headings; `within`: where all of them stand."""
    cells = [head.cell for head in chosen]
    return [_area(head, cells, heads, reading, within) for head in chosen]


def _area(head: Head, chosen: Sequence[Cell], heads: Sequence[Head], reading: Reading, within: Area | None) -> Area:
    cell = head.cell
    size = reading.layout.page_size(cell.page)
    limits = within or Area(cell.page, 0.0, 0.0, size.width, size.height)
    frame = _frame_around(cell, reading)
    if head.upright:
        return _beside(cell, chosen, limits, reading)
    if frame is not None and _is_filled(frame, cell, reading) and not _holds_others(frame, cell, chosen):
        return Area(cell.page, frame.x0, cell.y0 - 1, frame.x1, frame.y1)
    level = [other for other in chosen if other is not cell]
    level += [other.cell for other in heads if _is_peer(other, head, reading) or _is_above(other, head, reading)]
    level = [other for other in level if other.page == cell.page and limits.y0 <= other.middle <= limits.y1]
    beside = [other for other in level if _on_one_line(other, cell) and limits.x0 <= other.center <= limits.x1]
    row = [other for other in heads if other.cell in beside]
    level += [
        other.cell for other in heads for like in row if other.cell not in level if _is_peer(other, like, reading)
    ]
    below = [other for other in level if other.y0 > cell.y1 - 1 and not _on_one_line(other, cell)]
    end = min((other.y0 for other in below if not beside), default=limits.y1)
    if not beside:
        return Area(cell.page, limits.x0, cell.y0 - 1, limits.x1, max(end - 1, cell.y1))
    left = max((other for other in beside if other.x0 < cell.x0), key=lambda other: other.x0, default=None)
    right = min((other for other in beside if other.x0 > cell.x0), key=lambda other: other.x0, default=None)
    first = min((other.y0 for other in below), default=limits.y1)
    x0 = _border(left, cell, first, reading) if left is not None else limits.x0
    x1 = _border(cell, right, first, reading) if right is not None else limits.x1
    if frame is not None and frame.x1 - frame.x0 < _WIDE * size.width:
        x0, x1 = frame.x0 - 1, frame.x1 + 1
    inside = [other.y0 for other in below if x0 <= other.center <= x1 or _is_whole(other, cell, reading)]
    return Area(cell.page, x0, cell.y0 - 1, x1, max(min(inside, default=limits.y1) - 1, cell.y1))


def _frame_around(cell: Cell, reading: Reading) -> Frame | None:
    number = cell.tokens[0].frame
    return reading.layout.frames[number] if number >= 0 else None


def _is_filled(frame: Frame, head: Cell, reading: Reading) -> bool:
    """Whether a box holds more than its heading."""
    number = head.tokens[0].frame
    others = sum(cell.tokens[0].frame == number and cell is not head for cell in reading.cells)
    return others >= 2 and frame.y1 - head.y1 > 1.5 * head.height


def _holds_others(frame: Frame, head: Cell, chosen: Sequence[Cell]) -> bool:
    return any(
        cell.page == frame.page and frame.x0 <= cell.center <= frame.x1 and frame.y0 <= cell.middle <= frame.y1
        for cell in chosen
        if cell is not head
    )


def _on_one_line(other: Cell, cell: Cell) -> bool:
    return abs(other.middle - cell.middle) < 0.8 * max(other.height, cell.height) and other.overlap(cell) < 0


def _is_peer(other: Head, head: Head, reading: Reading) -> bool:
    """Whether a heading is like another one: of its print and place, and as little an answer's caption as that."""
    cell, like = other.cell, head.cell
    if cell is like or cell.page != like.page or other.asks or other.upright or head.asks:
        return False
    if is_lettered(other.text) and is_lettered(head.text):
        return abs(cell.x0 - like.x0) < 2 * like.height
    if abs(cell.height - like.height) > _LEVEL * like.height or cell.text.isupper() != like.text.isupper():
        return False
    if (cell.tokens[0].frame >= 0) != (like.tokens[0].frame >= 0):
        return False
    if reading.is_label(cell) and not cell.text.isupper():
        return False
    numbered = cell.tokens[0].text[0].isdigit() == like.tokens[0].text[0].isdigit()
    aligned = min(abs(cell.x0 - like.x0), abs(cell.center - like.center)) < _ALIGNED
    alone = len(reading.layout.lines[cell.line].cells) in {1, len(reading.layout.lines[like.line].cells)}
    beside = _on_one_line(cell, like) and not head.cell.text.endswith(":")
    if cell.tokens[0].frame >= 0 and not beside:
        box, around = _frame_around(cell, reading), _frame_around(like, reading)
        aligned = (
            box is not None and around is not None and abs(box.x1 - around.x1) + abs(box.x0 - around.x0) < _ALIGNED
        )
    return numbered and ((aligned and alone) or beside)


def _is_above(other: Head, head: Head, reading: Reading) -> bool:
    """Whether a heading is one over more than that: a band across the page, "Part 2"."""
    cell, like = other.cell, head.cell
    if cell is like or cell.page != like.page or other.asks or other.upright or cell.height < 0.98 * like.height:
        return False
    frame = _frame_around(cell, reading)
    size = reading.layout.page_size(cell.page)
    band = frame is not None and frame.x1 - frame.x0 > 0.6 * size.width and not _is_filled(frame, cell, reading)
    alone = len(reading.layout.lines[cell.line].cells) == 1
    around = _frame_around(like, reading)
    narrow = around is None or around.x1 - around.x0 < 0.6 * size.width
    return alone and ((band and narrow) or is_part(other.text))


def _is_whole(other: Cell, cell: Cell, reading: Reading) -> bool:
    """Whether a heading further down is one over the whole page: larger, or alone in its line."""
    return len(reading.layout.lines[other.line].cells) == 1 and other.height >= (1 - _LEVEL) * cell.height


def _border(left: Cell, right: Cell, end: float, reading: Reading) -> float:
    """Where the column of one heading ends and the next begins: where fewest words stand, as far right as can be."""
    cells = [
        cell for cell in reading.cells if cell.page == left.page and left.y1 <= cell.middle < end and cell.x1 > left.x0
    ]
    aligned = [cell.x0 for cell in cells if abs(cell.x0 - right.x0) < 0.8 * right.height]
    if len(aligned) >= 2:
        return min(right.x0, *aligned) - 2.0
    step = (right.x1 - left.x1) / _STEPS
    best, place = len(cells) + 1, right.x0
    for at in range(_STEPS, -1, -1):
        x = left.x1 + at * step
        crossed = sum(cell.x0 < x < cell.x1 for cell in cells)
        if crossed < best and x <= right.x0:
            best, place = crossed, x
    return place


def _beside(cell: Cell, chosen: Sequence[Cell], limits: Area, reading: Reading) -> Area:
    """What stands right of an upright heading: in the box that is drawn there, else half way to the next one."""
    boxes = [
        frame
        for frame in reading.layout.frames
        if frame.page == cell.page
        and frame.y0 - 2 <= cell.y0
        and cell.y1 <= frame.y1 + 2
        and frame.x0 >= cell.x0 - cell.height
    ]
    if boxes:
        box = min(boxes, key=lambda frame: (frame.x0, frame.area))
        return Area(cell.page, box.x0, box.y0, box.x1, box.y1)
    level = [other for other in chosen if other is not cell and abs(other.x0 - cell.x0) < _ALIGNED]
    above = [(other.y1 + cell.y0) / 2 for other in level if other.y1 <= cell.y0]
    under = [(other.y0 + cell.y1) / 2 for other in level if other.y0 >= cell.y1]
    return Area(cell.page, cell.x1, max(above, default=limits.y0), limits.x1, min(under, default=limits.y1))
