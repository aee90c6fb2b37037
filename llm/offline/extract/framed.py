"""Captions and answers by what is drawn: in one box, in boxes side by side, on lines to write on."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from llm.offline.extract.captions import LEADING_NUMBER
from llm.offline.layout.model import Cell, Frame, Layout
from llm.offline.layout.signs import CHECKED, UNCHECKED
from llm.offline.typing.amounts import currency_code

_SAME, _OTHER = 0.02, 1.07
"""How much larger one print is than another, at least."""
_MOST_CELLS, _MOST_LINES = 24, 9
_LONGEST = 16
"""Units: words of a caption."""
_NEAR = 14.0
"""Units: heights. How far before a line to write on its caption may end."""
_PARTED = 1.0
"""Units: heights. Lines so near to each other are for the parts of one answer: day, month, year."""
_PART_LENGTH = 4
_CLOSE = 1.3
"""Units: heights of a caption. How far under the line it may stand."""
_ENOUGH, _COLONS = 3, 2
_ROOM = 1.9
_CENTS, _COLUMNS, _MOST_ANSWERS = 2, 3, 3
_EDGE = 3.0
"""Units: points. How exactly two boxes touch."""

Answers = dict[int, tuple[Cell, ...]]


def framed_answers(layout: Layout, *, typed: bool) -> Answers:
    """First words of captions, with the cells of their answers; none for a box that was left empty.

    `typed`: answers are in form fields only.
    """
    found = _on_lines(layout) if not typed else {}
    taken = {cell.tokens[0].index for answer in found.values() for cell in answer} | set(found)
    boxes: dict[int, list[Cell]] = defaultdict(list)
    for cell in layout.cells:
        if cell.tokens[0].frame >= 0 and not _is_ticked(cell):
            boxes[cell.tokens[0].frame].append(cell)
    inside: list[tuple[Cell, tuple[Cell, ...]]] = []
    for cells in boxes.values():
        if len(cells) <= _MOST_CELLS:
            free = [cell for cell in cells if cell.tokens[0].index not in taken]
            inside.extend(_pairs(free, typed=typed))
    found.update(_over_boxes(layout, boxes, {*found, *taken}) if not typed else {})
    sizes = Counter(round(2 * caption.height) for caption, answer in inside if caption.y0 < answer[0].y0)
    usual = {size for size, count in sizes.items() if count >= _ENOUGH}
    if not usual:
        return {**found, **(_in_next_boxes(layout, boxes, {*found, *taken}) if not typed else {})}
    found.update(_in_next_boxes(layout, boxes, {*found, *taken}) if not typed else {})
    for caption, answer in inside:
        if any(abs(2 * caption.height - size) <= 1 for size in usual):
            found[caption.tokens[0].index] = answer
    return {**found, **_left_empty(layout, boxes, found)}


def _is_ticked(cell: Cell) -> bool:
    return any(token.text in CHECKED or token.text in UNCHECKED for token in cell.tokens)


def _pairs(cells: Sequence[Cell], *, typed: bool) -> Iterator[tuple[Cell, tuple[Cell, ...]]]:
    """The captions in one box with their answers."""
    rows = _rows(cells)
    if len(rows) < 2 or len(rows) > _MOST_LINES:
        return
    asked = [cell.height for cell in cells if cell.text.endswith(":")]
    least = max(asked) if len(asked) >= _COLONS else min(cell.height for cell in cells)
    mixed = typed or max(cell.height for cell in cells) >= _OTHER * least
    answers = {cell.tokens[0].index for cell in cells if _is_answer(cell, least, typed=typed)} if mixed else set()
    if not mixed:
        return
    captions = [cell for cell in cells if cell.tokens[0].index not in answers and _may_be_caption(cell)]
    if all(cell.tokens[0].index in answers for row in rows[:1] for cell in row):
        if len(captions) == 1 and len(rows[-1]) == 1 and captions[0] in rows[-1]:
            yield captions[0], tuple(cell for cell in cells if cell is not captions[0])
        return
    for caption in captions:
        answer = _answer_in(caption, rows, answers)
        if answer:
            yield caption, answer


def _is_answer(cell: Cell, least: float, *, typed: bool) -> bool:
    if typed:
        return cell.tokens[0].origin == "form"
    return cell.height >= _OTHER * least and not cell.text.endswith(":")


def _may_be_caption(cell: Cell) -> bool:
    worded = any(sum(map(str.isalpha, token.text)) > 1 for token in cell.tokens)
    pair = any(token.text.endswith(":") for token in cell.tokens[:-1])
    printed = cell.tokens[0].origin != "form" and cell.tokens[0].blank < 0
    return worded and printed and not pair and len(cell.tokens) <= _LONGEST


def _answer_in(caption: Cell, rows: Sequence[Sequence[Cell]], answers: set[int]) -> tuple[Cell, ...]:
    """What is written behind a caption in its box, else under it up to the next caption."""
    place = next(at for at, row in enumerate(rows) if caption in row)
    behind = [cell for cell in rows[place] if cell.x0 > caption.x0]
    beside = []
    for cell in behind:
        if cell.tokens[0].index not in answers:
            break
        beside.append(cell)
    if beside:
        return tuple(beside)
    end = min((cell.x0 for cell in behind), default=float("inf"))
    found: list[Cell] = []
    for row in rows[place + 1 :]:
        here = [cell for cell in row if caption.x0 - 2 * caption.height <= cell.x0 < end - caption.height]
        written = [cell for cell in here if cell.tokens[0].index in answers]
        if written and len(written) == len(here):
            found.extend(written)
        elif found or not _goes_on(here, caption):
            break
    return tuple(found)


def _goes_on(cells: Sequence[Cell], caption: Cell) -> bool:
    """Whether the caption runs on over these cells: "(if different from above)"."""
    return not cells or (len(cells) == 1 and abs(cells[0].x0 - caption.x0) < caption.height)


def _rows(cells: Sequence[Cell]) -> list[list[Cell]]:
    rows: list[list[Cell]] = []
    for cell in sorted(cells, key=lambda cell: cell.middle):
        if rows and abs(cell.middle - rows[-1][0].middle) < 0.5 * max(cell.height, rows[-1][0].height):
            rows[-1].append(cell)
        else:
            rows.append([cell])
    return [sorted(row, key=lambda cell: cell.x0) for row in rows]


def _over_boxes(layout: Layout, boxes: dict[int, list[Cell]], known: set[int]) -> Answers:
    """Captions that stand over a box of their own, which holds nothing but the answer."""
    found: Answers = {}
    for number, cells in boxes.items():
        if len(_rows(cells)) > _MOST_ANSWERS or any(cell.tokens[0].index in known for cell in cells):
            continue
        touching = (_next_box(layout, number, boxes, beside=True), _next_box(layout, number, boxes, beside=False))
        caption = _right_over(layout, number, cells[0]) if max(touching) < 0 else None
        other = caption is not None and abs(cells[0].height - caption.height) > _SAME * caption.height
        if caption is not None and other and caption.tokens[0].index not in known:
            found[caption.tokens[0].index] = tuple(cells)
    return found if len(found) >= _ENOUGH else {}


def _right_over(layout: Layout, number: int, first: Cell) -> Cell | None:
    frame = layout.frames[number]
    for line in reversed(layout.lines[max(0, first.line - 4) : first.line]):
        for cell in line.cells:
            near = cell.page == frame.page and -0.4 * cell.height < frame.y0 - cell.y1 < _CLOSE * cell.height
            aligned = abs(cell.x0 - frame.x0) < cell.height and _is_outside(layout, cell, frame)
            alone = not any(other is not cell and frame.x0 < other.x0 < frame.x1 for other in line.cells)
            if near and aligned and alone and _may_be_caption(cell) and not _is_ticked(cell):
                return cell
    return None


def _is_outside(layout: Layout, cell: Cell, frame: Frame) -> bool:
    """Whether a cell stands in no box, or in one that holds the other too."""
    if cell.tokens[0].frame < 0:
        return True
    own = layout.frames[cell.tokens[0].frame]
    return own is not frame and own.y0 <= frame.y0 and own.y1 >= frame.y1


def _in_next_boxes(layout: Layout, boxes: dict[int, list[Cell]], known: set[int]) -> Answers:
    """Captions alone in a box whose answer stands in another print in the box right of it, else in the one under it."""
    alone = {
        number: cells
        for number, cells in boxes.items()
        if len({round(cell.height) for cell in cells}) == 1 and not any(cell.tokens[0].index in known for cell in cells)
    }
    found: Answers = {}
    for number, cells in alone.items():
        worded = [cell for cell in cells if len(cell.tokens) > 1 or not LEADING_NUMBER.match(cell.text)]
        if not worded or not all(_may_be_caption(cell) and not currency_code(cell.text) for cell in worded):
            continue
        for beside in (True, False):
            other = _next_box(layout, number, alone, beside=beside)
            if not beside and _is_in_row(layout, number, alone):
                break
            if other >= 0 and alone[other][0].height >= _OTHER * cells[0].height:
                cents = _next_box(layout, other, alone, beside=True) if beside else -1
                more = alone[cents] if cents >= 0 and _is_cents(alone[other], alone[cents]) else []
                found.update((cell.tokens[0].index, (*alone[other], *more)) for cell in worded)
                break
    return found if len(found) >= _ENOUGH else {}


def _is_in_row(layout: Layout, number: int, boxes: dict[int, list[Cell]]) -> bool:
    """Whether it is one of several boxes beside each other, as the heads of a table are."""
    frame = layout.frames[number]
    level = (layout.frames[other] for other in boxes)
    return (
        sum(
            box.page == frame.page and abs(box.y0 - frame.y0) < _EDGE and abs(box.y1 - frame.y1) < _EDGE
            for box in level
        )
        >= _COLUMNS
    )


def _is_cents(units: Sequence[Cell], cents: Sequence[Cell]) -> bool:
    number = units[0].text.replace(".", "").replace(",", "").replace(" ", "").replace("'", "")
    return len(cents) == 1 and len(cents[0].text) == _CENTS and cents[0].text.isdigit() and number.isdigit()


def _next_box(layout: Layout, number: int, boxes: dict[int, list[Cell]], *, beside: bool) -> int:
    """The box that touches another one at its right side, or under it, and is as high or as wide; -1: none."""
    frame = layout.frames[number]
    for other in boxes:
        box = layout.frames[other]
        if beside:
            touch = abs(box.x0 - frame.x1) < _EDGE and abs(box.y0 - frame.y0) < _EDGE and abs(box.y1 - frame.y1) < _EDGE
        else:
            touch = abs(box.y0 - frame.y1) < _EDGE and abs(box.x0 - frame.x0) < _EDGE and abs(box.x1 - frame.x1) < _EDGE
        if touch and box.page == frame.page:
            return other
    return -1


def _left_empty(layout: Layout, boxes: dict[int, list[Cell]], answered: Answers) -> Answers:
    """Captions alone in a box with room for an answer, beside boxes like it that were filled in."""
    sizes = {round(cell.height, 1) for cell in layout.cells if cell.tokens[0].index in answered}
    found: Answers = {}
    for number, cells in boxes.items():
        frame, head = layout.frames[number], cells[0]
        rows = _rows(cells)
        if head.tokens[0].index in answered or max(cell.height for cell in cells) >= _OTHER * head.height:
            continue
        if len(rows) > 2 or any(len(row) > 1 for row in rows) or round(head.height, 1) not in sizes:
            continue
        room = frame.y1 - cells[-1].y1 >= 0.9 * head.height and frame.y1 - frame.y0 >= _ROOM * head.height
        if room and _may_be_caption(head) and not _has_neighbour(layout, frame, boxes, answered):
            found[head.tokens[0].index] = ()
    return found


def _has_neighbour(layout: Layout, frame: Frame, boxes: dict[int, list[Cell]], answered: Answers) -> bool:
    """Whether the box right of it or under it holds nothing but what may be its answer."""
    for number, cells in boxes.items():
        other = layout.frames[number]
        if other.page != frame.page or any(cell.tokens[0].index in answered for cell in cells):
            continue
        right = abs(other.x0 - frame.x1) < _EDGE and abs(other.y0 - frame.y0) < _EDGE
        under = abs(other.y0 - frame.y1) < _EDGE and abs(other.x0 - frame.x0) < _EDGE
        if (right or under) and len(_rows(cells)) == 1:
            return True
    return False


def _on_lines(layout: Layout) -> Answers:
    """Lines to write on: their captions stand before them, or right under them."""
    written: dict[int, list[Cell]] = defaultdict(list)
    for cell in layout.cells:
        if cell.tokens[0].blank >= 0:
            written[cell.tokens[0].blank].append(cell)
    before: Answers = {}
    under: Answers = {}
    for number, cells in _parts_joined(layout, written):
        line = layout.frames[number]
        if (caption := _before(layout, cells[0], line)) is not None:
            before[caption.tokens[0].index] = tuple(cells)
        elif (caption := _under(layout, cells[0], line)) is not None:
            under[caption.tokens[0].index] = tuple(cells)
    found = {**(under if len(under) > 1 else {}), **before}
    return found if len(found) >= _ENOUGH else {}


def _parts_joined(layout: Layout, written: dict[int, list[Cell]]) -> Iterator[tuple[int, list[Cell]]]:
    """The lines with what stands on them; those that hold only parts of one answer together."""
    joined: list[tuple[int, list[Cell]]] = []
    for number, cells in sorted(written.items(), key=lambda it: (it[1][0].line, it[1][0].x0)):
        if joined:
            first, others = joined[-1]
            gap = layout.frames[number].x0 - layout.frames[others[-1].tokens[0].blank].x1
            level = others[-1].line == cells[0].line and -1 < gap < _PARTED * cells[0].height
            if level and all(len(cell.text) <= _PART_LENGTH and cell.text.isdigit() for cell in (*others, *cells)):
                joined[-1] = first, [*others, *cells]
                continue
        joined.append((number, cells))
    yield from joined


def _before(layout: Layout, cell: Cell, line: Frame) -> Cell | None:
    left = [other for other in layout.lines[cell.line].cells if other.x1 <= cell.x0 + 1 and other is not cell]
    if not left or left[-1].tokens[0].blank >= 0 or not any(map(str.isalpha, left[-1].text)):
        return None
    return left[-1] if line.x0 - left[-1].x1 < _NEAR * cell.height and not _is_ticked(left[-1]) else None


def _has_own(layout: Layout, cell: Cell) -> bool:
    """Whether an answer in another print stands right under a caption: then it is not that of the line over it."""
    return any(
        abs(other.x0 - cell.x0) < cell.height
        and -0.5 * cell.height < other.y0 - cell.y1 < 0.6 * cell.height
        and other.height >= _OTHER * cell.height
        for line in layout.lines[cell.line + 1 : cell.line + 3]
        for other in line.cells
        if other.page == cell.page
    )


def _under(layout: Layout, cell: Cell, line: Frame) -> Cell | None:
    for below in layout.lines[cell.line + 1 : cell.line + 3]:
        for other in below.cells:
            inside = line.x0 - other.height < other.x0 < line.x1 and other.tokens[0].blank < 0
            inside = inside and other.tokens[0].frame == cell.tokens[0].frame
            near = other.page == cell.page and -0.5 * other.height < other.y0 - line.y0 < _CLOSE * other.height
            fits = inside and near and _may_be_caption(other) and other.height < _OTHER * cell.height
            if fits and not _has_own(layout, other):
                return other
    return None
