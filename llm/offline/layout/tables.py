"""Tables from lines: a header, the rows that align with it, wrapped cells, the end before the totals."""

import re
from collections.abc import Sequence
from itertools import pairwise

from llm.offline.layout.model import Cell, Line, Row, Table, Token

_NUMERIC = re.compile(
    r"^[(\[]?[-+−–]?\s*(?:[$€£¥]|[A-Z]{3})?\s*[-+−–]?\d[\d.,' ]*\s*(?:%|[$€£¥]|[A-Z]{3}|[-−])?\s*[)\]]?$"
)
_HAS_DIGIT = re.compile(r"\d")
_NUMBER_WITH_UNIT = re.compile(r"^[-+−]?\d[\d.,]*\s+\S{1,10}$")


def is_numeric(text: str) -> bool:
    """Whether a cell is a number, an amount or a percentage by its look."""
    return bool(_NUMERIC.match(text.strip()))


def _is_figure(text: str) -> bool:
    return is_numeric(text) or bool(_NUMBER_WITH_UNIT.match(text.strip()))


def find_tables(lines: Sequence[Line]) -> list[Table]:
    """All tables with a header, top to bottom; then lists of items without one."""
    tables: list[Table] = []
    taken: set[int] = set()
    for place, line in enumerate(lines):
        if line.index in taken or not _may_be_header(line) or _fuller_below(lines, place):
            continue
        table = _table_below(lines, place)
        if table is not None:
            tables.append(table)
            taken |= table.lines
    if not tables:
        tables = _lists(lines, taken)
    return tables


def _fuller_below(lines: Sequence[Line], place: int) -> bool:
    """Whether the next line belongs to the same header and says more of it."""
    line = lines[place]
    if place + 1 >= len(lines) or lines[place + 1].page != line.page:
        return False
    below = lines[place + 1]
    near = below.middle - line.middle < 1.6 * max(cell.height for cell in line.cells)
    return near and len(below.cells) > len(line.cells) and _may_be_header(below)


def _may_be_header(line: Line) -> bool:
    words = [cell for cell in line.cells if not _HAS_DIGIT.search(cell.text) and any(map(str.isalpha, cell.text))]
    short = all(len(cell.text) <= 42 for cell in line.cells)
    colons = sum(cell.text.rstrip().endswith(":") for cell in line.cells)
    return len(words) >= 3 and len(words) >= len(line.cells) - 1 and short and colons <= 1


def _table_below(lines: Sequence[Line], place: int) -> Table | None:
    columns, used = _columns(lines, place)
    body = _body(lines, place, used)
    anchors = _anchors(body, columns)
    if not anchors:
        return None
    last = max(anchors)
    body = body[: last + 1 + _trailing(body, last, columns)]
    rows = [_row(group, columns) for group in _group_rows(body, anchors)]
    covered = frozenset(line.index for line in body) | used
    return Table(tuple(_header_text(column) for column in columns), tuple(rows), covered, lines[place].page)


def _columns(lines: Sequence[Line], place: int) -> tuple[list[list[Cell]], frozenset[int]]:
    """The header's cells by column, with the parts of a header that stands on two or three lines."""
    base = lines[place]
    columns = [[cell] for cell in base.cells]
    used = {base.index}
    for offset in (-1, 1, -2, 2):
        if not 0 <= place + offset < len(lines):
            continue
        near = lines[place + offset]
        distance = abs(near.middle - base.middle)
        if near.page != base.page or distance > 1.5 * max(cell.height for cell in base.cells):
            continue
        if any(_HAS_DIGIT.search(cell.text) for cell in near.cells):
            continue
        if all(cell.x1 >= columns[0][0].x0 - 2 * cell.height for cell in near.cells):
            used.add(near.index)
            for cell in near.cells:
                _add_header(cell, columns)
    return sorted(columns, key=lambda column: min(cell.x0 for cell in column)), frozenset(used)


def _add_header(cell: Cell, columns: list[list[Cell]]) -> None:
    """A part of a header joins the column it stands over or under, or is a column of its own."""
    best = max(columns, key=lambda column: max(cell.overlap(part) for part in column))
    if max(cell.overlap(part) for part in best) > -0.5 * cell.height:
        best.append(cell)
    else:
        columns.append([cell])


def _header_text(column: Sequence[Cell]) -> str:
    text = " ".join(cell.text for cell in sorted(column, key=lambda cell: cell.middle))
    return text.replace("- ", "") if "- " in text and text[0].isupper() else text


def _body(lines: Sequence[Line], place: int, used: frozenset[int]) -> list[Line]:
    """The lines that may belong to the table: down to a wide gap, the page's end or another header."""
    body: list[Line] = []
    above = lines[place]
    for line in lines[place + 1 :]:
        if line.index in used:
            above = line
            continue
        height = max(cell.height for cell in line.cells)
        if line.page != lines[place].page or line.y0 - above.y1 > 6 * height:
            break
        if body and _may_be_header(line):
            break
        body.append(line)
        above = line
    return body


def column_of(cell: Cell, columns: Sequence[Sequence[Cell]]) -> int:
    """The column that a cell stands in: the header it overlaps most, else the nearest one."""

    def fit(number: int) -> tuple[float, float]:
        overlap = max(cell.overlap(part) for part in columns[number])
        nearest = min(abs(cell.center - part.center) for part in columns[number])
        return (max(overlap, 0.0), -min(nearest, *(abs(cell.x0 - part.x0) for part in columns[number])))

    return max(range(len(columns)), key=fit)


def _figures(line: Line, columns: Sequence[Sequence[Cell]]) -> set[int]:
    return {column_of(cell, columns) for cell in line.cells if _is_figure(cell.text)}


def _anchors(body: Sequence[Line], columns: Sequence[Sequence[Cell]]) -> list[int]:
    """The lines that begin a row: they have figures in the columns in which the first row has them."""
    pattern: set[int] = set()
    anchors: list[int] = []
    for place, line in enumerate(body):
        figures = _figures(line, columns)
        filled = {column_of(cell, columns) for cell in line.cells}
        if not pattern:
            if figures and len(filled) >= max(2, len(columns) // 2):
                pattern = figures
                anchors.append(place)
            elif place > 6:
                break
        elif len(figures & pattern) >= max(1, 0.6 * len(pattern)) and _is_row(line, columns, figures & pattern):
            anchors.append(place)
    return anchors


def _is_row(line: Line, columns: Sequence[Sequence[Cell]], figures: set[int]) -> bool:
    filled = {column_of(cell, columns) for cell in line.cells}
    return (len(filled) >= 3 or len(columns) <= 3) and (len(figures) >= 2 or _left_of(line, columns))


def _left_of(line: Line, columns: Sequence[Sequence[Cell]]) -> bool:
    """Whether something stands in the left half of the table (a total stands in the right half)."""
    return column_of(line.cells[0], columns) < max(1, len(columns) // 2)


def _trailing(body: Sequence[Line], last: int, columns: Sequence[Sequence[Cell]]) -> int:
    """How many lines below the last row still belong to it: close below, text only, inside the columns."""
    count = 0
    for above, line in pairwise(body[last:]):
        gap = line.y0 - above.y1
        text_only = not any(_is_figure(cell.text) or cell.text.rstrip().endswith(":") for cell in line.cells)
        if gap > 0.8 * line.cells[0].height or not text_only or len(line.cells) > 2 or count >= 3:
            break
        if column_of(line.cells[0], columns) == 0 and len(columns[0]) and ":" in line.text:
            break
        count += 1
    return count


def _group_rows(body: Sequence[Line], anchors: Sequence[int]) -> list[list[Line]]:
    """Give every line of the body to a row."""
    top_aligned = anchors[0] == 0
    groups: list[list[Line]] = [[] for _ in anchors]
    for place, line in enumerate(body):
        if top_aligned:
            owner = max((number for number, anchor in enumerate(anchors) if anchor <= place), default=0)
        else:
            owner = min(range(len(anchors)), key=lambda number: abs(body[anchors[number]].middle - line.middle))
        if line is body[anchors[owner]]:
            groups[owner].insert(0, line)
        else:
            groups[owner].append(line)
    return groups


def _row(group: Sequence[Line], columns: Sequence[Sequence[Cell]]) -> Row:
    """The first line of `group` is the row's anchor: its figures count, other lines add text only."""
    cells: list[list[Cell]] = [[] for _ in columns]
    numeric = set()
    for cell in (piece for whole in group[0].cells for piece in _pieces(whole, columns)):
        place = column_of(cell, columns)
        cells[place].append(cell)
        if _is_figure(cell.text):
            numeric.add(place)
    for line in group[1:]:
        for cell in line.cells:
            place = column_of(cell, columns)
            if place not in numeric and not is_numeric(cell.text):
                cells[place].append(cell)
    return Row(tuple(tuple(sorted(column, key=lambda cell: (cell.middle, cell.x0))) for column in cells))


def _pieces(cell: Cell, columns: Sequence[Sequence[Cell]]) -> list[Cell]:
    """A cell whose figures stand in several columns falls apart ("60,00 10,00%")."""
    under = sum(any(part.overlap(cell) > 0.3 * (part.x1 - part.x0) for part in column) for column in columns)
    if under < 2 or len(cell.tokens) < 2:
        return [cell]
    runs: list[tuple[int, list[Token]]] = []
    for token in cell.tokens:
        place = column_of(Cell.of([token], cell.line), columns)
        if runs and (runs[-1][0] == place or not is_numeric(token.text)):
            runs[-1][1].append(token)
        else:
            runs.append((place, [token]))
    pieces = [Cell.of(run, cell.line) for _, run in runs]
    return pieces if all(_is_figure(piece.text) for piece in pieces[1:]) else [cell]


def _lists(lines: Sequence[Line], taken: set[int]) -> list[Table]:
    """Items without a header: "2  Surface Pro 6  $1,998.00" on lines that follow each other."""
    run: list[Line] = []
    best: list[Line] = []
    for line in lines:
        if line.index not in taken and _is_item(line):
            run = [*run, line]
            best = max(best, run, key=len)
        else:
            run = []
    if not best or (len(best) < 2 and len(best[0].cells[0].tokens) < 2):
        return []
    rows = tuple(_item_row(line) for line in best)
    return [Table(("quantity", "description", "amount"), rows, frozenset(line.index for line in best), best[0].page)]


def _is_item(line: Line) -> bool:
    tokens = [token for cell in line.cells for token in cell.tokens]
    texts = [token.text for token in tokens]
    if len(texts) < 3 or not re.fullmatch(r"\d{1,4}", texts[0]) or not is_numeric(line.cells[-1].text):
        return False
    return bool(re.search(r"[.,]\d{2}", line.cells[-1].text)) and any(map(str.isalpha, texts[1]))


def _item_row(line: Line) -> Row:
    tokens = [token for cell in line.cells for token in cell.tokens]
    amount = line.cells[-1]
    middle = tuple(token for token in tokens[1:] if token not in amount.tokens)
    return Row(((Cell.of(tokens[:1], line.index),), (Cell.of(middle, line.index),), (amount,)))
