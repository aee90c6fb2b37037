"""Where the captions of a form stand: in a column of their own, over what people wrote, or under it."""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import groupby, pairwise

from llm.offline.layout.analysis import cells_below
from llm.offline.layout.model import Cell, Layout
from llm.offline.typing.amounts import currency_code

LARGER = 1.12
"""How much larger than its caption an answer in a box is set, at least."""
LETTERED = re.compile(r"^[a-z][.)]?$")
"""The letter of a box: "a Employee's number"."""
_ENOUGH = 3
"""So many captions say how the form is made."""
_FEW_PAIRS = 12
_LEVEL = 3.0
"""Units: points. How exactly what stands in a column begins at one place."""
_LONGEST_UNDER = 12
"""Units: words of a caption."""
_DIGITS = 4
"""So many digits in one word are no part of a caption."""
_SAME = 0.06
_LARGEST = 2.2
"""How much larger than its caption an answer may be."""
_MOST_LINES = 7
_FLUSHED = 9
"""Units: heights of the caption. How far behind it figures may stand that are set to the right of a box."""
_LONG = 20
"""Units: words. What a caption over a box may say."""


def in_columns(cells: Sequence[Cell], labels: Iterable[Cell]) -> frozenset[int]:
    """First words of cells that stand in a column of known captions, set like them: they are captions too."""
    known = {cell.tokens[0].index for cell in labels}
    found: set[int] = set()
    ordered = sorted(cells, key=lambda cell: (cell.page, round(cell.height, 0), round(cell.x0 / 2)))
    for _, group in groupby(ordered, key=lambda cell: (cell.page, round(cell.height, 0), round(cell.x0 / 2))):
        firsts = {cell.tokens[0].index for cell in group}
        if len(firsts & known) >= _ENOUGH and 2 * len(firsts & known) >= len(firsts):
            found |= firsts
    return frozenset(found)


def in_lists(layout: Layout, labels: Iterable[Cell]) -> frozenset[int]:
    """First words of captions whose answers stand beside them: two columns, labels in the left one and none right."""
    known = {cell.tokens[0].index for cell in labels}
    columns: dict[tuple[int, int, int], list[tuple[int, int]]] = defaultdict(list)
    texts = {cell.tokens[0].index: cell.text for cell in layout.cells}
    for line in layout.lines:
        for cell, right in pairwise(line.cells):
            place = line.page, round(cell.x0 / _LEVEL), round(right.x0 / _LEVEL)
            columns[place].append((cell.tokens[0].index, right.tokens[0].index))
    found: set[int] = set()
    for pairs in columns.values():
        named = sum(left in known for left, _ in pairs)
        if any(right in known for _, right in pairs):
            continue
        if (named >= _ENOUGH and 2 * named >= len(pairs)) or (named and _answer_with_figures(pairs, texts)):
            found.update(left for left, _ in pairs)
    return frozenset(found)


def _answer_with_figures(pairs: Sequence[tuple[int, int]], texts: dict[int, str]) -> bool:
    """Whether words stand left, and right of most of them figures: two columns of captions and answers."""
    worded = not any(any(map(str.isdigit, texts[left])) for left, _ in pairs)
    figures = sum(any(map(str.isdigit, texts[right])) for _, right in pairs)
    return worded and 2 <= len(pairs) <= _FEW_PAIRS and 2 * figures >= len(pairs)


def cell_over(layout: Layout, cell: Cell) -> Cell | None:
    """The larger print right over a small caption, beginning where it does."""
    for line in reversed(layout.lines[max(0, cell.line - 2) : cell.line]):
        for other in line.cells:
            near = other.page == cell.page and 0 <= cell.y0 - other.y1 + 0.3 * cell.height < 1.3 * cell.height
            if near and abs(other.x0 - cell.x0) < 2 * cell.height and other.height >= LARGER * cell.height:
                return other
    return None


def answers_over(layout: Layout) -> dict[int, Cell | None]:
    """First words of the captions that stand under what people wrote, with what stands over each (None: empty).

    Captions of one print are all set the same way: several must be nearer to what is over them than to what is under.
    """
    prints: dict[tuple[int, int], list[Cell]] = defaultdict(list)
    for cell in layout.cells:
        if _may_be_caption(cell):
            prints[cell.page, round(2 * cell.height)].append(cell)
    found: dict[int, Cell | None] = {}
    for cells in prints.values():
        over = {cell.tokens[0].index: _answer_over(layout, cell) for cell in cells}
        above = sum(_has_larger_below(layout, cell) for cell in cells)
        if sum(answer is not None for answer in over.values()) >= max(_ENOUGH, 2 * above):
            told = {cell.tokens[0].index: cell for cell in cells}
            found.update({first: answer or cell_over(layout, told[first]) for first, answer in over.items()})
    return found


def answers_under(layout: Layout, *, typed: bool) -> dict[int, tuple[Cell, ...]]:
    """First words of the captions that stand in boxes over larger print, with the lines of it in their box.

    A box ends where the next caption begins, right of it or under it. Captions of boxes without larger print are left
    out: their answers may stand anywhere. `typed`: answers are in form fields only.
    """
    pages: dict[int, list[Cell]] = defaultdict(list)
    for cell in layout.cells:
        if cell.tokens[0].origin == "text":
            pages[cell.page].append(cell)
    found: dict[int, tuple[Cell, ...]] = {}
    for cells in pages.values():
        inside: dict[int, list[tuple[Cell, ...]]] = defaultdict(list)
        filled: dict[int, tuple[Cell, ...]] = {}
        for head in cells:
            same = [cell for cell in cells if abs(cell.height - head.height) < _SAME * head.height]
            if _begins_box(head, same):
                lines = _in_box(layout, head, same, typed=typed)
                inside[round(head.height)].append(lines)
                filled.update({head.tokens[0].index: lines} if lines else {})
        many = {size for size, boxes in inside.items() if sum(map(bool, boxes)) >= max(_ENOUGH, len(boxes) / 3)}
        heads = {cell.tokens[0].index: round(cell.height) for cell in cells}
        found.update({first: lines for first, lines in filled.items() if heads[first] in many})
    return found


def _begins_box(cell: Cell, cells: Sequence[Cell]) -> bool:
    """Whether it may be a caption, and is no further line of the one over it."""
    words = [token.text for token in cell.tokens]
    numbers = any(sum(map(str.isdigit, word)) >= _DIGITS for word in " ".join(words).split("(")[0].split())
    lettered = len(words) > 1 and bool(LETTERED.match(words[0])) and words[1][0].isupper()
    worded = any(map(str.isalpha, cell.text)) and (lettered or not cell.text[0].islower())
    return len(words) <= _LONG and worded and not numbers and not any(_follows(cell, other) for other in cells)


def _follows(cell: Cell, other: Cell) -> bool:
    near = -0.5 * cell.height < cell.y0 - other.y1 < 0.45 * cell.height
    return near and abs(cell.x0 - other.x0) < cell.height and other.line < cell.line


def _in_box(layout: Layout, head: Cell, cells: Sequence[Cell], *, typed: bool) -> tuple[Cell, ...]:
    """The lines of larger print in the box that begins at `head`; `cells` are those set like it."""
    last = head
    for cell in cells:
        if _follows(cell, last) and not cell.text[:1].isdigit():
            last = cell
    near = [c for c in cells if head.y0 - 2 * head.height < c.y0 < head.y0 + 6 * head.height]
    right = min((cell.x0 for cell in near if cell.x0 >= head.x1 - 1), default=float("inf"))
    left, right = head.x0 - 1.5 * head.height, right - 1.5 * head.height
    under = [cell.y0 for cell in cells if cell.y0 >= last.y1 - 1 and cell.x0 < right and cell.x1 > left]
    end = min(under, default=float("inf"))
    found: list[Cell] = []
    for cell in cells_in(layout, head.page, left, right, last.y1 - 0.4 * head.height, end):
        if currency_code(cell.text) or (typed and cell.tokens[0].origin != "form"):
            continue
        is_larger = LARGER * head.height <= cell.height <= _LARGEST * head.height
        if not (typed or is_larger) or cell.y0 - (found[-1] if found else last).y1 > 1.6 * cell.height:
            break
        if _goes_on(cell, found) if found else typed or _is_inside(cell, head, right):
            found.append(cell)
        if len(found) == _MOST_LINES:
            break
    return tuple(found)


def _is_inside(cell: Cell, head: Cell, right: float) -> bool:
    """Whether an answer stands under its caption, or figures at the right edge of the box that begins there."""
    flushed = cell.x0 - head.x1 < _FLUSHED * head.height and cell.x1 <= right + 1.5 * head.height
    return cell.overlap(head) > 0 or (flushed and any(map(str.isdigit, cell.text)))


def _goes_on(cell: Cell, found: Sequence[Cell]) -> bool:
    """Whether a cell is a further line of an answer, or goes on with its line."""
    beside = abs(cell.middle - found[-1].middle) < 0.5 * cell.height and cell.x0 - found[-1].x1 < 9 * cell.height
    return beside or abs(cell.x0 - found[0].x0) < 2.5 * cell.height


def cells_in(layout: Layout, page: int, left: float, right: float, top: float, end: float) -> list[Cell]:
    """The cells that begin between `left` and `right` and stand between `top` and `end`, in reading order."""
    return [
        cell
        for cell in layout.cells
        if cell.page == page and left <= cell.x0 <= right and top <= cell.y0 and cell.middle < end
    ]


def _may_be_caption(cell: Cell) -> bool:
    words = cell.text.split("(")[0]
    return cell.tokens[0].origin != "form" and len(cell.tokens) <= _LONGEST_UNDER and not any(map(str.isdigit, words))


def _answer_over(layout: Layout, cell: Cell) -> Cell | None:
    answer = cell_over(layout, cell)
    if answer is None:
        return None
    below = next((c for c in cells_below(layout, cell) if c.height >= LARGER * cell.height), None)
    return answer if below is None or below.y0 - cell.y1 > 1.6 * max(1.0, cell.y0 - answer.y1) else None


def _has_larger_below(layout: Layout, cell: Cell) -> bool:
    below = next(iter(cells_below(layout, cell, reach=1.6)), None)
    close = below is not None and below.height >= LARGER * cell.height and abs(below.x0 - cell.x0) < 2 * cell.height
    return close and _answer_over(layout, cell) is None
