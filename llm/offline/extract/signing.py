"""Where and when a form was signed: "Troisberg, den 14.06.2025" over "Ort, Datum, Unterschrift", "Fait à …, le …"."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from llm.offline.extract.reading import Reading
from llm.offline.extract.targets import Target
from llm.offline.extract.values import WORDY, Value, values_in
from llm.offline.layout.model import Cell, Line, Token
from llm.offline.matching.senses import held, senses_of
from llm.offline.matching.words import words_of

_SURE, _PLAIN, _NEXT = 0.9, 0.5, 0.15
"""Units: score. Of the first signature; for a field only called "date" or "place"; less for each further one."""
_AROUND, _FAR = 3, 3.2
"""Units: lines, and heights of a line. How far from the word for a signature its date may be."""
_LONG, _LONGEST_PLACE = 9, 5
"""Units: words of a caption, of a town."""
_ALONE = frozenset({"date", "datum", "place", "ort", "lieu", "plaats"})
_DECLARED = frozenset({"declaration", "certification", "erklarung", "verklaring"})
_JOINS = frozenset(
    words_of(
        "le den am on the op de te in a at fait done gedaan opgemaakt signe signed ce du "
        "date datum place ort lieu plaats"
    )
)
_FILLER = re.compile(r"^[\W_]*$")
_SAYS_WHERE = re.compile(r"\b(?:fait a|done at|gedaan te|opgemaakt te|den|le)\b|^a\b|^te\b")


@dataclass(frozen=True, slots=True)
class Signature:
    """A signature's day and town, each None where it does not stand."""

    day: Value
    place: Value | None


def signed(target: Target, reading: Reading) -> Iterator[tuple[Value, float, str]]:
    """The day or the town of the document's signatures, for targets that are called so."""
    wanted, sure = _wanted(target)
    if not wanted:
        return
    for rank, signature in enumerate(_signatures(reading)):
        value = signature.day if wanted == "day" else signature.place
        if value is not None:
            yield value, sure - _NEXT * rank, "signature"


def _wanted(target: Target) -> tuple[str, float]:
    senses, words = held(senses_of(target.words)), set(target.words)
    is_signed = "signature" in senses or bool(words & _DECLARED)
    sure = _SURE if is_signed else _PLAIN
    if not (is_signed or words <= _ALONE):
        return "", 0.0
    if target.kind == "date":
        return "day", sure
    return ("place", sure) if target.kind in WORDY and senses & {"place", "city", "signature"} else ("", 0.0)


def _signatures(reading: Reading) -> list[Signature]:
    cached: list[Signature] | None = reading.__dict__.get("_signatures")
    if cached is None:
        lines = reading.layout.lines
        found = [_beside(line, reading) for line in lines if any(map(_is_signature, line.cells))]
        found += [_at_the_end(line, reading) for line in lines[len(lines) // 2 :]]
        cached = list(dict.fromkeys(one for one in found if one is not None))
        reading.__dict__["_signatures"] = cached
    return cached


def _is_signature(cell: Cell) -> bool:
    words = words_of(cell.text)
    said = words if len(words) <= _LONG else words[-2:]
    return any("signature" in held(senses_of((word,))) for word in said)


def _beside(line: Line, reading: Reading) -> Signature | None:
    """The nearest date in the lines around a signature's, with the town before it."""
    near = [
        other
        for other in reading.layout.lines[max(0, line.index - _AROUND) : line.index + _AROUND + 1]
        if other.page == line.page and other.index not in reading.table_lines and _gap(line, other) <= _FAR
    ]
    for other in sorted(near, key=lambda other: (_gap(line, other), other.index > line.index)):
        for cell in other.cells:
            day = next(iter(values_in("date", cell.tokens, reading)), None)
            if day is not None and day.tokens:
                return Signature(day, _town(other, cell, day, line, reading))
    return None


def _at_the_end(line: Line, reading: Reading) -> Signature | None:
    """A line that says nothing but a town and a day, where no word for a signature is near."""
    cell = line.cells[0]
    day = next(iter(values_in("date", cell.tokens, reading)), None)
    if day is None or not day.tokens or cell.tokens[-1].index != day.tokens[-1]:
        return None
    place = _town(line, cell, day, line, reading)
    return Signature(day, place) if place is not None else None


def _gap(line: Line, other: Line) -> float:
    """Units: heights of the line."""
    apart = max(other.y0 - line.y1, line.y0 - other.y1, 0.0)
    return 0.0 if other is line else apart / max(1.0, line.y1 - line.y0)


def _town(line: Line, cell: Cell, day: Value, caption: Line, reading: Reading) -> Value | None:
    """What stands before a date: in its cell, else in the cell before."""
    inside = [token for token in cell.tokens if token.index < day.tokens[0]]
    before = _without_joins(inside)
    said = " ".join(
        words_of(" ".join(token.text for c in line.cells for token in c.tokens if token.index < day.tokens[0]))
    )
    asked = held(senses_of(words_of(caption.text))) & {"place", "city"}
    if not before:
        left = [other for other in line.cells if other.x1 <= cell.x0 and _without_joins(other.tokens)]
        before = _without_joins(left[-1].tokens) if left and not reading.is_label(left[-1]) else []
    if not (asked or _SAYS_WHERE.search(said) or (before and before[-1].text.endswith(","))):
        return None
    text = " ".join(token.text for token in before).strip(" ,;.")
    if not 0 < len(before) <= _LONGEST_PLACE or any(map(str.isdigit, text)) or not text[:1].isupper():
        return None
    return Value(text, text, tuple(token.index for token in before))


def _without_joins(tokens: Sequence[Token]) -> list[Token]:
    """The words of a town without what joins it to a date, and without dots to write on."""
    kept = list(tokens)
    while kept and _joins(kept[-1]):
        kept.pop()
    while kept and _joins(kept[0]):
        kept.pop(0)
    return kept


def _joins(token: Token) -> bool:
    return bool(_FILLER.match(token.text)) or set(words_of(token.text)) <= _JOINS
