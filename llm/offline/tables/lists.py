"""Items without a head over them, as on receipts and in letters: words, and an amount at the end of the line.

What an item needs may stand on two or three lines: its name, how many at what price, what they come to. Only what
stands before the total is an item; where several blocks could be meant, it is the one that comes to the total.
"""

from collections.abc import Sequence, Set
from dataclasses import dataclass, field
from decimal import Decimal

from llm.offline.layout.model import Cell, Line, Row, Table
from llm.offline.matching.lexicon import find_phrases
from llm.offline.matching.words import is_unit, words_of
from llm.offline.tables.bodies import is_carried, is_sum
from llm.offline.tables.figures import is_numeric
from llm.offline.tables.items import Item, names_part, read_item, value_of

HEADERS = ("item number", "date", "quantity", "unit", "description", "unit price", "amount")
_PARTS = ("number", "day", "quantity", "unit", "name", "price", "amount")
_INSIDE = frozenset({"discount_total", "quantity", "unit_price", "line_amount", "discount"})
"""What a line may name that stands among the items."""
_FAR = 2.6
"""Units: line heights. Items stand no further apart."""


@dataclass(slots=True)
class _Walk:
    """The lines of a document from top to bottom: runs of items, and the sums after each."""

    loose: bool = False
    runs: list[list[Item]] = field(default_factory=lambda: [[]])
    sums: list[tuple[int, Decimal]] = field(default_factory=list)
    waiting: Item | None = None
    """Words alone in their line: perhaps the name of what the next line counts."""
    spoken: bool = False
    """Whether what is waiting ends in words; what ends in figures names only what is counted and priced."""
    held: Item | None = None
    """A quantity or a price without an amount."""
    last: Line | None = None

    def cut(self) -> None:
        """Let a new run begin."""
        self.waiting = self.held = None
        if self.runs[-1]:
            self.runs.append([])

    def take(self, line: Line) -> None:
        """Read one line."""
        if self.last is not None and _is_far(self.last, line):
            self.cut()
        self.last, before = line, self.last
        item = read_item(line, loose=self.loose)
        if self._measures(line, item, before):
            return
        if _ends(line, item, inside=bool(self.runs[-1])):
            amount = value_of(item.amount)
            if amount is not None:
                self.sums.append((len(self.runs) - (not self.runs[-1]), abs(amount)))
            if not names_part(item.name, "aside"):
                self.cut()
            return
        if item.amount:
            self._add(item, before)
        elif item.quantity and item.price:
            self._hold(item)
        else:
            self._wait(line, item)

    def _measures(self, line: Line, item: Item, before: Line | None) -> bool:
        """ "VOLUME 41,37 L", "PRIX UNIT. 1,789 €/L", "MONTANT 74,01 €": a line for each number, under the name."""
        held = self.held
        if item.amount and held is not None and held.quantity and held.price and names_part(item.name, "amount"):
            if not held.comes_to(value_of(item.amount)) or not held.name:
                return False
            held.amount = item.amount
            held.lines += [] if is_sum(" ".join(token.text for token in item.name)) else item.lines
            self.runs[-1].append(held)
            self.held = self.waiting = None
            return True
        part = next((part for part in ("quantity", "price") if item.name and names_part(item.name, part)), "")
        found = item.quantity or item.price or item.amount if part else []
        if not found:
            return False
        if held is None or not held.name:
            held = self.held = Item([])
            if before is not None and any(map(str.isalpha, before.cells[-1].text)):
                held.name, held.lines = list(before.cells[-1].tokens), [before.index]
        setattr(held, part, found)
        if part == "quantity":
            ends = line.cells[-1].tokens[-1:]
            held.unit = item.unit or [token for token in ends if is_unit(token.text)]
        held.lines += item.lines
        return True

    def _add(self, item: Item, before: Line | None) -> None:
        run = self.runs[-1]
        if not item.name:
            waiting, held = self.waiting, self.held
            priced = item.price or (held is not None and held.comes_to(value_of(item.amount)))
            if waiting is not None and (self.spoken or priced):
                item.name, item.lines = waiting.name, [*waiting.lines, *item.lines]
                item.number, item.quantity = item.number or waiting.number, item.quantity or waiting.quantity
            elif run and before is not None and _is_name(run[-1], before, item):
                old = run.pop()
                item.name, item.lines = [*old.name, *old.amount], [*old.lines, *item.lines]
            else:
                return
        held = self.held
        if held is not None and not item.quantity and held.comes_to(value_of(item.amount)):
            item.quantity, item.unit, item.price = held.quantity, held.unit, held.price
            item.lines = [*held.lines, *item.lines]
        self.waiting = self.held = None
        run.append(item)

    def _hold(self, item: Item) -> None:
        """ "2 x 1.99" under its item, or over it."""
        run = self.runs[-1]
        if run and not run[-1].quantity and item.comes_to(value_of(run[-1].amount)):
            run[-1].quantity, run[-1].unit, run[-1].price = item.quantity, item.unit, item.price
            run[-1].lines += item.lines
        else:
            self.held = item

    def _wait(self, line: Line, item: Item) -> None:
        if item.name and len(line.cells) == 1 and not (self.waiting is not None and _is_detail(line)):
            self.waiting, self.spoken = item, not any(map(str.isdigit, line.text[-3:]))
        elif self.held is None and not _is_detail(line):
            self.waiting = None


def find_lists(lines: Sequence[Line], taken: Set[int]) -> list[Table]:
    """The items of a document: those that come to its total, else its longest run of items."""
    for loose in (False, True):
        walk = _walked(lines, taken, loose=loose)
        found = _proven(walk) or ([] if loose else _longest(walk))
        if found:
            return [_table(found, lines)]
    return []


def summed_list(lines: Sequence[Line]) -> Table | None:
    """The items that come to a total below them, if there are several."""
    items = _proven(_walked(lines, frozenset()))
    return _table(items, lines) if len(items) > 1 else None


def better_list(lines: Sequence[Line], table: Table, taken: Set[int]) -> Table | None:
    """The items that come to the total, where no column of their table does: a scan may have torn its head apart."""
    walk = _walked(lines, taken)
    items = _proven(walk)
    inside = sum(bool(table.lines & set(item.lines)) for item in items)
    if len(items) < max(2, len(table.rows)) or inside < 0.5 * len(items):
        return None
    found, proven = _table(items, lines), sum(item.is_worked_out for item in items)
    if len(found.headers) > len(table.headers) and 2 * proven > len(items):
        return found
    sums = {amount for _, amount in walk.sums}
    for column in range(len(table.headers)):
        values = [value_of(row.cells[column][-1].tokens) for row in table.rows if row.cells[column]]
        if abs(sum((value or Decimal(0) for value in values), Decimal(0))) in sums:
            return None
    return found


def _walked(lines: Sequence[Line], taken: Set[int], *, loose: bool = False) -> _Walk:
    walk = _Walk(loose=loose)
    for line in lines:
        if line.index in taken:
            walk.cut()
            walk.last = line
        else:
            walk.take(line)
    return walk


def _proven(walk: _Walk) -> list[Item]:
    """The most items on end that come to a sum which stands below them."""
    best: list[Item] = []
    for first in range(len(walk.runs)):
        items: list[Item] = []
        for last in range(first, len(walk.runs)):
            items = [*items, *walk.runs[last]]
            total = sum((value_of(item.amount) or Decimal(0) for item in items), Decimal(0))
            if len(items) > len(best) and any(place > last and abs(total) == amount for place, amount in walk.sums):
                best = items
    if len(best) == 1 and not walk.loose and not best[0].name:
        return []
    return best if not walk.loose or len(best) > 1 else []


def _longest(walk: _Walk) -> list[Item]:
    best = max(walk.runs, key=len)
    return best if len(best) > 1 or (best and best[0].quantity and len(best[0].name) > 1) else []


def _is_far(above: Line, line: Line) -> bool:
    return line.page != above.page or line.y0 - above.y1 > _FAR * max(cell.height for cell in line.cells)


def _ends(line: Line, item: Item, *, inside: bool) -> bool:
    """A total ends the items; so does a line of label and value that the vocabulary knows."""
    words = " ".join(cell.text for cell in line.cells if not is_numeric(cell.text))
    if is_sum(words) or is_carried(words) or (item.name and names_part(item.name, "aside")):
        return True
    label = words_of(line.cells[0].text)
    hits = [hit for hit in find_phrases(label) if hit.end - hit.start >= 0.9 * len(label)]
    if inside and item.amount and any(_INSIDE & set(hit.concepts) for hit in hits):
        return False
    return bool(hits) and len(line.cells) > 1


def _is_detail(line: Line) -> bool:
    """Whether a line under an item's name only says where it was taken from: "Pump 6"."""
    label = words_of(" ".join(cell.text for cell in line.cells).rstrip("0123456789"))
    return any("pump_number" in hit.concepts and hit.end - hit.start == len(label) for hit in find_phrases(label))


def _is_name(item: Item, above: Line, below: Item) -> bool:
    """Whether "Cola 0.33" is the name of what the next line counts, not an item for 0.33."""
    in_words = len(above.cells) == 1 and item.lines == [above.index] and not item.quantity
    return in_words and item.amount[-1].x1 < below.amount[0].x0


def _table(items: Sequence[Item], lines: Sequence[Line]) -> Table:
    covered = frozenset(index for item in items for index in item.lines)
    page = next(line.page for line in lines if line.index in covered)
    used = [number for number, name in enumerate(_PARTS) if any(getattr(item, name) for item in items)]
    rows = tuple(Row(tuple(_cells(item)[number] for number in used)) for item in items)
    return Table(tuple(HEADERS[number] for number in used), rows, covered, page)


def _cells(item: Item) -> tuple[tuple[Cell, ...], ...]:
    return tuple((Cell.of(part, item.lines[-1]),) if (part := getattr(item, name)) else () for name in _PARTS)
