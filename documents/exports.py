"""What was read of a document, as files for people: Markdown, HTML, and its tables as a workbook.

Nothing of a document is markup of ours: texts are escaped, and cells that a spreadsheet would run are not.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO

from django.utils.html import escape
from openpyxl import Workbook
from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE

from core.ids import show_id
from documents.errors import TableNotFound
from documents.models import Page
from documents.selectors import page_content
from llm.content import DocumentContent, PageContent, Word
from llm.offline.layout.analysis import analyse
from llm.offline.layout.model import Layout, Table
from llm.offline.tables.finding import find_tables

Box = tuple[float, float, float, float]
MAX_TABLES = 500
_RUN_BY_SPREADSHEETS = ("=", "+", "-", "@", "\t", "\r")
_MARKDOWN = re.compile(r"([\\`*_\[\]<>|~#])")
_LIST_MARK = re.compile(r"^(\s*)([-+]|\d+[.)])(?=\s)")
_STYLE = "body{font-family:sans-serif}table{border-collapse:collapse}td,th{border:1px solid #999;padding:2px 6px}"


@dataclass(frozen=True, slots=True)
class Grid:
    """A table of a page: its column titles ("" where there is none) and rows of texts."""

    page: int
    titles: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Lines that stand together."""

    lines: tuple[str, ...]


def markdown_of(pages: Iterable[Page]) -> Iterator[bytes]:
    """A page at a time; a rule between pages."""
    for number, page in enumerate(pages):
        parts = [_grid_as_markdown(part) if isinstance(part, Grid) else _as_markdown(part) for part in parts_of(page)]
        yield ("\n\n---\n\n" if number else "").encode() + "\n\n".join(parts).encode()
    yield b"\n"


def html_of(pages: Iterable[Page], *, title: str) -> Iterator[bytes]:
    """A whole HTML document, a page at a time, each a section."""
    head = f'<!doctype html>\n<html><head><meta charset="utf-8"><title>{escape(title)}</title>'
    yield f"{head}<style>{_STYLE}</style></head><body>\n".encode()
    for page in pages:
        parts = [_grid_as_html(part) if isinstance(part, Grid) else _as_html(part) for part in parts_of(page)]
        yield f'<section id="page-{page.number}">\n{"".join(parts)}</section>\n'.encode()
    yield b"</body></html>\n"


def tables_of(pages: Iterable[Page]) -> Iterator[Grid]:
    """All tables of a document, from its first page to its last."""
    for page in pages:
        yield from (part for part in parts_of(page) if isinstance(part, Grid))


def workbook_of(grids: Iterable[Grid], *, only: int | None = None) -> bytes:
    """An XLSX file with a sheet for each table, or for the one table at the place `only` (from 0).

    Raises: TableNotFound.
    """
    book = Workbook(write_only=True)
    for place, grid in enumerate(grids):
        if place >= MAX_TABLES:
            break
        if only in (None, place):
            sheet = book.create_sheet(f"Table {place + 1}, page {grid.page}")
            for row in (grid.titles, *grid.rows) if any(grid.titles) else grid.rows:
                sheet.append([harmless(text) for text in row])
    if not book.worksheets:
        raise TableNotFound
    target = BytesIO()
    book.save(target)
    return target.getvalue()


def harmless(text: str) -> str:
    """A cell's text that no spreadsheet runs as a formula."""
    text = ILLEGAL_CHARACTERS_RE.sub("", text)[:32_000]
    return f"'{text}" if text.startswith(_RUN_BY_SPREADSHEETS) else text


def parts_of(page: Page) -> list[Grid | Paragraph]:
    """A page in reading order: paragraphs, and in the place of its lines each table."""
    content = page_content(page)
    layout = analyse(DocumentContent(show_id(page.version_id), "", (content,)))
    tables = [(_box(table, layout, content), _grid(table)) for table in find_tables(layout.lines)]
    parts: list[Grid | Paragraph] = []
    told: set[int] = set()
    for block in _blocks(content):
        lines: list[str] = []
        for words, text in block:
            place = _table_at(words, tables)
            if place is None:
                lines.append(text)
                continue
            if lines:
                parts.append(Paragraph(tuple(lines)))
                lines = []
            if place not in told:
                told.add(place)
                parts.append(tables[place][1])
        if lines:
            parts.append(Paragraph(tuple(lines)))
    return parts


def _blocks(content: PageContent) -> list[list[tuple[list[Word], str]]]:
    """Blocks of lines, each with its words: the text says where blocks end, the words which line they stand on."""
    lines: dict[int, list[Word]] = {}
    for word in content.words:
        lines.setdefault(word.line, []).append(word)
    by_line = [lines[number] for number in sorted(lines)]
    blocks = [[line for line in block.split("\n") if line.strip()] for block in content.text.split("\n\n")]
    if sum(map(len, blocks)) != len(by_line):
        return [[(words, " ".join(word.text for word in words)) for words in by_line]]
    following = iter(by_line)
    return [[(next(following), line) for line in block] for block in blocks]


def _table_at(words: Sequence[Word], tables: Sequence[tuple[Box, Grid]]) -> int | None:
    """The table that most of the words stand in."""
    for place, (box, _) in enumerate(tables):
        inside = sum(_is_inside(word, box) for word in words)
        if 2 * inside > len(words):
            return place
    return None


def _is_inside(word: Word, box: Box) -> bool:
    x, y = (word.x0 + word.x1) / 2, (word.y0 + word.y1) / 2
    return box[0] <= x <= box[2] and box[1] <= y <= box[3]


def _box(table: Table, layout: Layout, content: PageContent) -> Box:
    """Around the lines of a table. Units: fractions of the page."""
    cells = [cell for line in table.lines for cell in layout.lines[line].cells]
    width, height = content.width or 1.0, content.height or 1.0
    return (
        min(cell.x0 for cell in cells) / width,
        min(cell.y0 for cell in cells) / height,
        max(cell.x1 for cell in cells) / width,
        max(cell.y1 for cell in cells) / height,
    )


def _grid(table: Table) -> Grid:
    columns = range(len(table.headers))
    rows = tuple(tuple(row.text(column) for column in columns) for row in table.rows)
    return Grid(table.page, tuple(table.headers), rows)


def _as_markdown(part: Paragraph) -> str:
    return "  \n".join(_LIST_MARK.sub(r"\1\\\2", _MARKDOWN.sub(r"\\\1", line)) for line in part.lines)


def _grid_as_markdown(grid: Grid) -> str:
    rows = [grid.titles, ("---",) * len(grid.titles), *grid.rows]
    shown = [[text if at == 1 else _MARKDOWN.sub(r"\\\1", text) for text in row] for at, row in enumerate(rows)]
    return "\n".join(f"| {' | '.join(row)} |" for row in shown)


def _as_html(part: Paragraph) -> str:
    return f"<p>{'<br>'.join(escape(line) for line in part.lines)}</p>\n"


def _grid_as_html(grid: Grid) -> str:
    head = "".join(f"<th>{escape(title)}</th>" for title in grid.titles)
    rows = "".join(f"<tr>{''.join(f'<td>{escape(text)}</td>' for text in row)}</tr>" for row in grid.rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>\n"
