"""Boxes and lines in the picture of a page that somebody scanned: it is turned straight first."""

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from statistics import median

import cv2
import numpy as np
import numpy.typing as npt

from documents.ingest.frames import SCALE, Box, find_frames
from documents.ingest.layout import Layout
from documents.ingest.looks import Gray
from documents.ingest.pieces import Piece

_RUN = 6.0
"""Units: heights. Words nearer to each other do not tell how a line falls."""
_ENOUGH = 3
_THICK, _GAP = 4.0, 6.0
"""Units: points. Both edges of a line are so near; its parts are."""
_STEEPEST = math.tan(math.radians(4))


def scanned_frames(pixels: npt.NDArray[np.uint8], layout: Layout, width: float) -> tuple[Box, ...]:
    """What is drawn around and under the words. Units: those of the words; `width` is that of the page."""
    if not layout.pieces or not width:
        return ()
    slope = slope_of(layout)
    if abs(slope) > _STEEPEST:
        return ()
    gray = cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY)
    scale = SCALE * width / gray.shape[1]
    small = np.asarray(cv2.resize(gray, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA), dtype=np.uint8)
    boxes = find_frames(_straight(small, slope), [_turned(piece, slope) for piece in layout.pieces], SCALE, noisy=True)
    return tuple(_turned_back(box, slope) for box in _whole(boxes))


def _whole(boxes: Sequence[Box]) -> list[Box]:
    """The boxes, with lines that are one, seen at its upper or lower edge or in parts, joined."""
    kept = [box for box in boxes if box[3] > box[1]]
    lines: list[Box] = []
    for x0, y0, x1, _ in sorted(box for box in boxes if box[3] <= box[1]):
        for place, held in enumerate(lines):
            if abs(held[1] - y0) <= _THICK and x0 <= held[2] + _GAP and x1 >= held[0] - _GAP:
                lines[place] = (min(held[0], x0), held[1], max(held[2], x1), held[1])
                break
        else:
            lines.append((x0, y0, x1, y0))
    return [*kept, *lines]


def slope_of(layout: Layout) -> float:
    """By how much lines fall per unit of width."""
    lines: dict[int, list[Piece]] = defaultdict(list)
    for piece, line in zip(layout.pieces, layout.lines, strict=True):
        lines[line].append(piece)
    slopes = [_fall(pieces[0], pieces[-1]) for pieces in lines.values() if _is_long(pieces)]
    return median(slopes) if len(slopes) >= _ENOUGH else 0.0


def _is_long(pieces: Sequence[Piece]) -> bool:
    return pieces[-1].x0 - pieces[0].x1 > _RUN * pieces[0].height


def _fall(first: Piece, last: Piece) -> float:
    return (last.y1 - first.y1) / ((last.x0 + last.x1 - first.x0 - first.x1) / 2)


def _straight(picture: Gray, slope: float) -> Gray:
    """The picture sheared both ways, which for small angles turns it."""
    if not slope:
        return picture
    high, wide = picture.shape
    down = np.array([[1.0, 0.0, 0.0], [-slope, 1.0, 0.0]])
    across = np.array([[1.0, slope, 0.0], [0.0, 1.0, 0.0]])
    for shear in (down, across):
        picture = np.asarray(
            cv2.warpAffine(picture, shear, (wide, high), flags=cv2.INTER_LINEAR, borderValue=255), dtype=np.uint8
        )
    return picture


def _turned(piece: Piece, slope: float) -> Piece:
    x, y = (piece.x0 + piece.x1) / 2, (piece.y0 + piece.y1) / 2
    up = slope * x
    right = slope * (y - up)
    return replace(piece, x0=piece.x0 + right, x1=piece.x1 + right, y0=piece.y0 - up, y1=piece.y1 - up)


def _turned_back(box: Box, slope: float) -> Box:
    x, y = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
    left = slope * y
    down = slope * (x - left)
    return box[0] - left, box[1] + down, box[2] - left, box[3] + down
