"""A document read once: its shapes, language, number and date style, and where which label stands."""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from llm.content import DocumentContent
from llm.offline.extract.boxes import captions_are_under, in_columns
from llm.offline.layout.analysis import analyse
from llm.offline.layout.lines import CHECKED, UNCHECKED
from llm.offline.layout.model import Cell, Layout, Table, Token
from llm.offline.matching.lexicon import concepts, find_phrases, language_of
from llm.offline.matching.words import words_of
from llm.offline.tables.finding import find_tables
from llm.offline.typing.amounts import decimal_point
from llm.offline.typing.dates import DateOrder, date_order

_ALONE = 0.95
"""Units: quality of a hit. From here on nothing else stands in the label."""
_FILLED = 5
"""Units: words. A document with as many in form fields is a form that was filled in there."""
_AMONG = 0.7
_PERSONAL = frozenset({"last_name", "first_name", "full_name", "birth_date", "birth_place", "nationality"})
_ASKED = 4
"""So many things that forms ask for, one about a person among them, make a form."""
_LEADING_NUMBER = re.compile(r"^(?:\d{1,2}[a-z]?|[a-z])[.)]?$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Hit:
    """A label on a page: tokens `start`–`end` of `cell` name it. Units: quality 0–1."""

    cell: Cell
    start: int
    end: int
    quality: float
    concepts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Caption:
    """The label part of a cell: what stands before a colon, a bracket, a sentence's end, or the whole cell."""

    cell: Cell
    end: int
    words: tuple[str, ...]
    colon: bool


class Reading:
    """What extraction, proposals and answers look at. Made once per document, never changed."""

    def __init__(self, document: DocumentContent) -> None:
        self.document = document
        self.layout: Layout = analyse(document)
        self.text = "\n".join(line.text for line in self.layout.lines)
        self.language = language_of(self.text)
        self.order: DateOrder = date_order(self.text, self.language)
        self.point = decimal_point(self.text)
        self.tables = tuple(table for table in find_tables(self.layout.lines) if _means_something(table))
        self.table_lines = frozenset(index for table in self.tables for index in table.lines)

    @cached_property
    def cells(self) -> list[Cell]:
        """All cells in reading order."""
        return self.layout.cells

    @cached_property
    def hits(self) -> dict[str, list[Hit]]:
        """Concept → where its labels stand."""
        found: dict[str, list[Hit]] = defaultdict(list)
        for cell in self.cells:
            for names, hit in cell_hits(cell):
                for name in names:
                    if not concepts()[name].form or _stands_alone(hit):
                        found[name].append(hit)
        return found

    @cached_property
    def labelled(self) -> dict[int, list[Hit]]:
        """Index of a cell's first token → all its hits, left to right."""
        found: dict[int, list[Hit]] = defaultdict(list)
        for cell in self.cells:
            found[cell.tokens[0].index] = [hit for _, hit in cell_hits(cell)]
        return found

    @cached_property
    def captions(self) -> list[Caption]:
        """The caption of every cell that has one, and of captions that run over several lines."""
        return [caption for cell in self.cells for caption in captions_of(self.layout, cell)]

    @cached_property
    def _printed(self) -> frozenset[int]:
        """The words that are no answers: all that is printed in a document whose form fields are filled in."""
        tokens = [token for cell in self.cells for token in cell.tokens]
        typed = sum(token.origin == "form" and any(map(str.isalnum, token.text)) for token in tokens)
        return frozenset(token.index for token in tokens if typed >= _FILLED and token.origin != "form")

    def is_answer(self, tokens: Sequence[int]) -> bool:
        """Whether words may be what somebody filled in: where form fields hold values, only those."""
        return not tokens or any(token not in self._printed for token in tokens)

    def is_label(self, cell: Cell) -> bool:
        """Whether a cell is nothing but a known label, or stands in a column of them."""
        return cell.tokens[0].index in self._in_columns or self._is_known_label(cell)

    def _is_known_label(self, cell: Cell) -> bool:
        hits = self.labelled.get(cell.tokens[0].index, [])
        named = sum(hit.end - hit.start for hit in hits)
        words = sum(token.text != "*" for token in cell.tokens)
        begins = any(hit.start == 0 and _has_colon(hit) and _is_asked(hit) for hit in hits)
        return begins or (bool(hits) and named >= 0.75 * words) or cell.text.rstrip().endswith(":")

    @cached_property
    def asks_a_person(self) -> bool:
        """Whether the captions are those of a form about a person, whatever its title says."""
        asked = {name for name, hits in self.hits.items() if hits and (concepts()[name].form or name in _PERSONAL)}
        return len(asked) >= _ASKED and bool(asked & _PERSONAL)

    @cached_property
    def _asking(self) -> list[Cell]:
        """The captions of what forms ask people for."""
        return [hit.cell for name, hits in self.hits.items() if concepts()[name].form for hit in hits]

    @cached_property
    def _in_columns(self) -> frozenset[int]:
        known = [cell for cell in self.cells if self._is_known_label(cell)] if self.asks_a_person else []
        return in_columns(self.cells, known)

    @cached_property
    def captions_are_under(self) -> bool:
        """Whether this is a form whose captions stand under the answers."""
        return self.asks_a_person and captions_are_under(self.layout, self._asking)


def _stands_alone(hit: Hit) -> bool:
    """Whether a label is all of its caption: it begins the cell, or a colon ends it inside a line of several pairs."""
    tokens = hit.cell.tokens
    begins = hit.start == 0 or (hit.start == 1 and bool(_LEADING_NUMBER.match(tokens[0].text)))
    return (begins and hit.quality >= _ALONE) or (hit.quality >= _AMONG and _has_colon(hit))


def _is_asked(hit: Hit) -> bool:
    return any(concepts()[name].form for name in hit.concepts)


def _has_colon(hit: Hit) -> bool:
    after = hit.cell.tokens[hit.end : hit.end + 1]
    return hit.cell.tokens[hit.end - 1].text.endswith(":") or any(token.text == ":" for token in after)


def _means_something(table: Table) -> bool:
    """Two headers that name columns, or one and several rows: other alignments are no tables."""
    known = sum(bool(find_phrases(words_of(header), columns=True)) for header in table.headers)
    return known >= 2 or (known == 1 and len(table.rows) >= 3)


def cell_hits(cell: Cell) -> list[tuple[tuple[str, ...], Hit]]:
    """The label phrases of a cell, in tokens."""
    words: list[str] = []
    owners: list[int] = []
    for place, token in enumerate(cell.tokens):
        for word in _token_words(token):
            words.append(word)
            owners.append(place)
    found = []
    for phrase in find_phrases(words):
        start, end = owners[phrase.start], owners[phrase.end - 1] + 1
        whole = _covers(owners, phrase.start, phrase.end)
        if whole:
            hit = Hit(cell, start, end, phrase.weight * _coverage(cell, start, end), phrase.concepts)
            found.append((phrase.concepts, hit))
    return found


def _token_words(token: Token) -> tuple[str, ...]:
    if any(map(str.isdigit, token.text)):
        return (token.text.split(":")[0].lower(),) if ":" in token.text and token.text[0].isalpha() else (token.text,)
    return words_of(token.text.removesuffix(":").removesuffix("(s)")) or ("",)


def _covers(owners: Sequence[int], start: int, end: int) -> bool:
    """A phrase must not begin or end inside a token, except behind a slash or before a colon's value."""
    begins = start == 0 or owners[start - 1] != owners[start]
    ends = end == len(owners) or owners[end] != owners[end - 1]
    return begins and ends


def _coverage(cell: Cell, start: int, end: int) -> float:
    """How much of the label's own words the phrase is: words before it (up to a separator) weaken it."""
    before = 0
    for token in reversed(cell.tokens[:start]):
        if token.text.endswith((":", ",", ".", ";", "-", "–", "|", "●")) or any(map(str.isdigit, token.text)):
            break
        before += 1
    after = _words_after(cell, end)
    return 0.5 + 0.5 * (end - start) / (end - start + before + after)


def _words_after(cell: Cell, end: int) -> int:
    """Words between the phrase and the colon, if there is a colon close by; else plain words up to a value."""
    if end and cell.tokens[end - 1].text.endswith(":"):
        return 0
    count, inside = 0, False
    for token in cell.tokens[end : end + 4]:
        inside = inside or token.text.startswith("(")
        if inside:
            inside = not token.text.endswith(")")
            continue
        if any(map(str.isdigit, token.text)) or token.text in {":", "-", "–", "|", "#", "*"}:
            return count
        count += 1
        if token.text.endswith(":"):
            return count
    return min(count, 2)


def captions_of(layout: Layout, cell: Cell) -> list[Caption]:
    """The label part of `cell`; for a caption over several lines a second one with all its words."""
    tokens = cell.tokens
    first = 1 if len(tokens) > 1 and _LEADING_NUMBER.match(tokens[0].text) else 0
    end, colon = _caption_end(tokens, first)
    text = " ".join(token.text for token in tokens[first:end]).split("(")[0]
    alternatives = [part for part in text.split("/") if part.strip()] if text.count("/") == 1 else []
    found = [Caption(cell, end, words_of(part), colon) for part in (text, *alternatives) if words_of(part)]
    if end == len(tokens) and not colon:
        found.extend(_long_caption(layout, cell, text))
    return found


def _caption_end(tokens: Sequence[Token], first: int) -> tuple[int, bool]:
    for place in range(first, len(tokens)):
        text = tokens[place].text
        if text in CHECKED or text in UNCHECKED:
            return place, False
        if text.endswith(":") or text == ":":
            return place + 1, True
        if place > first and text.endswith(".") and len(text) > 5 and place + 1 < len(tokens):
            return len(tokens), False
    return len(tokens), False


def _long_caption(layout: Layout, cell: Cell, text: str) -> list[Caption]:
    """Captions of form boxes run on below in the same small print; their values are set apart or in another size."""
    words, last = [text], cell
    for line in layout.lines[cell.line + 1 : cell.line + 9]:
        if line.page != cell.page or line.y0 - last.y1 > 0.9 * last.height:
            break
        below = [other for other in line.cells if abs(other.x0 - cell.x0) < 1.6 * cell.height]
        if below and same_print(below[0], cell) and not any(map(str.isdigit, below[0].text)):
            words.append(below[0].text.split("(")[0])
            last = replace(below[0], x0=min(cell.x0, below[0].x0))
    if last is cell:
        return []
    return [Caption(last, len(last.tokens), words_of(" ".join(words)), False)]


def same_print(below: Cell, cell: Cell) -> bool:
    """Whether two cells are set alike: values of forms are larger than their captions, or typed in."""
    alike = abs(below.height - cell.height) < 0.12 * cell.height
    return alike and below.tokens[0].origin == cell.tokens[0].origin
