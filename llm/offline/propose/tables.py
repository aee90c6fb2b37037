"""Tables as arrays of objects: a name for the table, names and types for its columns."""

import re
from collections.abc import Container
from dataclasses import dataclass

from llm.offline.extract.reading import Reading
from llm.offline.extract.values import values_in
from llm.offline.layout.model import Table
from llm.offline.matching.lexicon import concepts, find_phrases
from llm.offline.matching.totals import is_tax
from llm.offline.matching.words import words_of
from llm.offline.propose.english import in_english_words, spoken
from llm.offline.propose.naming import free_name, name_from_words
from llm.offline.propose.nodes import Schema, concept_node, field_node, rows_node
from llm.offline.tables.details import edge_of, parted
from llm.offline.tables.figures import is_money, is_numeric
from llm.offline.tables.meaning import meanings
from llm.offline.tables.sections import DEDUCTIONS, EARNINGS
from llm.offline.typing.dates import find_dates

MAX_COLUMNS, MAX_TABLES = 10, 4
_PREFERRED = (
    "description", "quantity", "unit_price", "line_amount", "unit", "line_tax_rate", "line_discount", "item_number",
    "item_position", "line_date", "tax_base", "tax_amount", "debit", "credit", "line_balance", "test_name",
    "test_result", "reference_range", "value_date", "line_document_number", "line_due_date", "open_amount",
)  # fmt: skip
_TAX = frozenset({"tax_base", "tax_amount"})
_SHORT = {"line_amount": "amount", "line_tax_rate": "tax_rate", "line_discount": "discount", "line_date": "date",
          "item_position": "position", "line_balance": "balance", "line_document_number": "invoice_number",
          "line_due_date": "due_date", "line_value_date": "value_date"}  # fmt: skip
_ITEMS = frozenset(
    {"description", "quantity", "unit_price", "line_amount", "item_number", "tax_base", "tax_amount", "test_name",
     "test_result", "open_amount", "debit", "credit", "line_balance"}
)  # fmt: skip
_LISTED = frozenset({"quantity", "unit", "description", "unit price", "amount"})
"""What the columns of lists without a head are called."""
_PARTS = {EARNINGS: (EARNINGS, "What is paid"), DEDUCTIONS: (DEDUCTIONS, "What is taken off")}
_FEW, _MOST = 2, 0.7
_DAY = re.compile(r"^(?:\d{1,2}\.\d{1,2}\.|\d{1,2}[/-]\d{1,2})$")
"""A day without its year."""
_SHARE = 0.3
_WORDY = 0.05
_UNIT = 8
"""Units: letters. What stands beside a number in a cell, at most: a currency, a unit."""
_NUMBERS = frozenset({"amount", "percent"})
_SIGNS = frozenset("€$£%#")


@dataclass(frozen=True, slots=True)
class Proposed:
    """The arrays of a document, and the lines of the tables that they are made of."""

    fields: dict[str, Schema]
    lines: frozenset[int]


def table_fields(
    reading: Reading, kind: str = "", spent: frozenset[int] = frozenset(), *, form: bool = False
) -> Proposed:
    """The document's tables by name; a table that continues on the next page counts once.

    What has words of `spent` is no table, nor what has labels for values: rows of boxes look like one.
    """
    found: dict[str, Schema] = {}
    lines: set[int] = set()
    seen: set[tuple[str, ...]] = set()
    for table in sorted(reading.tables, key=lambda table: -len(table.rows) * len(table.headers)):
        if _has(table, spent, reading) or _is_boxes(table, reading, form=form):
            continue
        columns = _columns(table, reading)
        named = (*table.headers, table.part)
        if named in seen:
            lines |= table.lines
        elif len(columns) >= 2 and len(found) < MAX_TABLES and _lists_something(table, columns, form=form):
            name, about = _PARTS.get(table.part) or _title(columns, kind)
            seen.add(named)
            if name != "rows" or not found:
                lines |= table.lines
                found[free_name(name, found)] = rows_node(
                    {_SHORT.get(key, key): node for key, node in columns.items()}, about
                )
    if "taxes" not in found and (taxes := _tax_lines(reading)) is not None:
        found["taxes"] = taxes
    return Proposed(found, frozenset(lines))


def _tax_lines(reading: Reading) -> Schema | None:
    """Taxes that are told in lines of their own."""
    rows = [row for table in reading.tax_lines for row in table.rows]
    names = ("line_tax_rate", "tax_base", "tax_amount")
    held = [name for column, name in enumerate(names) if any(row.cells[column] for row in rows)]
    if len(held) < 2:
        return None
    return rows_node({_SHORT.get(name, name): concept_node(concepts()[name]) for name in held}, _TAXES)


def _has(table: Table, words: Container[int], reading: Reading) -> bool:
    lines = [reading.layout.lines[index] for index in table.lines]
    return any(token.index in words for line in lines for cell in line.cells for token in cell.tokens)


def _is_boxes(table: Table, reading: Reading, *, form: bool) -> bool:
    """Whether what stands under the names are labels themselves, or what a table's names are belongs to parties."""
    if set(table.headers) <= _LISTED and (_are_labels(table, reading) or form):
        return True
    if meanings(table, reading.point):
        return False
    cells = [cell for row in table.rows[:3] for column in row.cells for cell in column]
    labels = [cell for cell in cells if reading.is_label(cell) and any(map(str.isalpha, cell.text))]
    return len(table.rows) <= 3 and len(labels) > len(table.rows)


def _are_labels(table: Table, reading: Reading) -> bool:
    """Whether the lines of a list are labels with their values."""
    firsts = [reading.layout.lines[index].cells[0] for index in table.lines]
    labels = [
        cell for cell in firsts if any(token.text.endswith(":") for token in cell.tokens) or reading.is_label(cell)
    ]
    return 2 * len(labels) >= len(firsts)


def _lists_something(table: Table, columns: dict[str, Schema], *, form: bool) -> bool:
    return len(table.rows) > 1 or (not form and len(_ITEMS & set(columns)) >= 2)


def _columns(table: Table, reading: Reading) -> dict[str, Schema]:
    """The columns that hold something: what their numbers prove, what their names say, else their names in English."""
    proven = _proven(table, reading)
    filled = [n for n, _ in enumerate(table.headers) if any(row.cells[n] for row in table.rows)][:MAX_COLUMNS]
    numeric = {number: _is_number(table, number, reading) for number in filled}
    meant = _meant(table, proven, numeric, reading)
    columns: dict[str, Schema] = {}
    for number in filled:
        header, name = table.headers[number], meant.get(number, "")
        if name:
            node = concept_node(concepts()[name])
            fits = node["type"] == "string" or numeric[number] or number in proven
            columns[name] = node if fits else field_node("string", node["description"])
        elif plain := _plain_name(header, reading):
            about = f"{plain.replace('_', ' ').capitalize()}, labelled “{header}”"
            columns[free_name(plain, columns)] = field_node("number" if numeric[number] else "string", about)
    if "description" in columns and "item_number" not in columns and _has_numbers_under(table, meant):
        columns["item_number"] = concept_node(concepts()["item_number"])
    if "quantity" in columns and "unit" not in columns and _has_units(table, proven):
        columns["unit"] = concept_node(concepts()["unit"])
    return columns


def _proven(table: Table, reading: Reading) -> dict[int, str]:
    """What numbers prove; they prove taxes only where something names or prints a rate."""
    proven = meanings(table, reading.point)
    texts = [*table.headers, *(row.text(column) for row in table.rows[:1] for column in range(len(table.headers)))]
    if _TAX & set(proven.values()) and not any("%" in text or any(map(is_tax, words_of(text))) for text in texts):
        return {}
    return proven


def _plain_name(header: str, reading: Reading) -> str:
    """A name of two letters or more; a currency's sign names nothing."""
    if not header or len(header) > 60 or set(header) <= _SIGNS:
        return ""
    words, _ = in_english_words(words_of(header), spoken(reading))
    name = name_from_words(words)
    return name if len(name) > 1 or not any(map(str.isalpha, name)) else f"{name}_column" if name else ""


def _has_units(table: Table, proven: dict[int, str]) -> bool:
    """Whether words stand behind the numbers of the quantities."""
    column = next((number for number, name in proven.items() if name == "quantity"), None)
    if column is None:
        return False
    texts = [row.text(column).split(" ") for row in table.rows if row.cells[column]]
    with_unit = [parts for parts in texts if len(parts) == 2 and is_numeric(parts[0]) and parts[1].isalpha()]
    return 2 * len(with_unit) > len(texts)


def _is_tax_table(table: Table) -> bool:
    named = {
        name
        for header in table.headers
        for hit in find_phrases(words_of(header), columns=True)
        for name in hit.concepts
    }
    return named >= _TAX and "description" not in named and "quantity" not in named


def _meant(table: Table, proven: dict[int, str], numeric: dict[int, bool], reading: Reading) -> dict[int, str]:
    """What columns mean: what their numbers prove, else what their names say; the surest first, each concept once."""
    meant = {number: name for number, name in proven.items() if name in concepts() and number in numeric}
    taxes = _is_tax_table(table)
    said = [
        (rank, -number, name)
        for number in numeric
        if number not in meant
        for name, told in _ranks(
            table.headers[number], taxes=taxes, numeric=numeric[number], dates=_is_dates(table, number, reading)
        ).items()
        if (rank := told + _leaning(table, number, name))
    ]
    only = {number: sum(-other == number for _, other, _ in said) for number in numeric}
    for _, _, at, name in sorted(((rank, -only[-at], at, name) for rank, at, name in said), reverse=True):
        if -at not in meant and name not in meant.values():
            meant[-at] = name
    return meant


def _is_dates(table: Table, column: int, reading: Reading) -> bool:
    """Whether a column holds days, with or without their year."""
    texts = [row.text(column) for row in table.rows if row.cells[column]]
    return 2 * sum(bool(_DAY.match(text)) or _is_date(text, reading) for text in texts) > len(texts)


def _is_date(text: str, reading: Reading) -> bool:
    return any(found.start == 0 and found.end >= _MOST * len(text) for found in find_dates(text, reading.order))


def _is_wordy(table: Table, column: int) -> bool:
    """Whether a column holds texts of several words."""
    texts = [row.text(column) for row in table.rows if row.cells[column]]
    return 2 * sum(" " in text and any(map(str.isalpha, text)) for text in texts) > len(texts)


def _leaning(table: Table, column: int, name: str) -> float:
    """What a column's contents say for a meaning that its name may have: words describe, money is no quantity."""
    if name == "description":
        return _WORDY if _is_wordy(table, column) else 0.0
    texts = [row.text(column) for row in table.rows if row.cells[column]]
    return -_WORDY if name == "quantity" and sum(map(is_money, texts)) > _MOST * len(texts) else 0.0


def _ranks(header: str, *, taxes: bool, numeric: bool, dates: bool) -> dict[str, float]:
    """The concepts that a column's name may mean, with how well. Units: about 0–1, in steps of tenths."""
    words = words_of(header)
    ranks: dict[str, float] = {}
    for hit in find_phrases(words, columns=True):
        share = (hit.end - hit.start) / max(1, len(words))
        for name in hit.concepts if share >= _SHARE else ():
            rank = share + (0.2 if taxes == (name in _TAX) else 0.0)
            rank -= 0.3 if concepts()[name].kind in _NUMBERS and not numeric else 0.0
            rank -= 0.5 if dates != (concepts()[name].kind == "date") else 0.0
            ranks[name] = max(ranks.get(name, 0.0), round(rank, 1) - 0.001 * _rank(name))
    return ranks


def _has_numbers_under(table: Table, meant: dict[int, str]) -> bool:
    """Whether the numbers of articles stand under their names."""
    column = next((number for number, name in meant.items() if name == "description"), None)
    if column is None:
        return False
    edge = edge_of(table, column)
    rest = [parted(row, column, edge)[1] for row in table.rows if row.cells[column]]
    told = [words_of(" ".join(cell.text for cell in cells))[:4] for cells in rest]
    known = [any("item_number" in hit.concepts for hit in find_phrases(words, columns=True)) for words in told]
    return 2 * sum(known) > len(known)


def _rank(name: str) -> int:
    return _PREFERRED.index(name) if name in _PREFERRED else len(_PREFERRED)


def _is_number(table: Table, column: int, reading: Reading) -> bool:
    filled = [[token for cell in cells for token in cell.tokens] for row in table.rows if (cells := row.cells[column])]
    plain = [tokens for tokens in filled if sum(map(str.isalpha, "".join(t.text for t in tokens))) <= _UNIT]
    if _is_dates(table, column, reading):
        return False
    numbers = [bool(values_in("amount", tokens, reading) or values_in("percent", tokens, reading)) for tokens in plain]
    return bool(filled) and sum(numbers) >= 0.7 * len(filled)


_TAXES = "Taxes by rate, one entry per row"


def _title(columns: dict[str, Schema], kind: str) -> tuple[str, str]:
    """A name for a table by its columns, and by the kind of the document where those say little."""
    held = set(columns)
    if held & _TAX and not held & {"quantity", "unit_price"}:
        return "taxes", _TAXES
    if held & {"test_result", "reference_range"}:
        return "results", "Results, one entry per row of the table"
    if held & {"debit", "credit", "line_balance"} or (
        kind in {"statement", "card_statement"} and "quantity" not in held
    ):
        return "transactions", "Transactions, one entry per row of the table"
    if held & {"open_amount", "line_due_date"} and not held & {"quantity", "unit_price"}:
        return "open_items", "Open items, one entry per row of the table"
    if kind == "payslip" and "description" in held:
        return "earnings", "Earnings and deductions, one entry per row of the table"
    if held & {"description", "quantity", "item_number"}:
        return "line_items", "Lines, one entry per row of the table"
    return "rows", "Rows of the table"
