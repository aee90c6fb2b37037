"""Writing text on PDF pages so that every character stays searchable: fonts with fallbacks, and what none has."""

import re
from collections.abc import Iterator
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import reportlab
from reportlab.lib import colors
from reportlab.lib.enums import TA_LEFT
from reportlab.lib.pagesizes import A4, landscape
from reportlab.lib.styles import ParagraphStyle
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfbase.ttfonts import TTFError, TTFont
from reportlab.platypus import Flowable, LongTable, Paragraph, SimpleDocTemplate, Spacer, TableStyle

from documents.errors import TooManyPages
from documents.ingest.limits import Limits

_FONT_FOLDERS = (Path("/usr/share/fonts"), Path("/usr/local/share/fonts"))
_CANDIDATES = {
    "text": ("DejaVuSans.ttf", "LiberationSans-Regular.ttf", "NotoSans-Regular.ttf"),
    "mono": ("DejaVuSansMono.ttf", "LiberationMono-Regular.ttf"),
}
_SHIPPED = Path(reportlab.__file__).parent / "fonts" / "Vera.ttf"
# Chinese, Japanese and Korean fonts that readers bring along; the first also has Greek and Cyrillic.
_READERS_FONTS = (("STSong-Light", "gb2312"), ("HeiseiMin-W3", "shift_jis"), ("HYSMyeongJo-Medium", "euc_kr"))
# We print from left to right, and readers of PDFs turn such runs back: they are printed turned round.
_RIGHT_TO_LEFT = re.compile(
    r"[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]+(?:[^\S\n]+[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]+)*"
)
_ARABIC = re.compile(r"[\u0600-\u06ff]")
_ROWS_AT_ONCE = 100
_PLACEHOLDER = "\u25a1"
_MARGIN = 40


class Paper:
    """Collects what to print, and what could not be shown."""

    def __init__(self, limits: Limits, *, wide: bool = False) -> None:
        self.limits = limits
        self.notes: list[str] = []
        self.story: list[Flowable] = []
        self.size = landscape(A4) if wide else A4
        self._missing: set[str] = set()
        self._characters = 0

    @property
    def is_full(self) -> bool:
        """More text than is shown: stop adding, it was noted."""
        return self._characters > self.limits.converted_characters

    def note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)

    def line(self, text: str, *, size: float = 10, bold: bool = False, mono: bool = False, indent: float = 0) -> None:
        """Add a paragraph; blanks at its beginning stay."""
        if self.is_full:
            return
        if not text.strip():
            self.story.append(Spacer(1, size * 0.8))
            return
        style = _style(size, mono, indent)
        markup = self.markup(text, "mono" if mono else "text")
        self.story.append(Paragraph(f"<b>{markup}</b>" if bold else markup, style))

    def table(self, rows: list[list[str]], *, size: float = 8) -> None:
        """Add a table; its first row is repeated on every page."""
        columns = max((len(row) for row in rows), default=0)
        if not columns:
            return
        style = _style(size, False, 0)
        width = (self.size[0] - 2 * _MARGIN) / columns
        for start in range(0, len(rows), _ROWS_AT_ONCE):
            if self.is_full:
                return
            part = [
                [Paragraph(self.markup(cell, "text"), style) for cell in row + [""] * (columns - len(row))]
                for row in rows[start : start + _ROWS_AT_ONCE]
            ]
            self.story.append(LongTable(part, colWidths=[width] * columns, style=_GRID, splitInRow=1))

    def markup(self, text: str, family: str) -> str:
        """Text as the mark-up of paragraphs, in runs of the first font that has each character."""
        self._characters += len(text)
        if self.is_full:
            self.note(f"Only the first {self.limits.converted_characters:,} characters are shown.")
        shown = _RIGHT_TO_LEFT.sub(lambda found: found.group()[::-1], text.expandtabs(4))
        if _ARABIC.search(text):
            self.note("Arabic letters are shown unjoined.")
        runs = groupby(shown, key=lambda character: self._font_of(character, family))
        return "".join(self._run(font, "".join(characters), family) for font, characters in runs)

    def _run(self, font: str, text: str, family: str) -> str:
        if not font:
            return escape(_PLACEHOLDER * len(text))
        kept = escape(text).replace("\n", "<br/>").replace("  ", "\u00a0 ")
        return kept if font == main_font(family) else f'<font name="{font}">{kept}</font>'

    def _font_of(self, character: str, family: str) -> str:
        if character < " ":
            return main_font(family)
        for name in (main_font(family), main_font("text")):
            if ord(character) in _characters_of(name):
                return name
        for name, encoding in _READERS_FONTS:
            if _encodes(character, encoding):
                return reader_font(name)
        self._missing.add(character)
        return ""

    def save(self, target: Path) -> list[str]:
        """Write the PDF; returns the notes. Raises: TooManyPages."""
        if not self.story:
            self.story.append(Spacer(1, 1))
        SimpleDocTemplate(
            str(target), pagesize=self.size, leftMargin=_MARGIN, rightMargin=_MARGIN, topMargin=_MARGIN,
            bottomMargin=_MARGIN,
        ).build(self.story, onLaterPages=self._count_page)  # fmt: skip
        if self._missing:
            self.note(f"{len(self._missing)} different characters cannot be shown; a box stands for each.")
        return self.notes

    def _count_page(self, _canvas: object, template: SimpleDocTemplate) -> None:
        if template.page > self.limits.pages:
            raise TooManyPages(f"This file has more than {self.limits.pages:,} pages.")


@cache
def _characters_of(font: str) -> frozenset[int]:
    face: Any = pdfmetrics.getFont(font)
    return frozenset(face.face.charToGlyph)


@cache
def main_font(family: str) -> str:
    """The font for most text: a wide one of this machine if there is one, else the one that is always there."""
    for name in _CANDIDATES[family]:
        path = next(_find(name), None)
        if path is not None:
            return _register(path)
    return _register(_SHIPPED)


def _find(name: str) -> Iterator[Path]:
    return (path for folder in _FONT_FOLDERS if folder.is_dir() for path in folder.rglob(name))


def _register(path: Path) -> str:
    try:
        font = TTFont(path.stem, str(path))
    except TTFError:
        font = TTFont(_SHIPPED.stem, str(_SHIPPED))
    pdfmetrics.registerFont(font)
    pdfmetrics.registerFontFamily(
        font.fontName, normal=font.fontName, bold=font.fontName, italic=font.fontName, boldItalic=font.fontName
    )
    return str(font.fontName)


@cache
def reader_font(name: str) -> str:
    pdfmetrics.registerFont(UnicodeCIDFont(name))
    pdfmetrics.registerFontFamily(name, normal=name, bold=name, italic=name, boldItalic=name)
    return name


def _encodes(character: str, encoding: str) -> bool:
    try:
        character.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True


@cache
def _style(size: float, mono: bool, indent: float) -> ParagraphStyle:
    font = main_font("mono" if mono else "text")
    return ParagraphStyle(
        f"{font}-{size}-{indent}", fontName=font, fontSize=size, leading=size * 1.3, leftIndent=indent,
        alignment=TA_LEFT, splitLongWords=1,
    )  # fmt: skip


_GRID = TableStyle(
    [
        ("GRID", (0, 0), (-1, -1), 0.3, colors.lightgrey),
        ("VALIGN", (0, 0), (-1, -1), "TOP"),
        ("TOPPADDING", (0, 0), (-1, -1), 1),
        ("BOTTOMPADDING", (0, 0), (-1, -1), 1),
    ]
)
