"""Dates, amounts, numbers and spans of time in running text, by the words of their sentences.

"Tenant shall pay $1,475.00 per month", "bestehend aus 3 Zimmern", "mit einer Frist von drei Monaten".
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from llm.offline.extract.reading import Reading
from llm.offline.extract.targets import Target
from llm.offline.extract.values import Value, joined, values_in
from llm.offline.layout.model import Line, Token
from llm.offline.matching.senses import held, senses_of, telling
from llm.offline.matching.words import is_unit, word_likeness, words_of

Word = tuple[str, frozenset[str]]

_KINDS = frozenset({"date", "amount", "percent", "id", "phone", "iban"})
_SUMMED = frozenset({"amount", "percent"})
_SCORE, _CODE, _STEP = 0.6, 0.5, 0.015
"""Units: score; less for each word between the words that tell and the value."""
_BEFORE, _AFTER = 14, 5
"""Units: words around a value that may say what it is."""
_FLOWING = 3
"""So many words in small letters make a line one of running text."""
_APART = 1.3
"""Units: heights. Lines farther apart are different paragraphs."""
_ALIKE, _STEM = 0.8, 5
_MOSTLY = 0.67
_LONG = 4
"""Units: words. A span of time has fewer."""
_GIVEN = frozenset({"date", "day", "amount", "number", "total", "period", "duration", "text", "currency"})
"""Senses of a name that a value tells by what it is."""
_SPANS = frozenset({"duration", "period", "notice", "term", "valid"})
_COUNTS = (
    r"\d{1,3}|one|two|three|four|five|six|seven|eight|nine|ten|twelve|eighteen|twenty-four|thirty|sixty|ninety|"
    r"einen?|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|zwölf|un|une|deux|trois|quatre|cinq|six|dix|douze|"
    r"een|één|twee|drie|vijf|zes|zeven|negen|tien|twaalf"
)
_SPAN = re.compile(
    rf"(?<!\w)(?:{_COUNTS})(?: \(\d+\))? (?:calendar |full |working |Kalender|volle )?"
    r"(?:days?|weeks?|months?|years?|Tagen?|Wochen?|Monat(?:en?|s)?|Jahr(?:en?)?|jours?|semaines?|mois|ans?|années?|"
    r"dag(?:en)?|weken|week|maand(?:en)?|jaar|jaren)(?!\w)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Fact:
    """A value in a text with the words before it (the nearest last) and after it."""

    value: Value
    before: tuple[str, ...]
    after: tuple[str, ...]


def told_in_sentences(target: Target, reading: Reading) -> Iterator[tuple[Value, float, str]]:
    """The values of which the words around say what the target asks for; all of its telling words must be there."""
    kind = "span" if held(senses_of(target.words)) & _SPANS and target.kind == "text" else target.kind
    if kind not in _KINDS and kind != "span":
        return
    if target.concept is not None and target.concept.kind in _SUMMED and "contract" not in reading.own:
        return  # what is due stands in the sums of a paper, not in its conditions
    wanted = _telling_words(target.words)
    for fact in _facts(kind, reading):
        if kind == "iban":
            yield fact.value, _CODE, "IBAN"
        elif wanted and (score := _told(wanted, fact)):
            yield fact.value, score, " ".join(fact.before[-_AFTER:])


def _telling_words(words: Sequence[str]) -> tuple[Word, ...]:
    """The words of a name that tell it apart from others of its kind, with what each stands for."""
    found = []
    for word in words:
        senses = held(telling(senses_of((word,))))
        if senses and not senses & _GIVEN and not is_unit(word):
            found.append((word, senses))
    return tuple(found)


def _told(wanted: Sequence[Word], fact: Fact) -> float:
    """How well the words around a value name what is wanted. Units: score; 0.0 where they do not."""
    places = [_place(word, fact) for word in wanted]
    found = [place for place in places if place is not None]
    if len(found) < len(wanted) * (_MOSTLY if len(wanted) > 2 else 1.0):
        return 0.0
    return _SCORE * len(found) / len(wanted) - _STEP * min(found)


def _place(word: Word, fact: Fact) -> int | None:
    """How many words away from the value something is said; None where it is not."""
    near = [*enumerate(reversed(fact.before)), *enumerate(fact.after)]
    return min((at for at, other in near if _says(word, other)), default=None)


def _says(word: Word, other: str) -> bool:
    raw, senses = word
    if senses & held(senses_of((other,))) or word_likeness(raw, other) >= _ALIKE:
        return True
    return len(raw) > _STEM < len(other) and raw[:_STEM] == other[:_STEM]


def without_rest(target: Target, value: Value, reading: Reading) -> Value:
    """A span of time without the sentence around it: "twelve (12) months, commencing August 1, 2025"."""
    if target.kind != "text" or not held(senses_of(target.words)) & _SPANS or len(value.tokens) < _LONG:
        return value
    tokens = [reading.tokens[index] for index in value.tokens]
    return next(_spans(tokens), value)


def _facts(kind: str, reading: Reading) -> list[Fact]:
    cached: dict[str, list[Fact]] = reading.__dict__.setdefault("_facts", {})
    if kind not in cached:
        cached[kind] = [fact for passage in _passages(reading) for fact in _facts_in(kind, passage, reading)]
    return cached[kind]


def _facts_in(kind: str, tokens: Sequence[Token], reading: Reading) -> Iterator[Fact]:
    values = list(_spans(tokens)) if kind == "span" else values_in(kind, tokens, reading)
    places = {token.index: place for place, token in enumerate(tokens)}
    end = 0
    for number, value in enumerate(values):
        if not value.tokens:
            continue
        first, last = places[value.tokens[0]], places[value.tokens[-1]]
        following = [places[other.tokens[0]] for other in values[number + 1 :] if other.tokens]
        stop = min([last + 1 + _AFTER, *following[:1]])
        yield Fact(value, _said(tokens[max(end, first - _BEFORE) : first]), _said(_clause(tokens[last:stop])[1:]))
        end = last + 1


def _clause(tokens: Sequence[Token]) -> Sequence[Token]:
    """A value and what follows it up to the end of its sentence."""
    ends = (place for place, token in enumerate(tokens) if token.text.endswith((".", ";")))
    return tokens[: next(ends, len(tokens)) + 1]


def _said(tokens: Sequence[Token]) -> tuple[str, ...]:
    return words_of(" ".join(token.text for token in tokens))


def _spans(tokens: Sequence[Token]) -> Iterator[Value]:
    text, owners = joined(tokens)
    for match in _SPAN.finditer(text):
        held_by = sorted({owners[at] for at in range(match.start(), match.end())})
        yield Value(match.group(), match.group(), tuple(tokens[place].index for place in held_by))


def _passages(reading: Reading) -> list[list[Token]]:
    """The words of each run of lines of running text."""
    cached: list[list[Token]] | None = reading.__dict__.get("_passages")
    if cached is None:
        cached, last = [], None
        for line in reading.layout.lines:
            tokens = [token for cell in line.cells for token in cell.tokens]
            goes_on = last is not None and _follows(line, last)
            if _flows(tokens) or (goes_on and not cached[-1][-1].text.endswith((".", ":"))):
                cached = [*cached[:-1], [*cached[-1], *tokens]] if goes_on else [*cached, tokens]
                last = line
            else:
                last = None
        reading.__dict__["_passages"] = cached
    return cached


def _flows(tokens: Sequence[Token]) -> bool:
    return sum(token.text[:1].islower() and token.text[:-1].isalpha() for token in tokens) >= _FLOWING


def _follows(line: Line, last: Line) -> bool:
    return line.page == last.page and line.y0 - last.y1 < _APART * (line.y1 - line.y0)
