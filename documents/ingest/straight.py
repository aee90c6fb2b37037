"""How far the lines of a picture of a page slope, and the picture set straight: scans are turned, photographs lean."""

from collections.abc import Callable

import cv2
import numpy as np
import numpy.typing as npt

Pixels = npt.NDArray[np.uint8]
Matrix = npt.NDArray[np.float64]

_SMALL = 1_000
"""Units: pixels. The longer side of the picture in which slopes are measured."""
_STEEPEST, _BENT, _COARSE, _FINE = 0.045, 0.09, 0.005, 0.0005
"""Units: fall per width; `_BENT` is its change from the top of a page to its bottom."""
_LEAST = 0.0012
"""Less is no slope that lines would suffer from."""
_ALIKE = 0.006
"""Slopes at both edges that differ by less are of a page that was turned, not seen from an angle."""
_ENOUGH = 5_000
"""Units: pixels of ink. A page with less says nothing."""
_MOST = 8_000
_CLEARER = 1.04
"""How much sharper lines must become."""


def straightened(picture: Pixels) -> tuple[Pixels, Matrix] | None:
    """The picture with level lines, and where its points are in the picture as it was; None when they are level."""
    high, wide = picture.shape[:2]
    top, bottom = _slopes(picture)
    if max(abs(top), abs(bottom)) < _LEAST:
        return None
    lean = (top + bottom) / 2 if abs(top - bottom) < _ALIKE else 0.0
    x, y = wide / 2, high / 2
    corners = [(0.0, 0.0, top), (float(wide), 0.0, top), (float(wide), float(high), bottom), (0.0, float(high), bottom)]
    straight = np.array([(px, py) for px, py, _ in corners], dtype=np.float32)
    seen = np.array([(px - lean * (py - y), py + slope * (px - x)) for px, py, slope in corners], dtype=np.float32)
    matrix = np.asarray(cv2.getPerspectiveTransform(straight, seen), dtype=np.float64)
    level = cv2.warpPerspective(
        picture, matrix, (wide, high), flags=cv2.INTER_CUBIC | cv2.WARP_INVERSE_MAP, borderMode=cv2.BORDER_REPLICATE
    )
    return np.asarray(level, dtype=np.uint8), matrix


def moved(points: npt.NDArray[np.float64], matrix: Matrix) -> npt.NDArray[np.float64]:
    """Points (n × 2) of one picture in the other."""
    found: Matrix = np.asarray(cv2.perspectiveTransform(points.reshape(1, -1, 2), matrix), dtype=np.float64)[0]
    return found


def _slopes(picture: Pixels) -> tuple[float, float]:
    """The slope of the lines at the upper and at the lower edge: that along which the ink falls into sharp lines."""
    high, wide = picture.shape[:2]
    scale = min(1.0, _SMALL / max(high, wide))
    gray = cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY)
    small = cv2.resize(gray, (max(1, round(wide * scale)), max(1, round(high * scale))), interpolation=cv2.INTER_AREA)
    ink = cv2.adaptiveThreshold(small, 1, cv2.ADAPTIVE_THRESH_MEAN_C, cv2.THRESH_BINARY_INV, 25, 14)
    rows, columns = np.nonzero(ink)
    if rows.size < _ENOUGH:
        return 0.0, 0.0
    step = max(1, rows.size // _MOST)
    y, x = rows[::step].astype(np.float64), columns[::step] - small.shape[1] / 2
    down = y / small.shape[0] - 0.5
    # what a slope in the middle, and its change down the page, do to each point
    middle, change = _search(lambda tried: _sharpness(y - (tried[0] + tried[1] * down) * x))
    if _sharpness(y - (middle + change * down) * x) < _CLEARER * _sharpness(y):
        return 0.0, 0.0
    return middle - change / 2, middle + change / 2


def _search(sharpness: Callable[[tuple[float, float]], float]) -> tuple[float, float]:
    """The sharpest pair: first all over, then nearer and nearer."""
    tried = [(one, other) for one in _grid(_STEEPEST, _COARSE) for other in _grid(_BENT, 2 * _COARSE)]
    best = max(tried, key=sharpness)
    step = _COARSE
    while step > _FINE:
        step /= 2
        near = [(best[0] + one, best[1] + 2 * other) for one in (-step, 0, step) for other in (-step, 0, step)]
        best = max(near, key=sharpness)
    return best


def _grid(limit: float, step: float) -> list[float]:
    count = round(limit / step)
    return [step * at for at in range(-count, count + 1)]


def _sharpness(levels: npt.NDArray[np.float64]) -> float:
    rows = np.round(levels - levels.min()).astype(np.int64)
    counts = np.bincount(rows).astype(np.float64)
    return float((counts * counts).sum())
