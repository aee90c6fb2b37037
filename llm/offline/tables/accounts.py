"""Lines of a table of bookings that are no bookings: balances and sums, which stand there without a day."""

import re
from dataclasses import replace

from llm.offline.layout.model import Row, Table
from llm.offline.matching.senses import held, senses_of
from llm.offline.matching.words import words_of
from llm.offline.tables.bodies import is_carried, is_sum

_DAY = re.compile(r"^\d{1,2}[./ -]\d{1,2}(?:\D|$)|^\d{4}-\d\d|^\d{1,2}\.? [^\W\d_]{3,}|^[^\W\d_]{3,9}\.? \d{1,2}\b")
_MOSTLY = 0.6
_FEW = 7
"""Units: words. What a balance is called is no sentence."""


def without_sums(table: Table) -> Table:
    """The table with its balances and sums apart, where most rows have a day in some column."""
    days = [number for number in range(len(table.headers)) if _holds_days(table, number)]
    sums = tuple(row for row in table.rows if days and _is_sum(row, days, len(table.headers)))
    if not sums or len(sums) == len(table.rows):
        return table
    return replace(table, rows=tuple(row for row in table.rows if row not in sums), sums=(*table.sums, *sums))


def is_balance(row: Row) -> bool:
    """Whether a row says how much was on an account."""
    return "balance" in held(senses_of(words_of(_said(row, len(row.cells)))))


def _holds_days(table: Table, number: int) -> bool:
    filled = [row.text(number) for row in table.rows if row.cells[number]]
    days = sum(bool(_DAY.match(text)) for text in filled)
    return days >= max(2, _MOSTLY * len(filled)) and days >= 0.4 * len(table.rows)


def _is_sum(row: Row, days: list[int], columns: int) -> bool:
    if any(row.cells[number] for number in days):
        return False
    said = _said(row, columns)
    words = words_of(said)
    named = held(senses_of(words)) & {"balance", "total"}
    return 0 < len(words) <= _FEW and (bool(named) or is_sum(said) or is_carried(said))


def _said(row: Row, columns: int) -> str:
    texts = [row.text(number) for number in range(columns)]
    return " ".join(text for text in texts if sum(map(str.isalpha, text)) > len(text) / 3)
