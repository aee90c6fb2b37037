"""A value, and everything that counts as the same value printed in another way: what redaction looks for."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from documents.page_index import fold_text
from llm.offline.typing.amounts import SIGNS, parse_amount
from llm.offline.typing.dates import DateOrder, parse_date

_ISO = re.compile(r"(\d{4}-\d{2}-\d{2})(?:[T ].*)?")
_ORDERS: tuple[DateOrder, ...] = ("day_first", "month_first")
_MOST_DECIMALS = 4


@dataclass(frozen=True, slots=True)
class Secret:
    """What must not be seen. `texts` are folded; `digits` are how its numbers and dates look without any sign."""

    texts: frozenset[str]
    signs: frozenset[str]
    numbers: frozenset[Decimal]
    dates: frozenset[str]
    digits: frozenset[str]


def secrets_of(values: Iterable[Any]) -> tuple[Secret, ...]:
    """One for each different value. Empty values and yes-or-no hide nothing by themselves."""
    found: dict[Secret, None] = {}
    for value in values:
        if isinstance(value, int | float | Decimal) and not isinstance(value, bool):
            found[_of_number(value)] = None
        elif isinstance(value, str) and value.strip():
            found[_of_text(value.strip())] = None
    return tuple(found)


def same_number(value: int | float | Decimal) -> Decimal:
    """How two numbers are compared: 20, 20.00 and -20 are one."""
    return abs(Decimal(str(value))).normalize()


def _of_number(value: int | float | Decimal) -> Secret:
    number = same_number(value)
    return Secret(frozenset(), frozenset(), frozenset([number]), frozenset(), frozenset(_digits_of(number)))


def _of_text(text: str) -> Secret:
    folded = fold_text(text)
    numbers = frozenset(same_number(value) for point in ".," if (value := parse_amount(text, point)) is not None)
    dates = frozenset(_dates(text))
    digits = {spelled for iso in dates for spelled in _without_signs(iso)}
    return Secret(
        texts=frozenset([folded] if folded else []),
        signs=frozenset([*([] if folded else [text]), *(sign for sign, code in SIGNS.items() if code == text.upper())]),
        numbers=numbers,
        dates=dates,
        digits=frozenset(digits.union(*map(_digits_of, numbers))),
    )


def _dates(text: str) -> Iterator[str]:
    if iso := _ISO.fullmatch(text):
        yield iso[1]
    for order in _ORDERS:
        if found := parse_date(text, order):
            yield found.isoformat()


def _without_signs(iso: str) -> Iterator[str]:
    year, month, day = iso.split("-")
    yield from (year + month + day, day + month + year, month + day + year)


def _digits_of(number: Decimal) -> Iterator[str]:
    """4950 → 4950, 49500, 495000 …: with and without decimals, the separators taken out; and 0.19 → 19, for 19 %."""
    for value in (number, number * 100):
        whole, _, decimals = format(value.normalize(), "f").partition(".")
        for count in range(len(decimals), max(_MOST_DECIMALS, len(decimals)) + 1):
            yield whole + decimals.ljust(count, "0")
