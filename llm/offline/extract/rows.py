"""Arrays of a schema from the tables of a document."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from llm.offline.extract.arithmetic import complete_row
from llm.offline.extract.casting import cast
from llm.offline.extract.leftover import Columns, take_left
from llm.offline.extract.listed import lists_under
from llm.offline.extract.marks import answered, chosen, marked_columns
from llm.offline.extract.reading import Reading
from llm.offline.extract.remaining import proofs, with_remaining
from llm.offline.extract.schema import Node, empty_value, items_of, properties_of, resolve, type_of
from llm.offline.extract.targets import Path, Target, make_target
from llm.offline.extract.values import days_in, values_in
from llm.offline.layout.model import Row, Table, Token
from llm.offline.matching.columns import named_as
from llm.offline.matching.lexicon import concepts, find_phrases
from llm.offline.matching.senses import meant_alike, senses_of, telling
from llm.offline.matching.words import likeness, words_of, words_of_name
from llm.offline.tables.details import edge_of, is_counted, parted
from llm.offline.tables.figures import is_numeric
from llm.offline.tables.finding import same_head
from llm.offline.tables.meaning import meanings
from llm.offline.tables.sections import DEDUCTIONS, part_named
from llm.offline.typing.dates import find_day

MAX_ROWS = 1000
_CODE_WORDS = 3
_MARKS = (("S", "H"), ("DR", "CR"), ("D", "C"))
"""Taken off and put to an account."""
_FLAGS = frozenset({"+", "-", "–", "++", "--", "*", "**", "H", "L", "HH", "LL", "↑", "↓", "!", "N", "A", "h", "l"})
"""What stands behind a result that is out of its range."""
_ANY_YEAR = 2000
_ENOUGH = 0.9
_PROVEN = 0.8
"""What a column is worth whose numbers prove its meaning, whatever its name says."""
_NAMED = 0.55
_DRAWN, _ASKED = 0.11, -0.35
"""What the boxes around its cells are worth to a table, and what words that only stand under each other cost."""
_ELSEWHERE = 0.6
"""What a column's name still says when the numbers of another prove to be what it names."""
_SUMS = frozenset({"quantity", "unit_price", "line_amount"})
_TAXES = frozenset(["tax", "taxes", "vat", "vats", "gst", "btw", "mwst", "ust", "steuern", "tva"])
_IN_TAXES = {
    "rate": "line_tax_rate", "percent": "line_tax_rate", "percentage": "line_tax_rate", "tax rate": "line_tax_rate",
    "base": "tax_base", "net": "tax_base", "basis": "tax_base", "taxable": "tax_base", "net amount": "tax_base",
    "amount": "tax_amount", "tax": "tax_amount", "vat": "tax_amount", "tax amount": "tax_amount", "value": "tax_amount",
}  # fmt: skip
_TITLES = frozenset({"name", "title", "item", "product"})


@dataclass(frozen=True, slots=True)
class _Wanted:
    """An array of a schema with the targets of its columns."""

    path: Path
    item: Node
    targets: list[Target]

    @property
    def part(self) -> str:
        """What its rows are of, where its name says so: pay, or what is taken off."""
        return part_named(words_of_name(self.path[-1]))


def fill_arrays(arrays: Sequence[tuple[Path, Node]], root: Node, reading: Reading) -> dict[Path, list[Any]]:
    """The rows for each array property, the best fitting pairs of array and table first; [] where none fits."""
    wanted = [found for path, node in arrays if path and (found := _wanted(path, node, root)) is not None]
    loose = [*(reading.grids if wanted else ()), *_asked_for(wanted, reading)]
    tables = (*reading.tables, *reading.tax_lines, *loose)
    proven = [meanings(table, reading.point) for table in tables]
    pairs = []
    for number, array in enumerate(wanted):
        for place, table in enumerate(tables):
            columns = columns_for(table, array.targets, proven[place])
            fit = _fit(columns, table) if table not in loose or _is_sure(columns, array, table) else 0.0
            if fit >= _ENOUGH:
                fit += _part_fit(array, table) + (_trust(table, array, reading) if table in loose else 0.0)
                pairs.append((fit, -place, number))
    filled: dict[Path, list[Any]] = {path: [] for path, _ in arrays if path}
    used: list[Table] = []
    done: set[int] = set()
    for _, place, number in sorted(pairs, reverse=True):
        table, array = tables[-place], wanted[number]
        if number in done or any(same_head(table, other) and table.part == other.part for other in used):
            continue
        if any(_words_in(table) & _words_in(other) for other in used):
            continue
        done.add(number)
        used.append(table)
        alike = loose if table in loose else (*reading.tables, *reading.tax_lines)
        filled[array.path] = _rows(table, array, root, reading, alike)
    return filled


def _wanted(path: Path, node: Node, root: Node) -> _Wanted | None:
    item = resolve(items_of(node), root)
    if type_of(item) != "object":
        return None
    targets = [
        _in_context(make_target((*path, name), child, kind, column=True))
        for name, raw in properties_of(item).items()
        if (kind := type_of(child := resolve(raw, root))) in {"string", "number", "integer", "boolean"}
    ]
    return _Wanted(path, item, targets) if targets else None


def _in_context(target: Target) -> Target:
    """ "rate" of "taxes" is a tax's rate, not a price; "units" in words are no quantity."""
    if target.json_type == "string" and _is(target, "quantity") and target.path[-1].lower().endswith("units"):
        return replace(target, concept=concepts()["unit"], kind="text")
    if not _TAXES & set(words_of_name(target.path[-2])):
        return target
    name = _IN_TAXES.get(" ".join(words_of_name(target.path[-1])))
    concept = concepts()[name] if name else None
    if concept is None:
        return target
    kind = concept.kind if target.json_type != "string" or concept.kind == "percent" else target.kind
    return replace(target, concept=concept, kind=kind)


def _asked_for(wanted: Sequence[_Wanted], reading: Reading) -> list[Table]:
    known = (*reading.tables, *reading.grids) if wanted else ()
    found = (table for array in wanted for table in lists_under(reading.layout, array.targets, header_score))
    return [t for t in found if not any(same_head(t, other) and len(other.rows) >= len(t.rows) for other in known)]


def _rows(table: Table, array: _Wanted, root: Node, reading: Reading, alike: Sequence[Table]) -> list[Any]:
    """The rows of a table and of those that go on with it, each with its own columns."""
    filled: list[tuple[dict[str, Any], int]] = []
    for other in alike:
        if other is table or (same_head(other, table) and (other.part == table.part or not array.part)):
            columns = columns_for(other, array.targets, meanings(other, reading.point))
            columns = with_remaining(columns, array.targets, other)
            filled += [_row(row, other, columns, array, root, reading) for row in other.rows[:MAX_ROWS]]
    return [row for row, count in filled if count][:MAX_ROWS]


def _fit(columns: Columns, table: Table) -> float:
    return sum(score for _, score in columns.values()) + min(len(table.rows), 5) * 0.02 if columns else 0.0


def _is_sure(columns: Columns, array: _Wanted, table: Table) -> bool:
    """Whether the names of columns show that what may be a table is the one: two of them, of one row half of them."""
    named = sum(score >= _NAMED for _, score in columns.values())
    wanted = len(array.targets)
    return named >= min(2, wanted) and (len(table.rows) > 1 or 2 * named >= wanted)


def _trust(table: Table, array: _Wanted, reading: Reading) -> float:
    """What a table counts that only a schema makes one: more than another where it has all rows of that and others."""
    if not table.limits:
        return _DRAWN
    priced = any(_is(target, "line_amount") or _is(target, "unit_price") for target in array.targets)
    return -_ASKED if not priced and any(_has_more(table, other) for other in reading.tables) else _ASKED


def _has_more(table: Table, other: Table) -> bool:
    held = {cell.line for row in other.rows for cells in row.cells for cell in cells}
    return held <= table.lines and len(table.rows) > len(other.rows)


def _words_in(table: Table) -> frozenset[int]:
    return frozenset(cell.tokens[0].index for row in table.rows for cells in row.cells for cell in cells)


def _part_fit(array: _Wanted, table: Table) -> float:
    """Whether a table is of what the array is called after: "deductions"."""
    named = 0.3 * likeness(words_of_name(array.path[-1]), words_of(table.headers[0])) if table.part else 0.0
    if not (array.part and table.part):
        return named
    return named + (0.3 if array.part == table.part else -0.5)


def columns_for(table: Table, targets: Sequence[Target], proven: Mapping[int, str]) -> Columns:
    """Target number → (column, score): the best pairs first, each column and each target once.

    A column of numbers with their units serves the quantity and the unit.
    """
    pairs = []
    best = {c: max((header_score(t, h) for t in targets), default=0.0) for c, h in enumerate(table.headers)}
    proven = proofs(proven, best)
    for number, target in enumerate(targets):
        for column, header in enumerate(table.headers):
            score = _score(target, header, proven.get(column, "")) * _kind_fit(target, table, column)
            score *= _ELSEWHERE if _is_proven_elsewhere(target, column, proven) else 1.0
            score += _usual_side(target, column)
            if score >= 0.4:
                pairs.append((score, number, column))
    chosen: Columns = {}
    for score, number, column in sorted(pairs, key=lambda pair: (-pair[0], pair[1], pair[2])):
        if number not in chosen and column not in {held for held, _ in chosen.values()}:
            chosen[number] = (column, score)
    take_left(chosen, table, targets)
    quantity = next((chosen[n][0] for n, t in enumerate(targets) if _is(t, "quantity") and n in chosen), None)
    for number, target in enumerate(targets):
        if _is(target, "unit") and number not in chosen and quantity is not None:
            chosen[number] = (quantity, 0.05)
    return chosen


def _is_proven_elsewhere(target: Target, column: int, proven: Mapping[int, str]) -> bool:
    name = target.concept.name if target.concept is not None else ""
    return name in proven.values() and proven.get(column) != name


def _is(target: Target, name: str) -> bool:
    return target.concept is not None and target.concept.name == name


def _score(target: Target, header: str, proven: str) -> float:
    said = header_score(target, header)
    if not proven or target.concept is None:
        return said
    if target.concept.name == proven:
        return max(said, _PROVEN)
    if proven == "item_number":
        return said * 0.5
    return said * (0.5 if {target.concept.name, proven} <= _SUMS else 0.85)


def _usual_side(target: Target, column: int) -> float:
    """The amount of a line stands right of its quantity: settles headers that mean both."""
    name = target.concept.name if target.concept is not None else ""
    return {"line_amount": 0.01, "quantity": -0.01}.get(name, 0.0) * column


def header_score(target: Target, header: str) -> float:
    """How well a column's header names the target. Units: 0–1."""
    words = words_of(header)
    if target.printed and target.printed == words:
        return 1.0
    alike = max(likeness(target.words[-2:], words), 0.95 * _alike_in_sense(target, words))
    if target.concept is None or not find_phrases(words, columns=True):
        alike = max(alike, named_as(words_of_name(target.path[-1]), words))
    if target.concept is None:
        return max(alike, likeness(words, target.about) * 0.7)
    best = 0.0
    for hit in find_phrases(words, columns=True):
        if target.concept.name in hit.concepts:
            share = (hit.end - hit.start) / max(1, len(words))
            best = max(best, 0.5 + 0.5 * share)
        elif any(target.concept.name in concepts()[name].instead for name in hit.concepts):
            best = max(best, 0.6)
    return max(best, alike * 0.95)


def _alike_in_sense(target: Target, header: Sequence[str]) -> float:
    """Names of two languages, or two words for one thing: "quantity_delivered" and "geliefert"."""
    own = words_of_name(target.path[-1])
    said, wanted = senses_of(tuple(header)), senses_of(own)
    return max((meant_alike(part, said) for part in (wanted, telling(wanted)) if part), default=0.0)


def _kind_fit(target: Target, table: Table, column: int) -> float:
    """Whether the column's cells are of the target's kind: a column of words is no quantity."""
    texts = [row.text(column) for row in table.rows[:8] if row.text(column)]
    if not texts:
        return 0.5
    digits = sum(any(map(str.isdigit, text)) for text in texts) / len(texts)
    letters = sum(sum(map(str.isalpha, text)) > 4 for text in texts) / len(texts)
    days = sum(find_day(text, _ANY_YEAR) is not None for text in texts) / len(texts)
    if target.kind == "date":
        return 0.2 + 0.8 * digits
    if target.kind in {"text", "name"} and days == 1.0 and not _is(target, "description"):
        return 0.3
    if target.kind in {"amount", "percent"}:
        return 0.2 + 0.8 * digits * (1.0 - 0.9 * days)
    return 0.45 + 0.55 * letters if _is(target, "description") else 1.0


def _row(
    row: Row, table: Table, columns: Columns, array: _Wanted, root: Node, reading: Reading
) -> tuple[dict[str, Any], int]:
    filled: dict[str, Any] = empty_value(array.item, root)
    count = 0
    named = _names(array.targets, columns)
    for number, (column, _) in columns.items():
        target = array.targets[number]
        tokens = _tokens(row, table, column, target, is_named=number == named)
        kind = "text" if target.kind == "boolean" or _is_whole_code(target, tokens) else target.kind
        tokens = tokens if target.kind == "boolean" else chosen(tokens)
        values = answered(tokens) if target.kind == "boolean" else values_in(kind, tokens, reading)
        if not values and target.kind == "date":
            values = days_in(tokens, reading)
        if not values and target.json_type == "string":
            values = values_in("text", tokens, reading)
        if values and target.kind == "amount" and _is_debit(tokens, table, column):
            values = [replace(values[0], value=-values[0].value)] if isinstance(values[0].value, Decimal) else values
        cleaned = cast(values[0], target) if values else None
        if isinstance(cleaned, int | float) and table.part == array.part == DEDUCTIONS:
            cleaned = abs(cleaned)
        if cleaned is not None and cleaned != "":
            filled[target.path[-1]] = cleaned
            count += not _is(target, "unit")
    left = [target for number, target in enumerate(array.targets) if number not in columns]
    for place, value in marked_columns(row, table, {column for column, _ in columns.values()}, left).items():
        filled[left[place].path[-1]] = cast(value, left[place])
    if count:
        _from_details(filled, row, table, columns, array.targets, reading)
        _two_texts(filled, row, table, columns, array.targets)
        complete_row(filled, row, array.targets, reading)
    return filled, count


def _is_whole_code(target: Target, tokens: Sequence[Token]) -> bool:
    """Whether a cell of a column of codes is one code as it stands, blanks and all."""
    return _is(target, "item_number") and 1 < len(tokens) <= _CODE_WORDS


def _is_debit(tokens: Sequence[Token], table: Table, column: int) -> bool:
    """Whether an amount is marked as taken off an account, "735,00 S" beside "118,50 H"; other letters are taxes."""
    marks = {row.text(column).split(" ")[-1].upper() for row in table.rows if row.cells[column]}
    pair = next((pair for pair in _MARKS if marks <= set(pair) and pair[1] in marks), None)
    return pair is not None and tokens[-1].text.upper() == pair[0]


def _names(targets: Sequence[Target], columns: Columns) -> int | None:
    """The target that takes the item's name: what is called so, else the first that has the column of words."""
    told = [number for number in columns if _is(targets[number], "description")]
    titled = [number for number in told if _TITLES & set(words_of_name(targets[number].path[-1]))]
    return next(iter([*titled, *told]), None)


def _tokens(row: Row, table: Table, column: int, target: Target, *, is_named: bool) -> list[Token]:
    """The words of a cell that are about the target: a name without what stands under it, a unit without its number."""
    cells = list(row.cells[column])
    if is_named or _is(target, "description"):
        cells = parted(row, column, edge_of(table, column))[0]
    tokens = [token for cell in cells for token in cell.tokens]
    if _is(target, "description") and is_counted(table, column):
        tokens = tokens[1:]
    if _is(target, "test_result"):
        while len(tokens) > 1 and tokens[-1].text in _FLAGS:
            tokens = tokens[:-1]
    if _is(target, "unit"):
        while tokens and is_numeric(tokens[0].text):
            tokens = tokens[1:]
    return tokens


def _from_details(
    filled: dict[str, Any], row: Row, table: Table, columns: Columns, targets: Sequence[Target], reading: Reading
) -> None:
    """What stands under the name: a second text ("description" beside "name"), or the number of the article."""
    named = _names(targets, columns)
    if named is None:
        return
    column = columns[named][0]
    rest = parted(row, column, edge_of(table, column))[1]
    if not rest:
        return
    for number, target in enumerate(targets):
        if number in columns:
            continue
        tokens = [token for cell in rest for token in cell.tokens]
        if _is(target, "description"):
            values = values_in("text", tokens, reading)
        elif _is(target, "item_number"):
            values = _labelled(target, tokens, reading)
        else:
            continue
        if values and (cleaned := cast(values[0], target)) is not None:
            filled[target.path[-1]] = cleaned


def _two_texts(filled: dict[str, Any], row: Row, table: Table, columns: Columns, targets: Sequence[Target]) -> None:
    """Where a schema has one more text than the table has columns of words ("counterparty" and "description"),

    the first line is the one that has no column, and the lines under it are the description.
    """
    named = _names(targets, columns)
    other = [number for number, target in enumerate(targets) if number not in columns and _is_free_text(target)]
    if named is None or len(other) != 1 or not _is(targets[named], "description"):
        return
    name, rest = parted(row, columns[named][0], edge_of(table, columns[named][0]))
    if not rest or _TITLES & set(words_of_name(targets[named].path[-1])):
        return
    for number, cells in ((other[0], name), (named, rest)):
        text = " ".join(cell.text for cell in cells)
        filled[targets[number].path[-1]] = text


def _is_free_text(target: Target) -> bool:
    return target.concept is None and target.kind == "text" and target.json_type == "string" and not target.enum


def _labelled(target: Target, tokens: Sequence[Token], reading: Reading) -> list[Any]:
    """The number behind "Art. no." in the lines under a name."""
    for place in range(1, min(5, len(tokens))):
        label = words_of(" ".join(token.text for token in tokens[:place]))
        hits = find_phrases(label, columns=True)
        if any("item_number" in hit.concepts and hit.end == len(label) for hit in hits):
            return values_in(target.kind, tokens[place:], reading)
    return []
