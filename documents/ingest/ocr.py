"""Words from a picture of a page. Engines stand behind one small interface; the one there is (rapid.py) is RapidOCR."""

import math
from dataclasses import dataclass, replace
from statistics import median
from typing import Protocol

import numpy as np
import numpy.typing as npt

from documents.ingest.frames import Box
from documents.ingest.layout import Layout, arrange
from documents.ingest.pieces import Piece
from documents.ingest.ruled import Comb, find_ruled, strip_of, without_ruled
from documents.ingest.scanned import scanned_frames
from documents.ingest.straight import Matrix, moved, straightened

Pixels = npt.NDArray[np.uint8]

_SURE = 0.8  # below this mean confidence the page is tried the other way up
_BOXES = {"□": "☐", "▢": "☐", "❑": "☐", "☑": "☒", "✅": "☒", "🗹": "☒", "☐": "☐", "☒": "☒"}


@dataclass(frozen=True, slots=True)
class OcrWord:
    """Units: pixels of the picture that was read; confidence 0–1."""

    text: str
    confidence: float
    polygon: tuple[tuple[float, float], ...]


class OcrEngine(Protocol):
    """Reads a picture into lines of words, or a picture of nothing but one line."""

    def read(self, pixels: Pixels) -> list[list[OcrWord]]: ...

    def read_line(self, pixels: Pixels) -> list[OcrWord]: ...


@dataclass(frozen=True, slots=True)
class Reading:
    """What OCR saw. Words are arranged in the direction in which they are read, their boxes are the picture's."""

    layout: Layout
    quarter_turns: int
    confidence: float
    frames: tuple[Box, ...] = ()


def read_picture(engine: OcrEngine, pixels: Pixels, width: float, height: float, extra: list[Piece]) -> Reading:
    """Read a picture of a page that is `width` × `height`; turn it when the text lies on its side or head.

    `extra` are words that are known already (form values); what OCR read at the same place gives way to them.
    Units: boxes in the unit of width and height.
    """
    seen_level = straightened(pixels)
    if seen_level is not None:
        pixels = seen_level[0]
    best = _read_turned(engine, pixels, 0)
    if best.on_its_side:  # the engine turns standing lines by itself, but their order and their boxes stay turned
        best = max((_read_turned(engine, pixels, turn) for turn in (1, 3)), key=lambda seen: seen.score)
    elif best.lines and best.confidence < _SURE:
        best = max(best, _read_turned(engine, pixels, 2), key=lambda seen: seen.score)
    matrix = None if seen_level is None else seen_level[1]
    frame = _Frame(pixels.shape[1], pixels.shape[0], width, height, best.turns, _slope(best.lines), matrix)
    known = [frame.onto_picture(piece) for piece in extra]
    origins: dict[int, tuple[Piece, Piece]] = {}
    for line in best.lines + best.ruled:
        pieces = [
            piece for word in line for piece in _pieces(word) if not any(_covers(other, piece) for other in known)
        ]
        origins.update((id(straight), (straight, piece)) for straight, piece in _straight(pieces, frame.slope))
    origins.update((id(straight), (straight, piece)) for piece in known for straight, piece in _straight([piece], 0.0))
    layout = arrange([straight for straight, _ in origins.values()])
    seen = [origins[id(piece)][1] for piece in layout.pieces]
    layout.pieces = [frame.onto_page(piece) for piece in seen]
    return Reading(layout, best.turns, best.confidence, _frames(pixels, layout, seen, frame))


def _frames(pixels: Pixels, layout: Layout, pieces: list[Piece], frame: "_Frame") -> tuple[Box, ...]:
    """The boxes around words and the lines under them that the picture shows. Units: those of the page."""
    turned: Pixels = np.ascontiguousarray(np.rot90(pixels, frame.turns))
    scale = frame.wide / turned.shape[1]
    small = [
        replace(piece, x0=piece.x0 * scale, y0=piece.y0 * scale, x1=piece.x1 * scale, y1=piece.y1 * scale)
        for piece in pieces
    ]
    boxes = scanned_frames(turned, replace(layout, pieces=small), frame.wide)
    onto = [
        frame.onto_page(Piece("", x0 / scale, y0 / scale, x1 / scale, y1 / scale, 1.0, "ocr"))
        for x0, y0, x1, y1 in boxes
    ]
    return tuple((piece.x0, piece.y0, piece.x1, piece.y1) for piece in onto)


def _straight(pieces: list[Piece], slope: float) -> list[tuple[Piece, Piece]]:
    """Put the words of one line onto one level, as its reader saw it: handwriting and photographs wander."""
    if not pieces:
        return []
    shifts = [slope * (piece.x0 + piece.x1) / 2 for piece in pieces]
    top = median(piece.y0 - shift for piece, shift in zip(pieces, shifts, strict=True))
    bottom = median(piece.y1 - shift for piece, shift in zip(pieces, shifts, strict=True))
    run = pieces[-1].x1 - pieces[0].x0
    stands = sum(len(piece.text) for piece in pieces) >= 3 and bottom - top > 1.5 * run
    return [(replace(piece, y0=top, y1=bottom, stands=stands), piece) for piece in pieces]


@dataclass(frozen=True, slots=True)
class _Seen:
    lines: list[list[OcrWord]]
    ruled: list[list[OcrWord]]
    turns: int
    confidence: float
    score: float
    on_its_side: bool


def _read_turned(engine: OcrEngine, pixels: Pixels, turns: int) -> _Seen:
    turned: Pixels = np.rot90(pixels, turns) if turns else pixels
    found = find_ruled(turned)
    combs = [(comb, word) for comb in found.combs for word in [_read_comb(engine, turned, comb)] if word is not None]
    known = [*(tick.box for tick in found.ticks), *(comb.box for comb, _ in combs)]
    lines = engine.read(without_ruled(turned, known) if known else turned)
    ruled = [*([OcrWord(tick.sign, 1.0, _corners(tick.box))] for tick in found.ticks), *([word] for _, word in combs)]
    words = [word for line in lines for word in line]
    characters = sum(len(word.text) for word in words)
    score = sum(len(word.text) * word.confidence**2 for word in words)
    confidence = score / characters if characters else 0.0
    return _Seen(lines, ruled, turns, confidence, score, sum(map(_stands, lines)) > 0.5 * len(lines))


def _read_comb(engine: OcrEngine, pixels: Pixels, comb: Comb) -> OcrWord | None:
    """The word in a comb; None when there is none, or more than combs have in a cell."""
    strip, filled = strip_of(pixels, comb)
    words = engine.read_line(strip) if filled else []
    text = "".join(word.text for word in words)
    if not text or len(text) > filled + 1:
        return None
    return OcrWord(text, min(word.confidence for word in words), _corners(comb.box))


def _corners(box: tuple[int, int, int, int]) -> tuple[tuple[float, float], ...]:
    x0, y0, x1, y1 = map(float, box)
    return (x0, y0), (x1, y0), (x1, y1), (x0, y1)


def _stands(line: list[OcrWord]) -> bool:
    """A line of some length that is taller than wide."""
    xs = [x for word in line for x, _ in word.polygon]
    ys = [y for word in line for _, y in word.polygon]
    return sum(len(word.text) for word in line) >= 4 and max(ys) - min(ys) > 1.5 * (max(xs) - min(xs))


def _pieces(word: OcrWord) -> list[Piece]:
    """A word as pieces: check boxes stand alone, as they do in forms."""
    xs, ys = [x for x, _ in word.polygon], [y for _, y in word.polygon]
    x0, y0, x1, y1 = min(xs), min(ys), max(xs), max(ys)
    head = word.text[0]
    if head not in _BOXES:
        return [Piece(word.text, x0, y0, x1, y1, word.confidence, "ocr")]
    cut = min(x1, x0 + (y1 - y0)) if len(word.text) > 1 else x1
    box = Piece(_BOXES[head], x0, y0, cut, y1, word.confidence, "ocr")
    rest = word.text[1:].strip()
    return [box, Piece(rest, cut, y0, x1, y1, word.confidence, "ocr")] if rest else [box]


def _slope(lines: list[list[OcrWord]]) -> float:
    """By how much lines fall per unit of width: a photograph is rarely straight."""
    slopes = []
    for line in lines:
        left, right = line[0].polygon, line[-1].polygon
        run = right[1][0] - left[0][0]
        if run > 6 * abs(left[3][1] - left[0][1]) > 0:
            slopes.append((right[1][1] - left[0][1]) / run)
    slope = median(slopes) if len(slopes) >= 3 else 0.0
    return slope if abs(slope) < math.tan(math.radians(15)) else 0.0


def _covers(known: Piece, piece: Piece) -> bool:
    x, y = (piece.x0 + piece.x1) / 2, (piece.y0 + piece.y1) / 2
    return known.x0 <= x <= known.x1 and known.y0 <= y <= known.y1


@dataclass(frozen=True, slots=True)
class _Frame:
    """From the picture as it was read (turned, sloping) to the page. Units: pixels and the page's unit."""

    pixels_wide: int
    pixels_high: int
    width: float
    height: float
    turns: int
    slope: float
    matrix: Matrix | None = None
    """From the picture with level lines to the picture as it was."""

    @property
    def wide(self) -> float:
        """The width of the page as it is read. Units: the page's."""
        return self.height if self.turns % 2 else self.width

    def onto_page(self, piece: Piece) -> Piece:
        corners = [self._turn_back(piece.x0, piece.y0), self._turn_back(piece.x1, piece.y1)]
        xs, ys = self._moved(corners, self.matrix)
        sx, sy = self.width / self.pixels_wide, self.height / self.pixels_high
        return replace(piece, x0=xs[0] * sx, y0=ys[0] * sy, x1=xs[1] * sx, y1=ys[1] * sy)

    def onto_picture(self, piece: Piece) -> Piece:
        sx, sy = self.pixels_wide / self.width, self.pixels_high / self.height
        back = None if self.matrix is None else np.asarray(np.linalg.inv(self.matrix), dtype=np.float64)
        xs, ys = self._moved([(piece.x0 * sx, piece.y0 * sy), (piece.x1 * sx, piece.y1 * sy)], back)
        corners = [self._turn(xs[0], ys[0]), self._turn(xs[1], ys[1])]
        xs, ys = sorted(corner[0] for corner in corners), sorted(corner[1] for corner in corners)
        return replace(piece, x0=xs[0], y0=ys[0], x1=xs[1], y1=ys[1])

    def _moved(self, corners: list[tuple[float, float]], matrix: Matrix | None) -> tuple[list[float], list[float]]:
        """The sides of the box with these corners in the other picture: its middle moves, its size stays."""
        xs, ys = sorted(corner[0] for corner in corners), sorted(corner[1] for corner in corners)
        if matrix is None:
            return xs, ys
        middle = np.array([[sum(xs) / 2, sum(ys) / 2]])
        x, y = (moved(middle, matrix) - middle)[0].tolist()
        return [side + x for side in xs], [side + y for side in ys]

    def _turn(self, x: float, y: float) -> tuple[float, float]:
        """As numpy.rot90 does: counter-clockwise."""
        match self.turns:
            case 1:
                return y, self.pixels_wide - x
            case 2:
                return self.pixels_wide - x, self.pixels_high - y
            case 3:
                return self.pixels_high - y, x
            case _:
                return x, y

    def _turn_back(self, x: float, y: float) -> tuple[float, float]:
        match self.turns:
            case 1:
                return self.pixels_wide - y, x
            case 2:
                return self.pixels_wide - x, self.pixels_high - y
            case 3:
                return y, self.pixels_high - x
            case _:
                return x, y
