"""What the columns of a table mean by their numbers: quantity times price is amount, base times rate is tax.

Names of columns are words that nobody can list in full; sums hold in every language.
"""

from collections.abc import Sequence
from decimal import Decimal
from itertools import permutations

from llm.offline.layout.model import Table
from llm.offline.matching.words import is_unit
from llm.offline.tables.heads import names_of
from llm.offline.typing.amounts import find_amounts

_CENTS = Decimal("0.02")
_MOST = 0.7
"""Of all rows with the numbers of a rule, so many must obey it."""
_COLUMNS = 9
_WORDS = 6
"""Units: letters. A column with as many in a row is one of words."""
Numbers = list[Decimal | None]


def meanings(table: Table, point: str) -> dict[int, str]:
    """Column → the concept that its numbers prove it to be. Empty when nothing adds up."""
    numbers = {column: _numbers(table, column, point) for column in range(len(table.headers))}
    filled = [column for column, found in numbers.items() if sum(value is not None for value in found)][:_COLUMNS]
    said = [names_of(header) for header in table.headers]
    proven = _products(filled, numbers, said) or _taxes(filled, numbers)
    if not any("description" in names for names in said) and (column := _wordy(table, said)) is not None:
        proven.setdefault(column, "description")
    if not any("unit" in names for names in said) and (column := _counted_in(table, said)) is not None:
        proven.setdefault(column, "unit")
    told = [column for column, names in enumerate(said) if "description" in names]
    codes = [column for column in told if _is_codes(table, column)]
    if len(told) == 2 and len(codes) == 1 and not any("item_number" in names for names in said):
        proven[codes[0]] = "item_number"
    return proven


def _counted_in(table: Table, said: Sequence[frozenset[str]]) -> int | None:
    """The column that has nothing but units in it, under a name that says nothing to us."""
    for column in range(len(table.headers)):
        texts = [row.text(column) for row in table.rows if row.cells[column]]
        if not said[column] and len(texts) > 0.5 * len(table.rows) and all(map(is_unit, texts)):
            return column
    return None


def _is_codes(table: Table, column: int) -> bool:
    """Whether a column has one word in each row, of capitals or digits: what is called "article" is its number."""
    texts = [row.text(column) for row in table.rows if row.cells[column]]
    coded = (" " not in text and (any(map(str.isdigit, text)) or text.isupper()) for text in texts)
    return bool(texts) and all(coded)


def _wordy(table: Table, said: Sequence[frozenset[str]]) -> int | None:
    """The column of words under a name that says nothing to us: what the rows are about."""
    letters = {
        column: sum(sum(map(str.isalpha, row.text(column))) for row in table.rows) / max(1, len(table.rows))
        for column in range(len(table.headers))
        if not said[column]
    }
    best = max(letters, key=lambda column: letters[column], default=None)
    return best if best is not None and letters[best] >= _WORDS else None


def _numbers(table: Table, column: int, point: str) -> Numbers:
    found: Numbers = []
    for row in table.rows:
        amounts = find_amounts(row.text(column), point)
        found.append(amounts[0].value if len(amounts) == 1 or (amounts and amounts[0].start < 4) else None)
    return found


def _products(columns: Sequence[int], numbers: dict[int, Numbers], said: Sequence[frozenset[str]]) -> dict[int, str]:
    """Quantity, price and amount, of which the amount stands rightmost and the quantity is the rounder number."""
    best: tuple[float, dict[int, str]] = (0.0, {})
    for quantity, price, amount in permutations(columns, 3):
        if amount < max(quantity, price):
            continue
        rows = list(zip(numbers[quantity], numbers[price], numbers[amount], strict=True))
        full = [(q, p, a) for q, p, a in rows if q is not None and p is not None and a is not None]
        telling = [row for row in full if abs(row[0]) != 1 and abs(row[1]) != 1 and row[2]]
        holds = [abs(abs(q * p) - abs(a)) <= _CENTS for q, p, a in full]
        if (
            not telling
            or sum(holds) < _MOST * len(full)
            or not any(abs(abs(q * p) - abs(a)) <= _CENTS for q, p, a in telling)
        ):
            continue
        rounder = sum(q == q.to_integral_value() for q, _, _ in full) / len(full)
        order = 0.1 if quantity < price else 0.0
        meant = {quantity: "quantity", price: "unit_price", amount: "line_amount"}
        told = sum((name in said[column]) - 0.5 * bool(said[column]) for column, name in meant.items())
        score = sum(holds) / len(rows) + 0.3 * rounder + order + told
        if score > best[0]:
            best = (score, meant)
    return best[1]


def _taxes(columns: Sequence[int], numbers: dict[int, Numbers]) -> dict[int, str]:
    """Rate, base and tax."""
    for rate, base, tax in permutations(columns, 3):
        rows = list(zip(numbers[rate], numbers[base], numbers[tax], strict=True))
        full = [(r, b, t) for r, b, t in rows if r is not None and b is not None and t is not None]
        telling = [row for row in full if 0 < row[0] <= 40 and row[1]]
        holds = [abs(abs(r * b / 100) - abs(t)) <= _CENTS for r, b, t in telling]
        if telling and all(holds) and all(0 <= r <= 40 for r, _, _ in full):
            return {rate: "line_tax_rate", base: "tax_base", tax: "tax_amount"}
    return {}
