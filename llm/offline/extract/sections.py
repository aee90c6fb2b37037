"""Captions under the heading that the first words of a name say: the e-mail of the "Co-applicant"."""

from collections.abc import Iterator
from dataclasses import dataclass

from llm.offline.extract.captions import LEADING_NUMBER, Caption
from llm.offline.extract.labels import Hit
from llm.offline.extract.reading import Reading
from llm.offline.extract.targets import Target
from llm.offline.layout.model import Cell, Token
from llm.offline.matching.lexicon import concept_of
from llm.offline.matching.senses import meant_alike, senses_of
from llm.offline.matching.words import in_english, likeness, words_of, words_of_name

_ENOUGH, _NAMED = 0.6, 0.66
"""Units: likeness 0–1. Of a caption to the rest of a name; of a heading to its first words."""
_SHORT = 7
"""Units: words of a heading."""
_LEVEL = 0.07
"""How much the prints of two headings of one level may differ."""
_BASE, _MORE = 0.78, 0.32

Words = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Region:
    """What stands under a heading. Units: page points; `fits` 0–1, how well the heading names what is asked for."""

    page: int
    x0: float
    y0: float
    x1: float
    y1: float
    fits: float

    def holds(self, token: Token) -> bool:
        """Whether a word stands in it."""
        inside = self.x0 <= token.x0 <= self.x1
        return token.page == self.page and inside and self.y0 <= token.middle <= self.y1


def sectioned(target: Target, reading: Reading) -> Iterator[Hit]:
    """The captions under a heading that together with it name the target."""
    for regions, rest in sections_for(target, reading):
        for caption in reading.captions:
            if caption.start or not any(region.holds(caption.cell.tokens[0]) for region in regions):
                continue
            alike = _fits(rest, caption, reading)
            if alike >= _ENOUGH:
                yield Hit(caption.cell, caption.start, caption.end, (_BASE + _MORE * alike) * regions[0].fits)


def sections_for(target: Target, reading: Reading) -> Iterator[tuple[list[Region], Words]]:
    """The regions under headings of a target's first words, with its other words."""
    for first, rest in _splits(target):
        regions = _regions(first, reading)
        if regions and rest:
            yield regions, rest


def _splits(target: Target) -> list[tuple[Words, Words]]:
    if len(target.path) > 1:
        return [(words_of_name(target.path[-2]), words_of_name(target.path[-1]))]
    words = target.words
    return [(words[:cut], words[cut:]) for cut in range(1, len(words))]


def _fits(rest: Words, caption: Caption, reading: Reading) -> float:
    alike = max(likeness(rest, caption.words), 0.97 * meant_alike(senses_of(rest), senses_of(caption.words)))
    concept = concept_of(rest)
    if concept is not None:
        hits = reading.labelled.get(caption.cell.tokens[0].index, ())
        alike = max([alike, *(hit.quality for hit in hits if hit.start <= 1 and concept.name in hit.concepts)])
    return alike


def _regions(first: Words, reading: Reading) -> list[Region]:
    """Under the headings that say these words best."""
    told: dict[Words, list[Region]] = reading.__dict__.setdefault("_sections", {})
    if first not in told:
        named = [(_named(first, cell), cell) for cell in _headings(reading)]
        best = max((fits for fits, _ in named), default=0.0)
        heads = [cell for fits, cell in named if fits >= max(_NAMED, best - 0.04)]
        told[first] = [_region(head, best, reading) for head in heads]
    return told[first]


def _named(first: Words, cell: Cell) -> float:
    tokens = cell.tokens[1:] if len(cell.tokens) > 1 and LEADING_NUMBER.match(cell.tokens[0].text) else cell.tokens
    whole = max((_alike(first, words_of(text)) for text in _texts(tokens)), default=0.0)
    return max(whole, _alike(first, words_of(cell.text)))  # "Person 1" is numbered behind


def _texts(tokens: tuple[Token, ...]) -> list[str]:
    text = " ".join(token.text for token in tokens).split("(")[0]
    return [text, *(text.split("/") if text.count("/") == 1 else ())]


def _alike(first: Words, words: Words) -> float:
    if not words:
        return 0.0
    if "".join(first) == "".join(words) or "".join(first) == "".join(in_english(words)):
        return 1.0
    return max(likeness(first, words), 0.97 * meant_alike(senses_of(first), senses_of(words)))


def _headings(reading: Reading) -> list[Cell]:
    """Cells that may head a part of a form: short, and alone in their line or box, or beside others like them."""
    told: list[Cell] | None = reading.__dict__.get("_heading_cells")
    if told is None:
        told = [cell for cell in reading.cells if _may_head(cell, reading) and _stands_out(cell, reading)]
        reading.__dict__["_heading_cells"] = told
    return told


def _may_head(cell: Cell, reading: Reading) -> bool:
    first = cell.tokens[0]
    known = first.index in reading.framed or first.index in reading.filled_in or first.origin == "form"
    worded = len(cell.tokens) <= _SHORT and any(map(str.isalpha, cell.text))
    ended = cell.text.endswith((":", "?", ".", ","))
    return worded and not ended and not known and (first.text[0].isupper() or first.text[0].isdigit())


def _stands_out(cell: Cell, reading: Reading) -> bool:
    line = reading.layout.lines[cell.line].cells
    alone = all(other is cell or (_may_head(other, reading) and _same_level(other, cell)) for other in line)
    frame = cell.tokens[0].frame
    return alone or (frame >= 0 and all(other is cell or other.tokens[0].frame != frame for other in reading.cells))


def _same_level(other: Cell, cell: Cell) -> bool:
    return abs(other.height - cell.height) <= _LEVEL * cell.height


def _region(head: Cell, fits: float, reading: Reading) -> Region:
    """From a heading down to the next one like it, and sideways to the one beside it."""
    size = reading.layout.page_size(head.page)
    beside = [other for other in _headings(reading) if other.line == head.line and other is not head]
    right = min((other.x0 for other in beside if other.x0 > head.x0), default=size.width) - 0.5 * head.height
    left = head.x0 - 2 * head.height if beside else 0.0
    number = head.tokens[0].frame
    frame = reading.layout.frames[number] if number >= 0 else None
    others = [cell for cell in reading.cells if cell.tokens[0].frame == number and cell is not head] if frame else []
    if frame is not None and others and frame.y1 - head.y1 > head.height:
        return Region(head.page, frame.x0, head.y1 - 1, frame.x1, frame.y1, fits)
    if frame is not None:
        left, right = (max(left, frame.x0 - 2), min(right, frame.x1)) if beside else (left, right)
    below = [cell for cell in _headings(reading) if _follows(cell, head, reading) and left <= cell.x0 <= right]
    end = min((cell.y0 for cell in below), default=size.height)
    return Region(head.page, left, head.y1 - 1, right, end, fits)


def _follows(cell: Cell, head: Cell, reading: Reading) -> bool:
    """Whether a heading of the same level stands further down."""
    if cell.page != head.page or cell.y0 < head.y1 or not _same_level(cell, head):
        return False
    if (cell.tokens[0].frame >= 0) != (head.tokens[0].frame >= 0):
        return False
    alone = len(reading.layout.lines[cell.line].cells) == len(reading.layout.lines[head.line].cells)
    return alone or abs(cell.x0 - head.x0) < head.height
