"""The boxes that lines draw around words."""

import numpy as np

from documents.ingest.frames import find_frames
from documents.ingest.layout import Layout
from documents.ingest.looks import Gray
from documents.ingest.pieces import Piece
from documents.ingest.scanned import scanned_frames
from documents.ingest.wire import columns_as_frames, fields_as_page, page_as_fields
from llm.content import PageContent

PAPER, INK, TINT = 255, 90, 225


def sheet() -> Gray:
    return np.full((400, 600), PAPER, dtype=np.uint8)


def word(x: float, y: float) -> Piece:
    return Piece("Name", x, y, x + 30, y + 10)


def draw(picture: Gray, x0: int, y0: int, x1: int, y1: int) -> None:
    """A frame one point thin. Units: points, at two pixels each."""
    for y in (y0, y1):
        picture[2 * y : 2 * y + 2, 2 * x0 : 2 * x1] = INK
    for x in (x0, x1):
        picture[2 * y0 : 2 * y1 + 2, 2 * x : 2 * x + 2] = INK


def test_two_boxes_side_by_side_are_found_each_once() -> None:
    picture = sheet()
    draw(picture, 20, 20, 120, 60)
    draw(picture, 120, 20, 260, 60)

    first, second = find_frames(picture, [word(25, 25), word(60, 42), word(140, 25)], 2.0)

    assert np.allclose(first, (20, 20, 120, 60), atol=3)
    assert np.allclose(second, (120, 20, 260, 60), atol=3)


def test_the_smallest_box_around_a_word_counts() -> None:
    picture = sheet()
    draw(picture, 10, 10, 280, 180)
    draw(picture, 40, 40, 140, 70)

    frames = find_frames(picture, [word(50, 50), word(200, 120)], 2.0)

    assert [round(frame[2] - frame[0], -1) for frame in frames] == [100, 270]


def test_a_tinted_ground_is_a_box_and_a_line_under_a_word_one_without_height() -> None:
    picture = sheet()
    picture[40:80, 40:240] = TINT
    picture[200:202, 40:240] = INK
    for dash in range(300, 500, 8):
        picture[202:204, dash : dash + 5] = INK

    box, line, dashes = find_frames(picture, [word(30, 25), word(30, 88), word(160, 90)], 2.0)

    assert np.allclose(box, (20, 20, 120, 40), atol=2)
    assert np.allclose(line, (20, 100, 120, 100), atol=2)
    assert np.allclose(dashes, (150, 101, 250, 101), atol=3)


def test_a_word_without_lines_around_it_has_no_frame() -> None:
    assert find_frames(sheet(), [word(30, 30)], 2.0) == ()
    assert find_frames(sheet(), [], 2.0) == ()


def test_frames_travel_with_a_page_and_older_pages_have_none() -> None:
    page = PageContent(1, 100.0, 100.0, "", frames=((0.1, 0.2, 0.3, 0.4),))

    assert fields_as_page(page_as_fields(page)) == page
    assert columns_as_frames({}) == ()


def test_boxes_and_lines_of_a_scan_that_lies_askew_are_found_where_its_words_are() -> None:
    slope, shift = 0.012, 250
    picture = np.full((400, 600, 3), PAPER, dtype=np.uint8)
    rows = (np.arange(600) - shift) * slope
    for x in range(600):
        if 40 <= x < 240:
            picture[round(100 + rows[x]) : round(100 + rows[x]) + 2, x] = INK
        if 300 <= x < 560:
            for top in (60, 120):
                picture[round(top + rows[x]) : round(top + rows[x]) + 2, x] = INK
    for y in range(60, 122):
        for x in (300, 558):
            at = round(x - slope * (y - 90))
            picture[round(y + rows[x]), at : at + 2] = INK
    pieces = [word(x, y + (x * 2 + 30 - shift) / 2 * slope) for y in (10, 39, 38, 150) for x in (25, 165, 240)]
    layout = Layout(pieces, [line for line in range(4) for _ in range(3)])

    frames = scanned_frames(picture, layout, 300.0)

    assert any(np.allclose(frame, (150, 31, 279, 61), atol=3) for frame in frames)
    assert any(frame[1] == frame[3] and np.allclose(frame, (20, 49, 120, 49), atol=3) for frame in frames)
