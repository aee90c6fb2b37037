"""RapidOCR's two models, used one by one: where lines are, and what each says."""

import math
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt
from rapidocr import RapidOCR

from documents.ingest.decoding import (
    Alphabet,
    Character,
    Columns,
    Flags,
    Spread,
    is_east_asian,
    is_typed,
    spread_of,
    words_of,
)
from documents.ingest.ocr import OcrWord, Pixels

Quad = npt.NDArray[np.float32]

_FOUND_ON = 960 * 680
"""Units: pixels. Lines are found on a picture of this size, whatever its shape."""
_HIGH = 48
"""Units: pixels. What the recognizer was trained on."""
_STRETCH = 1.4
"""Lines are read wider than they are: the same character twice in a row, and narrow print, need the room.
Source: measured on photographs of pages, words right 93.8 % → 97.3 % (1.25), 97.6 % (1.5), 96.8 % (2)."""
_PAPER = 16
"""Units: pixels. Behind the end of a line, so that its last character is read."""
_MORE = 0.15
"""Units: of the line's height. What is read beyond either end of where a line was found: words right 97.6 → 98.0 %."""
_STANDS, _STANDS_SURELY = 1.5, 2.5
"""Units: height by width. A line like this runs up or down; between the two it may be one narrow character."""
_LEAST_SURE = 0.5
_EASTERN = 0.2
_WIDEST = 3_200


@dataclass(frozen=True, slots=True)
class _Line:
    """Where a line runs on the picture, its picture, and what was seen in each column of that."""

    frame: Quad
    crop: Pixels
    columns: Columns


class RapidEngine:
    """Reads with the models of RapidOCR's wheel on one thread. Parallelism comes from processes."""

    def __init__(self) -> None:
        self._engine = _load()
        self._recognizer = self._engine.text_rec.session
        self._alphabet = Alphabet(self._engine.text_rec.postprocess_op.character)

    def read(self, pixels: Pixels) -> list[list[OcrWord]]:
        """Read a picture: RGB."""
        picture = np.ascontiguousarray(pixels[:, :, ::-1])
        seen = [self._see(picture, quad) for quad in self._find(picture)]
        western = _is_western([self._characters(line, western=False) for line in seen])
        read = [(line, spread) for line in seen for spread in [self._spread(line, western=western)] if spread]
        typed = is_typed([spread for _, spread in read])
        return [_words(line, spread, typed=typed) for line, spread in read]

    def read_line(self, pixels: Pixels) -> list[OcrWord]:
        """Read a picture of one line: RGB."""
        high, wide = pixels.shape[:2]
        frame = np.array([[0, 0], [wide, 0], [wide, high], [0, high]], dtype=np.float32)
        line = self._look(np.ascontiguousarray(pixels[:, :, ::-1]), frame)
        spread = self._spread(line, western=True)
        return _words(line, spread, typed=False) if spread else []

    def _spread(self, line: _Line, *, western: bool) -> Spread | None:
        """How the line's characters are spread, when it is likely to have any."""
        characters = self._characters(line, western=western)
        return spread_of(characters, _ink(line.crop), _STRETCH) if _confidence(characters) >= _LEAST_SURE else None

    def _characters(self, line: _Line, *, western: bool) -> list[Character]:
        return self._alphabet.decode(line.columns, (line.crop.shape[1] + _PAPER) / len(line.columns), western=western)

    def _see(self, picture: Pixels, quad: Quad) -> _Line:
        """A narrow line may be one character that stands upright: both are looked at."""
        wide, high = _size(quad)
        if high < _STANDS * wide:
            return self._look(picture, _widened(quad))
        lying = self._look(picture, _widened(np.roll(quad, -1, axis=0)))
        if high >= _STANDS_SURELY * wide:
            return lying
        upright = self._look(picture, _widened(quad))
        return max(upright, lying, key=lambda line: _confidence(self._characters(line, western=False)))

    def _look(self, picture: Pixels, frame: Quad) -> _Line:
        crop = _cut(picture, frame)
        return _Line(frame, crop, self._recognize(crop))

    def _find(self, picture: Pixels) -> list[Quad]:
        high, wide = picture.shape[:2]
        scale = min(1.0, math.sqrt(_FOUND_ON / (high * wide)))
        self._engine.text_det.limit_side_len = max(32, round(scale * max(high, wide)))
        found = self._engine(picture, use_det=True, use_rec=False)
        return [] if found.boxes is None else [np.array(box, dtype=np.float32) for box in found.boxes]

    def _recognize(self, crop: Pixels) -> Columns:
        wide = crop.shape[1]
        line = np.zeros((1, 3, _HIGH, wide + _PAPER), dtype=np.float32)
        line[0, :, :, :wide] = crop.transpose(2, 0, 1) / np.float32(127.5) - 1
        columns: Columns = self._recognizer(line)[0]
        return columns


def _load() -> Any:
    """Both models: the library loads each when it is first used."""
    settings = {
        "Global.use_cls": False,  # it turns lines that are upright
        "Global.max_side_len": 20_000,
        "Global.log_level": "critical",
        "Det.limit_type": "max",
        "EngineConfig.onnxruntime.intra_op_num_threads": 1,
        "EngineConfig.onnxruntime.inter_op_num_threads": 1,
    }
    engine = RapidOCR(params=settings)
    paper = np.full((_HIGH, 2 * _HIGH, 3), 255, dtype=np.uint8)
    engine(paper, use_det=True, use_rec=False)
    engine(paper, use_det=False, use_rec=True)
    return engine


def _is_western(lines: list[list[Character]]) -> bool:
    letters = [one.text for line in lines for one in line if one.text.isalpha()]
    return sum(map(is_east_asian, letters)) <= _EASTERN * len(letters)


def _size(quad: Quad) -> tuple[float, float]:
    """Width and height of a line as it runs on the picture. Units: pixels."""
    wide = max(np.linalg.norm(quad[0] - quad[1]), np.linalg.norm(quad[2] - quad[3]))
    high = max(np.linalg.norm(quad[0] - quad[3]), np.linalg.norm(quad[1] - quad[2]))
    return max(1.0, float(wide)), max(1.0, float(high))


def _widened(quad: Quad) -> Quad:
    """A little more at both ends: the first and the last character are easily cut."""
    wide, high = _size(quad)
    top, bottom = quad[1] - quad[0], quad[2] - quad[3]
    more = _MORE * high / wide
    corners = (quad[0] - more * top, quad[1] + more * top, quad[2] + more * bottom, quad[3] - more * bottom)
    return np.array(corners, dtype=np.float32)


def _cut(picture: Pixels, frame: Quad) -> Pixels:
    """The picture of a line, as high as the recognizer wants it."""
    wide, high = _size(frame)
    target = min(_WIDEST, max(8, math.ceil(_STRETCH * _HIGH * wide / high)))
    corners = np.array([[0, 0], [wide, 0], [wide, high], [0, high]], dtype=np.float32)
    matrix = cv2.getPerspectiveTransform(frame, corners)
    size = (max(1, round(wide)), max(1, round(high)))
    crop = cv2.warpPerspective(picture, matrix, size, borderMode=cv2.BORDER_REPLICATE, flags=cv2.INTER_CUBIC)
    return np.asarray(cv2.resize(crop, (target, _HIGH)), dtype=np.uint8)


def _confidence(characters: list[Character]) -> float:
    return sum(one.confidence for one in characters) / len(characters) if characters else 0.0


def _words(line: _Line, spread: Spread, *, typed: bool) -> list[OcrWord]:
    width = line.crop.shape[1]
    return [
        OcrWord(word.text, word.confidence, _place(line.frame, word.x0 / width, word.x1 / width))
        for word in words_of(spread, typed=typed)
    ]


def _place(frame: Quad, start: float, end: float) -> tuple[tuple[float, float], ...]:
    """A part of a line on the picture. Units: fractions of the line, then pixels."""
    top, bottom = frame[1] - frame[0], frame[2] - frame[3]
    corners = (frame[0] + start * top, frame[0] + end * top, frame[3] + end * bottom, frame[3] + start * bottom)
    return tuple((float(x), float(y)) for x, y in corners)


def _ink(crop: Pixels) -> Flags:
    """Where the line is not paper: the rarer of light and dark."""
    gray = cv2.cvtColor(crop, cv2.COLOR_BGR2GRAY)
    _, light = cv2.threshold(gray, 0, 255, cv2.THRESH_BINARY | cv2.THRESH_OTSU)
    dark: Flags = np.asarray(light) == 0
    return dark if dark.mean() <= 0.5 else ~dark
