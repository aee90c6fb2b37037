"""All tables of a document."""

from collections.abc import Sequence
from dataclasses import replace

from llm.offline.layout.model import Line, Table
from llm.offline.matching.words import words_of
from llm.offline.tables.accounts import without_sums
from llm.offline.tables.bodies import body_lines, find_rows, is_carried, is_sum, until_sums
from llm.offline.tables.columns import Columns, is_of_pay
from llm.offline.tables.figures import is_figure, is_money, is_numeric
from llm.offline.tables.heads import Head, head_at, names_of
from llm.offline.tables.lists import better_list, find_lists, summed_list
from llm.offline.tables.sections import sectioned
from llm.offline.tables.sides import sides
from llm.offline.tables.torn import torn_apart

_COUNTED = frozenset({"quantity", "test_result"})
_ITEMS = frozenset({"description", "quantity", "item_number", "unit_price", "test_name", "line_balance"})


def find_tables(lines: Sequence[Line]) -> list[Table]:
    """The tables with a head, in reading order; where a page has none, its list of items."""
    tables: list[Table] = []
    last: tuple[Head, Table] | None = None
    inside: list[Line] = []
    for page in sorted({line.page for line in lines}):
        on_page, beside = sides([line for line in lines if line.page == page])
        inside += on_page
        found = _on_page(on_page)
        first = min((min(table.lines) for _, table in found), default=None)
        if last is not None and not any(same_head(table, last[1]) for _, table in found):
            going_on = _continued(on_page, *last, until=first)
            found = [(last[0], going_on), *found] if going_on is not None else found
        tables += [table for _, table in found]
        tables += [table for _, table in _on_page(beside)]
        last = found[-1] if found and not _is_summed_up(on_page, found[-1][1]) else None
    taken = {index for table in tables for index in table.lines}
    items = [table for table in tables if _has_items(table)]
    paid = [table for table in tables if is_of_pay(table.headers) and _has_amounts(table) and not _has_rates(table)]
    if paid:
        tables = [part for table in tables for part in (sectioned(table, lines) if table in paid else [table])]
    elif not items:
        summed = summed_list(inside) or summed_list(lines)
        if summed is not None:  # what was taken for a table among them is none
            tables = [table for table in tables if not table.lines & summed.lines]
        tables += [summed] if summed is not None else find_lists(inside, taken)
    elif len(items) == 1 and (better := better_list(inside, items[0], taken - items[0].lines)) is not None:
        tables = [better if table is items[0] else table for table in tables]
    return [without_sums(table) for table in tables]


def same_head(one: Table, other: Table) -> bool:
    """Whether two tables have the same names over them, however they fell into columns."""
    return words_of(" ".join(one.headers)) == words_of(" ".join(other.headers))


def _on_page(lines: Sequence[Line]) -> list[tuple[Head, Table]]:
    found: list[tuple[Head, Table]] = []
    taken: set[int] = set()
    for place, line in enumerate(lines):
        if line.index in taken or (head := head_at(lines, place)) is None:
            continue
        if pair := _side_by_side(lines, place, head):
            found += pair
            taken |= {index for _, table in pair for index in table.lines}
            continue
        table = _table(lines, place, head)
        if table is not None and (whole := _torn(lines, table, head)) and (again := head_at(lines, place, whole=whole)):
            head, table = again, _table(lines, place, again)
        if table is not None and len((parted := torn_apart(head, table)).columns) > len(head.columns):
            several = _table(lines, place, parted)
            if several is not None and not _torn(lines, several, parted):
                head, table = parted, several
        if table is not None and _is_one(table):
            found.append((head, table))
            taken |= table.lines
    return found


def _side_by_side(lines: Sequence[Line], place: int, head: Head) -> list[tuple[Head, Table]]:
    """Two tables beside each other, as pay and what is taken off it: a name of a column stands in both."""
    names = [words_of(text) for text in head.texts]
    for cut in range(2, len(names) - 1):
        if set(names[:cut]) & set(names[cut:]) - {()} and (pair := _parted(lines, place, head, cut)):
            return pair
    return []


def _parted(lines: Sequence[Line], place: int, head: Head, cut: int) -> list[tuple[Head, Table]]:
    """The two tables of a head that falls apart before a column; none unless words begin the rows of both."""
    x = min(cell.x0 for cell in head.columns[cut]) - 0.5 * head.height
    found = []
    for half, columns in ((cropped(lines, high=x), head.columns[:cut]), (cropped(lines, low=x), head.columns[cut:])):
        own = replace(head, columns=columns)
        at = next(at for at, line in enumerate(half) if line.index == lines[place].index)
        table = _table(half, at, own)
        if table is None or not _is_one(table) or not _is_worded(table):
            return []
        found.append((own, table))
    return found


def cropped(lines: Sequence[Line], *, low: float = float("-inf"), high: float = float("inf")) -> list[Line]:
    """What of the lines stands between two places of the page. Units: points."""
    return [
        replace(line, cells=cells)
        for line in lines
        if (cells := tuple(cell for cell in line.cells if low <= cell.center < high))
    ]


def _is_worded(table: Table) -> bool:
    """Whether the first column says in words what the figures of a row are."""
    texts = [row.text(0) for row in table.rows]
    return sum(sum(map(str.isalpha, text)) > len(text) / 2 for text in texts) >= 0.5 * len(texts)


def _torn(lines: Sequence[Line], table: Table, head: Head) -> frozenset[int]:
    """The cells of a head of which a part has nothing under it: words of one name that were taken for two."""
    empty = {
        cell.tokens[0].index
        for number, column in enumerate(head.columns)
        if not any(row.cells[number] for row in table.rows)
        for cell in column
    }
    cells = [cell for line in lines if line.index in head.lines for cell in line.cells]
    return frozenset(cell.tokens[0].index for cell in cells if any(token.index in empty for token in cell.tokens))


def _is_summed_up(lines: Sequence[Line], table: Table) -> bool:
    """Whether a total stands under a table: it does not go on on the next page."""
    below = [line for line in lines if line.index > max(table.lines)][:3]
    return any(is_sum(_words(line)) and not is_carried(_words(line)) for line in below)


def _words(line: Line) -> str:
    return " ".join(cell.text for cell in line.cells if not is_figure(cell.text))


def _table(lines: Sequence[Line], place: int, head: Head) -> Table | None:
    body = body_lines(lines, place, head)
    columns = Columns(head, until_sums(body) or body)
    rows, covered = find_rows(body, columns)
    if not rows:
        return None
    held = frozenset(line.index for line in covered) | head.lines
    return Table(head.texts, tuple(rows), held, lines[place].page, tuple(columns.limits))


def _is_one(table: Table) -> bool:
    """Boxes of labels with a value under each look like a table of one row: those have no amounts."""
    if _has_amounts(table):
        return True
    counted = [
        column
        for column in range(len(table.headers))
        if 2 * sum(is_numeric(row.text(column).split(" ")[0]) for row in table.rows) >= len(table.rows)
    ]
    if len(table.rows) > 1:
        return bool(counted)
    return any(
        _COUNTED & names_of(table.headers[column]) and is_figure(table.rows[0].text(column)) for column in counted
    )


def _has_items(table: Table) -> bool:
    """Whether a table lists things: its head names what they are, or how many."""
    told = {name for header in table.headers for name in names_of(header)}
    return _has_figures(table) and bool(told & _ITEMS)


def _has_amounts(table: Table) -> bool:
    return any(
        is_money(row.text(column)) for row in table.rows for column in range(len(row.cells)) if row.cells[column]
    )


def _has_rates(table: Table) -> bool:
    """Whether most rows say a rate: a summary of taxes."""
    rated = sum(any("%" in row.text(column) for column in range(len(row.cells))) for row in table.rows)
    return 2 * rated >= len(table.rows)


def _has_figures(table: Table) -> bool:
    return any(is_figure(row.text(column)) for row in table.rows for column in range(len(row.cells)))


def _continued(lines: Sequence[Line], head: Head, table: Table, *, until: int | None) -> Table | None:
    """The rows of a table that goes on at the top of the next page without its head."""
    body = [line for line in lines if until is None or line.index < until]
    filled = [number for number in range(len(table.headers)) if any(row.cells[number] for row in table.rows)]
    if not body or len(table.rows) < 2 or len(filled) < 3:
        return None
    columns = Columns(head, until_sums(body))
    for start in range(min(8, len(body))):
        if len({column for column, _ in columns.pieces(body[start])}) >= len(filled) - 1:
            rows, covered = find_rows(body[start:], columns)
            if rows:
                return replace(
                    table, rows=tuple(rows), lines=frozenset(line.index for line in covered), page=body[0].page
                )
            return None
    return None
