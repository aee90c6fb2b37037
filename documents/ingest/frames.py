"""The boxes that lines draw around words, and the lines that words stand on: of forms, of tables.

They are seen in the picture of a page, whatever drew it. A line that words stand on is a box without height.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from documents.ingest.looks import Gray
from documents.ingest.pieces import Piece

Flags = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
Places = npt.NDArray[np.int64]
Box = tuple[float, float, float, float]
_Crossing = dict[tuple[float, float], list[float]]

SCALE = 2.0
"""Units: pixels per point of the picture that shows lines well enough."""
_STEP = 14
"""How much darker or lighter the other side of an edge is."""
_WIDE, _HIGH = 22.0, 8.0
"""Units: points. Shorter lines are strokes of letters."""
_TALL = 10.0
"""Units: points. In a scan letters are not exactly where their words are."""
_EDGE = 1.0
_NARROWEST = 18.0
"""Units: points. A narrower box is a cell of a comb or a check box."""
_LOWEST = 7.0
_SLACK = 2.5
"""Units: points. Lines on both sides of a pixel row are one; corners may be open or round so far."""
_CORNER = 7.0
_COVERED = 0.85
_GAP = 4.0
"""Units: points. The gaps of dotted and dashed lines."""
_SPECK = 1.0
_FOOT = 1.5
_SPARSE = 0.3
_BODY = 0.95
"""Units: of the height. Under it are only the tails of letters, and lines that words stand on."""
_ABOVE, _UNDER = 0.3, 0.55
"""Units: of the height of a word. How far the line that it stands on is over or under its lower edge."""
_MOST_RULES = 1_500
"""A page with more lines is a drawing or a pattern."""
_TRIES = 8


@dataclass(frozen=True, slots=True)
class _Rules:
    """Lines of one direction: where they are, from where to where. Units: points; sorted by place."""

    at: Floats
    start: Floats
    end: Floats


def find_frames(picture: Gray, pieces: Sequence[Piece], scale: float, *, noisy: bool = False) -> tuple[Box, ...]:
    """The smallest box around each of `pieces` that has one, each box once. Units: points, as the pieces.

    `noisy`: it is a scan, whose lines have specks and gaps.
    """
    if not pieces:
        return ()
    edges, gap = _edges(picture), _SPECK if noisy else 0.0
    flat = _rules(edges, _WIDE, scale, gap=gap)
    if noisy:
        flat = _without_feet(flat, pieces)
    margin, least = (_EDGE, _TALL) if noisy else (0.0, _HIGH)
    standing = _rules(_without_words(_edges(picture.T), pieces, scale, margin), least, scale, gap=gap)
    if len(flat.at) + len(standing.at) > _MOST_RULES:
        return ()
    crossing: _Crossing = {}
    found = {id(piece): _box_around(piece, flat, standing, crossing) for piece in pieces} if len(standing.at) else {}
    dashed = _rules(_without_bodies(edges, pieces, scale), _WIDE, scale, gap=_GAP)
    lines = (_line_under(piece, rules, found.get(id(piece))) for piece in pieces for rules in (flat, dashed))
    return tuple(dict.fromkeys(box for box in (*found.values(), *lines) if box is not None))


def _edges(picture: Gray) -> Flags:
    """Where a row differs from the next one, in runs that a line or the border of a ground makes."""
    rows = picture.astype(np.int16)
    edges: Flags = np.abs(rows[1:] - rows[:-1]) >= _STEP
    return edges


def _without_words(edges: Flags, pieces: Sequence[Piece], scale: float, margin: float) -> Flags:
    """Standing edges (turned on their side) without those of letters."""
    for piece in pieces:
        box = (piece.x0 - margin, piece.y0 - margin, piece.x1 + margin, piece.y1 + margin)
        x0, y0, x1, y1 = (round(side * scale) for side in box)
        edges[max(0, x0) : max(0, x1), max(0, y0) : max(0, y1)] = False
    return edges


def _without_bodies(edges: Flags, pieces: Sequence[Piece], scale: float) -> Flags:
    """Flat edges without those of letters, but for what is at their lower ends."""
    for piece in pieces:
        x0, y0, x1 = (round(side * scale) for side in (piece.x0, piece.y0, piece.x1))
        y1 = round((piece.y0 + _BODY * piece.height) * scale)
        edges[max(0, y0) : max(0, y1), max(0, x0) : max(0, x1)] = False
    return edges


def _without_feet(flat: _Rules, pieces: Sequence[Piece]) -> _Rules:
    """Without the lower ends of letters in a row: such lines begin and end inside words."""
    x0, y0, x1, y1 = (np.array([getattr(piece, side) for piece in pieces]) for side in ("x0", "y0", "x1", "y1"))
    kept = []
    for at, start, end in zip(flat.at, flat.start, flat.end, strict=True):
        level = (y0 - _SLACK <= at) & (at <= y1 + _SLACK)
        begins = bool((level & (x0 - _FOOT <= start) & (start <= x1)).any())
        kept.append(not (begins and bool((level & (x0 <= end) & (end <= x1 + _FOOT)).any())))
    keep = np.array(kept, dtype=bool)
    return _Rules(flat.at[keep], flat.start[keep], flat.end[keep])


def _rules(edges: Flags, least: float, scale: float, *, gap: float = 0.0) -> _Rules:
    """The runs of edges along the rows that are long enough, joined where they are one line."""
    rows = _drawn_rows(edges, round(least * scale), round(gap * scale))
    padded = np.zeros((rows.size, edges.shape[1] + 2), dtype=np.int8)
    padded[:, 1:-1] = edges[rows]
    turns = np.diff(padded, axis=1)
    row, first = np.nonzero(turns == 1)
    _, last = np.nonzero(turns == -1)
    if gap and row.size:
        row, first, last = _bridged(row, first, last, gap * scale)
    long = last - first >= least * scale
    return _joined((rows[row[long]] + 1) / scale, first[long] / scale, last[long] / scale)


def _drawn_rows(edges: Flags, least: int, gap: int) -> Places:
    """The rows that may hold a run so long: gaps are closed, then every pixel needs so many to its right."""
    runs, reach = edges, 1
    while reach <= gap:
        runs = runs[:, :-reach] | runs[:, reach:]
        reach *= 2
    reach = 1
    while 2 * reach <= least - gap:
        runs = runs[:, :-reach] & runs[:, reach:]
        reach *= 2
    return np.flatnonzero(runs.any(axis=1))


def _bridged(row: Places, first: Places, last: Places, gap: float) -> tuple[Places, Places, Places]:
    """Runs of one row that are close to each other as one, where enough of it is drawn."""
    apart = (row[1:] != row[:-1]) | (first[1:] - last[:-1] > gap)
    begins = np.concatenate(([0], np.flatnonzero(apart) + 1))
    ends = np.concatenate((begins[1:], [row.size])) - 1
    drawn = np.add.reduceat(last - first, begins)
    dense = drawn >= _SPARSE * (last[ends] - first[begins])
    return row[begins][dense], first[begins][dense], last[ends][dense]


def _line_under(piece: Piece, flat: _Rules, box: Box | None) -> Box | None:
    """The line that a word stands on, unless it is the lower side of its box."""
    low, high = piece.y1 - _ABOVE * piece.height, piece.y1 + _UNDER * piece.height
    x = (piece.x0 + piece.x1) / 2
    found = np.flatnonzero((flat.at >= low) & (flat.at <= high) & (flat.start <= x) & (flat.end >= x))
    if not found.size or (box is not None and abs(float(flat.at[found[0]]) - box[3]) <= 2 * _SLACK):
        return None
    line = int(found[0])
    at = round(float(flat.at[line]), 2)
    return round(float(flat.start[line]), 2), at, round(float(flat.end[line]), 2), at


def _joined(at: Floats, start: Floats, end: Floats) -> _Rules:
    kept: list[list[float]] = []
    for place, begins, ends in zip(at.tolist(), start.tolist(), end.tolist(), strict=True):
        near = (line for line in reversed(kept[-40:]) if place - line[0] <= _SLACK)
        same = next((line for line in near if begins <= line[2] + _SLACK and ends >= line[1] - _SLACK), None)
        if same is None:
            kept.append([place, begins, ends])
        else:
            same[1:] = min(same[1], begins), max(same[2], ends)
    columns = np.array(kept, dtype=np.float64).reshape(-1, 3)
    return _Rules(columns[:, 0], columns[:, 1], columns[:, 2])


def _box_around(piece: Piece, flat: _Rules, standing: _Rules, crossing: _Crossing) -> Box | None:
    """Out from the word to the next lines that close a box. `crossing` remembers which lines stand between two."""
    x, y = (piece.x0 + piece.x1) / 2, (piece.y0 + piece.y1) / 2
    for top, bottom in _sides(flat, x, y):
        if (top, bottom) not in crossing:
            through = (standing.start <= top + _CORNER) & (standing.end >= bottom - _CORNER)
            crossing[top, bottom] = sorted(standing.at[through].tolist())
        sides = crossing[top, bottom]
        before, after = bisect_right(sides, piece.x0 + _SLACK), bisect_left(sides, piece.x1 - _SLACK)
        if not before and after == len(sides):
            continue
        low = sides[before - 1] if before else _open_side(flat, top, bottom, x, low=True)
        high = sides[after] if after < len(sides) else _open_side(flat, top, bottom, x, low=False)
        wide = high - low
        if low < high and wide >= _NARROWEST and all(_covers(flat, at, low, high) for at in (top, bottom)):
            return round(low, 2), round(top, 2), round(high, 2), round(bottom, 2)
    return None


def _sides(flat: _Rules, x: float, y: float) -> Iterator[tuple[float, float]]:
    """Pairs of lines over and under a point, the nearest first."""
    over = np.unique(flat.at[(flat.start <= x) & (flat.end >= x)]).tolist()
    first, last = bisect_left(over, y), bisect_right(over, y)
    tops, bottoms = over[max(0, first - _TRIES) : first], over[last : last + _TRIES]
    pairs = [(top, bottom) for top in reversed(tops) for bottom in bottoms if bottom - top >= _LOWEST]
    yield from sorted(pairs, key=lambda pair: pair[1] - pair[0])


def _open_side(flat: _Rules, top: float, bottom: float, x: float, *, low: bool) -> float:
    """Where the lines over and under end, if they end alike: boxes at the edge of a form may be open there."""
    ends = []
    for at in (top, bottom):
        same = (np.abs(flat.at - at) <= _SLACK) & (flat.start <= x) & (flat.end >= x)
        ends.append(float((flat.start if low else flat.end)[same].min() if low else flat.end[same].max()))
    alike = abs(ends[0] - ends[1]) <= _CORNER
    return ends[0] if alike else (float("inf") if low else float("-inf"))


def _covers(flat: _Rules, at: float, low: float, high: float) -> bool:
    same = np.abs(flat.at - at) <= _SLACK
    if not same.any() or flat.start[same].min() > low + _CORNER or flat.end[same].max() < high - _CORNER:
        return False
    covered = np.minimum(flat.end[same], high) - np.maximum(flat.start[same], low)
    return float(covered.clip(0).sum()) + 2 * _SLACK >= _COVERED * (high - low)
