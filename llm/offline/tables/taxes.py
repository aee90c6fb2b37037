"""Taxes told in lines of their own: "VAT 20 % of 1,240.00: 248.00", one line for each rate."""

from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from itertools import permutations

from llm.offline.layout.model import Cell, Line, Row, Table, Token
from llm.offline.matching.totals import is_tax
from llm.offline.matching.words import words_of
from llm.offline.typing.amounts import FoundAmount, find_amounts

HEADERS = ("tax rate", "tax base", "tax amount", "gross amount")
_BASE, _GROSS = 1, 3
_CENTS = Decimal("0.02")
Found = tuple[FoundAmount, Cell]


def find_tax_lines(lines: Sequence[Line], point: str) -> list[Table]:
    """A table of the lines that name a tax, its rate, and what it comes to."""
    found = [(line, row) for line in lines if (row := _row(line, point)) is not None]
    often = Counter(row.text(0) for line, row in found if not _is_named(line))
    kept: list[tuple[Line, Row]] = []
    for line, row in found:
        listed = often[row.text(0)] > 1 and not _is_named(line)  # items with their taxes, no summary
        if not listed and row.text(0) not in {other.text(0) for _, other in kept}:
            kept.append((line, row))
    if not kept:
        return []
    covered = frozenset(line.index for line, _ in kept)
    used = [column for column in range(len(HEADERS)) if column < _GROSS or any(row.cells[column] for _, row in kept)]
    rows = tuple(Row(tuple(row.cells[column] for column in used)) for _, row in kept)
    return [Table(tuple(HEADERS[column] for column in used), rows, covered, kept[0][0].page)]


def proven_taxes(table: Table) -> list[Row]:
    """The rows of tax lines that print what the tax is a share of."""
    return [row for row in table.rows if row.cells[_BASE] or any(row.cells[_GROSS:])]


def _is_named(line: Line) -> bool:
    tokens = [token for cell in line.cells for token in cell.tokens]
    return any(is_tax(word) for token in tokens[:6] for word in words_of(token.text))


def _row(line: Line, point: str) -> Row | None:
    tokens = [token for cell in line.cells for token in cell.tokens]
    named = _is_named(line)
    if not named and any(sum(map(str.isalpha, token.text)) > 3 for token in tokens):
        return None  # a line of the summary under its head has no words but the letter of the tax
    amounts = _amounts(tokens, line.index, point)
    rates = [found for found in amounts if found[0].percent and 0 <= found[0].value <= 40]
    plain = [found for found in amounts if not found[0].percent and found[0].decimals]
    if len(rates) != 1 or not 1 <= len(plain) <= 3:
        return None
    rate = rates[0]
    for base, tax in permutations(plain, 2):
        if _is_share(tax, base, rate[0].value / 100):
            whole = [found[1] for found in plain if abs(found[0].value - base[0].value - tax[0].value) <= _CENTS][:1]
            return Row(((rate[1],), (base[1],), (tax[1],), tuple(whole)))
    for gross, tax in permutations(plain, 2):
        if _is_share(tax, gross, rate[0].value / (100 + rate[0].value)):  # "incl. 2.6 % of 34.90: 0.88"
            return Row(((rate[1],), (), (tax[1],), (gross[1],)))
    return Row(((rate[1],), (), (plain[0][1],), ())) if len(plain) == 1 and named else None


def _is_share(part: Found, whole: Found, share: Decimal) -> bool:
    return abs(abs(whole[0].value * share) - abs(part[0].value)) <= _CENTS and part[0].value != whole[0].value


def _amounts(tokens: Sequence[Token], line: int, point: str) -> list[Found]:
    """The amounts of a line, each with its words."""
    text, owners = "", []
    for place, token in enumerate(tokens):
        text += (" " if place else "") + token.text
        owners += [place] * (len(token.text) + bool(place))
    return [
        (amount, Cell.of(tokens[owners[amount.start] : owners[amount.end - 1] + 1], line))
        for amount in find_amounts(text, point)
    ]
