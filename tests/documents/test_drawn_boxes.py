"""Check boxes that a page draws are read as signs; squares that are something else are not."""

from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image, ImageDraw
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from tests.documents.test_textlayer import read

Draw = Callable[[Canvas, float, float], object]
SIDE = 11


def drawn(*boxes: tuple[Draw, str], turned: bool = False) -> bytes:
    """One line for each: a box and the words right of it."""
    buffer = BytesIO()
    canvas = Canvas(buffer, pagesize=(595, 842), invariant=1)
    if turned:  # the page lies on its side, and what is on it stands upright when it is shown
        canvas.setPageRotation(90)
        canvas.translate(595, 0)
        canvas.rotate(90)
        canvas.translate(0, -250)
    canvas.setFont("Helvetica", 11)
    for row, (draw, words) in enumerate(boxes):
        draw(canvas, 72, 700 - 30 * row)
        canvas.drawString(90, 702 - 30 * row, words)
    canvas.save()
    return buffer.getvalue()


def frame(canvas: Canvas, x: float, y: float) -> None:
    canvas.rect(x, y, SIDE, SIDE)


def crossed(canvas: Canvas, x: float, y: float) -> None:
    frame(canvas, x, y)
    canvas.line(x + 2, y + 2, x + SIDE - 2, y + SIDE - 2)
    canvas.line(x + 2, y + SIDE - 2, x + SIDE - 2, y + 2)


def lettered(canvas: Canvas, x: float, y: float) -> None:
    frame(canvas, x, y)
    canvas.drawString(x + 2, y + 1.5, "X")


def filled(canvas: Canvas, x: float, y: float) -> None:
    canvas.rect(x, y, SIDE, SIDE, fill=1)


def line_only(canvas: Canvas, x: float, y: float) -> None:
    canvas.line(x, y, x + SIDE, y + SIDE)


def numbered(canvas: Canvas, x: float, y: float) -> None:
    frame(canvas, x, y)
    canvas.drawString(x + 2, y + 1.5, "7")


def pictured(ticked: bool) -> Draw:
    """A small picture of a box with a white margin, as word processors put them."""
    image = Image.new("RGB", (60, 60), "white")
    pen = ImageDraw.Draw(image)
    pen.rectangle((8, 8, 52, 52), outline=(70, 100, 135), width=4)
    if ticked:
        pen.line((14, 30, 26, 44, 46, 14), fill=(70, 100, 135), width=5)
    return lambda canvas, x, y: canvas.drawImage(ImageReader(image), x, y, 17, 17)


@pytest.mark.parametrize(
    ("draw", "sign"),
    [(frame, "☐"), (crossed, "☒"), (lettered, "☒"), (pictured(ticked=False), "☐"), (pictured(ticked=True), "☒")],
)
def test_a_drawn_box_is_a_sign_before_its_words(tmp_path: Path, draw: Draw, sign: str) -> None:
    page = read(tmp_path, drawn((draw, "Express delivery"), (frame, "Standard")))
    assert page.text.split("\n")[0].split() == [sign, "Express", "delivery"]
    box = next(word for word in page.words if word.text == sign)
    assert 70 / 595 < box.x0 < box.x1 < 91 / 595


def test_a_drawn_box_is_found_on_a_page_that_is_turned_to_be_shown(tmp_path: Path) -> None:
    text = read(tmp_path, drawn((crossed, "Express delivery"), (frame, "Standard delivery"), turned=True)).text
    assert text.split() == ["☒", "Express", "delivery", "☐", "Standard", "delivery"]


@pytest.mark.parametrize("draw", [filled, line_only, numbered])
def test_a_square_that_is_something_else_stays_unread(tmp_path: Path, draw: Draw) -> None:
    text = read(tmp_path, drawn((draw, "Express delivery"))).text
    assert "☐" not in text
    assert "☒" not in text


def test_a_square_without_words_beside_it_and_a_page_full_of_squares_are_decoration(tmp_path: Path) -> None:
    assert "☐" not in read(tmp_path, drawn((frame, ""))).text
    grid = drawn(*[(frame, "Standard")] * 20)
    assert read(tmp_path, grid).text.count("☐") == 20

    def pattern(canvas: Canvas, x: float, y: float) -> None:
        for column in range(8):
            frame(canvas, x + 14 * column, y)

    assert "☐" not in read(tmp_path, drawn(*[(pattern, "Standard")] * 20)).text


def test_round_boxes_and_the_dots_in_them_are_read_too(tmp_path: Path) -> None:
    def ring(canvas: Canvas, x: float, y: float) -> None:
        canvas.circle(x + SIDE / 2, y + SIDE / 2, SIDE / 2)

    def dotted(canvas: Canvas, x: float, y: float) -> None:
        ring(canvas, x, y)
        canvas.circle(x + SIDE / 2, y + SIDE / 2, SIDE / 4, fill=1)

    def icon(canvas: Canvas, x: float, y: float) -> None:
        canvas.circle(x + SIDE / 2, y + SIDE / 2, SIDE / 2, fill=1)

    page = read(tmp_path, drawn((ring, "Once"), (dotted, "Monthly"), (icon, "Phone")))
    assert [word.text for word in page.words] == ["☐", "Once", "☒", "Monthly", "Phone"]


def test_a_page_as_large_as_a_house_is_read_without_looking_at_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its picture would have a thousand million pixels."""
    monkeypatch.setattr("pypdfium2.PdfPage.render", None)
    buffer = BytesIO()
    canvas = Canvas(buffer, pagesize=(14_400, 14_400), invariant=1)
    canvas.rect(72, 72, SIDE, SIDE)
    canvas.drawString(90, 74, "I agree with everything that is written on this very large page of mine")
    canvas.save()
    assert read(tmp_path, buffer.getvalue()).words[-1].text == "mine"
