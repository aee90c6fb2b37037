"""The one column of money that no name tells: what the rows come to."""

from collections.abc import Sequence

from llm.offline.extract.targets import Target
from llm.offline.layout.model import Table
from llm.offline.tables.figures import is_money

Columns = dict[int, tuple[int, float]]
"""Target number → (column, score)."""
_LEFT = 0.4
"""What a column is worth that is all that is left."""


def take_left(chosen: Columns, table: Table, targets: Sequence[Target]) -> None:
    """Give the one column of money that is left to the amount, where the others are told by their names."""
    taken = {column for column, _ in chosen.values()}
    left = [column for column in range(len(table.headers)) if column not in taken and _is_paid(table, column)]
    amounts = [number for number, target in enumerate(targets) if number not in chosen and _is_amount(target)]
    if chosen and len(left) == len(amounts) == 1:
        chosen[amounts[0]] = (left[0], _LEFT)


def _is_paid(table: Table, column: int) -> bool:
    texts = [row.text(column) for row in table.rows if row.cells[column]]
    return bool(texts) and all(map(is_money, texts))


def _is_amount(target: Target) -> bool:
    return target.concept is not None and target.concept.name == "line_amount"
