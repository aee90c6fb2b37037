"""What tills print: how was paid, and the card terminal's slip, whose numbers and times are not the receipt's."""

import json
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path

from llm.offline.extract.reading import Reading
from llm.offline.extract.values import Candidate, Value
from llm.offline.layout.model import Line, Token
from llm.offline.matching.words import words_of
from llm.offline.tables.figures import has_cents, is_money

_NAMED, _WEAKLY = 0.52, 0.36
"""Units: score. What is paid with, beside an amount; a word that means other things too, or no amount beside it."""
_APART = 4
"""Units: lines. A slip has signs of one no further apart."""
_SIGNS = 2
_MASK = frozenset("x*#•.")
_SHORT = 6
"""Units: words. What says how was paid is no sentence."""


@lru_cache(maxsize=1)
def _said() -> dict[str, frozenset[str]]:
    told = json.loads((Path(__file__).parent.parent / "matching" / "data" / "payment.json").read_text(encoding="utf-8"))
    return {part: frozenset(word for phrase in phrases for word in words_of(phrase)) for part, phrases in told.items()}


def paid_with(reading: Reading) -> Iterator[Candidate]:
    """ "girocard  10,31", "Geg. BAR EUR 20,00", "Paid by: VISA ****4417": the words for what is paid with."""
    for line in reading.layout.lines:
        found = None if line.index in reading.table_lines else _means(line)
        if found is not None:
            run, score = found
            text = " ".join(token.text for token in run).strip(" :.*")
            late = 0.05 * line.index / max(1, len(reading.layout.lines))
            yield Candidate(Value(text, text, tuple(token.index for token in run)), score - late)


def _means(line: Line) -> tuple[Sequence[Token], float] | None:
    """The first words of a line that say how was paid, when the line says nothing else but how much."""
    tokens = [token for cell in line.cells for token in cell.tokens]
    kinds = [_kind(token) for token in tokens]
    if "means" not in kinds or "other" in kinds or sum(kind != "" for kind in kinds) > _SHORT:
        return None
    first = kinds.index("means")
    end = next((at for at in range(first, len(kinds)) if kinds[at] != "means"), len(kinds))
    run = tokens[first:end]
    said = {word for token in run for word in words_of(token.text)}
    paid = any(has_cents(token.text) for token in tokens)
    if said <= _said()["weak"] and not (paid and len(said) > 1):
        return (run, _WEAKLY) if paid else None
    return run, _NAMED if paid else _WEAKLY


def _kind(token: Token) -> str:
    """What a word of such a line is: means, words around them, "" for figures and masked numbers, or something else."""
    words = words_of(token.text)
    if not words or any(map(str.isdigit, token.text)) or set(token.text.lower()) <= _MASK:
        return ""
    if set(words) <= _said()["means"]:
        return "means"
    return "lead" if set(words) <= _said()["lead"] | _said()["means"] else "other"


def slip_lines(reading: Reading) -> frozenset[int]:
    """The lines of a card terminal's slip: from its first sign to its last, on paper that has more than it."""
    marked = [
        line.index
        for line in reading.layout.lines
        if any(_said()["slip"] & set(words_of(token.text)) for cell in line.cells[:2] for token in cell.tokens[:2])
    ]
    found: set[int] = set()
    for at in marked:
        near = [other for other in marked if 0 <= other - at <= _APART]
        if len(near) >= _SIGNS:
            found.update(range(at, near[-1] + 1))
    if not found:
        return frozenset()
    first = min(found)
    while first and _is_pair(reading.layout.lines[first - 1]) and first - 1 not in reading.table_lines:
        first -= 1  # the date, the time and the number over the terminal's own
    return frozenset(found | set(range(first, min(found))))


def _is_pair(line: Line) -> bool:
    """Whether a line is a label and a value that is no amount."""
    last = line.cells[-1]
    return (
        len(line.cells) == 2
        and line.cells[0].text[:1].isalpha()
        and any(map(str.isdigit, last.text))
        and not is_money(last.text)
    )
