"""Words with boxes in reading order: columns, tables, rotations, forms, notes."""

from pathlib import Path

import pytest

from documents.ingest.layout import arrange
from documents.ingest.textlayer import PdfFile, page_content
from llm.content import PageContent, Word
from tests.data import make


def read(tmp_path: Path, data: bytes, number: int = 1) -> PageContent:
    path = tmp_path / "file.pdf"
    path.write_bytes(data)
    file = PdfFile(path)
    page = file.read_page(number)
    content = page_content(page, arrange(page.pieces), "text_layer")
    file.close()
    return content


def word(page: PageContent, text: str) -> Word:
    return next(word for word in page.words if word.text == text)


def test_words_have_boxes_as_fractions_of_the_page_and_know_their_line(tmp_path: Path) -> None:
    page = read(tmp_path, make.pdf())

    assert page.text.splitlines() == list(make.INVOICE)
    total = word(page, "Total")
    assert (total.line, total.confidence, total.origin) == (3, 1.0, "text")
    assert total.x0 == pytest.approx(72 / 595.28, abs=0.005)
    assert total.y0 < (842 - 710) / 842 < total.y1
    assert all(0 <= w.x0 < w.x1 <= 1 and 0 <= w.y0 < w.y1 <= 1 for w in page.words)


def test_two_columns_are_read_one_after_the_other(tmp_path: Path) -> None:
    lines = read(tmp_path, make.two_columns()).text.splitlines()

    assert [line for line in lines if line] == [
        "A heading that runs across both of the columns below it", *make.LEFT, *make.RIGHT
    ]  # fmt: skip


def test_rows_of_a_table_stay_rows(tmp_path: Path) -> None:
    lines = [line for line in read(tmp_path, make.table()).text.splitlines() if line]

    assert lines == [f"cell{row}0   cell{row}1   cell{row}2" for row in range(8)]


@pytest.mark.parametrize("angle", [0, 90, 180, 270])
def test_boxes_are_those_of_the_page_as_it_is_displayed(tmp_path: Path, angle: int) -> None:
    page = read(tmp_path, make.rotated(angle))

    corner = word(page, "Corner")
    assert page.rotation == angle
    assert (page.width, page.height) == (400, 600)
    assert corner.x0 < 0.15
    assert corner.y1 < 0.15
    assert corner.x1 - corner.x0 > corner.y1 - corner.y0


def test_boxes_are_those_of_the_cropped_page_and_what_is_cropped_away_is_not_read(tmp_path: Path) -> None:
    page = read(tmp_path, make.rotated(0, crop=True))

    assert (page.width, page.height) == (360, 490)
    assert word(page, "Corner").x0 == pytest.approx(20 / 360, abs=0.01)
    assert read(tmp_path, make.one_page_pdf(b"BT /F1 12 Tf 900 900 Td (Outside) Tj ET")).text == ""


def test_filled_fields_and_check_boxes_are_words_where_they_are_seen(tmp_path: Path) -> None:
    page = read(tmp_path, make.form())

    assert "Name   Jane Doe" in page.text
    jane = word(page, "Jane")
    assert jane.origin == "form"
    assert 150 / 595 <= jane.x0 <= 165 / 595
    assert word(page, "Partner").origin == "form"
    assert word(page, "4711").origin == "form"
    assert "☒ agrees" in page.text
    assert "☐ refuses" in page.text
    assert page.text.count("Jane") == page.text.count("Partner") == 1


def test_hidden_fields_do_not_appear(tmp_path: Path) -> None:
    assert "Jane" not in read(tmp_path, make.form(hidden=True)).text


def test_notes_on_the_page_are_words(tmp_path: Path) -> None:
    page = read(tmp_path, make.annotated())

    approved = word(page, "Approved")
    assert approved.origin == "annotation"
    assert 195 / 595 < approved.x0 < 400 / 595
    assert "Approved by Kim" in page.text


def test_a_page_is_taken_for_a_scan_only_when_its_words_are_in_a_picture(tmp_path: Path) -> None:
    path = tmp_path / "mixed.pdf"
    path.write_bytes(make.mixed())
    file = PdfFile(path)

    assert [file.read_page(number).needs_ocr for number in (1, 2, 3)] == [False, True, False]
