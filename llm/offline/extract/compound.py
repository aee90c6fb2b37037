"""Answers that hold several things at once, as their caption says: "Place, date", "ZIP code and town"."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from llm.offline.extract.labels import Hit
from llm.offline.extract.reading import Reading
from llm.offline.extract.targets import Target
from llm.offline.extract.values import WORDY, Value, joined, values_in
from llm.offline.layout.model import Cell
from llm.offline.matching.senses import held, senses_of
from llm.offline.matching.words import words_of
from llm.offline.typing.dates import find_dates
from llm.offline.typing.places import find_place

_PLACES = frozenset({"postcode", "city", "state"})
_NAMES = frozenset({"first", "family"})
_SCORE, _SIGNED = 1.05, 0.88
"""Units: quality. A part is surer than the whole answer; the place of a signature is another thing's rarely."""
_LONGEST = 16
_PAIR = 2
_LEADING = re.compile(r"[\s,;]+(?:den|am|le|the|on|op|de)?[\s,]*$", re.IGNORECASE)
_PREFIXES = frozenset({"van", "von", "de", "der", "den", "le", "la", "du", "zu", "ter", "ten", "di"})

Span = tuple[int, int]


def divided(target: Target, reading: Reading) -> Iterator[tuple[Hit, str]]:
    """Captions that name more than the target wants: the caption, the sense that is wanted, nothing else.

    What stands there is cut by `part_of`.
    """
    wanted = _wanted(target)
    if not wanted:
        return
    for caption in reading.captions:
        cell = caption.cell
        if caption.start or len(caption.words) > _LONGEST or cell.line in reading.table_lines:
            continue
        said = _senses_said(caption.words)
        if len(said) > 1 and wanted in said and _fits(target, wanted, said, cell):
            yield Hit(cell, caption.start, caption.end, _SIGNED if "date" in said else _SCORE), wanted


def _wanted(target: Target) -> str:
    """The one thing that a target asks for, "" when it asks for several or for something else."""
    senses = held(senses_of(target.words))
    named = senses & (_PLACES | _NAMES)
    if target.part in _PLACES:
        named = frozenset({target.part}) if len(named) < 2 else named
    if target.kind == "date":
        return "date"
    if target.kind not in WORDY and not target.part:
        return ""
    if not named and "place" in senses:
        return "city"
    return next(iter(named)) if len(named) == 1 else ""


def names_place_and_date(words: tuple[str, ...]) -> bool:
    """Whether a caption asks for the place and the date of a signature at once."""
    return _senses_said(words) == {"city", "date"}


def _senses_said(words: tuple[str, ...]) -> frozenset[str]:
    senses = held(senses_of(words))
    if "place" in senses:
        senses |= {"city"}
    if senses & _NAMES and "name" in senses and not _is_one_name(words):
        senses |= _NAMES
    date = frozenset({"date"}) if "date" in senses and "birth" not in senses else frozenset[str]()
    return frozenset(senses & (_PLACES | _NAMES)) | date


def _is_one_name(words: tuple[str, ...]) -> bool:
    """Whether a caption asks for one of the names only: "Vorname des Kindes", "First name and initial"."""
    named = [senses_of((word,))[0] for word in words]
    pairs = sum(bool(part & _NAMES) and "name" in after for part, after in pairwise(named))
    return pairs == 1 and sum(bool(part & (_NAMES | {"name"})) for part in named) == _PAIR


def _fits(target: Target, wanted: str, said: frozenset[str], cell: Cell) -> bool:
    """Whether the caption may be about the target: place and date stand where a form is signed."""
    signed = "date" in said and "city" in said
    senses = held(senses_of(target.words))
    if wanted == "date":
        return signed and ("signature" in senses or target.words in {("date",), ("datum",)})
    if signed:
        return wanted == "city" and (bool(senses & {"signature", "place"}) or len(target.words) == 1)
    own = {word for word in target.words if not senses_of((word,))[0] & (_PLACES | _NAMES | {"name", "place"})}
    return not own or bool(own & set(words_of(cell.text)))


def part_of(wanted: str, caption: Cell, answer: Value, reading: Reading) -> Value | None:
    """The part of an answer that is wanted."""
    tokens = [reading.tokens[index] for index in answer.tokens]
    text, owners = joined(tokens)
    if wanted == "date":
        return next(iter(values_in("date", tokens, reading)), None)
    span = _place_part(wanted, text, reading) if wanted in _PLACES else _name_part(wanted, caption, text)
    if span is None or not text[span[0] : span[1]].strip():
        return None
    found = text[span[0] : span[1]].strip(" ,;")
    held_by = sorted({owners[at] for at in range(*span) if text[at].strip(" ,;")})
    return Value(found, found, tuple(tokens[place].index for place in held_by))


def _place_part(wanted: str, text: str, reading: Reading) -> Span | None:
    place = find_place(text)
    if place is not None:
        found = {"postcode": place.postcode, "city": place.city, "state": place.state}[wanted]
        at = text.find(found, place.start) if found else -1
        return (at, at + len(found)) if at >= 0 else None
    dates = find_dates(text, reading.order)
    if wanted != "city" or not dates:
        return None
    before = _LEADING.sub("", text[: dates[0].start])
    return (0, len(before)) if re.fullmatch(r"[^\d:]{2,40}", before) else None


def _name_part(wanted: str, caption: Cell, text: str) -> Span | None:
    """ "Berg, Anna" is turned round; else the caption says which comes first."""
    words = text.split()
    if not 2 <= len(words) <= 6 or any(map(str.isdigit, text)):
        return None
    if "," in text:
        cut = text.index(",")
        return (0, cut) if wanted == "family" else (cut + 1, len(text))
    family_first = _family_comes_first(words_of(caption.text))
    if family_first:
        cut = len(words[0])
        return (0, cut) if wanted == "family" else (cut, len(text))
    at = next((n for n, word in enumerate(words[1:], 1) if word.lower() in _PREFIXES), len(words) - 1)
    cut = len(" ".join(words[:at]))
    return (0, cut) if wanted == "first" else (cut, len(text))


def _family_comes_first(words: Sequence[str]) -> bool:
    for word in words:
        senses = held(senses_of((word,)))
        if senses & {"family", "first", "name"}:
            return "first" not in senses
    return False
