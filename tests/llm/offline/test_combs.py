"""Characters in boxes of their own are one word; figures that only stand in a row are not."""

import pytest

from llm.offline.layout.analysis import analyse
from tests.llm.offline.paper import Paper, document


def set_apart(text: str, *, pitch: float = 14.0, gap: float = 10.0) -> str:
    """How the line reads when each character stands in its own box; a blank is a wider gap."""
    paper, x = Paper(), 60.0
    for character in text:
        if character == " ":
            x += gap
            continue
        paper.put(x, 100, character, size=11)
        x += pitch
    return analyse(document(paper)).lines[0].text


@pytest.mark.parametrize(
    "text", ["DE30370601930047718829", "17/09/2018", "2047KD", "DE30 3706 0193", "17 09 2018", "12-1234567"]
)
def test_a_comb_reads_as_its_words(text: str) -> None:
    assert set_apart(text) == text


def test_single_figures_of_a_table_stay_apart() -> None:
    assert set_apart("12345", pitch=60) == "1 2 3 4 5"


def test_running_text_with_short_words_stays_as_it_is() -> None:
    paper = Paper().put(40, 100, "a b c d e f g")
    assert analyse(document(paper)).lines[0].text == "a b c d e f g"
