"""Tables as arrays of objects: a name for the table, names and types for its columns."""

from collections.abc import Container

from llm.offline.extract.reading import Reading
from llm.offline.extract.values import values_in
from llm.offline.layout.model import Table
from llm.offline.matching.lexicon import concepts, find_phrases
from llm.offline.matching.words import words_of
from llm.offline.propose.naming import free_name, name_from_words
from llm.offline.propose.nodes import Schema, concept_node, field_node, rows_node

MAX_COLUMNS = 10
_PREFERRED = (
    "description", "quantity", "unit_price", "line_amount", "unit", "line_tax_rate", "line_discount", "item_number",
    "item_position", "line_date", "tax_base", "tax_amount", "debit", "credit", "line_balance", "test_name",
    "test_result", "reference_range", "line_document_number", "line_due_date", "open_amount",
)  # fmt: skip
_TAX = frozenset({"tax_base", "tax_amount"})
_SHORT = {"line_amount": "amount", "line_tax_rate": "tax_rate", "line_discount": "discount", "line_date": "date",
          "item_position": "position", "line_balance": "balance"}  # fmt: skip


def table_fields(reading: Reading, spent: Container[int] = ()) -> dict[str, Schema]:
    """The document's tables by name; a table that continues on the next page counts once.

    What has words of `spent` is no table: rows of boxes look like one.
    """
    found: dict[str, Schema] = {}
    seen: set[tuple[str, ...]] = set()
    for table in sorted(reading.tables, key=lambda table: -len(table.rows) * len(table.headers)):
        if table.headers in seen or len(found) >= 2 or _has(table, spent, reading):
            continue
        seen.add(table.headers)
        columns = _columns(table, reading)
        if len(columns) >= 2:
            name, about = _title(columns)
            if name == "rows" and found:
                continue
            found[free_name(name, found)] = rows_node(
                {_SHORT.get(key, key): node for key, node in columns.items()}, about
            )
    return found


def _has(table: Table, words: Container[int], reading: Reading) -> bool:
    lines = [reading.layout.lines[index] for index in table.lines]
    return any(token.index in words for line in lines for cell in line.cells for token in cell.tokens)


def _columns(table: Table, reading: Reading) -> dict[str, Schema]:
    columns: dict[str, Schema] = {}
    taxes = _is_tax_table(table)
    for number, header in enumerate(table.headers):
        if len(columns) >= MAX_COLUMNS or not any(row.cells[number] for row in table.rows):
            continue
        name = _concept(header, columns, taxes=taxes)
        if name:
            node = concept_node(concepts()[name])
            columns[name] = (
                node
                if node["type"] == "string" or _is_number(table, number, reading)
                else field_node("string", node["description"])
            )
        elif reading.language == "en" and (plain := name_from_words(words_of(header))):
            kind = "number" if _is_number(table, number, reading) else "string"
            columns[free_name(plain, columns)] = field_node(kind, f"{header}, as in the table")
    return columns


def _is_tax_table(table: Table) -> bool:
    named = {
        name
        for header in table.headers
        for hit in find_phrases(words_of(header), columns=True)
        for name in hit.concepts
    }
    return named >= _TAX and "description" not in named and "quantity" not in named


def _concept(header: str, taken: dict[str, Schema], *, taxes: bool) -> str:
    words = words_of(header)
    best, score = "", 0.0
    for hit in find_phrases(words, columns=True):
        share = (hit.end - hit.start) / max(1, len(words))
        for name in hit.concepts:
            rank = share + (0.2 if taxes == (name in _TAX) else 0.0) - 0.005 * _PREFERRED.index(name)
            if name not in taken and share >= 0.3 and rank > score:
                best, score = name, rank
    return best


def _is_number(table: Table, column: int, reading: Reading) -> bool:
    filled = [[token for cell in cells for token in cell.tokens] for row in table.rows if (cells := row.cells[column])]
    numbers = [bool(values_in("amount", tokens, reading) or values_in("percent", tokens, reading)) for tokens in filled]
    return bool(filled) and sum(numbers) >= 0.7 * len(filled)


def _title(columns: dict[str, Schema]) -> tuple[str, str]:
    if "tax_base" in columns or "tax_amount" in columns:
        return "taxes", "Taxes by rate, one entry per row"
    if "test_result" in columns or "reference_range" in columns:
        return "results", "Results, one entry per row of the table"
    if "debit" in columns or "credit" in columns or "line_balance" in columns:
        return "transactions", "Transactions, one entry per row of the table"
    if "description" in columns or "quantity" in columns or "item_number" in columns:
        return "line_items", "Lines, one entry per row of the table"
    return "rows", "Rows of the table"
