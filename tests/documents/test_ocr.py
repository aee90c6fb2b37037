"""Words from pictures, in the child that has the models."""

import contextlib
from pathlib import Path

import pytest

from documents.ingest import sandbox
from documents.ingest.limits import Limits
from llm.content import PageContent
from tests.data import make


def read(readers: sandbox.ChildPool, ocr: sandbox.ChildPool, path: Path, number: int = 1) -> PageContent:
    with readers.lease() as child:
        return sandbox.read_page(child, ocr, path, number)


def test_a_mixed_document_is_read_page_by_page(
    tmp_path: Path, readers: sandbox.ChildPool, ocr: sandbox.ChildPool
) -> None:
    path = tmp_path / "mixed.pdf"
    path.write_bytes(make.mixed())

    first, scan, empty = (read(readers, ocr, path, number) for number in (1, 2, 3))

    assert (first.source, scan.source, empty.source) == ("text_layer", "ocr", "text_layer")
    assert first.text.startswith("First page with a text layer")
    assert scan.text.replace("\n\n", "\n").splitlines() == ["Scanned words", "Amount 99.50"]
    amount = next(word for word in scan.words if word.text == "99.50")
    assert amount.origin == "ocr"
    assert amount.confidence > 0.8
    assert 50 / 595 < amount.x0 < amount.x1 < 350 / 595
    assert 192 / 842 < amount.y0 < amount.y1 < 320 / 842
    assert (empty.text, empty.words) == ("", ())


@pytest.mark.slow
@pytest.mark.parametrize("turn", [90, 180, 270])
def test_pictures_that_lie_on_their_side_or_head_are_read(
    tmp_path: Path, readers: sandbox.ChildPool, ocr: sandbox.ChildPool, turn: int
) -> None:
    source, path = tmp_path / "scan.png", tmp_path / "scan.pdf"
    source.write_bytes(make.picture(image=make.text_picture(turn=turn)))
    with contextlib.closing(sandbox.converter(Limits())) as child:
        sandbox.convert(child, source, "png", path)

    page = read(readers, ocr, path)

    assert page.text.replace("\n\n", "\n").splitlines() == list(make.INVOICE)
    corner = page.words[0]
    assert {90: corner.y0 > 0.8, 180: corner.x1 > 0.8, 270: corner.x0 > 0.7}[turn]


@pytest.mark.slow
def test_a_rasterized_page_says_what_its_text_layer_said(
    tmp_path: Path, readers: sandbox.ChildPool, ocr: sandbox.ChildPool
) -> None:
    path = tmp_path / "raster.pdf"
    path.write_bytes(make.rasterized(make.two_columns()))

    page = read(readers, ocr, path)

    lines = [line for line in page.text.splitlines() if line]
    assert [line.split()[0] for line in lines[1:]] == [
        line.split()[0] for line in [*make.LEFT, *make.RIGHT]
    ]  # fmt: skip
