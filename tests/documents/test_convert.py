"""Other formats as PDF: nothing that was text is lost, and what cannot be shown is said."""

from collections.abc import Callable
from pathlib import Path

import docx
import openpyxl
import pypdfium2 as pdfium
import pytest
from PIL import Image

from documents.errors import UnreadableFile
from documents.ingest.convert import to_pdf
from documents.ingest.layout import arrange
from documents.ingest.limits import Limits
from documents.ingest.sniff import Kind, sniff_path
from documents.ingest.textlayer import PdfFile
from tests.data import make


def converted(tmp_path: Path, kind: Kind, data: bytes | Callable[[Path], object]) -> tuple[str, list[str]]:
    source, target = tmp_path / f"source.{kind}", tmp_path / "target.pdf"
    if isinstance(data, bytes):
        source.write_bytes(data)
    else:
        data(source)
    assert sniff_path(source, source.name).kind == kind
    notes = to_pdf(source, kind, target, Limits())
    file = PdfFile(target)
    text = "\n".join(arrange(file.read_page(number).pieces).text for number in range(1, len(file) + 1))
    file.close()
    return text, notes


def test_text_of_any_alphabet_stays_searchable(tmp_path: Path) -> None:
    text, notes = converted(tmp_path, "txt", "Größe Ωmega Иван 中文字 한국어 עברית\nTotal:    12".encode())

    assert text.splitlines() == ["Größe Ωmega Иван 中文字 한국어 עברית", "Total:   12"]
    assert notes == []


def test_characters_that_cannot_be_shown_are_noted(tmp_path: Path) -> None:
    text, notes = converted(tmp_path, "txt", "Party 🙂 time".encode())

    assert text.startswith("Party")
    assert notes == ["1 different characters cannot be shown; a box stands for each."]


def test_csv_and_markdown_keep_their_tables(tmp_path: Path) -> None:
    assert converted(tmp_path, "csv", b"item;price\nhammer;12,50\n")[0] == "item   price\nhammer   12,50"
    text, notes = converted(tmp_path, "md", b"# Title\n\n- one\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n![x](y.png)")
    assert text.split() == ["Title", "•", "one", "a", "b", "1", "2", "x"]
    assert notes == ["Pictures of this file are not shown."]


def test_word_files_keep_paragraphs_and_tables_in_their_order(tmp_path: Path) -> None:
    def write(path: Path) -> None:
        document = docx.Document()
        document.add_heading("Contract", 1)
        table = document.add_table(1, 2)
        table.cell(0, 0).text, table.cell(0, 1).text = "Price", "12,50 €"
        document.add_paragraph("The end.")
        document.save(str(path))

    assert converted(tmp_path, "docx", write)[0].split() == ["Contract", "Price", "12,50", "€", "The", "end."]


def test_excel_files_keep_their_rows(tmp_path: Path) -> None:
    def write(path: Path) -> None:
        book = openpyxl.Workbook()
        assert book.active is not None
        book.active.append(["Name", "Amount"])
        book.active.append(["Übung", 12.5])
        book.save(path)

    assert converted(tmp_path, "xlsx", write)[0].splitlines()[1:] == ["Name   Amount", "Übung   12.5"]


def test_a_tiff_has_a_page_for_each_frame_and_photographs_stand_upright(tmp_path: Path) -> None:
    source, target = tmp_path / "a.tiff", tmp_path / "a.pdf"
    frame = make.text_picture(size=(300, 200))
    frame.save(source, "TIFF", save_all=True, append_images=[frame, frame])
    to_pdf(source, "tiff", target, Limits())
    assert len(pdfium.PdfDocument(target)) == 3

    exif = Image.Exif()
    exif[0x0112] = 6
    frame.save(source, "JPEG", exif=exif)
    to_pdf(source, "jpeg", target, Limits())
    width, height = pdfium.PdfDocument(target)[0].get_size()
    assert width < height


@pytest.mark.parametrize("kind", ["png", "docx", "xlsx"])
def test_damaged_files_are_called_damaged(tmp_path: Path, kind: Kind) -> None:
    source = tmp_path / "broken"
    source.write_bytes(make.picture()[:200] if kind == "png" else b"PK\x03\x04 no archive")
    with pytest.raises(UnreadableFile, match="damaged"):
        to_pdf(source, kind, tmp_path / "out.pdf", Limits())
