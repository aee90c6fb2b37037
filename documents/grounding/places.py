"""Where on the page does a value stand? Deterministic: words and boxes in, page, boxes, quote and state out. No model.

Works for the result of any model. States: `found`; `ambiguous` (several places could be meant and nothing decides;
the likeliest is given); `not_found` (it stands nowhere: perhaps invented, perhaps worked out); `absent` (the schema's
empty value: the document does not have it).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from documents.grounding.labels import Labels, Wanted
from documents.grounding.leaves import Leaf, is_empty, leaves_of, texts_of_rows
from documents.grounding.lookups import Lookup
from documents.grounding.rows import settle_rows
from documents.page_index import Hit, PageIndex, fold_text
from documents.spellings import currency_sign, kind_of
from llm.content import PageContent
from llm.offline.matching.words import words_of_name

State = Literal["found", "ambiguous", "not_found", "absent"]

_MOST_RIVALS = 40
_DASHES = frozenset("-–/.")
_CODES = frozenset(["id", "iban", "bic", "vat_id", "phone", "email", "url"])
_LONG_CODE = 5
_WORD = re.compile(r"[^\W\d_]{3}")
"""A text with words in two places is one thing said twice; a number or a letter may be two things."""


@dataclass(frozen=True, slots=True)
class Grounding:
    """Where one leaf stands. `source` is "form" where it was filled into a field of a PDF form, else "".

    Units: boxes are fractions of the page, origin top left; `page` is 1-based.
    """

    state: State
    page: int | None = None
    boxes: tuple[tuple[float, float, float, float], ...] = ()
    quote: str = ""
    source: Literal["", "form"] = ""

    def as_json(self) -> dict[str, Any]:
        """`source` is there only where it says something."""
        boxes = [list(box) for box in self.boxes]
        told = {"state": self.state, "page": self.page, "boxes": boxes, "quote": self.quote}
        return told | ({"source": self.source} if self.source else {})


def ground(*, data: Any, pages: Sequence[PageContent]) -> dict[str, Grounding]:
    """Locate every leaf of `data`: path ("lines.0.total") → Grounding.

    Empty arrays and objects are leaves too (state `absent`).
    """
    leaves = [Leaf(path, value) for path, value in leaves_of(data)]
    lookup = Lookup(pages, [leaf.path for leaf in leaves if isinstance(leaf.value, bool)])
    labels = Labels(lookup.index)
    beside = texts_of_rows(leaves)
    for leaf in leaves:
        if leaf.value is False or not is_empty(leaf.value):
            places = lookup.places(leaf.path, leaf.value, beside.get(leaf.row, ()))
            leaf.hits, leaf.doubtful = lookup.index.filled_in(places.hits), places.doubtful
    for leaf in leaves:
        if len(leaf.hits) == 1:
            leaf.settled = leaf.hits[0]
    settle_rows(labels, leaves)
    _settle_objects(leaves)
    _settle_families(leaves)
    _choose(labels, [leaf for leaf in leaves if _is_said_twice(leaf)])
    _settle_objects(leaves)
    _choose(labels, leaves)
    return {leaf.path: _grounding(lookup.index, leaf) for leaf in leaves}


def _settle_objects(leaves: list[Leaf]) -> None:
    """Values of one nested object stand together (an address): those that are clear pull the others to them."""
    for leaf in leaves:
        parent = leaf.path.rpartition(".")[0]
        if leaf.settled is None and leaf.hits and parent:
            _pull(leaf, [one.settled for one in leaves if one.settled and one.path.rpartition(".")[0] == parent])


def _settle_families(leaves: list[Leaf]) -> None:
    """Two names with one value (a company that sells to itself) stand each with its family: buyer_name beside
    buyer_address."""
    for leaf in leaves:
        family = _family(leaf)
        rivals = [one for one in leaves if one.value == leaf.value and _family(one) not in ("", family)]
        if leaf.settled is None and leaf.hits and family and rivals and isinstance(leaf.value, str):
            _pull(leaf, [one.settled for one in leaves if one.settled and _family(one) == family and "." in one.path])


def _family(leaf: Leaf) -> str:
    """The first word of a name of several: "buyer" of buyer_name and of buyer_address.city."""
    words = words_of_name(leaf.path.partition(".")[0])
    return words[0] if len(words) > 1 and not leaf.row else ""


def _pull(leaf: Leaf, anchors: list[Hit]) -> None:
    """Take the place that is clearly nearer to the anchors than any other."""
    near = sorted(
        (min(hit.distance(anchor) for anchor in anchors if anchor.page == hit.page), position)
        for position, hit in enumerate(leaf.hits)
        if any(anchor.page == hit.page for anchor in anchors)
    )
    if near and (len(near) == 1 or near[0][0] < near[1][0] / 2):
        leaf.settled = leaf.hits[near[0][1]]


def _choose(labels: Labels, leaves: list[Leaf]) -> None:
    """Settle what is left: by label, where one stands out; equal values share their places out among them."""
    shared: dict[tuple[tuple[int, tuple[int, ...]], ...], list[Leaf]] = {}
    for leaf in leaves:
        if leaf.settled is None and leaf.hits:
            shared.setdefault(tuple((hit.page, hit.words) for hit in leaf.hits), []).append(leaf)
    for members in shared.values():
        alone = len(members) > _MOST_RIVALS or len(members) > len(members[0].hits) or _is_said_twice(members[0])
        for group in [[leaf] for leaf in members] if alone else [members]:
            _share_out(labels, group)


def _share_out(labels: Labels, leaves: list[Leaf]) -> None:
    """Leaves with the same places: the best pair of name and label first, each place once."""
    hits, wanted = leaves[0].hits, [Wanted.of(leaf.path) for leaf in leaves]
    scores = [[labels.beside(hit, name) for hit in hits] for name in wanted]
    left, free = list(range(len(leaves))), list(range(len(hits)))
    in_order = len(leaves) == len(hits) and len({leaf.column for leaf in leaves}) == 1 < len(leaves)
    sure = True
    while left:
        _, leaf, hit = max((scores[one][place], -one, -place) for one in left for place in free)
        chosen, place = leaves[-leaf], -hit
        others = [scores[-leaf][other] for other in free if other != place]
        is_clear = scores[-leaf][place] > max(others, default=-1.0) and sure
        sure = is_clear
        chosen.settled = hits[place]
        chosen.doubtful = chosen.doubtful or not (is_clear or in_order or _is_said_twice(chosen))
        left.remove(-leaf)
        free.remove(place)


def _is_said_twice(leaf: Leaf) -> bool:
    """Whether a value in two places is one thing said twice: a name, a currency, a document's number; not an amount."""
    if not isinstance(leaf.value, str):
        return False
    is_code = kind_of(leaf.path) in _CODES and len(fold_text(leaf.value)) >= _LONG_CODE
    return is_code or bool(currency_sign(leaf.value) or _WORD.search(leaf.value))


def _grounding(index: PageIndex, leaf: Leaf) -> Grounding:
    if leaf.settled is not None:
        return _as_grounding(index, "ambiguous" if leaf.doubtful else "found", leaf.settled)
    if is_empty(leaf.value) or (leaf.value == 0 and not isinstance(leaf.value, str)):
        return Grounding("absent")
    return Grounding("not_found")


def _as_grounding(index: PageIndex, state: State, hit: Hit) -> Grounding:
    words = index.page(hit.page).words
    said = [words[position] for position in hit.words if words[position].text not in _DASHES]
    is_filled = bool(said) and all(word.origin == "form" for word in said)
    return Grounding(state, hit.page, hit.boxes, hit.quote, "form" if is_filled else "")
