"""What the rows of a table are of that sums part: what is paid, what is taken off it, what comes after."""

from collections.abc import Sequence
from dataclasses import replace

from llm.offline.layout.model import Line, Row, Table
from llm.offline.matching.lexicon import find_phrases
from llm.offline.matching.senses import held, senses_of
from llm.offline.matching.words import words_of
from llm.offline.tables.figures import is_figure

EARNINGS, DEDUCTIONS = "earnings", "deductions"
_PAID = frozenset({"pay_wage", "pay"})
_TAKEN = frozenset({"deduction", "tax", "insurance", "premium"})


def part_named(words: tuple[str, ...]) -> str:
    """What an array or the head of a table is of by its name, "" when it says neither."""
    senses = held(senses_of(words))
    if senses & _TAKEN:
        return DEDUCTIONS
    return EARNINGS if senses & _PAID else ""


def sectioned(table: Table, lines: Sequence[Line]) -> list[Table]:
    """A table of pay, taken apart where the gross and the net pay stand between its rows; else the table itself."""
    first = words_of(table.headers[0]) if table.headers else ()
    rows = {_place(row): row for row in table.rows}
    if len(rows) < len(table.rows) or not rows:
        return [table]
    sums = [
        (line.index, name)
        for line in lines
        if min(rows) < line.index <= max(table.lines | {max(rows)}) + 1 and line.index not in rows
        if line.page == table.page and (name := _sum_of(line))
    ]
    gross = next((place for place, name in sums if name == "gross_pay"), None)
    if gross is None or gross > max(rows):
        return [replace(table, part=part_named(first))]
    end = next((place for place, name in sums if place > gross and name in {"net_pay", "payout"}), max(rows) + 1)
    parts = (
        (EARNINGS, [row for place, row in rows.items() if place < gross]),
        (DEDUCTIONS, [row for place, row in rows.items() if gross < place < end]),
        ("after", [row for place, row in rows.items() if place > end]),
    )
    return [replace(table, rows=tuple(held_by), part=name) for name, held_by in parts if held_by]


def _place(row: Row) -> int:
    """The line of a row's last figure."""
    figured = [cell.line for cells in row.cells for cell in cells if is_figure(cell.text)]
    return max(figured or [cell.line for cells in row.cells for cell in cells])


def _sum_of(line: Line) -> str:
    label = words_of(" ".join(cell.text for cell in line.cells if not is_figure(cell.text)))
    for hit in find_phrases(label):
        for name in ("gross_pay", "net_pay", "payout"):
            if name in hit.concepts and hit.end - hit.start >= 0.7 * len(label):
                return name
    return ""
