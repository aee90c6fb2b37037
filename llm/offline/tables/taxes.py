"""Taxes told in lines of their own: "VAT 20 % of 1,240.00: 248.00", one line for each rate."""

from collections.abc import Sequence
from decimal import Decimal
from itertools import permutations

from llm.offline.layout.model import Cell, Line, Row, Table, Token
from llm.offline.matching.totals import is_tax
from llm.offline.matching.words import words_of
from llm.offline.typing.amounts import FoundAmount, find_amounts

HEADERS = ("tax rate", "tax base", "tax amount")
_CENTS = Decimal("0.02")
Found = tuple[FoundAmount, Cell]


def find_tax_lines(lines: Sequence[Line], point: str) -> list[Table]:
    """A table of the lines that name a tax, its rate, and what it comes to."""
    rows = [(line, row) for line in lines if (row := _row(line, point)) is not None]
    kept: list[tuple[Line, Row]] = []
    seen: set[str] = set()
    for line, row in rows:
        rate = row.text(0)
        if rate not in seen:
            seen.add(rate)
            kept.append((line, row))
    if not kept:
        return []
    covered = frozenset(line.index for line, _ in kept)
    return [Table(HEADERS, tuple(row for _, row in kept), covered, kept[0][0].page)]


def _row(line: Line, point: str) -> Row | None:
    tokens = [token for cell in line.cells for token in cell.tokens]
    named = any(is_tax(word) for token in tokens[:6] for word in words_of(token.text))
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
            return Row(((rate[1],), (base[1],), (tax[1],)))
    for gross, tax in permutations(plain, 2):
        if _is_share(tax, gross, rate[0].value / (100 + rate[0].value)):  # "incl. 2.6 % of 34.90: 0.88"
            return Row(((rate[1],), (), (tax[1],)))
    return Row(((rate[1],), (), (plain[0][1],))) if len(plain) == 1 and named else None


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
