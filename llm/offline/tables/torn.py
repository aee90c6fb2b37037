"""Names of columns that stand so close that they look like one: what stands under them says that they are several."""

from collections.abc import Sequence
from dataclasses import replace

from llm.offline.layout.model import Cell, Table, Token
from llm.offline.tables.heads import Head

_ROWS = 3
"""So many rows show where a column falls apart."""
_GAP = 0.2
"""Units: line heights. The white between two columns is wider."""
_LEVEL = 2.5
"""Units: points. How exactly what stands in a column begins, or ends, at one place."""


def torn_apart(head: Head, table: Table) -> Head:
    """The head with every name cut where all rows have white, and words or figures in their own line on both sides."""
    columns: list[tuple[Cell, ...]] = []
    for number, column in enumerate(head.columns):
        columns += _parts(column, [row.cells[number] for row in table.rows if number < len(row.cells)])
    return replace(head, columns=tuple(columns))


def _parts(column: tuple[Cell, ...], held: Sequence[Sequence[Cell]]) -> list[tuple[Cell, ...]]:
    tokens = column[0].tokens
    rows = [[token for cell in cells if cell.line == cells[0].line for token in cell.tokens] for cells in held if cells]
    if len(column) != 1 or len(tokens) < 2 or len(rows) < _ROWS:
        return [column]
    for place in range(1, len(tokens)):
        left, right = tokens[place - 1], tokens[place]
        if right.x0 - left.x1 <= 0:
            continue
        cut = _cut(rows, left.x0, right.x1, (left.x1 + right.x0) / 2)
        if cut is not None:
            one, other = (Cell.of(part, column[0].line) for part in (tokens[:place], tokens[place:]))
            behind = [[token for token in row if token.x0 >= cut] for row in rows]
            return [(one,), *_parts((other,), [[Cell.of(row, 0)] for row in behind if row])]
    return [column]


def _cut(rows: Sequence[Sequence[Token]], low: float, high: float, near: float) -> float | None:
    """The x between two names where each row has something on both sides, in line with the other rows."""
    for x in sorted({token.x0 - 1.0 for token in rows[0] if low < token.x0 <= high}, key=lambda x: abs(x - near)):
        sides = [([t for t in row if t.x1 <= x], [t for t in row if t.x0 >= x]) for row in rows]
        if not all(
            left and right and len(left) + len(right) == len(row)
            for (left, right), row in zip(sides, rows, strict=True)
        ):
            continue
        white = min(right[0].x0 - left[-1].x1 for left, right in sides)
        lined = _lined([left for left, _ in sides]) and _lined([right for _, right in sides])
        if white > _GAP * rows[0][0].height and lined and _is_coded([left for left, _ in sides]):
            return x
    return None


def _lined(parts: Sequence[Sequence[Token]]) -> bool:
    starts, ends = [part[0].x0 for part in parts], [part[-1].x1 for part in parts]
    return min(max(starts) - min(starts), max(ends) - min(ends)) <= _LEVEL


def _is_coded(parts: Sequence[Sequence[Token]]) -> bool:
    """Whether what would be a column is one code or figure in each row: no sign of a currency, no words of a text."""
    return all(len(part) == 1 and any(map(str.isalnum, part[0].text)) for part in parts) and any(
        any(map(str.isdigit, part[0].text)) for part in parts
    )
