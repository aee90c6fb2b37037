"""Where on the page does a value stand? Deterministic: words and boxes in, page, boxes, quote and state out. No model.

Works for the result of any model. States: `found`; `ambiguous` (several places could be meant and nothing decides;
the likeliest is given); `not_found` (it stands nowhere: perhaps invented, perhaps worked out); `absent` (the schema's
empty value: the document does not have it).
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from documents.grounding.lookups import Lookup
from documents.page_index import Hit, PageIndex, fold_text
from llm.content import PageContent
from llm.offline.matching.lexicon import Concept, concept_of, find_phrases
from llm.offline.matching.words import words_of, words_of_name

State = Literal["found", "ambiguous", "not_found", "absent"]

_CURRENCY_SIGNS = {"EUR": "€", "USD": "$", "GBP": "£", "JPY": "¥", "CHF": "Fr."}
_NAMED = 2.0
"""What a printed label that names the property counts beside words that are merely like its name."""
_SHORT = 3
"""A text this short may mean two things in two places; a longer one is one thing said twice."""


@dataclass(frozen=True, slots=True)
class Grounding:
    """Where one leaf stands. Units: boxes are fractions of the page, origin top left; `page` is 1-based."""

    state: State
    page: int | None = None
    boxes: tuple[tuple[float, float, float, float], ...] = ()
    quote: str = ""

    def as_json(self) -> dict[str, Any]:
        return {"state": self.state, "page": self.page, "boxes": [list(box) for box in self.boxes], "quote": self.quote}


@dataclass(slots=True)
class _Leaf:
    path: str
    value: Any
    hits: list[Hit] = field(default_factory=list)
    doubtful: bool = False
    settled: Hit | None = None

    @property
    def row(self) -> str:
        """The array element that the leaf belongs to ("lines.0"), "" for none."""
        parts = self.path.split(".")
        last = max((i for i, part in enumerate(parts) if part.isdigit()), default=-1)
        return ".".join(parts[: last + 1])


def ground(*, data: Any, pages: Sequence[PageContent]) -> dict[str, Grounding]:
    """Locate every leaf of `data`: path ("lines.0.total") → Grounding.

    Empty arrays and objects are leaves too (state `absent`).
    """
    lookup = Lookup(pages)
    leaves = [_Leaf(path, value) for path, value in leaves_of(data)]
    beside = _texts_of_rows(leaves)
    for leaf in leaves:
        if leaf.value is False or not is_empty(leaf.value):
            places = lookup.places(leaf.path, leaf.value, beside.get(leaf.row, ()))
            leaf.hits, leaf.doubtful = list(places.hits), places.doubtful
    for leaf in leaves:
        if len(leaf.hits) == 1:
            leaf.settled = leaf.hits[0]
    _settle_rows(leaves)
    _settle_objects(leaves)
    _settle_families(leaves)
    return {leaf.path: _grounding(lookup.index, leaf) for leaf in leaves}


def leaves_of(data: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every leaf with its dotted path; list positions are numbers."""
    if isinstance(data, dict) and data:
        for key, value in data.items():
            yield from leaves_of(value, f"{path}.{key}" if path else str(key))
    elif isinstance(data, list) and data:
        for position, value in enumerate(data):
            yield from leaves_of(value, f"{path}.{position}" if path else str(position))
    elif path:
        yield path, data


def is_empty(value: Any) -> bool:
    """The schema rules' way to say "not in the document". A printed zero is looked for, see `_hits`."""
    return value is None or value is False or value in ("", [], {}) or (isinstance(value, str) and not value.strip())


def _texts_of_rows(leaves: list[_Leaf]) -> dict[str, list[str]]:
    """The texts of each array element, by its path."""
    texts: dict[str, list[str]] = {}
    for leaf in leaves:
        if leaf.row and isinstance(leaf.value, str) and leaf.value.strip():
            texts.setdefault(leaf.row, []).append(leaf.value)
    return texts


def _settle_rows(leaves: list[_Leaf]) -> None:
    """Values of one array element stand on one row: let those that are clear decide for those that are not."""
    rows: dict[str, list[_Leaf]] = {}
    for leaf in leaves:
        if leaf.row:
            rows.setdefault(leaf.row, []).append(leaf)
    taken: set[tuple[int, tuple[int, ...]]] = set()
    for members in rows.values():
        anchors = [leaf.settled for leaf in members if leaf.settled is not None]
        for leaf in members:
            if leaf.settled is None and leaf.hits:
                leaf.settled = _nearest_in_row(leaf.hits, anchors, taken)
            if leaf.settled is not None:
                taken.add((leaf.settled.page, leaf.settled.words))
                anchors.append(leaf.settled)


def _settle_objects(leaves: list[_Leaf]) -> None:
    """Values of one nested object stand together (an address): those that are clear pull the others to them."""
    for leaf in leaves:
        parent = leaf.path.rpartition(".")[0]
        if leaf.settled is None and leaf.hits and parent:
            _pull(leaf, [one.settled for one in leaves if one.settled and one.path.rpartition(".")[0] == parent])


def _settle_families(leaves: list[_Leaf]) -> None:
    """Two names with one value (a company that sells to itself) stand each with its family: buyer_name beside
    buyer_address."""
    for leaf in leaves:
        family = _family(leaf)
        rivals = [one for one in leaves if one.value == leaf.value and _family(one) not in ("", family)]
        if leaf.settled is None and leaf.hits and family and rivals and isinstance(leaf.value, str):
            _pull(leaf, [one.settled for one in leaves if one.settled and _family(one) == family and "." in one.path])


def _family(leaf: _Leaf) -> str:
    """The first word of a name of several: "buyer" of buyer_name and of buyer_address.city."""
    words = words_of_name(leaf.path.partition(".")[0])
    return words[0] if len(words) > 1 and not leaf.row else ""


def _pull(leaf: _Leaf, anchors: list[Hit]) -> None:
    """Take the place that is clearly nearer to the anchors than any other."""
    near = sorted(
        (min(hit.distance(anchor) for anchor in anchors if anchor.page == hit.page), position)
        for position, hit in enumerate(leaf.hits)
        if any(anchor.page == hit.page for anchor in anchors)
    )
    if near and (len(near) == 1 or near[0][0] < near[1][0] / 2):
        leaf.settled = leaf.hits[near[0][1]]


def _nearest_in_row(hits: list[Hit], anchors: list[Hit], taken: set[tuple[int, tuple[int, ...]]]) -> Hit | None:
    free = [hit for hit in hits if (hit.page, hit.words) not in taken] or hits
    if not anchors:
        return None
    beside = [hit for hit in free if any(hit.page == anchor.page and hit.overlaps_rows(anchor) for anchor in anchors)]
    return min(beside, key=lambda hit: min(hit.distance(a) for a in anchors if a.page == hit.page)) if beside else None


def _grounding(index: PageIndex, leaf: _Leaf) -> Grounding:
    if leaf.settled is not None:
        return _as_grounding("ambiguous" if leaf.doubtful else "found", leaf.settled)
    if leaf.hits:
        return _choose(index, leaf)
    if is_empty(leaf.value) or (leaf.value == 0 and not isinstance(leaf.value, str)):
        return Grounding("absent")
    return Grounding("not_found")


def _choose(index: PageIndex, leaf: _Leaf) -> Grounding:
    """Several places: the one whose label is most like the property's name, if one stands out."""
    tokens = _label_tokens(leaf.path)
    concept = concept_of(words_of_name(leaf.path.rpartition(".")[2]))
    scored = sorted(
        (index.label_score(hit, tokens) + _NAMED * _names(concept, index.label_before(hit)), -position, hit)
        for position, hit in enumerate(leaf.hits)
    )
    best, second = scored[-1], scored[-2]
    said_twice = isinstance(leaf.value, str) and len(fold_text(leaf.value)) > _SHORT and not leaf.value[:1].isdigit()
    clear = best[0] > second[0] or said_twice or _is_currency(leaf.value)
    return _as_grounding("found" if clear and not leaf.doubtful else "ambiguous", best[2])


def _names(concept: Concept | None, label: str) -> bool:
    """Whether a printed label names the concept, in any language of the lexicon ("Subtotal" → net_total)."""
    return concept is not None and any(concept.name in phrase.concepts for phrase in find_phrases(words_of(label)))


def _is_currency(value: Any) -> bool:
    return isinstance(value, str) and value in _CURRENCY_SIGNS


def _as_grounding(state: State, hit: Hit) -> Grounding:
    return Grounding(state, hit.page, hit.boxes, hit.quote)


def _label_tokens(path: str) -> list[str]:
    """The words of a property's own name and of its parents: "gross_total" → gross, total."""
    words = re.sub(r"([a-z])([A-Z])", r"\1 \2", path.replace("_", " ").replace(".", " "))
    return [fold_text(word) for word in words.split() if not word.isdigit()]
