"""What lines draw in the picture of a page: check boxes, and combs with one character in each cell."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from documents.ingest.forms import CHECKED, UNCHECKED

Pixels = npt.NDArray[np.uint8]
Gray = npt.NDArray[np.uint8]
Box = tuple[int, int, int, int]

_USUAL_SIDE, _USUAL_LENGTH = 1_414, 2_000
"""Units: pixels. The sides of a page of A4 at the size that lengths below are for."""
_SMALLEST, _LARGEST = 14, 46
"""Units: pixels. The side of a check box."""
_CELL, _ROOM = 70, (16, 20)
"""Units: pixels. The largest cell of a comb; the smallest one's width and height, more than letters enclose."""
_LARGER = 24
"""Units: pixels. The side of a box that is larger than letters of usual print."""
_SQUARE = 1.18
_SOLID_HOLE, _SOLID_BOX = 0.72, 0.85
"""How much of the rectangle around it a hole fills: those of round letters are less."""
_THIN = 0.64
"""How much of a box is not its frame. Units: of its side."""
_EDGE, _STRAIGHT, _SOLID = 0.2, 0.94, 0.75
"""Of a box that is crossed: how near its sides are to its edges, how much of each is drawn, how much of it at most."""
_BESIDE = 0.12
"""How much ink may be beside a box."""
_TICKED, _FILLED = 0.06, 0.02
_MOST_BOXES = 120
"""A page with more than this has a pattern, no form."""
_SECTORS, _RING = 24, 0.9
_CORNERS = 0.06


@dataclass(frozen=True, slots=True)
class Tick:
    """A check box. Units: pixels."""

    box: Box
    sign: str


@dataclass(frozen=True, slots=True)
class Comb:
    """Cells side by side, as large as each other. Units: pixels."""

    cells: tuple[Box, ...]

    @property
    def box(self) -> Box:
        first, last = self.cells[0], self.cells[-1]
        return first[0], min(cell[1] for cell in self.cells), last[2], max(cell[3] for cell in self.cells)


@dataclass(frozen=True, slots=True)
class Ruled:
    ticks: list[Tick]
    combs: list[Comb]


def find_ruled(pixels: Pixels) -> Ruled:
    """Look for check boxes and combs. Units: pixels of the picture."""
    gray: Gray = np.asarray(cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY), dtype=np.uint8)
    unit = max(min(gray.shape) / _USUAL_SIDE, max(gray.shape) / _USUAL_LENGTH)
    ink = _ink_of(gray, unit)
    holes = _holes(ink, unit)
    combs = _combs(holes, ink, unit)
    cells = {cell for comb in combs for cell in comb.cells}
    squares = [
        hole for hole in holes if hole not in cells and _is_box(hole, ink, unit) and not _shares_wall(hole, holes)
    ]
    ticks = [Tick(_framed(hole, ink), _sign(ink, hole)) for hole in squares]
    ticks += [
        Tick(box, _sign(ink, _within(box)))
        for box in _crossed_boxes(ink, unit)
        if not any(_overlap(box, other) for other in (*(tick.box for tick in ticks), *cells))
    ]
    ticks += [tick for tick in _round_boxes(ink, unit) if not any(_overlap(tick.box, other.box) for other in ticks)]
    return Ruled(ticks if len(ticks) <= _MOST_BOXES else [], combs)


def without_ruled(pixels: Pixels, ruled: Sequence[Box]) -> Pixels:
    """The picture with paper where these boxes are."""
    clean = pixels.copy()
    for x0, y0, x1, y1 in ruled:
        left, top = max(0, x0 - 2), max(0, y0 - 2)
        around = clean[top : y1 + 2, left : x1 + 2]
        around[:] = np.percentile(around.reshape(-1, 3), 80, axis=0).astype(np.uint8)
    return clean


def strip_of(pixels: Pixels, comb: Comb) -> tuple[Pixels, int]:
    """The characters of a comb beside each other as in a line of print, and how many cells are filled."""
    high = min(y1 - y0 for _, y0, _, y1 in comb.cells)
    parts: list[Pixels] = []
    for x0, y0, x1, _ in comb.cells:
        cell = pixels[y0 + 1 : y0 + high - 1, x0 + 1 : x1 - 1]
        dark = _dark_of(cell)
        columns = np.flatnonzero(dark.sum(axis=0) > 1)
        if dark.mean() >= 0.015 and columns.size:
            margin = max(2, high // 12)
            parts.append(cell[:, max(0, columns[0] - margin) : columns[-1] + 1 + margin])
    if not parts:
        return pixels[:0, :0], 0
    strip = np.concatenate(parts, axis=1)
    rows = np.flatnonzero(_dark_of(strip).sum(axis=1) > 1)
    margin = max(3, (rows[-1] - rows[0]) // 4) if rows.size else 0
    inside = strip[max(0, rows[0] - margin) : rows[-1] + 1 + margin] if rows.size else strip
    return np.ascontiguousarray(inside), len(parts)


def _dark_of(cell: Pixels) -> npt.NDArray[np.bool_]:
    gray = cell.mean(axis=2)
    return np.asarray(gray < np.percentile(gray, 85) - 60)


def _ink_of(gray: Gray, unit: float) -> Gray:
    around = max(15, round(41 * unit)) | 1
    return np.asarray(
        cv2.adaptiveThreshold(gray, 1, cv2.ADAPTIVE_THRESH_MEAN_C, cv2.THRESH_BINARY_INV, around, 18), dtype=np.uint8
    )


def _holes(ink: Gray, unit: float) -> list[Box]:
    """What straight lines enclose: what is written inside is no line and does not count."""
    length = max(8, round(11 * unit))
    level = cv2.morphologyEx(ink, cv2.MORPH_OPEN, np.ones((1, length), np.uint8))
    upright = cv2.morphologyEx(ink, cv2.MORPH_OPEN, np.ones((length, 1), np.uint8))
    lines = cv2.morphologyEx(np.maximum(level, upright), cv2.MORPH_CLOSE, np.ones((3, 3), np.uint8))
    contours, tree = cv2.findContours(lines, cv2.RETR_CCOMP, cv2.CHAIN_APPROX_SIMPLE)
    found = []
    for contour, (_, _, _, parent) in zip(contours, tree[0] if tree is not None else [], strict=True):
        x, y, wide, high = cv2.boundingRect(contour)
        if parent >= 0 and _SMALLEST * unit * 0.7 <= min(wide, high) and max(wide, high) <= _CELL * unit:
            least = _SOLID_BOX if wide < 1.15 * high else _SOLID_HOLE
            if cv2.contourArea(contour) >= least * (wide - 1) * (high - 1):
                found.append((x + 1, y + 1, x + wide - 1, y + high - 1))
    return found


def _is_box(hole: Box, ink: Gray, unit: float) -> bool:
    """A square of some size with white at both sides: a letter has others beside it."""
    x0, y0, x1, y1 = _framed(hole, ink)
    small, large = sorted((x1 - x0, y1 - y0))
    if large > min(_LARGEST * unit, _SQUARE * small) or small < _SMALLEST * unit:
        return False
    if hole[2] - hole[0] < _THIN * (x1 - x0) or hole[3] - hole[1] < _THIN * (y1 - y0):
        return False
    beside = max(3, round(0.25 * (x1 - x0)))
    strips = (ink[y0:y1, max(0, x0 - beside) : x0], ink[y0:y1, x1 : x1 + beside])
    return all(strip.size and strip.mean() < _BESIDE for strip in strips)


def _shares_wall(hole: Box, holes: Sequence[Box]) -> bool:
    near = max(5, (hole[2] - hole[0]) // 4)
    grown = (hole[0] - near, hole[1] - near, hole[2] + near, hole[3] + near)
    return any(other != hole and _overlap(grown, other) and not _inside(hole, other) for other in holes)


def _framed(hole: Box, ink: Gray) -> Box:
    """The hole with the lines around it, however thick they are."""
    x0, y0, x1, y1 = hole
    most = max(4, (x1 - x0) // 4)
    columns, rows = (ink[y0:y1].mean(axis=0) > 0.5).tolist(), (ink[:, x0:x1].mean(axis=1) > 0.5).tolist()
    return (
        x0 - _run(columns[:x0][::-1], most),
        y0 - _run(rows[:y0][::-1], most),
        x1 + _run(columns[x1:], most),
        (y1 + _run(rows[y1:], most)),
    )


def _run(lines: Sequence[bool], most: int) -> int:
    """How far a line goes that begins within the first two pixels."""
    end = 0
    for at, is_line in enumerate(lines[:most]):
        if is_line:
            end = at + 1
        elif at > 1:
            break
    return end


def _sign(ink: Gray, hole: Box) -> str:
    x0, y0, x1, y1 = hole
    side = max(2, (x1 - x0) // 7)
    inner = ink[y0 + side : y1 - side, x0 + side : x1 - side]
    return CHECKED if inner.size and inner.mean() >= _TICKED else UNCHECKED


def _combs(holes: Sequence[Box], ink: Gray, unit: float) -> list[Comb]:
    """Runs of cells of one size that share walls, with something in them, and none above or below: that is a table."""
    found = []
    for row in _rows(holes):
        others = [hole for hole in holes if hole not in row]
        if len(row) < 2 or not _is_roomy(row[0], unit) or any(_stacked(row[0], other) for other in others):
            continue
        if any(_is_filled(ink[y0 + 2 : y1 - 2, x0 + 2 : x1 - 2]) for x0, y0, x1, y1 in row):
            found.append(Comb(tuple(row)))
    return found


def _is_filled(inner: Gray) -> bool:
    return bool(inner.size) and bool(inner.mean() > _FILLED)


def _is_roomy(cell: Box, unit: float) -> bool:
    """Larger than what letters enclose."""
    return cell[2] - cell[0] >= _ROOM[0] * unit and cell[3] - cell[1] >= _ROOM[1] * unit


def _rows(holes: Sequence[Box]) -> Iterator[list[Box]]:
    left = sorted(holes)
    while left:
        row = [left.pop(0)]
        for other in list(left):
            if _continues(row[-1], other):
                row.append(other)
                left.remove(other)
        yield row


def _continues(cell: Box, other: Box) -> bool:
    wide, high = cell[2] - cell[0], cell[3] - cell[1]
    return (
        0 <= other[0] - cell[2] <= max(5, 0.22 * wide)
        and abs(other[1] - cell[1]) <= 0.12 * high
        and abs(other[3] - cell[3]) <= 0.12 * high
        and abs(other[2] - other[0] - wide) <= 0.2 * wide
        and 0.45 * high <= wide <= 1.3 * high
    )


def _stacked(cell: Box, other: Box) -> bool:
    high = cell[3] - cell[1]
    beside = min(cell[2], other[2]) - max(cell[0], other[0]) > 0.5 * (cell[2] - cell[0])
    return beside and min(abs(other[1] - cell[3]), abs(cell[1] - other[3])) <= max(4, 0.2 * high)


def _crossed_boxes(ink: Gray, unit: float) -> list[Box]:
    """Squares of four straight sides that stand alone, whatever is drawn inside them up to their corners."""
    count, _, stats, _ = cv2.connectedComponentsWithStats(ink, connectivity=8)
    found = []
    for x, y, wide, high in stats[1:count, :4].tolist():
        small, large = sorted((wide, high))
        if small < _SMALLEST * unit or large > min(_LARGEST * unit, _SQUARE * small):
            continue
        cut = ink[y : y + high, x : x + wide]
        edge = max(2, round(_EDGE * small))
        sides = (cut[:edge], cut[-edge:], cut[:, :edge].T, cut[:, -edge:].T)
        beside = max(3, round(0.25 * wide))
        strips = (ink[y : y + high, max(0, x - beside) : x], ink[y : y + high, x + wide : x + wide + beside])
        free = all(strip.size and strip.mean() < _BESIDE for strip in strips)
        free = free and (small >= _LARGER * unit or _has_corners(cut))
        if free and all(_is_straight(side) for side in sides) and cut.mean() <= _SOLID:
            found.append((x, y, x + wide, y + high))
    return found


def _has_corners(cut: Gray) -> bool:
    """Whether ink fills its corners: a letter as small as this has round ones."""
    end = max(2, cut.shape[1] // 8)
    return all(corner.mean() > 0.5 for rows in (cut[:end], cut[-end:]) for corner in (rows[:, :end], rows[:, -end:]))


def _is_straight(side: Gray) -> bool:
    """Whether a line runs along the side of a box, perhaps from one row of pixels to the next."""
    end = side.shape[1] // 8  # a tick may stick out, and make it look longer
    middle = side[:, end : side.shape[1] - end]
    return bool(np.maximum(middle[1:], middle[:-1]).mean(axis=1).max() >= _STRAIGHT)


def _within(box: Box) -> Box:
    """What is inside of a box with its frame."""
    edge = max(1, round(_EDGE / 2 * (box[2] - box[0])))
    return box[0] + edge, box[1] + edge, box[2] - edge, box[3] - edge


def _round_boxes(ink: Gray, unit: float) -> list[Tick]:
    """Circles that stand before words and are larger than their letters."""
    count, _, stats, _ = cv2.connectedComponentsWithStats(ink, connectivity=8)
    boxes: npt.NDArray[np.int32] = np.asarray(stats[1:count, :4], dtype=np.int32)
    wide, high = boxes[:, 2], boxes[:, 3]
    fits = (
        (np.minimum(wide, high) >= _SMALLEST * unit)
        & (np.maximum(wide, high) <= _LARGEST * unit)
        & (np.abs(wide - high) <= 2 + 0.1 * wide)
    )
    found = []
    for x, y, w, h in boxes[fits][: 4 * _MOST_BOXES].tolist():
        state = _ring(ink[y : y + h, x : x + w])
        if state is not None and _stands_before_words((x, y, x + w, y + h), boxes):
            found.append(Tick((x, y, x + w, y + h), CHECKED if state else UNCHECKED))
    return found


def _ring(cut: Gray) -> bool | None:
    """True for a circle with something in it, False for an empty one, None for anything else."""
    high, wide = cut.shape
    y, x = np.mgrid[0:high, 0:wide]
    far = np.hypot((x - (wide - 1) / 2) / (wide / 2), (y - (high - 1) / 2) / (high / 2))
    angle = ((np.arctan2(y - (high - 1) / 2, x - (wide - 1) / 2) / np.pi + 1) * _SECTORS / 2).astype(int) % _SECTORS
    dark = cut > 0
    rim = (far >= 0.75) & (far <= 1.08)
    around = {int(one) for one in np.unique(angle[rim & dark])}
    corners = dark[far > 1.15]
    if len(around) < _RING * _SECTORS or (corners.size and corners.mean() > _CORNERS):
        return None
    inner = dark[far < 0.6]
    middle = dark[(far > 0.6) & (far < 0.72)]
    if inner.mean() < 0.02:
        return False if middle.mean() < 0.25 else None
    return True if inner.mean() >= 0.08 and middle.mean() < 0.35 else None


def _stands_before_words(box: Box, boxes: npt.NDArray[np.int32]) -> bool:
    x0, y0, x1, y1 = box
    side = x1 - x0
    middles = boxes[:, 1] + boxes[:, 3] / 2
    level = (middles > y0 - 0.2 * side) & (middles < y1 + 0.2 * side) & (boxes[:, 3] > 0.25 * side)
    outside = level & ((boxes[:, 0] >= x1) | (boxes[:, 0] + boxes[:, 2] <= x0))
    right = boxes[outside & (boxes[:, 0] >= x1)]
    right = right[np.argsort(right[:, 0])][:4]
    left = boxes[outside & (boxes[:, 0] < x0)]
    if len(right) < 3 or right[0][0] - x1 < 0.12 * side or right[0][0] - x1 > 1.5 * side:
        return False
    if len(left) and x0 - (left[:, 0] + left[:, 2]).max() < 0.3 * side:
        return False
    return bool(right[:, 3].max() * 1.15 <= side)


def _overlap(one: Box, other: Box) -> bool:
    return min(one[2], other[2]) > max(one[0], other[0]) and min(one[3], other[3]) > max(one[1], other[1])


def _inside(one: Box, other: Box) -> bool:
    return other[0] <= one[0] and other[1] <= one[1] and other[2] >= one[2] and other[3] >= one[3]
