"""The characters of a page with their boxes, fetched from pdfium in bulk and grouped into words."""

import ctypes
from collections import Counter
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pypdfium2 as pdfium
import pypdfium2.raw as raw

from documents.ingest.pieces import Piece

Floats = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.int64]

_DEVICE = 1_000_000
_HYPHEN = 2  # what pdfium makes of a hyphen at the end of a line
_BREAKS = frozenset(
    [
        *(code for code in range(0x21) if code != _HYPHEN),
        0x7F,
        *range(0x80, 0xA1),
        0x1680,
        *range(0x2000, 0x200B),
        0x2028,
        0x2029,
        0x202F,
        0x205F,
        0x3000,
    ]
)
_INVISIBLE = frozenset([*range(0x200B, 0x2010), *range(0x202A, 0x202F), 0x2060, 0xFEFF])
_NO_MEANING = "\ufffd" + "".join(map(chr, range(0xE000, 0xF900)))  # a word of nothing else is an icon
_GARBLED_RANGES = ((0xE000, 0xF8FF), (0xFFF0, 0xFFFF), (0xF0000, 0x10FFFF))

# The generated bindings check every argument; plain addresses make the two calls per character about four times
# cheaper, which is what decides the pages per second of the text path.
_address = ctypes.c_void_p
_get_unicode = ctypes.CFUNCTYPE(ctypes.c_uint, _address, ctypes.c_int)(
    ctypes.cast(raw.FPDFText_GetUnicode, _address).value or 0
)
_get_loose_box = ctypes.CFUNCTYPE(ctypes.c_int, _address, ctypes.c_int, _address)(
    ctypes.cast(raw.FPDFText_GetLooseCharBox, _address).value or 0
)


@dataclass(frozen=True, slots=True)
class Glyphs:
    """All characters of a page. Units: points of the displayed page; one row of `boxes` is x0, y0, x1, y1."""

    codes: list[int]
    boxes: Floats


def display_matrix(page: pdfium.PdfPage) -> tuple[float, float, float, float, float, float]:
    """Map page space to the displayed page (crop box, rotation and user unit applied).

    Units: x' = a·x + b·y + c, y' = d·x + e·y + f; points, origin top left.
    """
    width, height = page.get_size()
    origin, right, up = (_to_device(page, x, y) for x, y in ((0.0, 0.0), (1000.0, 0.0), (0.0, 1000.0)))
    sx, sy = width / _DEVICE, height / _DEVICE
    return (
        (right[0] - origin[0]) / 1000 * sx,
        (up[0] - origin[0]) / 1000 * sx,
        origin[0] * sx,
        (right[1] - origin[1]) / 1000 * sy,
        (up[1] - origin[1]) / 1000 * sy,
        origin[1] * sy,
    )


def _to_device(page: pdfium.PdfPage, x: float, y: float) -> tuple[int, int]:
    out_x, out_y = ctypes.c_int(), ctypes.c_int()
    raw.FPDF_PageToDevice(page, 0, 0, _DEVICE, _DEVICE, 0, x, y, ctypes.byref(out_x), ctypes.byref(out_y))
    return out_x.value, out_y.value


def map_boxes(boxes: Floats, matrix: tuple[float, float, float, float, float, float]) -> Floats:
    """Map boxes (left, top, right, bottom in page space) to displayed x0, y0, x1, y1."""
    a, b, c, d, e, f = matrix
    xs, ys = boxes[:, (0, 2)], boxes[:, (1, 3)]
    x = a * xs + b * ys + c
    y = d * xs + e * ys + f
    return np.stack([x.min(axis=1), y.min(axis=1), x.max(axis=1), y.max(axis=1)], axis=1)


def read_glyphs(page: pdfium.PdfPage) -> Glyphs:
    """Fetch every character of the page, those that pdfium made up as separators included."""
    text_page = page.get_textpage()
    try:
        count = max(0, text_page.count_chars())
        handle = ctypes.cast(text_page.raw, _address).value
        codes = [_get_unicode(handle, index) for index in range(count)]
        rectangles = np.zeros((count, 4), dtype=np.float32)
        start = rectangles.ctypes.data
        for index in range(count):
            _get_loose_box(handle, index, start + 16 * index)
    finally:
        text_page.close()
    boxes = rectangles.astype(np.float64)
    return Glyphs(codes, map_boxes(boxes, display_matrix(page)) if count else boxes)


def garbled_share(codes: list[int]) -> float:
    """Say which share of the visible characters has no meaning (private use, replacement, unmapped)."""
    counts = Counter(codes)
    visible = {code: count for code, count in counts.items() if code not in _BREAKS or 0 < code < 9}
    if not visible:
        return 0.0
    bad = sum(count for code, count in visible.items() if code != _HYPHEN and _is_garbled(code))
    return bad / sum(visible.values())


def _is_garbled(code: int) -> bool:
    return code < 9 or any(low <= code <= high for low, high in _GARBLED_RANGES)


def words_of(glyphs: Glyphs) -> list[Piece]:
    """Group characters into words: at white space, at jumps to another line and at wide gaps."""
    codes, boxes = glyphs.codes, glyphs.boxes
    keep = [i for i, code in enumerate(codes) if code not in _BREAKS and code not in _INVISIBLE]
    if not keep:
        return []
    index = np.array(keep)
    box = boxes[index]
    hyphens = np.array([codes[i] == _HYPHEN for i in keep[:-1]], dtype=np.bool_)
    starts = _word_starts(index, box, hyphens)
    ends = np.append(starts[1:], len(keep))
    lows = np.minimum.reduceat(box, starts, axis=0)[:, :2].tolist()
    highs = np.maximum.reduceat(box, starts, axis=0)[:, 2:].tolist()
    characters = _characters([codes[i] for i in keep])
    words = ("".join(characters[start:end]) for start, end in zip(starts.tolist(), ends.tolist(), strict=True))
    return [
        Piece(word, low[0], low[1], high[0], high[1])
        for word, low, high in zip(words, lows, highs, strict=True)
        if word[:1] < "\ue000" or word.strip(_NO_MEANING)
    ]


def _word_starts(index: npt.NDArray[np.int64], box: Floats, after_hyphen: npt.NDArray[np.bool_]) -> Numbers:
    height = box[:, 3] - box[:, 1]
    width = box[:, 2] - box[:, 0]
    em = np.maximum(np.maximum(height, width)[1:], np.maximum(height, width)[:-1])
    separated = (np.diff(index) > 1) | after_hyphen
    apart_x = np.maximum(box[1:, 0] - box[:-1, 2], box[:-1, 0] - box[1:, 2]) > em
    apart_y = np.maximum(box[1:, 1] - box[:-1, 3], box[:-1, 1] - box[1:, 3]) > 0.5 * em
    return np.concatenate([[0], np.flatnonzero(separated | apart_x | apart_y) + 1])


def _characters(codes: list[int]) -> list[str]:
    """One string per code; halves of a surrogate pair become the character and an empty string."""
    characters = [chr(code) if code < 0x110000 else "\ufffd" for code in codes]
    characters = ["-" if character in "\x02\xad" else character for character in characters]
    for i, code in enumerate(codes):
        if 0xD800 <= code < 0xDC00 and i + 1 < len(codes) and 0xDC00 <= codes[i + 1] < 0xE000:
            characters[i] = chr(0x10000 + ((code - 0xD800) << 10) + (codes[i + 1] - 0xDC00))
            characters[i + 1] = ""
        elif 0xD800 <= code < 0xE000 and characters[i]:
            characters[i] = "\ufffd"
    return characters
