"""The text layer of a PDF page: words with boxes in reading order, filled fields and notes included."""

import ctypes
from pathlib import Path

import numpy as np
import pypdfium2 as pdfium
import pypdfium2.raw as raw

from documents.errors import EncryptedFile, UnreadableFile
from documents.ingest.drawn import read_drawn_boxes, without_ticks
from documents.ingest.forms import Mark, add_marks, read_marks
from documents.ingest.frames import SCALE, find_frames
from documents.ingest.glyphs import Glyphs, garbled_share, read_glyphs, words_of
from documents.ingest.layout import Layout
from documents.ingest.looks import gray_picture
from documents.ingest.pieces import Piece, RawPage
from llm.content import Frame, PageContent, PageSource, Word

_FEW_CHARACTERS = 60
_SOME_CHARACTERS = 400
_GARBLED = 0.25
_MANY_PATHS = 200


class PdfFile:
    """An open PDF. Not for threads: pdfium has global state."""

    def __init__(self, path: Path) -> None:
        """Raises: EncryptedFile, UnreadableFile."""
        self.path = path
        self._scratch: pdfium.PdfDocument | None = None
        self.document = open_document(path)

    def __len__(self) -> int:
        return len(self.document)

    def read_page(self, number: int) -> RawPage:
        """Read one page's text layer. Units: `number` is 1-based. Raises: UnreadableFile."""
        page = load_page(self.document, number)
        try:
            glyphs = read_glyphs(page)
            width, height = page.get_size()
            pieces = [piece for piece in words_of(glyphs) if _is_on_page(piece, width, height)]
            needs_ocr = _needs_ocr(page, glyphs, pieces)
            marks = read_marks(page, self.document.formenv)
            drawn = [] if needs_ocr else read_drawn_boxes(page, pieces, marks)
            if marks or drawn:
                flattened = self._flattened(number, marks) if marks else []
                pieces = add_marks(without_ticks(pieces, drawn), [*marks, *drawn], flattened)
            frames = () if needs_ocr else _frames(page, pieces)
            fields = tuple((mark.x0, mark.y0, mark.x1, mark.y1, mark.name) for mark in marks if mark.name)
            return RawPage(number, width, height, page.get_rotation(), pieces, needs_ocr, frames, fields)
        finally:
            page.close()

    def _flattened(self, number: int, marks: list[Mark]) -> list[Piece]:
        """Words of the page with all appearances drawn into it; on a second copy, since flattening changes it."""
        if all(mark.is_tick for mark in marks):
            return []
        if self._scratch is None:
            self._scratch = open_document(self.path)
        page = load_page(self._scratch, number)
        outcome = raw.FPDFPage_Flatten(page, raw.FLAT_NORMALDISPLAY)
        page.close()
        if outcome != raw.FLATTEN_SUCCESS:
            return []
        page = load_page(self._scratch, number)
        try:
            return words_of(read_glyphs(page))
        finally:
            page.close()

    def close(self) -> None:
        if self._scratch is not None:
            self._scratch.close()
        self.document.close()


def load_page(document: pdfium.PdfDocument, number: int) -> pdfium.PdfPage:
    """Raises: UnreadableFile."""
    try:
        return document[number - 1]
    except (pdfium.PdfiumError, IndexError) as error:
        raise UnreadableFile(f"Page {number} of this file is damaged.") from error


def open_document(path: Path) -> pdfium.PdfDocument:
    try:
        document = pdfium.PdfDocument(path)
        document.init_forms()
    except pdfium.PdfiumError as error:
        if getattr(error, "err_code", None) in (raw.FPDF_ERR_PASSWORD, raw.FPDF_ERR_SECURITY):
            raise EncryptedFile from error
        raise UnreadableFile from error
    if len(document) == 0:
        raise UnreadableFile
    return document


def page_content(page: RawPage, layout: Layout, source: PageSource) -> PageContent:
    """Turn arranged words into what is stored: boxes become fractions of the page."""
    return PageContent(
        number=page.number,
        width=round(page.width, 2),
        height=round(page.height, 2),
        text=layout.text,
        words=_words(layout, page),
        source=source,
        rotation=page.rotation,
        frames=tuple(_as_fractions(frame, page) for frame in page.frames),
        fields=tuple((*_as_fractions((x0, y0, x1, y1), page), name) for x0, y0, x1, y1, name in page.fields),
    )


def _as_fractions(frame: Frame, page: RawPage) -> Frame:
    wide, high = page.width or 1.0, page.height or 1.0
    x0, y0, x1, y1 = frame
    return round(x0 / wide, 5), round(y0 / high, 5), round(x1 / wide, 5), round(y1 / high, 5)


def _frames(page: pdfium.PdfPage, pieces: list[Piece]) -> tuple[Frame, ...]:
    picture = gray_picture(page, SCALE) if _draws(page) else None
    return () if picture is None else find_frames(picture, pieces, SCALE)


def _draws(page: pdfium.PdfPage) -> bool:
    """Whether anything but text is drawn: a page of text alone has no lines."""
    kinds = (
        raw.FPDFPageObj_GetType(raw.FPDFPage_GetObject(page, index)) for index in range(raw.FPDFPage_CountObjects(page))
    )
    return any(kind != raw.FPDF_PAGEOBJ_TEXT for kind in kinds)


def _words(layout: Layout, page: RawPage) -> tuple[Word, ...]:
    if not layout.pieces:
        return ()
    size = np.array([page.width or 1.0, page.height or 1.0] * 2)
    boxes = np.array([(piece.x0, piece.y0, piece.x1, piece.y1) for piece in layout.pieces]) / size
    rounded = boxes.clip(0.0, 1.0).round(5).tolist()
    return tuple(
        Word(piece.text, box[0], box[1], box[2], box[3], round(piece.confidence, 3), line, piece.origin)
        for piece, box, line in zip(layout.pieces, rounded, layout.lines, strict=True)
    )


def _is_on_page(piece: Piece, width: float, height: float) -> bool:
    x, y = (piece.x0 + piece.x1) / 2, (piece.y0 + piece.y1) / 2
    return 0 <= x <= width and 0 <= y <= height


def _needs_ocr(page: pdfium.PdfPage, glyphs: Glyphs, pieces: list[Piece]) -> bool:
    """Little or garbled text while pictures fill the page: the words are in the picture."""
    characters = sum(len(piece.text) for piece in pieces)
    if characters and garbled_share(glyphs.codes) >= _GARBLED:
        return True
    if characters >= _SOME_CHARACTERS:
        return False
    images, paths = _drawn(page)
    if characters < _FEW_CHARACTERS:
        return images > 0.05 or (characters == 0 and paths >= _MANY_PATHS)
    return images > 0.6


def _drawn(page: pdfium.PdfPage) -> tuple[float, int]:
    """The share of the page that images cover (at most 1), and how many paths it has."""
    width, height = page.get_size()
    left, bottom, right, top = (ctypes.c_float() for _ in range(4))
    area, paths = 0.0, 0
    for index in range(min(raw.FPDFPage_CountObjects(page), 5_000)):
        item = raw.FPDFPage_GetObject(page, index)
        kind = raw.FPDFPageObj_GetType(item)
        if kind == raw.FPDF_PAGEOBJ_PATH:
            paths += 1
        elif kind in (raw.FPDF_PAGEOBJ_IMAGE, raw.FPDF_PAGEOBJ_FORM) and raw.FPDFPageObj_GetBounds(
            item, left, bottom, right, top
        ):
            share = abs(right.value - left.value) * abs(top.value - bottom.value) / max(1.0, width * height)
            area += share if kind == raw.FPDF_PAGEOBJ_IMAGE else 0.0
    return min(1.0, area), paths
