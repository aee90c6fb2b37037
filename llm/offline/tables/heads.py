"""Heads of tables: lines of names of columns, on one to three lines, several names in a cell."""

import re
from collections.abc import Container, Sequence
from dataclasses import dataclass
from itertools import pairwise

from llm.offline.layout.model import Cell, Line, Token
from llm.offline.matching.lexicon import find_phrases
from llm.offline.matching.words import words_of

_HAS_DIGIT = re.compile(r"\d")
_LONGEST = 42
"""Units: characters. A longer cell is no name of a column."""


_LINKING = frozenset({"d", "de", "der", "des", "du", "of", "par", "per", "pour", "pro", "van"})
"""What goes on with a name, and begins none: "Désignation du bien"."""


@dataclass(frozen=True, slots=True)
class Head:
    """The columns of a table by their names, left to right. `known`: how many of them the vocabulary knows."""

    columns: tuple[tuple[Cell, ...], ...]
    lines: frozenset[int]
    known: int

    @property
    def texts(self) -> tuple[str, ...]:
        return tuple(_text(column) for column in self.columns)

    @property
    def x0(self) -> float:
        return min(cell.x0 for column in self.columns for cell in column)

    @property
    def x1(self) -> float:
        return max(cell.x1 for column in self.columns for cell in column)

    @property
    def height(self) -> float:
        return max(cell.height for column in self.columns for cell in column)


def head_at(lines: Sequence[Line], place: int, *, whole: Container[int] = ()) -> Head | None:
    """The head of which line `place` is the fullest line; None when it is no head.

    `whole`: the cells (by their first words' indexes) that are one name, even if they look like several.
    """
    line = lines[place]
    run = _run(line)
    if run is None or _fuller_below(lines, place, run):
        return None
    columns = [[part] for cell in run for part in _names_in(cell, whole)]
    used = {line.index}
    columns += _beside(lines, place, run, used)
    for offset in (-1, 1, -2, 2):
        if not 0 <= place + offset < len(lines):
            continue
        near = lines[place + offset]
        if near.index not in used and _continues(near, line, run):
            used.add(near.index)
            for cell in near.cells:
                if cell.x1 >= run[0].x0 - cell.height and cell.x0 <= run[-1].x1 + 4 * cell.height:
                    _add(cell, columns)
    ordered = sorted((tuple(column) for column in columns), key=lambda column: min(cell.x0 for cell in column))
    return Head(tuple(ordered), frozenset(used), sum(_is_known(_text(column)) for column in ordered))


def _names_in(cell: Cell, whole: Container[int]) -> list[Cell]:
    return [cell] if cell.tokens[0].index in whole else parts_of(cell)


def _beside(lines: Sequence[Line], place: int, run: Sequence[Cell], used: set[int]) -> list[list[Cell]]:
    """A name on two lines, one over and one under the line of the others ("Amount" / "EUR")."""
    if not 0 < place < len(lines) - 1:
        return []
    over, under = lines[place - 1], lines[place + 1]
    close = under.middle - over.middle < 2.6 * run[0].height and over.page == under.page
    if not close or len(over.cells) != 1 or len(under.cells) != 1:
        return []
    one, other = over.cells[0], under.cells[0]
    alone = one.x0 > run[0].x0 and all(max(one.overlap(cell), other.overlap(cell)) <= 0 for cell in run)
    if not alone or one.overlap(other) <= 0 or _is_no_name(one) or _is_no_name(other):
        return []
    used |= {over.index, under.index}
    return [[one, other]]


def names_of(header: str) -> frozenset[str]:
    """The concepts that a column's name may mean."""
    return frozenset(name for hit in find_phrases(words_of(header), columns=True) for name in hit.concepts)


def parts_of(cell: Cell) -> list[Cell]:
    """A cell with the names of several columns, one directly behind the other, falls apart."""
    words: list[str] = []
    owners: list[int] = []
    for place, token in enumerate(cell.tokens):
        for word in words_of(token.text):
            words.append(word)
            owners.append(place)
    hits = [hit for hit in find_phrases(words, columns=True) if _whole(owners, hit.start, hit.end)]
    cuts = [
        owners[after.start]
        for before, after in pairwise(hits)
        if before.end == after.start and not set(before.concepts) & set(after.concepts)
        if words[after.start] not in _LINKING
    ]
    cuts = [cut for cut in cuts if _gap(cell.tokens, cut) > 0.22 * cell.height]
    edges = [0, *cuts, len(cell.tokens)]
    return [Cell.of(cell.tokens[a:b], cell.line) for a, b in pairwise(edges)]


def _whole(owners: Sequence[int], start: int, end: int) -> bool:
    return (start == 0 or owners[start - 1] != owners[start]) and (end == len(owners) or owners[end] != owners[end - 1])


def _gap(tokens: Sequence[Token], cut: int) -> float:
    return tokens[cut].x0 - tokens[cut - 1].x1


def _run(line: Line) -> list[Cell] | None:
    """The longest run of cells that may be names of columns: words without digits, two of them known."""
    runs: list[list[Cell]] = [[]]
    for cell in line.cells:
        if _is_no_name(cell):
            runs.append([])
        else:
            runs[-1].append(cell)
    place = max(range(len(runs)), key=lambda at: _known_in(runs[at]))
    best = runs[place]
    if place + 1 < len(runs):
        best = _without_label(best)
    parts = [part for cell in best for part in parts_of(cell)]
    named = [part for part in parts if any(map(str.isalpha, part.text))]
    known = sum(_is_known(part.text) for part in parts)
    if len(parts) < 2 or sum(part.text.rstrip().endswith(":") for part in parts) > 1:
        return None
    return best if known >= 2 or (len(named) >= 3 and len(best) >= len(line.cells) - 1) else None


def _is_no_name(cell: Cell) -> bool:
    """Figures, and long texts. "Price/100" is a name: its words are known."""
    if not _HAS_DIGIT.search(cell.text):
        return len(cell.text) > _LONGEST
    letters, digits = sum(map(str.isalpha, cell.text)), sum(map(str.isdigit, cell.text))
    return digits > 4 or letters < digits or not _is_known(cell.text) or ":" in cell.text


def _known_in(run: Sequence[Cell]) -> int:
    return sum(_is_known(part.text) for cell in run for part in parts_of(cell))


def _without_label(run: list[Cell]) -> list[Cell]:
    """Names up to the widest gap, where a label and its figure stand beside a head."""
    gaps = [right.x0 - left.x1 for left, right in pairwise(run)]
    if not gaps:
        return run
    names = run[: gaps.index(max(gaps)) + 1]
    return names if _known_in(names) >= 2 else run


def _is_known(text: str) -> bool:
    words = words_of(text)
    covered = sum(hit.end - hit.start for hit in find_phrases(words, columns=True))
    return bool(words) and covered >= 0.34 * len(words)


def _fuller_below(lines: Sequence[Line], place: int, run: Sequence[Cell]) -> bool:
    """Whether the next line belongs to the same head and says more of it."""
    line = lines[place]
    if place + 1 >= len(lines) or lines[place + 1].page != line.page:
        return False
    below = _run(lines[place + 1])
    near = lines[place + 1].middle - line.middle < 1.6 * max(cell.height for cell in run)
    return near and below is not None and len(below) > len(run)


def _continues(near: Line, line: Line, run: Sequence[Cell]) -> bool:
    """Whether a line is more of the head's names: close, no digits, and over or under them."""
    height = max(cell.height for cell in run)
    if near.page != line.page or abs(near.middle - line.middle) > 1.5 * height:
        return False
    inside = [cell for cell in near.cells if cell.x1 >= run[0].x0 - height and cell.x0 <= run[-1].x1 + height]
    if not inside or any(_HAS_DIGIT.search(cell.text) or len(cell.text) > _LONGEST for cell in inside):
        return False
    over = [any(cell.overlap(part) > 0 for part in run) for cell in inside]
    same_size = all(abs(cell.height - height) < 0.25 * height for cell in inside)
    return sum(over) >= 0.5 * len(inside) and same_size and len(inside) <= len(run) + 1


def _add(cell: Cell, columns: list[list[Cell]]) -> None:
    """A part of a head joins the column it stands over or under, or is a column of its own."""
    best = max(columns, key=lambda column: max(cell.overlap(part) for part in column))
    if max(cell.overlap(part) for part in best) > -0.5 * cell.height:
        best.append(cell)
    else:
        columns.append([cell])


def _text(column: Sequence[Cell]) -> str:
    text = " ".join(cell.text for cell in sorted(column, key=lambda cell: (round(cell.middle), cell.x0)))
    return text.replace("- ", "") if "- " in text and text[0].isupper() else text
