"""The rows under a head: which lines begin one, which lines go on with it, where the totals begin."""

from collections.abc import Sequence
from itertools import pairwise
from statistics import median

from llm.offline.layout.model import Cell, Line, Row
from llm.offline.matching.lexicon import find_phrases
from llm.offline.matching.totals import amount_meant, is_tax
from llm.offline.matching.words import words_of
from llm.offline.tables.columns import Columns
from llm.offline.tables.figures import has_cents, is_figure, is_money, is_numeric, is_range, is_tax_mark
from llm.offline.tables.heads import Head, head_at

_GAP = 6.0
"""Units: line heights. A wider gap ends a table."""
_NEAR = 8
"""Units: lines. A row begins no further from the head, and rows no further from each other."""
_SUMS = frozenset({"line_total", "net_total", "tax_total", "gross_total", "due_payable", "prepaid"})
_PAY_SUMS = frozenset({"gross_pay", "net_pay", "payout", "taxable_pay"})
_MOST = 0.7
_TOTAL = frozenset(
    "total totals totaal totale summe somme subtotal subtotaal zwischensumme gesamtsumme gesamt".split()  # noqa: SIM905
)
"""What begins with these is no row, whatever follows."""
_KNOWN = 2
"""A line that names so many columns is a head."""
_BOXES, _LETTERS = 4, 2
"""So many names with a figure under each are boxes."""
_MONTH = 3
"""Units: letters of a month's name between the figures of a date."""
_CARRIED = frozenset(
    ["ubertrag", "carried", "brought", "report", "reporter", "transport", "overdracht", "transporteren", "forward"]
)
Pieces = list[tuple[int, Cell]]


def body_lines(lines: Sequence[Line], place: int, head: Head) -> list[Line]:
    """The lines that may belong to the table: down to a wide gap, the page's end or another head."""
    body: list[Line] = []
    floor = lines[place].y1
    margin = 2.5 * head.height
    for at in range(place + 1, len(lines)):
        line = lines[at]
        inside = [cell for cell in line.cells if cell.x1 > head.x0 - margin and cell.x0 < head.x1 + margin]
        if line.page != lines[place].page:
            break
        if line.index in head.lines or not inside:
            floor = max(floor, line.y1) if line.index in head.lines else floor
            continue
        if min(cell.y0 for cell in inside) - floor > _GAP * max(head.height, max(cell.height for cell in inside)):
            break
        if (body or head.known < _KNOWN) and (other := head_at(lines, at)) is not None and other.known >= _KNOWN:
            break
        if body and _captions_figures(lines, at):
            break
        body.append(line)
        floor = max(cell.y1 for cell in inside)
    return body


def _captions_figures(lines: Sequence[Line], at: int) -> bool:
    """Whether a line names figures that stand under it, one under each name: boxes of sums and no row."""
    names = lines[at].cells
    under = lines[at + 1].cells if at + 1 < len(lines) and lines[at + 1].page == lines[at].page else ()
    if len(names) < _BOXES or len(under) < _BOXES or any(sum(map(str.isalpha, c.text)) < _LETTERS for c in names):
        return False
    named = sum(any(is_figure(cell.text) and cell.overlap(name) > 0 for name in names) for cell in under)
    return named >= max(_BOXES, len(under) - 1)


def is_sum(text: str) -> bool:
    """Whether a line's words name a total, a tax or what is left to pay."""
    label = words_of(text)
    if not label:
        return False
    if is_tax(label[0]) or label[0] in _TOTAL:
        return True
    meant = amount_meant(label)
    if meant is not None and meant[0] in _SUMS and meant[1] >= 0.8:
        return True
    hits = find_phrases(label)
    return any(hit.end - hit.start >= _MOST * len(label) and _SUMS & set(hit.concepts) for hit in hits)


def _is_total(pieces: Pieces, columns: Columns) -> bool:
    """Whether a line under a head is a sum: among taxes and contributions what is called a total, or a pay."""
    words = words_in(pieces)
    if not columns.of_pay:
        return is_sum(words)
    label = words_of(words)
    return bool(_TOTAL & set(label[:1])) or any(
        hit.end - hit.start >= _MOST * len(label) and _PAY_SUMS & set(hit.concepts) for hit in find_phrases(label)
    )


def is_carried(text: str) -> bool:
    """Whether a line carries a sum over to the next page."""
    words = words_of(text)
    dated = next((at for at, word in enumerate(words) if word.isalpha() and len(word) > _MONTH), 0)
    return bool(_CARRIED & set(words[dated : dated + 4]))


def words_in(pieces: Pieces) -> str:
    """The words of a line that stand before its first figure; all of them where a figure stands first."""
    cells = sorted((cell for _, cell in pieces), key=lambda cell: cell.x0)
    first = next((at for at, cell in enumerate(cells) if is_figure(cell.text)), len(cells))
    return " ".join(cell.text for cell in (cells[:first] or cells) if not is_figure(cell.text))


def until_sums(body: Sequence[Line]) -> list[Line]:
    """The lines of several cells over the first total: what shows where columns are."""
    kept: list[Line] = []
    for line in body:
        words = words_in([(0, cell) for cell in line.cells])
        if is_sum(words) and not is_carried(words):
            break
        if len(line.cells) > 1:
            kept.append(line)
    return kept


def find_rows(body: Sequence[Line], columns: Columns) -> tuple[list[Row], list[Line]]:
    """The rows, and the lines that they cover. No rows when nothing in the body repeats."""
    pieces = [columns.pieces(line) for line in body]
    anchors = _anchors(pieces, columns)
    if not anchors:
        return [], []
    skipped = {
        place
        for place, found in enumerate(pieces)
        if place not in anchors and (_is_total(found, columns) or is_carried(words_in(found)))
    }
    end = anchors[-1] + 1 + _trailing(body, pieces, anchors[-1], columns, skipped)
    places = [place for place in range(end) if place not in skipped]
    if sums := [place for place in skipped if place > anchors[0] and _is_total(pieces[place], columns)]:
        # Between a sum and the next row stand other sums, not words of rows.
        places = [place for place in places if place in anchors or not _after_sum(place, sums, anchors)]
    groups = _grouped(pieces, anchors, places)
    rows = [_row([pieces[place] for place in group], columns) for group in groups]
    return rows, [body[place] for place in places]


def _figures(pieces: Pieces) -> set[int]:
    return {column for column, cell in pieces if is_figure(cell.text) and not is_tax_mark(cell.text)} | {
        column for column, cell in pieces if is_numeric(cell.text) or is_range(cell.text)
    }


def _anchors(pieces: Sequence[Pieces], columns: Columns) -> list[int]:
    """The lines that begin a row: they have figures in the columns in which the fullest row has them."""
    first = _fullest(pieces, columns)
    if first is None:
        return []
    pattern, money = _figures(pieces[first]), _money(pieces[first])
    anchors: list[int] = []
    summed: set[int] = set()
    for place, found in enumerate(pieces):
        shared = _figures(found) & pattern
        filled = {column for column, _ in found}
        full = len(shared) >= max(1, 0.6 * len(pattern)) and _is_row(filled, shared, columns)
        full = full and not (money and not money & _money(found))
        booked = columns.of_account or columns.of_pay
        booked = booked and bool(_money(found)) and len(filled) > 1 and min(filled) < len(columns) / 2
        if _is_total(found, columns) and columns.of_pay:
            summed |= _money(found)
        outside = bool(summed) and not summed & _money(found)  # boxes beside or under the sums
        if not (full or booked) or outside or is_carried(words_in(found)):
            continue
        if _is_total(found, columns) and (len(pattern) <= 2 or len(shared) < len(pattern)):
            if len(pattern) < 2:
                break
            continue
        anchors.append(place)
    return anchors


def _fullest(pieces: Sequence[Pieces], columns: Columns) -> int | None:
    """The first of the lines with most figures under a head, before the sums; None when no row begins near it."""
    best: int | None = None
    for place, found in enumerate(pieces):
        words = words_in(found)
        if is_carried(words):
            continue
        figures = _figures(found)
        if _is_total(found, columns) and (len(figures) <= 2 or best is not None):
            break
        if (best is None and place > _NEAR) or (best is not None and place > best + _NEAR):
            break
        enough = figures and len({column for column, _ in found}) >= max(2, len(columns) // 2)
        if enough and (best is None or len(figures) > len(_figures(pieces[best]))):
            best = place
    return best


def _after_sum(place: int, sums: Sequence[int], anchors: Sequence[int]) -> bool:
    before = max((one for one in sums if one < place), default=-1)
    return before > max((one for one in anchors if one < place), default=-1)


def _money(pieces: Pieces) -> set[int]:
    return {column for column, cell in pieces if has_cents(cell.text)}


def _is_row(filled: set[int], figures: set[int], columns: Columns) -> bool:
    if len(columns) > 3 and len(filled) < 3:
        return False
    return len(figures) >= 2 or min(filled) < max(1, len(columns) // 2)


def _trailing(body: Sequence[Line], pieces: Sequence[Pieces], last: int, columns: Columns, skipped: set[int]) -> int:
    """How many lines below the last row still belong to it: close below, text only, inside the columns."""
    count = 0
    for above in range(last, len(body) - 1):
        found = pieces[above + 1]
        if not found or above + 1 in skipped:
            break
        gap = min(c.y0 for _, c in found) - max(c.y1 for _, c in pieces[above])
        text_only = not any(is_numeric(cell.text) or cell.text.rstrip().endswith(":") for _, cell in found)
        if gap > 0.8 * found[0][1].height or not text_only or len(found) > 2 or count >= 4:
            break
        if found[0][0] == 0 and len(columns) > 1 and found[0][1].x1 > columns.limits[0] and ":" in found[0][1].text:
            break
        count += 1
    return count


def _grouped(pieces: Sequence[Pieces], anchors: Sequence[int], places: Sequence[int]) -> list[list[int]]:
    """Give every line to a row: those between two rows are parted where the widest gap is."""
    groups = [[anchor] for anchor in anchors]
    before = [place for place in places if place < anchors[0]]
    if before and _gap(pieces, before[-1], anchors[0]) < 1.0 * _height(pieces[anchors[0]]) and len(before) <= 3:
        tail: list[int] = []
        for place in reversed(before):
            if _gap(pieces, place, tail[-1] if tail else anchors[0]) > 0.9 * _height(pieces[place]):
                break
            tail.append(place)
        groups[0] += tail[::-1]
    starts_above = len(groups[0]) > 1
    for number, anchor in enumerate(anchors):
        after = anchors[number + 1] if number + 1 < len(anchors) else None
        between = [place for place in places if place > anchor and (after is None or place < after)]
        cut = len(between) if after is None else _cut(pieces, anchor, between, after, starts_above=starts_above)
        groups[number] += between[:cut]
        if after is not None:
            groups[number + 1] += between[cut:]
    return groups


def _cut(pieces: Sequence[Pieces], anchor: int, between: Sequence[int], after: int, *, starts_above: bool) -> int:
    """After how many of the lines between two rows the next row begins."""
    chain = [anchor, *between, after]
    gaps = [_gap(pieces, one, other) for one, other in pairwise(chain)]
    if len(gaps) < 2:
        return len(between)
    widest = max(range(len(gaps)), key=lambda at: (gaps[at], at))
    others = [gap for at, gap in enumerate(gaps) if at != widest]
    if gaps[widest] > median(others) + 0.22 * _height(pieces[anchor]):
        return widest
    return 0 if starts_above else len(between)


def _gap(pieces: Sequence[Pieces], above: int, below: int) -> float:
    if not pieces[above] or not pieces[below]:
        return 0.0
    return min(cell.y0 for _, cell in pieces[below]) - max(cell.y1 for _, cell in pieces[above])


def _height(pieces: Pieces) -> float:
    return max(cell.height for _, cell in pieces)


def _row(group: Sequence[Pieces], columns: Columns) -> Row:
    """The first line of `group` is the row's anchor: its figures count, other lines add text only.

    Lines above the anchor are a heading, unless the row's own words are missing or stand around the anchor.
    """
    anchor = group[0]
    cells: list[list[Cell]] = [[] for _ in range(len(columns))]
    numeric = set()
    for column, cell in anchor:
        cells[column].append(cell)
        if is_figure(cell.text):
            numeric.add(column)
    headed = _headed(group) if any(sum(map(str.isalpha, cell.text)) > 2 for _, cell in anchor) else []
    for found in group[1:]:
        for column, cell in found:
            if column not in numeric and not is_money(cell.text) and found not in headed:
                cells[column].append(cell)
    return Row(tuple(tuple(sorted(column, key=lambda cell: (cell.line, cell.x0))) for column in cells))


def _headed(group: Sequence[Pieces]) -> list[Pieces]:
    """The lines over a row's anchor that are a heading: set further from it than the lines under it, if there are any.

    Lines that stand as close on both sides are one text with its figures at half its height.
    """
    anchor = group[0]
    top, bottom = min(cell.y0 for _, cell in anchor), max(cell.y1 for _, cell in anchor)
    above = [found for found in group[1:] if max(c.y1 for _, c in found) <= top + 0.5 * _height(found)]
    below = [found for found in group[1:] if min(c.y0 for _, c in found) >= bottom - 0.5 * _height(found)]
    if not above or not below:
        return above
    over = top - max(c.y1 for found in above for _, c in found)
    under = min(c.y0 for found in below for _, c in found) - bottom
    return above if over > under + 0.15 * _height(anchor) or len(below) > len(above) + 1 else []
