"""Dates in running text, which no label names: what they are for follows from the words of their sentence."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from llm.offline.extract.reading import Reading
from llm.offline.extract.values import Value, values_in
from llm.offline.layout.model import Cell, Token
from llm.offline.matching.naming import DOCUMENTS
from llm.offline.matching.senses import held, senses_of
from llm.offline.matching.words import words_of

_FEW = 5
"""Units: words. A cell with fewer is no sentence, unless the line goes on from one."""
_BACK, _ON = 14, 6
"""Units: words before and after a date that may say what it is for."""
_RULES: tuple[tuple[str, str, str], ...] = (
    ("birth", "", "birth_date"),
    ("valid", "start from", "period_end"),
    ("valid", "", "period_start"),
    ("due", "interest delivery", "due_date"),
    ("pay until", "previous", "due_date"),
    ("net until", "", "due_date"),
    ("collect_direct", "", "due_date"),
    ("delivery", "", "delivery_date"),
    ("ship", "", "delivery_date"),
    ("service", "", "delivery_date"),
    ("start", "", "period_start"),
    ("signature", "", "signing_date"),
)


@dataclass(frozen=True, slots=True)
class Told:
    """A date and what its sentence says of it. Units: certainty 0–1."""

    value: Value
    senses: frozenset[str]
    concept: str
    certainty: float
    cell: Cell


def dates_told(reading: Reading) -> list[Told]:
    """The dates that stand in sentences, with what they are for; found once for a document."""
    cached: list[Told] | None = reading.__dict__.get("_dates_told")
    if cached is None:
        cached = list(_told(reading))
        reading.__dict__["_dates_told"] = cached
    return cached


def _told(reading: Reading) -> Iterator[Told]:
    for cell in reading.cells:
        if reading.in_table(cell) or (len(cell.tokens) < _FEW - 1 and not _line_above(cell, reading)):
            continue
        for value in values_in("date", cell.tokens, reading):
            before, after = _around(cell, value, reading)
            if len(before) + len(after) < 2:
                continue
            clause = held(senses_of(_words(_clause(before))))
            ahead, behind = held(senses_of(_words(before))), held(senses_of(_words(after)))
            concept, certainty = _meaning(clause, ahead, behind, reading.own)
            yield Told(value, ahead | behind, concept, certainty, cell)


def _around(cell: Cell, value: Value, reading: Reading) -> tuple[list[Token], list[Token]]:
    """The words of the sentence before a date, from the line above where the sentence began there, and after it."""
    places = [place for place, token in enumerate(cell.tokens) if token.index in value.tokens]
    before = list(cell.tokens[: places[0]])
    if not _ends(before):
        before = [*_line_above(cell, reading), *before]
    for place in range(len(before) - 1, -1, -1):
        if _is_end(before[place]):
            before = before[place + 1 :]
            break
    after: list[Token] = []
    for token in cell.tokens[places[-1] + 1 :]:
        if _is_end(cell.tokens[places[-1]]) or cell.tokens[places[-1]].text.endswith(","):
            break
        after.append(token)
        if _is_end(token) or token.text.endswith(","):
            break
    return before[-_BACK:], after[:_ON]


def _clause(tokens: list[Token]) -> list[Token]:
    """What stands behind the last comma."""
    last = max((place for place, token in enumerate(tokens) if token.text.endswith(",")), default=-1)
    return tokens[last + 1 :]


def _words(tokens: list[Token]) -> tuple[str, ...]:
    return words_of(" ".join(token.text for token in tokens if not any(map(str.isdigit, token.text))))


def _line_above(cell: Cell, reading: Reading) -> list[Token]:
    """The sentence that runs on into this line: the cell above at the same margin, in the same print."""
    for line in reversed(reading.layout.lines[max(0, cell.line - 2) : cell.line]):
        for other in line.cells:
            near = cell.y0 - other.y1 < 0.9 * cell.height and other.page == cell.page
            if near and abs(other.x0 - cell.x0) < cell.height and len(other.tokens) >= _FEW:
                return list(other.tokens)
    return []


def _ends(tokens: list[Token]) -> bool:
    return any(_is_end(token) for token in tokens)


def _is_end(token: Token) -> bool:
    return token.text.endswith((".", "!", "?", ";")) and len(token.text) > 4 and token.text[:-1].isalpha()


@lru_cache(maxsize=4096)
def _meaning(
    clause: frozenset[str], ahead: frozenset[str], behind: frozenset[str], own: frozenset[str]
) -> tuple[str, float]:
    """The concept that the words before a date, or else after it, speak of."""
    for said, certainty in ((clause, 0.74), (ahead, 0.7), (ahead | behind, 0.6)):
        if "discount" in behind | clause:
            return "", 0.0
        for has, without, name in _RULES:
            if frozenset(has.split()) <= said and not said & frozenset(without.split()):
                return name, certainty
        if said is clause:
            continue
        documents = said & DOCUMENTS
        if documents and documents & own and not said & {"order", "quote"} - own:
            return "issue_date", 0.5
        if documents - own - {"order", "invoice"}:
            return "", 0.0
        if "order" in documents:
            return "order_date", 0.6
        if "invoice" in documents:
            return "related_document_date", 0.55
    return "", 0.0
