"""Words of a page that lies askew stand on their lines."""

from math import radians, tan

import pytest

from llm.content import DocumentContent, PageContent, Word
from llm.offline.layout.lines import read_lines
from tests.llm.offline.paper import HEIGHT, WIDTH, Paper


def askew(*, turn: float, bend: float = 0.0) -> DocumentContent:
    paper = Paper()
    for row in range(12):
        y = 60 + 60 * row
        paper.row(y, (40, f"Caption of line {row} here"), (260, "what was written"), (480, f"last {row} cell"))
    words = []
    for word in paper.words:
        x, down = (word.x0 - 0.5) * WIDTH, (word.y0 - 0.5) * HEIGHT
        slope = tan(radians(turn)) + bend * down / HEIGHT
        dx, dy = -tan(radians(turn)) * down / WIDTH, slope * x / HEIGHT
        box = (word.x0 + dx, word.y0 + dy, word.x1 + dx, word.y1 + dy)
        words.append(Word(word.text, *box, origin="ocr"))
    return DocumentContent("0" * 32, "page.png", (PageContent(1, WIDTH, HEIGHT, "", tuple(words)),))


@pytest.mark.parametrize(("turn", "bend"), [(0.0, 0.0), (1.4, 0.0), (-2.0, 0.0), (0.0, 0.04), (1.0, -0.03)])
def test_lines_of_a_page_that_lies_askew_stay_whole(turn: float, bend: float) -> None:
    lines = read_lines(askew(turn=turn, bend=bend))

    assert [line.text for line in lines] == [
        f"Caption of line {row} here what was written last {row} cell" for row in range(12)
    ]
    assert all(len(line.cells) == 3 for line in lines)
