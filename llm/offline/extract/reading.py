"""A document read once: its shapes, language, number and date style, and where which label stands."""

from collections import defaultdict
from collections.abc import Sequence
from functools import cached_property
from itertools import takewhile

from llm.content import DocumentContent
from llm.offline.extract.boxes import answers_over, answers_under, in_columns, in_lists
from llm.offline.extract.captions import LEADING_NUMBER, Caption, captions_of, is_numbered, segments_of
from llm.offline.extract.framed import Answers, framed_answers
from llm.offline.extract.labels import Hit, Named, has_colon, label_hits
from llm.offline.extract.titles import is_buyers, own_kinds, topics
from llm.offline.layout.analysis import analyse
from llm.offline.layout.fields import FormField, form_fields
from llm.offline.layout.model import Cell, Layout, Table, Token
from llm.offline.matching.lexicon import concepts, find_phrases, language_of
from llm.offline.matching.words import words_of
from llm.offline.tables.finding import find_tables, same_head
from llm.offline.tables.grids import find_grids
from llm.offline.tables.taxes import find_tax_lines
from llm.offline.typing.amounts import decimal_point, dollar_of
from llm.offline.typing.dates import DateOrder, date_order

_ALONE = 0.95
"""Units: quality of a hit. From here on nothing else stands in the label."""
_FILLED = 5
"""Units: words. A document with as many in form fields is a form that was filled in there."""
_CUT = 2
_AMONG = 0.7
_ORDERS = frozenset({"order_reference", "sales_order_number", "delivery_note_number"})
_PERSONAL = frozenset({"last_name", "first_name", "full_name", "birth_date", "birth_place", "nationality"})
_BUSINESS = frozenset(
    {"invoice", "order", "quote", "proforma", "credit_note", "delivery_note", "receipt", "reminder", "statement"}
)
_ASKED = 4
"""So many things that forms ask for, one about a person among them, make a form."""


class Reading:
    """What extraction, proposals and answers look at. Made once per document, never changed."""

    def __init__(self, document: DocumentContent) -> None:
        self.document = document
        self.layout: Layout = analyse(document)
        self.text = "\n".join(line.text for line in self.layout.lines)
        self.language = language_of(self.text)
        self.order: DateOrder = date_order(self.text, self.language)
        self.point = decimal_point(self.text)
        self.dollar = dollar_of(self.text)
        found = find_tables(self.layout.lines)
        self.tables = tuple(t for t in found if _means_something(t) and not self._cuts_boxes(t))
        self._aligned = tuple(table for table in found if table not in self.tables)
        self.tax_lines = tuple(find_tax_lines(self.layout.lines, self.point))
        self.table_lines = frozenset(index for table in self.tables for index in table.lines)

    @cached_property
    def grids(self) -> tuple[Table, ...]:
        """What may be tables where a schema asks for such rows: cells of boxes, and words that stand in columns."""
        grids = find_grids(self.layout)
        alike = {id(grid) for grid in grids for table in self.tables if _says_as_much(table, grid)}
        return (*(grid for grid in grids if id(grid) not in alike), *self._aligned)

    @cached_property
    def _table_tokens(self) -> dict[int, int]:
        """Word in a table → how many rows the table has."""
        return {
            token.index: len(table.rows)
            for table in self.tables
            for row in table.rows
            for held in row.cells
            for cell in held
            for token in cell.tokens
        }

    def in_table(self, cell: Cell) -> bool:
        """Whether a cell stands in a row of a table; what only stands beside one does not."""
        return cell.tokens[0].index in self._table_tokens

    def is_listed(self, tokens: Sequence[int]) -> bool:
        """Whether words stand in a table of several rows: what they say is of a row, not of the document."""
        return any(self._table_tokens.get(token, 0) > 1 for token in tokens)

    @cached_property
    def cells(self) -> list[Cell]:
        """All cells in reading order."""
        return self.layout.cells

    @cached_property
    def tokens(self) -> dict[int, Token]:
        """All words by their index."""
        return {token.index: token for cell in self.cells for token in cell.tokens}

    @cached_property
    def tokens_line(self) -> dict[int, int]:
        """The line of each cell's first word."""
        return {cell.tokens[0].index: cell.line for cell in self.cells}

    @cached_property
    def own(self) -> frozenset[str]:
        """The senses of the document's title: what it is."""
        return own_kinds(self.layout, self.table_lines)

    @cached_property
    def is_buyers(self) -> bool:
        """Whether the buyer issued the document."""
        return is_buyers(self.layout, self.own)

    @cached_property
    def topics(self) -> frozenset[str]:
        """What the document's head speaks of."""
        return topics(self.layout)

    @cached_property
    def _named(self) -> dict[int, list[Named]]:
        cells = {cell.tokens[0].index: cell for cell in self.cells}
        return {
            first: label_hits(cell, self.layout, self.own) if first not in self.filled_in else []
            for first, cell in cells.items()
        }

    @cached_property
    def hits(self) -> dict[str, list[Hit]]:
        """Concept → where its labels stand."""
        found: dict[str, list[Hit]] = defaultdict(list)
        for cell in self.cells:
            for names, hit in self._named[cell.tokens[0].index]:
                for name in names:
                    if not concepts()[name].form or _stands_alone(hit):
                        found[name].append(hit)
        return found

    @cached_property
    def labelled(self) -> dict[int, list[Hit]]:
        """Index of a cell's first token → all its hits, left to right."""
        return {index: [hit for _, hit in named] for index, named in self._named.items()}

    @cached_property
    def captions(self) -> list[Caption]:
        """The caption of every cell that has one, and of captions that run over several lines."""
        asked = (cell for cell in self.cells if cell.tokens[0].index not in self.filled_in)
        return [caption for cell in asked for caption in captions_of(self.layout, cell)]

    @cached_property
    def segments(self) -> list[Caption]:
        """What stands before the numbers inside cells, where a line says several things."""
        return [caption for cell in self.cells for caption in segments_of(cell)]

    @cached_property
    def fields(self) -> list[FormField]:
        """The form fields that the file calls something."""
        return form_fields(self.document, self.layout)

    @cached_property
    def _printed(self) -> frozenset[int]:
        """The words that are no answers: all that is printed in a document whose form fields are filled in."""
        tokens = [token for cell in self.cells for token in cell.tokens]
        typed = sum(token.origin == "form" and any(map(str.isalnum, token.text)) for token in tokens)
        return frozenset(token.index for token in tokens if typed >= _FILLED and token.origin != "form")

    @property
    def is_typed(self) -> bool:
        """Whether form fields hold values: what was filled in is known by where it comes from."""
        return bool(self._printed)

    def is_answer(self, tokens: Sequence[int]) -> bool:
        """Whether words may be what somebody filled in: where form fields hold values, only those."""
        return not tokens or any(token not in self._printed for token in tokens)

    @cached_property
    def framed(self) -> Answers:
        """First words of captions with their answers, where boxes and lines are drawn that tell."""
        return framed_answers(self.layout, typed=bool(self._printed))

    @cached_property
    def filled_in(self) -> frozenset[int]:
        """First words of what was filled into the boxes and onto the lines of a form: they are no labels."""
        if self.is_business:
            return frozenset()
        return frozenset(cell.tokens[0].index for cells in self.framed.values() for cell in cells)

    @property
    def is_business(self) -> bool:
        """Whether it is one of the papers that firms send each other: boxes on them hold whole parties and notes."""
        return bool(self.own & _BUSINESS)

    def is_label(self, cell: Cell) -> bool:
        """Whether a cell is nothing but a known label, or stands in a column of them."""
        if cell.tokens[0].index in self.filled_in:
            return False
        if cell.tokens[0].index in self.framed:
            return True
        return cell.tokens[0].index in self._in_columns or self._is_known_label(cell)

    def begins_with_label(self, cell: Cell) -> bool:
        """Whether a cell is a label with its value."""
        hits = [hit for hit in self.labelled.get(cell.tokens[0].index, ()) if hit.start == 0 and hit.quality >= _AMONG]
        first = cell.tokens[0].text
        prefix = len(first) <= 3 and first.isupper() and len(cell.tokens) > 1  # "PO 6617" is a number as a whole
        prefix = prefix and any(_ORDERS & set(hit.concepts) for hit in hits)
        return any(hit.end > 1 or not prefix for hit in hits)

    def _is_known_label(self, cell: Cell) -> bool:
        hits = self.labelled.get(cell.tokens[0].index, [])
        named = len({place for hit in hits for place in range(hit.start, hit.end)})
        words = sum(token.text != "*" for token in cell.tokens)
        begins = any(hit.start == 0 and has_colon(hit) and _is_asked(hit) for hit in hits)
        return begins or (bool(hits) and named >= 0.75 * words) or cell.text.rstrip().endswith(":")

    @cached_property
    def asks_a_person(self) -> bool:
        """Whether the captions are those of a form about a person, whatever its title says."""
        asked = {name for name, hits in self.hits.items() if hits and (concepts()[name].form or name in _PERSONAL)}
        return len(asked) >= _ASKED and bool(asked & _PERSONAL)

    @cached_property
    def _in_columns(self) -> frozenset[int]:
        known = [cell for cell in self.cells if self._is_known_label(cell)] if self.asks_a_person else []
        return in_columns(self.cells, known)

    @cached_property
    def in_lists(self) -> frozenset[int]:
        """First words of the captions that have their answers beside them, as others in their column."""
        return in_lists(self.layout, [cell for cell in self.cells if self._is_known_label(cell) or is_numbered(cell)])

    @cached_property
    def answers_over(self) -> dict[int, Cell | None]:
        """First words of the captions that stand under their answers, with these."""
        return answers_over(self.layout)

    @cached_property
    def answers_under(self) -> dict[int, tuple[Cell, ...]]:
        """First words of the captions that stand over their answers in boxes, with the lines of these."""
        found: dict[int, tuple[Cell, ...]] = {}
        for first, lines in self._boxes.items():
            kept = tuple(takewhile(lambda cell: cell.line not in self.table_lines, lines))
            if kept and self.tokens_line[first] not in self.table_lines and first not in self.answers_over:
                found[first] = kept
        return found

    @cached_property
    def _boxes(self) -> dict[int, tuple[Cell, ...]]:
        return answers_under(self.layout, typed=bool(self._printed))

    def _cuts_boxes(self, table: Table) -> bool:
        """Whether what looks like a table is the answers of several boxes: their captions stand between its rows."""
        heads = [first for first, lines in self._boxes.items() if lines[0].line in table.lines]
        return sum(_is_between(self.tokens_line[first], table) for first in heads) >= _CUT


def _says_as_much(table: Table, grid: Table) -> bool:
    """Whether a table has all that the boxes around its words show."""
    whole = len(table.headers) == len(grid.headers) and len(table.rows) >= len(grid.rows)
    return whole and same_head(table, grid)


def _is_between(line: int, table: Table) -> bool:
    return min(table.lines) < line < max(table.lines) and line not in table.lines


def _stands_alone(hit: Hit) -> bool:
    """Whether a label is all of its caption: it begins the cell, or a colon ends it inside a line of several pairs."""
    tokens = hit.cell.tokens
    begins = hit.start == 0 or (hit.start == 1 and bool(LEADING_NUMBER.match(tokens[0].text)))
    return (begins and hit.quality >= _ALONE) or (hit.quality >= _AMONG and has_colon(hit))


def _is_asked(hit: Hit) -> bool:
    return any(concepts()[name].form for name in hit.concepts)


def _means_something(table: Table) -> bool:
    """Two headers that name columns, or one and several rows: other alignments are no tables."""
    known = sum(bool(find_phrases(words_of(header), columns=True)) for header in table.headers)
    return known >= 2 or (known == 1 and len(table.rows) >= 3)
