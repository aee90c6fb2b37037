"""Word and Excel files as PDF pages: text and tables; what is not shown is noted."""

import shutil
import subprocess
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import docx
import openpyxl
from docx.document import Document as WordFile
from docx.opc.exceptions import OpcError
from docx.table import Table
from docx.text.paragraph import Paragraph
from openpyxl.utils.exceptions import InvalidFileException

from documents.errors import UnreadableFile, UnsupportedFile
from documents.ingest.limits import Limits
from documents.ingest.paper import Paper
from documents.ingest.sniff import Kind
from documents.ingest.texts import add_table

_DAMAGED = (
    zipfile.BadZipFile,
    KeyError,
    ValueError,
    OSError,
    SyntaxError,
    InvalidFileException,
    EOFError,
    TypeError,
    OpcError,
)
_HEADING_SIZES = {"Title": 20.0, "Heading 1": 16.0, "Heading 2": 14.0, "Heading 3": 12.0}


def docx_to_pdf(path: Path, target: Path, limits: Limits) -> list[str]:
    """Print paragraphs and tables in their order, headers and footers once. Raises: UnreadableFile."""
    paper = Paper(limits)
    try:
        document = docx.Document(str(path))
        for part in _parts(document):
            _add_part(paper, part)
        if document.inline_shapes:
            paper.note("Pictures of this file are not shown.")
    except _DAMAGED as error:
        raise UnreadableFile from error
    return paper.save(target)


def _parts(document: WordFile) -> Iterator[Any]:
    seen: set[str] = set()
    for section in document.sections:
        yield from _once(section.header.iter_inner_content(), seen)
    yield from document.iter_inner_content()
    for section in document.sections:
        yield from _once(section.footer.iter_inner_content(), seen)


def _once(parts: Iterator[Any], seen: set[str]) -> Iterator[Any]:
    for part in parts:
        text = part.text if isinstance(part, Paragraph) else ""
        if text.strip() and text not in seen:
            seen.add(text)
            yield part


def _add_part(paper: Paper, part: Paragraph | Table) -> None:
    if isinstance(part, Table):
        paper.table([[cell.text for cell in row.cells] for row in part.rows], size=9)
        return
    style = (part.style.name or "") if part.style is not None else ""
    size = _HEADING_SIZES.get(style, 10.0)
    mark = "\u2022 " if style.startswith("List") else ""
    paper.line(mark + part.text if part.text else "", size=size, bold=size > 10)


def xlsx_to_pdf(path: Path, target: Path, limits: Limits) -> list[str]:
    """Print each sheet as a table of the values that were last worked out. Raises: UnreadableFile."""
    paper = Paper(limits, wide=True)
    try:
        book = openpyxl.load_workbook(path, read_only=True, data_only=True, keep_links=False)
        for sheet in book.worksheets:
            paper.line(sheet.title, size=12, bold=True)
            add_table(paper, _rows(sheet, paper))
        if len(book.worksheets) < len(book.sheetnames):
            paper.note("Charts of this file are not shown.")
        book.close()
    except _DAMAGED as error:
        raise UnreadableFile from error
    return paper.save(target)


def _rows(sheet: Any, paper: Paper) -> list[list[str]]:
    rows: list[list[str]] = []
    cells = 0
    for row in sheet.iter_rows(values_only=True):
        shown = [_cell(value) for value in row]
        while shown and not shown[-1]:
            shown.pop()
        rows.append(shown)
        cells += len(shown)
        if cells > paper.limits.converted_characters // 10:
            paper.note(f"Only the first {len(rows):,} rows of the sheet '{sheet.title}' are shown.")
            break
    while rows and not rows[-1]:
        rows.pop()
    return rows


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    text = str(value)
    return text.removesuffix(" 00:00:00") if hasattr(value, "year") else text


def old_to_pdf(path: Path, kind: Kind, target: Path, limits: Limits) -> list[str]:
    """Have LibreOffice print an old office file. Raises: UnsupportedFile, UnreadableFile."""
    program = shutil.which("soffice")
    if program is None:
        raise UnsupportedFile("Old office files need LibreOffice, which is not installed here.")
    with tempfile.TemporaryDirectory(prefix="docrouter-office-") as folder:
        source = Path(folder) / f"file.{kind}"
        shutil.copyfile(path, source)
        command = [
            program, f"-env:UserInstallation=file://{folder}/profile", "--headless", "--norestore",
            "--convert-to", "pdf", "--outdir", folder, str(source),
        ]  # fmt: skip
        try:
            subprocess.run(command, check=True, timeout=limits.document_seconds, capture_output=True)
            shutil.move(Path(folder) / "file.pdf", target)
        except (subprocess.SubprocessError, OSError) as error:
            raise UnreadableFile from error
    return []
