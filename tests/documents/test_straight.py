"""Pages that lie askew are read level, and their words found where they are on the picture."""

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from documents.ingest.straight import Pixels, moved, straightened

WIDE, HIGH = 1_000, 1_400
FONT = ImageFont.load_default(24)


def page(*, turn: float = 0.0) -> Pixels:
    image = Image.new("L", (WIDE, HIGH), 252)
    draw = ImageDraw.Draw(image)
    for row in range(22):
        draw.text((80, 80 + 56 * row), "What stands here is long enough for a line of print", font=FONT, fill=10)
    turned = image.rotate(turn, fillcolor=252, resample=Image.Resampling.BICUBIC)
    return np.asarray(turned.convert("RGB"))


@pytest.mark.parametrize("turn", [1.3, -0.8])
def test_a_turned_page_is_set_level(turn: float) -> None:
    seen = straightened(page(turn=turn))

    assert seen is not None
    level, matrix = seen
    assert straightened(level) is None
    left, right = moved(np.array([[0.0, HIGH / 2], [WIDE, HIGH / 2]]), matrix)
    slope = (right[1] - left[1]) / (right[0] - left[0])
    assert slope == pytest.approx(-np.tan(np.radians(turn)), abs=0.0015)


def test_a_level_page_and_an_empty_one_stay_as_they_are() -> None:
    assert straightened(page()) is None
    assert straightened(np.full((400, 300, 3), 250, dtype=np.uint8)) is None
