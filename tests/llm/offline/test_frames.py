"""Forms read by what is drawn on them: boxes around captions and answers, lines to write on."""

from dataclasses import replace

from llm.content import DocumentContent, Frame
from llm.offline.extract.fill import extract
from llm.offline.extract.reading import Reading
from tests.llm.offline.paper import HEIGHT, WIDTH, Paper, document


def drawn(paper: Paper, *frames: Frame) -> DocumentContent:
    """The page with boxes and lines. Units: points."""
    content = document(paper)
    boxes = tuple((x0 / WIDTH, y0 / HEIGHT, x1 / WIDTH, y1 / HEIGHT) for x0, y0, x1, y1 in frames)
    return replace(content, pages=(replace(content.pages[0], frames=boxes),))


def read(content: DocumentContent, *names: str) -> dict[str, object]:
    schema = {"type": "object", "properties": {name: {"type": "string"} for name in names}}
    found: dict[str, object] = extract(schema, Reading(content))
    return found


def boxes() -> DocumentContent:
    """Four boxes; the last one was left empty, above something that is not its answer."""
    paper = Paper()
    paper.put(42, 42, "Employer's name and address", size=7).put(42, 52, "Lakemont Works").put(42, 64, "2290 Ferry Rd")
    paper.put(242, 42, "Control number", size=7).put(300, 54, "47 88")
    paper.put(42, 82, "Occupation", size=7).put(150, 92, "Joiner")
    paper.put(242, 82, "Nationality", size=7).put(242, 112, "Official use only")
    return drawn(paper, (40, 40, 240, 80), (240, 40, 440, 80), (40, 80, 240, 106), (240, 80, 440, 106))


def test_what_stands_in_the_box_of_a_caption_is_its_answer_wherever_it_was_written() -> None:
    found = read(boxes(), "EmployerName", "ControlNumber", "Occupation")
    assert found == {
        "EmployerName": "Lakemont Works",
        "ControlNumber": "47 88",
        "Occupation": "Joiner",
    }


def test_an_empty_box_has_no_answer_even_if_something_stands_under_it() -> None:
    assert read(boxes(), "Nationality") == {"Nationality": ""}


def test_what_stands_on_a_line_belongs_to_the_words_before_it_or_to_those_under_it() -> None:
    paper = Paper()
    paper.put(40, 40, "Referred by").put(110, 40, "Noor Hadley").put(260, 40, "Occupation").put(330, 40, "Baker")
    paper.put(42, 80, "Brightwell").put(42, 93, "Town", size=7).put(242, 80, "Canal Street 4").put(
        242, 93, "Street", size=7
    )
    lines = (105, 51, 240, 51), (325, 51, 500, 51), (40, 91, 200, 91), (240, 91, 400, 91)

    found = read(drawn(paper, *lines), "ReferredBy", "Occupation", "Town", "Street")

    assert found == {
        "ReferredBy": "Noor Hadley",
        "Occupation": "Baker",
        "Town": "Brightwell",
        "Street": "Canal Street 4",
    }


def test_a_line_under_a_row_or_under_stressed_words_is_none_to_write_on() -> None:
    paper = Paper()
    paper.put(40, 40, "Position").put(300, 40, "12.50").put(40, 60, "Important")
    content = drawn(paper, (40, 51, 400, 51), (40, 71, 85, 71))
    assert all(token.blank < 0 for token in Reading(content).tokens.values())


def test_captions_that_stand_twice_are_told_apart_by_their_headings() -> None:
    paper = Paper()
    for top, heading, said in ((40, "APPLICANT", "Tobias"), (120, "CO-APPLICANT", "Linnea")):
        paper.put(40, top, heading, size=12).put(40, top + 22, "First name").put(110, top + 22, said)
        paper.put(40, top + 42, "Nickname").put(110, top + 42, said[:3])
        paper.put(260, top + 22, "Employer").put(330, top + 22, f"{said} Works")
    lines = [(105 + x, y, 240 + x, y) for y in (73, 93, 153, 173) for x in (0, 220)]
    schema = {name: {"type": "object", "properties": {"first_name": {"type": "string"}, "employer": {"type": "string"}}}
              for name in ("applicant", "co_applicant")}  # fmt: skip

    found = extract({"type": "object", "properties": schema}, Reading(drawn(paper, *lines)))

    assert found == {
        "applicant": {"first_name": "Tobias", "employer": "Tobias Works"},
        "co_applicant": {"first_name": "Linnea", "employer": "Linnea Works"},
    }


def test_answers_in_the_next_box_are_read_with_their_cents_and_a_table_is_none_of_this() -> None:
    paper = Paper()
    boxes: list[Frame] = []
    for row, (caption, units, cents) in enumerate(
        [("Overtime", "1.250", "40"), ("Bonus", "300", "00"), ("Fees", "12", "5")]
    ):
        top = 40.0 + 20 * row
        paper.put(44, top + 5, caption, size=7).put(204, top + 4, units).put(264, top + 4, cents)
        boxes += [(40, top, 200, top + 20), (200, top, 260, top + 20), (260, top, 300, top + 20)]
    for column, (head, said) in enumerate([("Miles", "86"), ("Rate", "0,45"), ("Sum", "38,70")]):
        left = 40.0 + 100 * column
        paper.put(left + 4, 205, head, size=7).put(left + 4, 224, said)
        boxes += [(left, 200, left + 100, 220), (left, 220, left + 100, 240)]
    reading = Reading(drawn(paper, *boxes))

    assert read(drawn(paper, *boxes), "Overtime", "Bonus") == {"Overtime": "1.250,40", "Bonus": "300,00"}
    assert not any(cell.text in {"86", "0,45"} for cells in reading.framed.values() for cell in cells)


def test_the_parts_of_a_date_on_lines_of_their_own_are_one_answer() -> None:
    paper = Paper()
    paper.put(40, 40, "Surname").put(125, 40, "Wetherall").put(40, 60, "Town").put(125, 60, "Marden")
    paper.put(40, 80, "Date of birth").put(125, 80, "14").put(152, 80, "03").put(179, 80, "1992")
    lines = (120, 51, 300, 51), (120, 71, 300, 71), (120, 91, 145, 91), (148, 91, 172, 91), (175, 91, 210, 91)

    found = read(drawn(paper, *lines), "Surname", "DateOfBirth")

    assert found == {"Surname": "Wetherall", "DateOfBirth": "1992-03-14"}


def test_a_caption_over_a_box_of_its_own_asks_for_what_is_in_it() -> None:
    paper = Paper()
    boxes: list[Frame] = []
    for row, (caption, said) in enumerate([("Nickname", "Sam"), ("Club", "Ropewalk"), ("Occupation", "Joiner")]):
        top = 40.0 + 50 * row
        paper.put(40, top, caption, size=8).put(44, top + 16, said)
        boxes.append((40, top + 12, 240, top + 32))
    lines = [(box[0], box[1], box[2], box[1]) for box in boxes]  # seen under the captions: the boxes' upper sides

    found = read(drawn(paper, *boxes, *lines), "Nickname", "Club", "Occupation")

    assert found == {"Nickname": "Sam", "Club": "Ropewalk", "Occupation": "Joiner"}
