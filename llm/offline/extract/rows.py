"""Arrays of a schema from the tables of a document."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from llm.offline.extract.arithmetic import complete_row
from llm.offline.extract.casting import cast
from llm.offline.extract.reading import Reading
from llm.offline.extract.schema import Node, empty_value, items_of, properties_of, resolve, type_of
from llm.offline.extract.targets import Path, Target, make_target
from llm.offline.extract.values import values_in
from llm.offline.layout.model import Row, Table
from llm.offline.matching.lexicon import find_phrases
from llm.offline.matching.words import likeness, words_of

MAX_ROWS = 1000


def fill_array(path: Path, node: Node, root: Node, reading: Reading) -> list[Any]:
    """The rows for one array property; [] when no table fits it."""
    item = resolve(items_of(node), root)
    if type_of(item) != "object":
        return []
    targets = [
        make_target((*path, name), child, kind, column=True)
        for name, raw in properties_of(item).items()
        if (kind := type_of(child := resolve(raw, root))) in {"string", "number", "integer", "boolean"}
    ]
    if not targets:
        return []
    scored = [(columns_for(table, targets), table) for table in reading.tables]
    best = max(scored, key=lambda pair: _fit(pair[0], pair[1]), default=None)
    if best is None or _fit(best[0], best[1]) < 0.9:
        return []
    filled = [_row(row, best[0], targets, item, root, reading) for row in _all_rows(best[1], reading)[:MAX_ROWS]]
    return [row for row, count in filled if count]


def _all_rows(table: Table, reading: Reading) -> list[Row]:
    """The table's rows and those of tables on later pages with the same header."""
    return [row for other in reading.tables if other is table or other.headers == table.headers for row in other.rows]


def _fit(columns: dict[int, tuple[int, float]], table: Table) -> float:
    return sum(score for _, score in columns.values()) + min(len(table.rows), 5) * 0.02 if columns else 0.0


def columns_for(table: Table, targets: Sequence[Target]) -> dict[int, tuple[int, float]]:
    """Target number → (column, score): the best pairs first, each column and each target once."""
    pairs = []
    for number, target in enumerate(targets):
        for column, header in enumerate(table.headers):
            score = header_score(target, header) * _kind_fit(target, table, column) + _usual_side(target, column)
            if score >= 0.4:
                pairs.append((score, number, column))
    chosen: dict[int, tuple[int, float]] = {}
    for score, number, column in sorted(pairs, reverse=True):
        if number not in chosen and column not in {held for held, _ in chosen.values()}:
            chosen[number] = (column, score)
    return chosen


def _usual_side(target: Target, column: int) -> float:
    """The amount of a line stands right of its quantity: settles headers that mean both."""
    name = target.concept.name if target.concept is not None else ""
    return {"line_amount": 0.01, "quantity": -0.01}.get(name, 0.0) * column


def header_score(target: Target, header: str) -> float:
    """How well a column's header names the target. Units: 0–1."""
    words = words_of(header)
    alike = likeness(target.words[-2:], words)
    if target.concept is None:
        return max(alike, likeness(words, target.about) * 0.7)
    best = 0.0
    for hit in find_phrases(words, columns=True):
        if target.concept.name in hit.concepts:
            share = (hit.end - hit.start) / max(1, len(words))
            best = max(best, 0.5 + 0.5 * share)
    return max(best, alike * 0.95)


def _kind_fit(target: Target, table: Table, column: int) -> float:
    """Whether the column's cells are of the target's kind: a column of words is no quantity."""
    texts = [row.text(column) for row in table.rows[:8] if row.text(column)]
    if not texts:
        return 0.5
    digits = sum(any(map(str.isdigit, text)) for text in texts) / len(texts)
    letters = sum(sum(map(str.isalpha, text)) > 4 for text in texts) / len(texts)
    if target.kind in {"amount", "percent", "date"}:
        return 0.2 + 0.8 * digits
    return 0.45 + 0.55 * letters if target.concept is not None and target.concept.name == "description" else 1.0


def _row(
    row: Row, columns: dict[int, tuple[int, float]], targets: Sequence[Target], item: Node, root: Node, reading: Reading
) -> tuple[dict[str, Any], int]:
    filled: dict[str, Any] = empty_value(item, root)
    count = 0
    for number, (column, _) in columns.items():
        target = targets[number]
        tokens = [token for cell in row.cells[column] for token in cell.tokens]
        values = values_in(target.kind if target.kind != "boolean" else "text", tokens, reading)
        if not values and target.json_type == "string":
            values = values_in("text", tokens, reading)
        cleaned = cast(values[0], target) if values else None
        if cleaned is not None and cleaned != "":
            filled[target.path[-1]] = cleaned
            count += 1
    if count:
        complete_row(filled, row, targets, reading)
    return filled, count


def is_number(value: object) -> bool:
    """Whether a cell became a number."""
    return isinstance(value, (int, float, Decimal)) and not isinstance(value, bool)
