"""Balances and sums that stand among the bookings of an account, for the fields that ask for them."""

from collections.abc import Iterator

from llm.offline.extract.reading import Reading
from llm.offline.extract.targets import Target
from llm.offline.extract.values import Value, values_in
from llm.offline.layout.model import Row, Table
from llm.offline.matching.senses import held, senses_of
from llm.offline.matching.words import words_of
from llm.offline.tables.accounts import is_balance

_SCORE = 0.6
_SIDES = frozenset({"debit", "credit"})


def from_balances(target: Target, reading: Reading) -> Iterator[tuple[Value, float, str]]:
    """The first balance before the bookings, the last one after them, and the sum of a column."""
    if target.kind != "amount":
        return
    name = target.concept.name if target.concept is not None else ""
    tables = [table for table in reading.tables if table.sums]
    if name == "opening_balance" and tables:
        yield from _balance(tables[0], reading, at_start=True)
    elif name == "closing_balance" and tables:
        yield from _balance(tables[-1], reading, at_start=False)
    elif (senses := held(senses_of(target.words))) & {"total", "sum"}:
        for side in _SIDES & senses:
            for table in tables:
                yield from _sum_of(table, side, reading)


def _balance(table: Table, reading: Reading, *, at_start: bool) -> Iterator[tuple[Value, float, str]]:
    rows = [row for row in table.sums if is_balance(row)]
    edge = min(map(_line, table.rows)) if at_start else max(map(_line, table.rows))
    placed = [row for row in rows if (_line(row) < edge if at_start else _line(row) > edge)]
    if placed:
        row = placed[0] if at_start else placed[-1]
        tokens = [token for cells in row.cells for cell in cells for token in cell.tokens]
        for value in values_in("amount", tokens, reading)[-1:]:
            yield value, _SCORE, row.text(0)


def _sum_of(table: Table, side: str, reading: Reading) -> Iterator[tuple[Value, float, str]]:
    for number, head in enumerate(table.headers):
        if side not in held(senses_of(words_of(head))):
            continue
        for row in table.sums:
            if not is_balance(row):
                tokens = [token for cell in row.cells[number] for token in cell.tokens]
                yield from ((value, _SCORE, head) for value in values_in("amount", tokens, reading)[-1:])


def _line(row: Row) -> int:
    return min(cell.line for cells in row.cells for cell in cells)
