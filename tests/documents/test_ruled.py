"""Check boxes and combs are found in pictures of pages; letters, tables and logos are neither."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from documents.ingest.ocr import OcrWord, read_picture
from documents.ingest.ruled import Pixels, find_ruled, strip_of, without_ruled

Draw = Callable[[ImageDraw.ImageDraw, int, int], object]
WIDE, HIGH = 1_414, 1_414
SIDE = 24
FONT = ImageFont.load_default(24)


def page(*rows: tuple[Draw, str], turn: float = 0.0) -> Pixels:
    """One row for each: what is drawn, and the words right of it."""
    image = Image.new("L", (WIDE, HIGH), 252)
    draw = ImageDraw.Draw(image)
    for row, (paint, words) in enumerate(rows):
        paint(draw, 100, 80 + 80 * row)
        draw.text((140, 76 + 80 * row), words, font=FONT, fill=10)
    turned = image.rotate(turn, fillcolor=252, resample=Image.Resampling.BICUBIC)
    return np.asarray(turned.convert("RGB"))


def frame(draw: ImageDraw.ImageDraw, x: int, y: int) -> None:
    draw.rectangle((x, y, x + SIDE, y + SIDE), outline=20, width=2)


def crossed(draw: ImageDraw.ImageDraw, x: int, y: int) -> None:
    frame(draw, x, y)
    draw.line((x + 4, y + 4, x + SIDE - 4, y + SIDE - 4), fill=20, width=2)
    draw.line((x + 4, y + SIDE - 4, x + SIDE - 4, y + 4), fill=20, width=2)


def ticked_by_hand(draw: ImageDraw.ImageDraw, x: int, y: int) -> None:
    """A mark that leaves its box at the top."""
    frame(draw, x, y)
    draw.line((x + 4, y + 6, x + 10, y + 18, x + SIDE + 10, y - 16), fill=20, width=3)


def crossed_out(draw: ImageDraw.ImageDraw, x: int, y: int) -> None:
    """A bold cross from corner to corner: nothing is enclosed by straight lines."""
    draw.rectangle((x, y, x + 30, y + 30), outline=20, width=3)
    draw.line((x, y, x + 30, y + 30), fill=20, width=8)
    draw.line((x, y + 30, x + 30, y), fill=20, width=8)


def heavy_letter(draw: ImageDraw.ImageDraw, x: int, y: int) -> None:
    """A bold H with feet."""
    for left in (x + 4, x + 23):
        draw.rectangle((left, y, left + 8, y + 30), fill=20)
        draw.rectangle((left - 4, y, left + 11, y + 3), fill=20)
        draw.rectangle((left - 4, y + 27, left + 11, y + 30), fill=20)
    draw.rectangle((x + 4, y + 13, x + 30, y + 17), fill=20)


def circle(draw: ImageDraw.ImageDraw, x: int, y: int) -> None:
    draw.ellipse((x, y, x + SIDE + 4, y + SIDE + 4), outline=20, width=2)


def dotted(draw: ImageDraw.ImageDraw, x: int, y: int) -> None:
    circle(draw, x, y)
    draw.ellipse((x + 9, y + 9, x + SIDE - 5, y + SIDE - 5), fill=20)


def letter(draw: ImageDraw.ImageDraw, x: int, y: int) -> None:
    draw.text((x, y - 6), "OD", font=ImageFont.load_default(30), fill=20)


def block(draw: ImageDraw.ImageDraw, x: int, y: int) -> None:
    draw.rectangle((x, y, x + SIDE, y + SIDE), fill=20)


def grid(draw: ImageDraw.ImageDraw, x: int, y: int) -> None:
    for row in range(2):
        for column in range(3):
            left, top = x + 30 * column, y + 30 * row
            draw.rectangle((left, top, left + 30, top + 30), outline=20, width=2)


def comb_of(text: str) -> Draw:
    def paint(draw: ImageDraw.ImageDraw, x: int, y: int) -> None:
        for at, character in enumerate(text):
            left = x + 34 * at
            draw.rectangle((left, y, left + 34, y + 44), outline=20, width=2)
            draw.text((left + 10, y + 8), character, font=FONT, fill=10)

    return paint


@pytest.mark.parametrize("turn", [0.0, 1.5])
@pytest.mark.parametrize(
    ("paint", "sign"),
    [(frame, "☐"), (crossed, "☒"), (crossed_out, "☒"), (ticked_by_hand, "☒"), (circle, "☐"), (dotted, "☒")],
)
def test_a_drawn_box_says_whether_something_is_in_it(paint: Draw, sign: str, turn: float) -> None:
    found = find_ruled(page((paint, "Limited company"), turn=turn))

    assert [tick.sign for tick in found.ticks] == [sign]
    middle = found.ticks[0].box[0] + SIDE / 2
    assert middle == pytest.approx(112, abs=20)


@pytest.mark.parametrize("paint", [letter, heavy_letter, block, grid])
def test_letters_blocks_and_empty_tables_are_no_check_boxes(paint: Draw) -> None:
    found = find_ruled(page((paint, "")))

    assert (found.ticks, found.combs) == ([], [])


def test_the_cells_of_a_comb_become_a_line_without_walls() -> None:
    pixels = page((comb_of("D E42"), ""))

    (comb,) = find_ruled(pixels).combs
    strip, filled = strip_of(pixels, comb)

    assert (len(comb.cells), filled) == (5, 4)
    assert strip.shape[1] < 0.7 * (comb.box[2] - comb.box[0])
    tall = (strip[:, :, 0] < 100).sum(axis=0).max()
    assert tall < 0.9 * strip.shape[0], "a wall would be as high as the line"


def test_what_was_found_is_paper_for_the_reader() -> None:
    pixels = page((crossed, ""))

    clean = without_ruled(pixels, [tick.box for tick in find_ruled(pixels).ticks])

    assert clean.min() > 200
    assert pixels.min() < 100, "the picture itself stays"


class Reader:
    """Answers what it is told."""

    def __init__(self, lines: Sequence[Sequence[OcrWord]], comb: str = "") -> None:
        self.lines = [list(line) for line in lines]
        self.comb = comb

    def read(self, pixels: Pixels) -> list[list[OcrWord]]:
        return self.lines

    def read_line(self, pixels: Pixels) -> list[OcrWord]:
        return [OcrWord(self.comb, 0.9, ((0, 0), (9, 0), (9, 9), (0, 9)))]


def test_boxes_and_combs_stand_among_the_words_where_they_are_drawn() -> None:
    words = [OcrWord("Company", 0.9, ((140, 80), (240, 80), (240, 104), (140, 104)))]
    pixels = page((crossed, "Company"), (comb_of("123456"), ""))

    layout = read_picture(Reader([words], comb="123456"), pixels, WIDE / 2, HIGH / 2, []).layout

    assert layout.text.replace("\n\n", "\n") == "☒ Company\n123456"
    assert layout.pieces[-1].x0 == pytest.approx(50, abs=2)
    assert layout.pieces[-1].x1 == pytest.approx(152, abs=2)


def test_cells_with_words_in_them_are_a_table() -> None:
    pixels = page((comb_of("123456"), ""))

    layout = read_picture(Reader([], comb="more than cells"), pixels, WIDE, HIGH, []).layout

    assert layout.text == ""
