"""Check boxes that are drawn on a page: squares of lines, or small pictures, beside words. Read from how they look."""

import ctypes
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
import pypdfium2 as pdfium
import pypdfium2.raw as raw

from documents.ingest.forms import CHECKED, UNCHECKED, Mark
from documents.ingest.glyphs import display_matrix, map_boxes
from documents.ingest.looks import Gray, gray_picture
from documents.ingest.pieces import Piece

Box = tuple[float, float, float, float]

_SMALLEST, _LARGEST = 5.5, 26.0
"""Units: points."""
_SQUARE = 1.35
_MOST_OBJECTS = 5_000
_MOST_BOXES = 120
"""A page with more small squares than this has a pattern, no form."""
_SCALE = 3.0
_DARK = 150
_EDGE, _INSIDE = 0.3, 0.3
"""Units: of the box's side. Where its frame may be, and where nothing but a tick is."""
_DRAWN, _TICKED, _SOLID = 0.72, 0.05, 0.75
_RING, _HOLLOW = 0.85, 0.5
"""How much of its circle a round box is drawn around, and how much may be dark right inside of that."""
_BESIDE = 2.5
"""Units: of the box's side. How far its caption may be."""
_TICKS = frozenset("xX×✓✔✗✘✕✖☑☒●•⬤")


def read_drawn_boxes(page: pdfium.PdfPage, pieces: Sequence[Piece], marks: Sequence[Mark]) -> list[Mark]:
    """The check boxes that are neither fields nor signs of a font."""
    squares = [box for box in _squares(page) if not any(_overlap(box, _box_of(mark)) for mark in marks)]
    squares = [box for box in _alone(_apart(squares)) if _has_caption(box, pieces)]
    if not squares or len(squares) > _MOST_BOXES:
        return []
    picture = gray_picture(page, _SCALE)
    if picture is None:
        return []
    found = []
    for box in squares:
        inside = [piece for piece in pieces if _holds(box, piece)]
        state = _state(_cut(picture, box))
        if state is not None and all(piece.text in _TICKS for piece in inside):
            found.append(Mark(*box, "text", CHECKED if state or inside else UNCHECKED, is_tick=True))
    return found


def without_ticks(pieces: list[Piece], drawn: Sequence[Mark]) -> list[Piece]:
    """The words without the crosses that stand in a drawn box: the box says it."""
    return [piece for piece in pieces if not any(_holds(_box_of(mark), piece) for mark in drawn)]


def _squares(page: pdfium.PdfPage) -> Iterator[Box]:
    left, bottom, right, top = (ctypes.c_float() for _ in range(4))
    found = []
    for index in range(min(raw.FPDFPage_CountObjects(page), _MOST_OBJECTS)):
        item = raw.FPDFPage_GetObject(page, index)
        if raw.FPDFPageObj_GetType(item) not in (raw.FPDF_PAGEOBJ_PATH, raw.FPDF_PAGEOBJ_IMAGE):
            continue
        if raw.FPDFPageObj_GetBounds(item, left, bottom, right, top) and _is_square(
            right.value - left.value, top.value - bottom.value
        ):
            found.append([left.value, top.value, right.value, bottom.value])
    if found:
        yield from map(tuple, map_boxes(np.array(found), display_matrix(page)).tolist())


def _is_square(width: float, height: float) -> bool:
    small, large = sorted((abs(width), abs(height)))
    return small >= _SMALLEST and large <= _LARGEST and large <= _SQUARE * small


def _apart(squares: Sequence[Box]) -> list[Box]:
    """One for each place: a frame is often drawn as several things on top of each other. The largest comes first."""
    kept: list[Box] = []
    for box in sorted(squares, key=lambda box: box[0] - box[2]):
        if not any(_overlap(box, other) for other in kept):
            kept.append(box)
    return kept


def _alone(squares: Sequence[Box]) -> list[Box]:
    """Without those that touch another one beside them: a comb, with a character in each."""
    return [box for box in squares if not any(other is not box and _touch(box, other) for other in squares)]


def _touch(box: Box, other: Box) -> bool:
    side = box[2] - box[0]
    level = abs(box[1] - other[1]) < 0.2 * side and abs(box[3] - other[3]) < 0.2 * side
    return level and min(abs(box[2] - other[0]), abs(other[2] - box[0])) < 0.15 * side


def _has_caption(box: Box, pieces: Sequence[Piece]) -> bool:
    """Whether a word stands right or left of it, on its level: other squares are decoration or cells."""
    side, middle = box[2] - box[0], (box[1] + box[3]) / 2
    return any(
        piece.y0 - 0.3 * side <= middle <= piece.y1 + 0.3 * side
        and len(piece.text) > 1
        and min(abs(piece.x0 - box[2]), abs(box[0] - piece.x1)) <= _BESIDE * side
        for piece in pieces
    )


def _cut(picture: Gray, box: Box) -> Gray:
    x0, y0, x1, y1 = (round(side * _SCALE) for side in box)
    margin = round(_SCALE)
    return picture[max(0, y0 - margin) : y1 + margin, max(0, x0 - margin) : x1 + margin]


def _state(cut: Gray) -> bool | None:
    """True for a frame with something in it, False for an empty one, None for anything else."""
    dark = _ink_of(cut < _DARK)
    height, width = dark.shape
    if not _is_square(width / _SCALE, height / _SCALE):
        return None
    rows, columns = dark.mean(axis=1), dark.mean(axis=0)
    deep, wide = round(_EDGE * height), round(_EDGE * width)
    sides = (rows[:deep].max(), rows[-deep:].max(), columns[:wide].max(), columns[-wide:].max())
    if dark.mean() > _SOLID or not (_is_ring(dark) or (min(sides) >= _DRAWN and not _is_disc(dark))):
        return None
    inner = dark[round(_INSIDE * height) : -round(_INSIDE * height), round(_INSIDE * width) : -round(_INSIDE * width)]
    return bool(inner.mean() >= _TICKED)


def _is_disc(dark: npt.NDArray[np.bool_]) -> bool:
    """Whether it is round and filled: the ground of an icon, or a bullet."""
    height, width = dark.shape
    ys, xs = np.ogrid[:height, :width]
    far = np.sqrt(((ys + 0.5) / height - 0.5) ** 2 + ((xs + 0.5) / width - 0.5) ** 2)
    return not dark[far > 0.6].any() and bool(dark[(far > 0.33) & (far <= 0.45)].mean() > _SOLID)


def _is_ring(dark: npt.NDArray[np.bool_]) -> bool:
    """Whether it is a thin circle: a round box of several of which one is chosen."""
    height, width = dark.shape
    ys, xs = np.ogrid[:height, :width]
    down, right = (ys + 0.5) / height - 0.5, (xs + 0.5) / width - 0.5
    far = np.sqrt(down**2 + right**2)
    angle = ((np.arctan2(down, right) / (2 * np.pi) + 0.5) * 32).astype(int) % 32
    around = np.bincount(angle[dark & (far > 0.4) & (far <= 0.52)], minlength=32)
    corners = dark[far > 0.56]
    hollow = dark[(far > 0.33) & (far <= 0.4)]
    return bool((around > 0).mean() >= _RING and not corners.any() and hollow.size and hollow.mean() < _HOLLOW)


def _ink_of(dark: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """What is drawn, without the margin around it."""
    rows, columns = np.flatnonzero(dark.any(axis=1)), np.flatnonzero(dark.any(axis=0))
    return dark[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1] if rows.size else dark[:0]


def _overlap(one: Box, other: Box) -> bool:
    return min(one[2], other[2]) > max(one[0], other[0]) and min(one[3], other[3]) > max(one[1], other[1])


def _holds(box: Box, piece: Piece) -> bool:
    x, y = (piece.x0 + piece.x1) / 2, (piece.y0 + piece.y1) / 2
    return box[0] <= x <= box[2] and box[1] <= y <= box[3]


def _box_of(mark: Mark) -> Box:
    return mark.x0, mark.y0, mark.x1, mark.y1
