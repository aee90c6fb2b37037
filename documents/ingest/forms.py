"""What forms and annotations show on a page: values of fields, check boxes, notes written on top."""

import ctypes
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pypdfium2 as pdfium
import pypdfium2.raw as raw

from documents.ingest.glyphs import Floats, display_matrix, map_boxes
from documents.ingest.pieces import Piece
from llm.content import Origin

Options = tuple[tuple[str, bool], ...]
Shown = tuple[list[float], Origin, str, bool, Options]

CHECKED, UNCHECKED = "☒", "☐"
_HIDDEN = raw.FPDF_ANNOT_FLAG_HIDDEN | raw.FPDF_ANNOT_FLAG_NOVIEW
_PASSWORD = 1 << 13
_SHOWN_NOTES = frozenset([raw.FPDF_ANNOT_FREETEXT, raw.FPDF_ANNOT_STAMP])
_TICKS = frozenset([raw.FPDF_FORMFIELD_CHECKBOX, raw.FPDF_FORMFIELD_RADIOBUTTON])
_VALUES = frozenset([raw.FPDF_FORMFIELD_TEXTFIELD, raw.FPDF_FORMFIELD_COMBOBOX])
_MOST_OPTIONS = 500
_INDEX = re.compile(r"\[\d+\]")
_WORD_ENDS = re.compile(r"[_\W]+|(?<=[a-z])(?=[A-Z0-9])|(?<=[A-Z])(?=[A-Z][a-z])")
_WORD = re.compile(r"[^\W\d_]+")
_EMPTY_WORD = re.compile(
    "text|field|textfield|box|check|checkbox|button|radio|group|form|page|fill|undefined|untitled|dropdown|combo|list|"
    "combobox|listbox|feld|kontrollkästchen|optionsfeld|texte|champ|case|tekst|veld|row|col|cell|table|line|item",
    re.IGNORECASE,
)
"""What programs call fields that nobody gave a name."""
_LETTERS, _LONGEST_NAME = 3, 200


@dataclass(frozen=True, slots=True)
class Mark:
    """A visible field or annotation. `options` of a list, each chosen or not. Units: points of the displayed page.

    `name`: what the file calls the field, where that says something: its tooltip, else its name.
    """

    x0: float
    y0: float
    x1: float
    y1: float
    origin: Origin
    value: str = ""
    is_tick: bool = False
    options: Options = ()
    name: str = ""

    def holds(self, piece: Piece) -> bool:
        x, y = (piece.x0 + piece.x1) / 2, (piece.y0 + piece.y1) / 2
        return self.x0 - 1 <= x <= self.x1 + 1 and self.y0 - 1 <= y <= self.y1 + 1


def read_marks(page: pdfium.PdfPage, form: pdfium.PdfFormEnv | None) -> list[Mark]:
    """List the visible fields and annotations of a page."""
    count = raw.FPDFPage_GetAnnotCount(page)
    found: list[tuple[Shown, str]] = []
    for index in range(max(0, count)):
        annotation = raw.FPDFPage_GetAnnot(page, index)
        if not annotation:
            continue
        try:
            mark = _read_mark(annotation, form)
            if mark is not None:
                found.append((mark, _name(annotation, form) if form and mark[1] == "form" else ""))
        finally:
            raw.FPDFPage_CloseAnnot(annotation)
    if not found:
        return []
    boxes: Floats = map_boxes(np.array([mark[0] for mark, _ in found]), display_matrix(page))
    return [
        Mark(box[0], box[1], box[2], box[3], origin, value, tick, options, name)
        for box, ((_, origin, value, tick, options), name) in zip(boxes.tolist(), found, strict=True)
    ]


def _read_mark(annotation: object, form: pdfium.PdfFormEnv | None) -> Shown | None:
    if raw.FPDFAnnot_GetFlags(annotation) & _HIDDEN:
        return None
    rectangle = raw.FS_RECTF()
    if not raw.FPDFAnnot_GetRect(annotation, ctypes.byref(rectangle)):
        return None
    box = [rectangle.left, rectangle.top, rectangle.right, rectangle.bottom]
    kind = raw.FPDFAnnot_GetSubtype(annotation)
    if kind in _SHOWN_NOTES:
        return box, "annotation", _string(annotation, "Contents") if kind == raw.FPDF_ANNOT_FREETEXT else "", False, ()
    if kind != raw.FPDF_ANNOT_WIDGET or form is None:
        return None
    return _read_field(annotation, form, box)


def _read_field(annotation: object, form: pdfium.PdfFormEnv, box: list[float]) -> Shown | None:
    kind = raw.FPDFAnnot_GetFormFieldType(form, annotation)
    if kind in _TICKS:
        return box, "form", CHECKED if _is_checked(annotation, form) else UNCHECKED, True, ()
    if kind == raw.FPDF_FORMFIELD_LISTBOX:
        options = _options(annotation, form)
        return box, "form", "\n".join(label for label, chosen in options if chosen), False, options
    if kind not in _VALUES:
        return None
    if raw.FPDFAnnot_GetFormFieldFlags(form, annotation) & _PASSWORD:
        return box, "form", "", False, ()
    return box, "form", _told(raw.FPDFAnnot_GetFormFieldValue, form, annotation), False, ()


def _name(annotation: object, form: pdfium.PdfFormEnv) -> str:
    """What a field is called in words: its tooltip, else the last part of its name ("form1[0].p1[0].LastName[0]")."""
    tooltip = _told(raw.FPDFAnnot_GetFormFieldAlternateName, form, annotation)
    name = _told(raw.FPDFAnnot_GetFormFieldName, form, annotation)
    last = _INDEX.sub("", name).rsplit(".", 1)[-1]
    for text in (tooltip, _WORD_ENDS.sub(" ", last)):
        if any(len(word) >= _LETTERS and not _EMPTY_WORD.fullmatch(word) for word in _WORD.findall(text)):
            return " ".join(text.split())[:_LONGEST_NAME]
    return ""


def _is_checked(annotation: object, form: pdfium.PdfFormEnv) -> bool:
    """As it is shown; programs that fill forms and forget to say what is shown set the value alone."""
    if raw.FPDFAnnot_IsChecked(form, annotation):
        return True
    if raw.FPDFAnnot_HasKey(annotation, b"AS"):
        return False
    value = _string(annotation, "V")
    return bool(value) and value == _told(raw.FPDFAnnot_GetFormFieldExportValue, form, annotation)


def _options(annotation: object, form: pdfium.PdfFormEnv) -> Options:
    """What a list offers, and what is chosen."""
    count = min(raw.FPDFAnnot_GetOptionCount(form, annotation), _MOST_OPTIONS)
    return tuple(
        (
            _told(raw.FPDFAnnot_GetOptionLabel, form, annotation, index),
            bool(raw.FPDFAnnot_IsOptionSelected(form, annotation, index)),
        )
        for index in range(max(0, count))
    )


def _told(ask: Callable[..., int], *asked: object) -> str:
    """A text that pdfium hands over in a buffer, after it said how long it is."""
    size = ask(*asked, None, 0)
    buffer = ctypes.create_string_buffer(size)
    ask(*asked, ctypes.cast(buffer, ctypes.POINTER(ctypes.c_ushort)), size)
    return buffer.raw[: max(0, size - 2)].decode("utf-16-le", "replace")


def _string(annotation: object, key: str) -> str:
    return _told(raw.FPDFAnnot_GetStringValue, annotation, key.encode())


def add_marks(pieces: list[Piece], marks: list[Mark], flattened: list[Piece]) -> list[Piece]:
    """Add what the marks show to the words of a page, each with its own box.

    `flattened` are the words of the page with all appearances drawn into it: what they have beyond `pieces` was
    drawn by a mark and stands where it is really seen. A value without an appearance is spread over its field.
    """
    before = {_key(piece) for piece in pieces}
    ticks = [mark for mark in marks if mark.is_tick]
    drawn = [piece for piece in flattened if _key(piece) not in before]
    drawn = [piece for piece in drawn if not any(tick.holds(piece) for tick in ticks)]
    added = [Piece(tick.value, tick.x0, tick.y0, tick.x1, tick.y1, 1.0, tick.origin) for tick in ticks]
    for mark in marks:
        if mark.is_tick:
            continue
        inside = [piece for piece in drawn if mark.holds(piece)]
        drawn = [piece for piece in drawn if not mark.holds(piece)]
        for piece in inside:
            piece.origin = mark.origin
        added.extend(_joined(mark, inside) or _spread(mark))
        added.extend(_chosen(mark, inside))
    return [*pieces, *added]


def _joined(mark: Mark, inside: list[Piece]) -> list[Piece]:
    """One word for a value whose characters stand in a comb of boxes."""
    row = sorted(inside, key=lambda piece: piece.x0)
    if len(row) < 2 or any(len(piece.text) != 1 for piece in row):
        return inside
    text = "".join(piece.text for piece in row)
    if text != "".join(mark.value.split()):
        return inside
    top, bottom = min(piece.y0 for piece in row), max(piece.y1 for piece in row)
    return [Piece(text, row[0].x0, top, row[-1].x1, bottom, 1.0, mark.origin)]


def _chosen(mark: Mark, inside: list[Piece]) -> Iterator[Piece]:
    """A check box in front of each option of a list, since its words alone do not say which are chosen."""
    chosen = dict(mark.options)
    rows: dict[int, list[Piece]] = {}
    for piece in inside or (_spread(mark) if mark.options else []):
        rows.setdefault(round((piece.y0 + piece.y1) / 2), []).append(piece)
    for row in rows.values():
        text = " ".join(piece.text for piece in sorted(row, key=lambda piece: piece.x0))
        if text in chosen:
            first = min(row, key=lambda piece: piece.x0)
            side = 0.5 * (first.y1 - first.y0)
            sign = CHECKED if chosen[text] else UNCHECKED
            yield Piece(sign, first.x0 - 1.5 * side, first.y0, first.x0 - 0.5 * side, first.y1, 1.0, mark.origin)


def _key(piece: Piece) -> tuple[str, int, int]:
    return piece.text, round(piece.x0), round(piece.y0)


def _spread(mark: Mark) -> list[Piece]:
    """Lay the words of a value out over its box, line by line, as wide as their share of the characters."""
    lines = [line.split() for line in mark.value.splitlines() if line.split()]
    if not lines:
        return []
    pieces: list[Piece] = []
    step = (mark.y1 - mark.y0) / len(lines)
    longest = max(len(" ".join(words)) for words in lines)
    per_character = min((mark.x1 - mark.x0) / longest, 0.6 * min(step, 12.0))
    height = min(step, 2.0 * per_character)
    for number, words in enumerate(lines):
        x = mark.x0
        top = mark.y0 + number * step + (step - height) / 2
        for word in words:
            width = len(word) * per_character
            pieces.append(Piece(word, x, top, x + width, top + height, 1.0, mark.origin))
            x += width + per_character
    return pieces
