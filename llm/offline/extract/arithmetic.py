"""Sums as evidence: totals that belong together, and lines whose amount is their quantity times their price.

Nothing is worked out that is not printed: a sum only says which of the printed numbers is meant.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_HALF_UP, Decimal
from itertools import product
from typing import Any

from llm.offline.extract.reading import Reading
from llm.offline.extract.targets import Path, Target
from llm.offline.extract.values import Value, values_in
from llm.offline.layout.model import Row

# The first is the sum of the others.
SUMS = (("gross_total", "net_total", "tax_total"), ("gross_total", "prepaid", "due_payable"))
_CENT = Decimal("0.01")
_TRIED = 5
_WHOLE = 0.2
_WORTH = 0.7
"""What agreeing numbers must keep of the score of those that do not agree."""


@dataclass(frozen=True, slots=True)
class Option:
    """A number that a target may have. `is_chosen`: it has it so far."""

    value: Value
    score: float
    is_chosen: bool = False

    @property
    def number(self) -> Decimal:
        return Decimal(self.value.value)

    def as_paid(self) -> "Option":
        """A payment may be printed as taken off: "-500.00"."""
        return replace(self, value=replace(self.value, value=abs(self.number)))


def settled_totals(
    targets: Sequence[Target], options: Mapping[Path, Sequence[Option]], reading: Reading
) -> dict[Path, Value]:
    """Which totals are to be taken instead, or in addition, so that sums come out. Only what changes."""
    changed: dict[Path, Value] = {}
    for names in SUMS:
        paths = [path for name in names if (path := _path(name, targets)) is not None]
        if len(paths) == len(names):
            held = {path: options.get(path, ()) for path in paths}
            if "prepaid" in names:
                held[paths[1]] = [option.as_paid() for option in held[paths[1]]]
            now = [_present(held[path], changed.get(path)) for path in paths]
            changed |= _settled(paths, now, held, reading)
    return changed


def _settled(
    paths: Sequence[Path],
    now: Sequence[Decimal | None],
    options: Mapping[Path, Sequence[Option]],
    reading: Reading,
) -> dict[Path, Value]:
    missing = [at for at, number in enumerate(now) if number is None]
    if len(missing) == 1:
        found = _printed(_completed(now, missing[0]), reading)
        return {paths[missing[0]]: found} if found is not None else {}
    if missing or _adds_up(now):
        return {}
    return _agreeing(paths, options)


def _agreeing(paths: Sequence[Path], options: Mapping[Path, Sequence[Option]]) -> dict[Path, Value]:
    """The likeliest numbers that add up, unless they are far less likely than those that do not."""
    chosen = sum(option.score for path in paths for option in options[path] if option.is_chosen)
    tried = product(*(options[path][:_TRIED] for path in paths))
    sums = [combination for combination in tried if _adds_up([option.number for option in combination])]
    best = max(sums, key=_likely, default=None)
    if best is None or sum(option.score for option in best) < _WORTH * chosen:
        return {}
    return {path: option.value for path, option in zip(paths, best, strict=True) if not option.is_chosen}


def _likely(combination: Sequence[Option]) -> float:
    """The scores together; the whole is better known than its parts."""
    return sum(option.score for option in combination) + _WHOLE * combination[0].is_chosen


def _path(concept: str, targets: Sequence[Target]) -> Path | None:
    """The one target that means it."""
    paths = [target.path for target in targets if target.concept is not None and target.concept.name == concept]
    return paths[0] if len(paths) == 1 else None


def _present(options: Sequence[Option], instead: Value | None) -> Decimal | None:
    if instead is not None:
        return Decimal(instead.value)
    return next((option.number for option in options if option.is_chosen), None)


def _completed(numbers: Sequence[Decimal | None], missing: int) -> Decimal:
    whole, *parts = (number or Decimal(0) for number in numbers)
    return sum(parts, Decimal(0)) if missing == 0 else whole - sum(parts, Decimal(0))


def _adds_up(numbers: Sequence[Decimal | None]) -> bool:
    whole, *parts = (number or Decimal(0) for number in numbers)
    return whole > 0 and abs(whole - sum(parts, Decimal(0))) < _CENT


def _printed(number: Decimal, reading: Reading) -> Value | None:
    """The last place where an amount stands that is no date, no share and no nothing."""
    if number <= 0:
        return None
    for line in reversed(reading.layout.lines):
        for cell in line.cells:
            for value in values_in("amount", cell.tokens, reading):
                if value.fit == 1.0 and value.value == number:
                    return value
    return None


def complete_row(filled: dict[str, Any], row: Row, targets: Sequence[Target], reading: Reading) -> None:
    """Fill in the one number that a line lacks of quantity, price and amount, if it is printed in the line."""
    names = {target.concept.name: target for target in targets if target.concept is not None}
    keys = [names.get(name) for name in ("quantity", "unit_price", "line_amount")]
    if any(key is None or key.json_type not in {"number", "integer"} for key in keys):
        return
    fields = [key.path[-1] for key in keys if key is not None]
    numbers = [Decimal(str(filled.get(field) or 0)) for field in fields]
    if numbers.count(Decimal(0)) != 1:
        return
    at = numbers.index(Decimal(0))
    wanted = _factor(numbers, at)
    if wanted is not None and wanted in _numbers_of(row, reading):
        filled[fields[at]] = int(wanted) if wanted == wanted.to_integral_value() else float(wanted)


def _factor(numbers: Sequence[Decimal], missing: int) -> Decimal | None:
    quantity, price, amount = numbers
    if missing == 2:
        return (quantity * price).quantize(_CENT, ROUND_HALF_UP).normalize()
    exact = amount / (price if missing == 0 else quantity)
    return exact.normalize() if exact == exact.quantize(Decimal("0.0001")) else None


def _numbers_of(row: Row, reading: Reading) -> set[Decimal]:
    return set(_each_number(row, reading))


def _each_number(row: Row, reading: Reading) -> Iterator[Decimal]:
    for cells in row.cells:
        for cell in cells:
            for value in values_in("amount", cell.tokens, reading):
                yield Decimal(value.value).normalize()
