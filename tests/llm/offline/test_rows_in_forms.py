"""Lists in forms: tables of boxes, columns that only their order names, rows with a few words and no figures."""

from dataclasses import replace

import pytest

from llm.content import DocumentContent
from llm.offline.extract.fill import extract
from llm.offline.extract.reading import Reading
from llm.offline.extract.rows import fill_arrays
from llm.offline.extract.schema import inner_schema
from llm.offline.extract.targets import targets_of
from llm.offline.matching.columns import named_as
from llm.offline.matching.words import words_of, words_of_name
from tests.llm.offline.paper import HEIGHT, WIDTH, Paper, document

Row = dict[str, object]
Cells = tuple[str, ...]


def ruled(edges: tuple[float, ...], *rows: Cells, top: float = 200, step: float = 20) -> DocumentContent:
    """A table of boxes; those without words are drawn as well, but nobody sees them."""
    paper = Paper()
    boxes = []
    for number, row in enumerate(rows):
        y = top + number * step
        for place, text in enumerate(row):
            paper.put(edges[place] + 3, y + 4, text, size=8)
            if text:
                box = (edges[place] / WIDTH, y / HEIGHT, edges[place + 1] / WIDTH, (y + step) / HEIGHT)
                boxes.append(box)
    content = document(paper)
    return replace(content, pages=(replace(content.pages[0], frames=tuple(boxes)),))


def rows_of(content: DocumentContent, array: str, **columns: str) -> list[Row]:
    item = {"type": "object", "properties": {key: {"type": kind} for key, kind in columns.items()}}
    schema = {"type": "object", "properties": {array: {"type": "array", "items": item}}}
    root = inner_schema({"type": "json_schema", "json_schema": {"name": "t", "schema": schema}})
    _, arrays = targets_of(root, root)
    return fill_arrays(arrays, root, Reading(content))[(array,)]


def test_rows_of_words_in_boxes_are_rows_and_those_with_only_their_number_are_none() -> None:
    page = ruled(
        (40, 60, 240, 340, 420),
        ("", "Naam", "Geboortedatum", "m/v"),
        ("1", "Joost Rademakers", "07-07-1983", "M"),
        ("2", "Pien Rademakers", "22-01-2013", "V"),
        ("3", "", "", ""),
    )
    assert rows_of(page, "co_movers", name="string", date_of_birth="string", gender="string") == [
        {"name": "Joost Rademakers", "date_of_birth": "1983-07-07", "gender": "M"},
        {"name": "Pien Rademakers", "date_of_birth": "2013-01-22", "gender": "V"},
    ]


def test_a_cell_that_was_left_empty_does_not_move_the_others() -> None:
    page = ruled(
        (40, 110, 260, 310, 380, 450),
        ("Date", "Details", "Miles", "Meals", "Total"),
        ("03/09/2024", "Own car", "86", "", "38.70"),
        ("04/09/2024", "Lunch", "", "24.15", "24.15"),
    )
    found = rows_of(page, "expenses", date="string", details="string", miles="number", meals="number", total="number")
    assert found == [
        {"date": "2024-09-03", "details": "Own car", "miles": 86, "meals": 0, "total": 38.7},
        {"date": "2024-09-04", "details": "Lunch", "miles": 0, "meals": 24.15, "total": 24.15},
    ]


def test_columns_with_unknown_names_are_those_that_the_schema_asks_for_between_known_ones() -> None:
    page = ruled(
        (40, 110, 260, 380, 450),
        ("Datum", "Wofür", "Wo", "Betrag"),
        ("12.05.2025", "Taxi zum Kunden", "Hamlow", "17,20"),
        ("14.05.2025", "Parkhaus", "Siegwerder", "9,50"),
    )
    assert rows_of(page, "expenses", date="string", occasion="string", town="string", amount="number") == [
        {"date": "2025-05-12", "occasion": "Taxi zum Kunden", "town": "Hamlow", "amount": 17.2},
        {"date": "2025-05-14", "occasion": "Parkhaus", "town": "Siegwerder", "amount": 9.5},
    ]


def test_a_box_with_the_figures_of_several_rows_is_no_row() -> None:
    paper = Paper()
    paper.row(204, (43, "Quantity"), (123, "Description"), (323, "Amount"))
    paper.row(224, (43, "24"), (123, "Rotor"), (323, "450.00"))
    paper.row(238, (43, "6"), (123, "Valve"), (323, "164.40"))
    content = document(paper)
    edges = ((40, 120), (120, 320), (320, 400))
    boxes = [
        (x0 / WIDTH, y0 / HEIGHT, x1 / WIDTH, y1 / HEIGHT) for x0, x1 in edges for y0, y1 in ((200, 220), (220, 260))
    ]
    page = replace(content, pages=(replace(content.pages[0], frames=tuple(boxes)),))

    found = rows_of(page, "lines", quantity="number", description="string", amount="number")

    assert [row["quantity"] for row in found] == [24, 6]


def test_names_that_the_schema_asks_for_make_a_head_whatever_stands_over_it() -> None:
    paper = Paper()
    paper.row(180, (40, "Have the police been told? Yes"), (250, "☐ No"), (300, "☒"))
    paper.row(200, (40, "Description of item"), (200, "When bought"), (300, "Where bought"), (420, "Amount claimed £"))
    paper.row(214, (40, "Roof repair"), (300, "Nance Roofing"), (440, "1,860.00"))
    paper.row(228, (40, "Double mattress"), (200, "2022"), (300, "Carrick Beds"), (440, "429.00"))
    paper.row(242, (40, "Total"), (440, "2,289.00"))
    columns = dict.fromkeys(("Description", "WhenBought", "WhereBought", "AmountClaimed"), "string")
    assert rows_of(document(paper), "Items", **columns) == [
        {"Description": "Roof repair", "WhenBought": "", "WhereBought": "Nance Roofing", "AmountClaimed": "1,860.00"},
        {
            "Description": "Double mattress",
            "WhenBought": "2022",
            "WhereBought": "Carrick Beds",
            "AmountClaimed": "429.00",
        },
    ]


def test_a_list_that_nobody_filled_in_stays_empty() -> None:
    paper = Paper()
    paper.row(200, (40, "Name"), (200, "Relationship"), (300, "Age"))
    paper.put(40, 260, "I declare that all that I have said is true.")
    assert rows_of(document(paper), "occupants", name="string", relationship="string", age="string") == []


@pytest.mark.parametrize(
    ("name", "header"),
    [
        ("purchase_date", "Kaufdatum"),
        ("claimed_amount", "Montant réclamé €"),
        ("license_plate", "Amtl. Kennzeichen"),
        ("gender", "m/v"),
        ("from", "von"),
        ("frequency", "Hoe vaak?"),
        ("reason_for_leaving", "Motif du départ"),
        ("start_time", "Arbeitsbeginn"),
    ],
)
def test_columns_of_lists_have_their_own_words_in_four_languages(name: str, header: str) -> None:
    assert named_as(words_of_name(name), words_of(header)) >= 0.6


def test_a_word_that_is_part_of_another_name_is_none() -> None:
    assert named_as(words_of_name("purchase_date"), words_of("Rechnungsdatum")) == 0


def test_columns_left_over_pair_up_even_where_one_stands_out_of_order() -> None:
    paper = Paper()
    paper.row(200, (40, "Determinand"), (160, "Method"), (260, "Result"), (340, "Units"), (440, "PCV*"))
    paper.row(214, (40, "pH"), (160, "BS 1427"), (260, "8.1"), (340, "pH units"), (440, "6.5 - 9.5"))
    paper.row(228, (40, "Nitrate"), (160, "IC W11"), (260, "61.4"), (340, "mg/l"), (440, "50"))
    paper.row(242, (40, "Lead"), (160, "ICP-MS"), (260, "2"), (340, "µg/l"), (440, "10"))
    columns = {"parameter": "string", "result": "number", "limit": "string", "method": "string"}
    found = rows_of(document(paper), "determinations", **columns)
    assert found == [
        {"parameter": "pH", "result": 8.1, "limit": "6.5 - 9.5", "method": "BS 1427"},
        {"parameter": "Nitrate", "result": 61.4, "limit": "50", "method": "IC W11"},
        {"parameter": "Lead", "result": 2, "limit": "10", "method": "ICP-MS"},
    ]


def test_cells_with_boxes_say_what_was_checked() -> None:
    page = ruled(
        (40, 160, 260, 360, 460),
        ("Item", "Result", "Repaired", "Remarks"),
        ("Brakes", "☒ OK ☐ Defect", "☐", "none"),
        ("Lights", "☐ OK ☒ Defect", "☒", "left bulb"),
    )
    assert rows_of(page, "checks", item="string", result="string", repaired="boolean", remarks="string") == [
        {"item": "Brakes", "result": "OK", "repaired": False, "remarks": "none"},
        {"item": "Lights", "result": "Defect", "repaired": True, "remarks": "left bulb"},
    ]


def checklist(mark: str, empty: str) -> DocumentContent:
    """Which column is marked says the answer of a row."""
    paper = Paper().put(40, 40, "Daily inspection", size=14)
    paper.row(120, (40, "Item"), (250, "Yes"), (300, "No"), (350, "N/A"), (420, "Remarks"))
    for number, (item, answer) in enumerate((("Tyres free of damage", 0), ("Horn works", 1), ("Seat belt worn", 2))):
        cells = [(255.0 + 50 * at, mark if at == answer else empty) for at in range(3)]
        paper.row(138 + 16 * number, (40, item), *((x, sign) for x, sign in cells if sign))
    paper.put(420, 154, "weak sound")
    return document(paper)


@pytest.mark.parametrize(("mark", "empty"), [("☒", "☐"), ("X", ""), ("✓", "")])
def test_the_column_that_is_marked_is_the_answer_of_a_row(mark: str, empty: str) -> None:
    row = {"item": {"type": "string"}, "result": {"type": "string"}, "remarks": {"type": "string"}}
    asked = {"checks": {"type": "array", "items": {"type": "object", "properties": row}}}
    found = extract({"type": "object", "properties": asked}, Reading(checklist(mark, empty)))["checks"]
    assert [one["result"] for one in found] == ["Yes", "No", "N/A"]
    row["result"] = {"type": "boolean"}
    found = extract({"type": "object", "properties": asked}, Reading(checklist(mark, empty)))["checks"]
    assert [one["result"] for one in found] == [True, False, False]
