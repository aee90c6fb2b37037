"""Columns whose names say nothing to us: schemas ask in the order in which tables print, so what is left pairs up."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

from llm.offline.extract.targets import Target
from llm.offline.layout.model import Table
from llm.offline.layout.signs import CHECKED, UNCHECKED
from llm.offline.matching.lexicon import find_phrases
from llm.offline.matching.words import polarity, words_of
from llm.offline.tables.figures import is_figure, is_money
from llm.offline.typing.dates import find_dates, find_day

PAIRED = 0.45
"""What a column is worth that was left for a target by its place."""
_SHARE = 3
"""One of so many targets must have its column by name."""
_ANY_YEAR = 2000
_MOST = 0.6
_SAMPLE = 12
Columns = dict[int, tuple[int, float]]


def with_remaining(chosen: Columns, targets: Sequence[Target], table: Table) -> Columns:
    """The columns found by name, and those that are left between them for the targets between theirs."""
    if not chosen or _SHARE * len(chosen) < len(targets) or len(chosen) == len(targets):
        return chosen
    taken = {column for column, _ in chosen.values()}
    ordered = _in_order(sorted((number, column) for number, (column, _) in chosen.items()))
    found = dict(chosen)
    edges = [(-1, -1), *ordered, (len(targets), len(table.headers))]
    for (first, left), (last, right) in pairwise(edges):
        numbers = [number for number in range(first + 1, last) if number not in chosen]
        columns = [c for c in range(left + 1, right) if c not in taken and not _is_counting(table, c)]
        for number, column in _pairs(numbers, columns, targets, table).items():
            found[number] = (column, PAIRED)
    return found


def _in_order(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The most of the pairs whose columns stand in the order of their targets."""
    runs: list[list[tuple[int, int]]] = []
    for pair in pairs:
        before = [run for run in runs if run[-1][1] < pair[1]]
        runs.append([*max(before, key=len, default=[]), pair])
    return max(runs, key=len, default=[])


def _pairs(numbers: Sequence[int], columns: Sequence[int], targets: Sequence[Target], table: Table) -> dict[int, int]:
    if len(columns) > len(numbers):  # what we know is something else is left for nobody
        columns = [c for c in columns if not _names(table.headers[c]) - _asked(numbers, targets)]
    fits = {number: [c for c in columns if _may_be(targets[number], table, c)] for number in numbers}
    if len(numbers) == len(columns) and all(c in fits[n] for n, c in zip(numbers, columns, strict=True)):
        return dict(zip(numbers, columns, strict=True))
    return {
        number: own[0]
        for number, own in fits.items()
        if len(own) == 1 and sum(own[0] in other for other in fits.values()) == 1
    }


def _asked(numbers: Sequence[int], targets: Sequence[Target]) -> frozenset[str]:
    concepts = (targets[number].concept for number in numbers)
    return frozenset(concept.name for concept in concepts if concept is not None)


def _may_be(target: Target, table: Table, column: int) -> bool:
    """Whether the cells of a column are of the target's kind, and its name says nothing else."""
    known = _names(table.headers[column])
    if target.concept is not None and known and target.concept.name not in known:
        return False
    texts = [row.text(column) for row in table.rows[:_SAMPLE] if row.cells[column]]
    if not texts:
        return not known
    return _share(texts, target) >= _MOST


def _names(header: str) -> frozenset[str]:
    """What a column's name means as a whole."""
    words = words_of(header)
    hits = find_phrases(words, columns=True)
    return frozenset(name for hit in hits if hit.end - hit.start >= _MOST * len(words) for name in hit.concepts)


def _share(texts: Sequence[str], target: Target) -> float:
    if target.kind == "date":
        return sum(_is_date(text) for text in texts) / len(texts)
    if target.kind in {"amount", "percent"} and target.json_type != "string":
        return sum(is_figure(text) for text in texts) / len(texts)
    if target.kind == "boolean":
        return sum(is_mark(text) or polarity(words_of(text)) is not None for text in texts) / len(texts)
    plain = target.kind in {"text", "name"}
    return sum(not (plain and (is_money(text) or is_mark(text))) for text in texts) / len(texts)


def _is_date(text: str) -> bool:
    return bool(find_dates(text)) or find_day(text, _ANY_YEAR) is not None


def is_mark(text: str) -> bool:
    """Whether a cell holds nothing but check boxes or the cross of somebody's pen."""
    return bool(text) and all(part in CHECKED or part in UNCHECKED or part in {"x", "X"} for part in text.split())


def _is_counting(table: Table, column: int) -> bool:
    """Whether a column numbers the rows."""
    texts = [row.text(column).rstrip(".") for row in table.rows]
    return len(texts) > 0 and texts == [str(place) for place in range(1, len(texts) + 1)] and len(table.headers) > 1


def proofs(proven: Mapping[int, str], named: Mapping[int, float]) -> dict[int, str]:
    """What numbers prove, without "description" for a column of words that another target is named after."""
    return {c: name for c, name in proven.items() if name != "description" or named.get(c, 0.0) < _MOST}
