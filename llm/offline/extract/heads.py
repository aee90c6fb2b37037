"""The headings of a form's sections: which cells may be one, and how well each says the name of an object."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from llm.offline.extract.captions import LEADING_NUMBER
from llm.offline.extract.reading import Reading
from llm.offline.layout.model import Cell
from llm.offline.layout.signs import CHECKED, UNCHECKED
from llm.offline.matching.sections import abouts_of, is_about_somebody
from llm.offline.matching.senses import Senses, held, is_known, meant_alike, telling
from llm.offline.matching.words import in_english, likeness, word_list, words_of

Words = tuple[str, ...]

NAMED, WHOLE = 0.62, 0.85
"""Units: likeness 0–1. From here on a heading says the name of an object, or nothing else."""
_LONGEST = 9
"""Units: words of a heading."""
_ASKING, _AMONG, _ITSELF = 0.9, 0.93, 0.72
"""What a caption with an answer of its own counts as a heading, what one among others, what "You" for the applicant."""
_LETTER = re.compile(r"^(?:[A-K]|[IVX]{1,4})[.)]\s*\w")
_OWN = frozenset({"own", "eigen", "eigenes", "eigene", "propre"})
_ENDINGS = re.compile(r"(?<=\w)(?:\s?[/*:·_]\s?-?|\(-?)(?:in|innen|r|n|e|es|ne|te|trice|euse)\b\)?")
"""Both genders: "Halter/in", "Antragsteller(in)", "demandeur·euse"."""
_OTHERS = re.compile(r"\s(?:/|or|oder|ou|of|bzw\.?)\s")
_MARK = 2
"""Units: characters of the number or letter of a part."""
_FEW = 5
"""Units: words. Alternatives in a heading are no longer."""
_FEWEST = 4
"""Units: letters of a word that is set upright."""


@dataclass(frozen=True, slots=True)
class Head:
    """A cell that may head a section; `upright` is one whose letters stand over each other."""

    cell: Cell
    text: str
    asks: bool = False
    upright: bool = False


def heads_of(reading: Reading) -> list[Head]:
    """All cells that may be headings."""
    stacked = list(_upright(reading))
    inside = {token.index for head in stacked for token in head.cell.tokens}
    found = [*stacked]
    for cell in reading.cells:
        if cell.tokens[0].index not in inside and _may_head(cell, reading):
            found.append(Head(cell, cell.text.lstrip("-–—•■ "), asks=_asks(cell, reading)))
    return found


def _may_head(cell: Cell, reading: Reading) -> bool:
    first = cell.tokens[0]
    if first.index in reading.filled_in or first.origin == "form" or not _is_worded(cell):
        return False
    boxed = any(token.text in CHECKED or token.text in UNCHECKED for token in cell.tokens)
    begin = cell.text.lstrip("-–—•■ ")[:1]
    return not boxed and (begin.isupper() or begin.isdigit() or bool(LEADING_NUMBER.match(first.text)))


def _is_worded(cell: Cell) -> bool:
    letters = sum(map(str.isalpha, cell.text))
    return len(cell.tokens) <= _LONGEST and letters > 2 and 2 * letters >= len(cell.text.replace(" ", ""))


def _asks(cell: Cell, reading: Reading) -> bool:
    """Whether it is the caption of an answer."""
    return bool(reading.framed.get(cell.tokens[0].index)) or cell.text.rstrip().endswith(":")


def _upright(reading: Reading) -> Iterator[Head]:
    """Words set upright at the side of a box: their letters are cells over each other."""
    single = [cell for cell in reading.cells if len(cell.text) == 1 and cell.text.isalpha()]
    single.sort(key=lambda cell: (cell.page, round(cell.x0 / 3), cell.y0))
    run: list[Cell] = []
    for cell in [*single, None]:
        last = run[-1] if run else None
        joins = last is not None and cell is not None and cell.page == last.page and abs(cell.x0 - last.x0) < 2
        if joins and cell is not None and last is not None and -1 < cell.y0 - last.y1 < cell.x1 - cell.x0:
            run.append(cell)
            continue
        if len(run) >= _FEWEST:
            up = run[-1].text.isupper() and not run[0].text.isupper()
            text = "".join(letter.text for letter in (reversed(run) if up else run))
            yield Head(Cell.of([token for letter in run for token in letter.tokens], run[0].line), text, upright=True)
        run = [cell] if cell is not None else []


def is_part(text: str) -> bool:
    """Whether a heading counts the parts of a form: "Part 2 Your address"."""
    words = words_of(text)
    return len(words) > 1 and words[0] in word_list("parts") and len(words[1]) <= _MARK


def is_lettered(text: str) -> bool:
    """Whether headings are counted with letters: "B. Your vehicle"."""
    return bool(_LETTER.match(text))


def fits(name: Words, head: Head) -> float:
    """How well a heading says a name. Units: 0–1."""
    best = _says(name, head.text)
    if head.asks:
        best *= _ASKING
    return best


@lru_cache(maxsize=16384)
def _says(name: Words, text: str) -> float:
    plain = _ENDINGS.sub("", text.split("(")[0] or text).strip(" :*.-–")
    parts = [part for half in _OTHERS.split(plain) for part in (half.split("/") if " " not in half else (half,))]
    parts = parts if all(len(part.split()) <= _FEW for part in parts) else []
    if _asks_for_more(name, _bare(plain)):
        return 0.0  # "Name of the driver" asks for something of his
    told = [plain, *(part for part in parts if part.strip() not in {plain, ""})]
    return max((_alike(name, words) * (1.0 if at == 0 else _AMONG) for at, words in enumerate(map(_bare, told))))


@lru_cache(maxsize=8192)
def _bare(text: str) -> Words:
    """The words of a heading without its number and what every heading says: "Part 2: details of"."""
    tokens = text.split()
    while len(tokens) > 1 and LEADING_NUMBER.match(tokens[0]):
        tokens = tokens[1:]
    words = words_of(" ".join(tokens))
    if words and words[0] in word_list("copies"):
        return ()  # whose copy it is
    if len(words) > 2 and words[0] in word_list("parts"):
        words = words[2:] if len(words[1]) <= 2 else words[1:]
    kept = tuple(word for word in words if word not in word_list("headings"))
    return kept or words


def _alike(name: Words, said: Words) -> float:
    marks, named = _marks(name), tuple(word for word in name if len(word) > 1 or not word.isalnum())
    other, bare = _marks(said), tuple(word for word in said if len(word) > 1)
    if (marks and marks != other) or not named or not bare:
        return 0.0
    factor = 0.9 if other and not marks else 1.0
    if len(named) > 1 and named[0] in _OWN and not set(bare) & _OWN:
        factor, named = 0.92 * factor, named[1:]  # "Your vehicle" has lost its first word, too
    if "".join(named) == "".join(bare):
        return factor
    wanted, told = abouts_of(named), abouts_of(bare)
    alike = 0.97 * meant_alike(wanted, told)
    if not all(map(is_known, named)) and not is_about_somebody(named):
        alike = max(alike, likeness(named, bare), likeness(named, in_english(bare)))
    elif not _means_all(wanted, told):
        alike = 0.0  # "employee" is written like "employer"
    if alike < NAMED and set(bare) <= word_list("self") and held(abouts_of(named)) & word_list("persons"):
        alike = _ITSELF
    return factor * alike


def _asks_for_more(name: Words, said: Words) -> bool:
    return bool((held(abouts_of(said)) - held(abouts_of(name))) & word_list("asked"))


def _means_all(named: Senses, said: Senses) -> bool:
    """Whether a heading has the meaning of each telling word of a name."""
    return all(any(part & other for other in said) for part in telling(named) or named)


def _marks(words: Words) -> Words:
    """What tells one of several apart: "Vehicle A", "Parent 2"."""
    return tuple(word for word in words if len(word) == 1 and word.isalnum())
