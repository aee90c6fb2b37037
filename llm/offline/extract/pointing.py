"""Which labels point to a target: by concept, by the likeness of names, by what their words stand for, by role."""

from collections.abc import Iterator
from dataclasses import replace

from llm.offline.extract.captions import Caption, is_numbered
from llm.offline.extract.headings import first_under
from llm.offline.extract.labels import Hit
from llm.offline.extract.reading import Reading
from llm.offline.extract.roles import role_at
from llm.offline.extract.sections import sectioned
from llm.offline.extract.targets import Target
from llm.offline.layout.analysis import cells_right
from llm.offline.matching.lexicon import Concept, concepts
from llm.offline.matching.senses import Senses, held, meant_alike, senses_of, telling
from llm.offline.matching.words import likeness, word_list, words_of, words_of_name

ALIKE = 0.58
"""Units: likeness 0–1. What names a target at least so well points to it."""
_SURE, _IN_BOX, _WHOLE = 0.85, 0.7, 0.9
_INLINE = frozenset({"id", "date", "amount", "percent", "iban", "bic", "vat_id", "phone", "time"})
"""Kinds whose values stand behind a word inside a line of several things."""
_GIVEN = {
    "id": frozenset({"number", "id", "code", "reference", "registration"}),
    "vat_id": frozenset({"number", "id"}),
    "date": frozenset({"date", "day"}),
    "amount": frozenset({"amount", "total", "number", "pay", "pay_wage", "cost", "fee", "price"}),
    "percent": frozenset({"rate"}),
    "text": frozenset({"type"}),
    "phone": frozenset({"number"}),
}
"""What a value of a kind says by itself: its label need not."""
_UNITS = {
    "kg": "weight", "g": "weight", "t": "weight", "lb": "weight", "lbs": "weight", "l": "volume", "m3": "volume",
    "gal": "volume", "km": "odometer", "kwh": "consumption", "m2": "area", "std": "hour", "h": "hour", "hrs": "hour",
}  # fmt: skip
_BY_UNIT = frozenset(_UNITS.values())
_WORDY = frozenset({"text", "name", "party"})
_ID_NAMES = word_list("id_names") - {"code", "ref", "reference", "policy", "registration", "plate"}
_SHORT = 4
_FORM = 5
"""So many captions in boxes or before lines make a form."""
_ROLES = {"seller": "seller", "buyer": "buyer", "ship_to": "delivery"}


def hits_for(target: Target, reading: Reading) -> list[Hit]:
    """Where labels for the target stand."""
    found = _hits_for(target, reading)
    return found if target.printed else [_weaker(hit, _trust(hit, reading)) for hit in found]


def _trust(hit: Hit, reading: Reading) -> float:
    """Captions beside no box or line of a form that has them are hardly meant. Another part's are refused later."""
    known = len(reading.framed) < _FORM or reading.is_business or reading.is_typed
    drawn = known or hit.end < len(hit.cell.tokens)
    without = not drawn and hit.cell.tokens[0].index not in reading.framed
    return 0.85 if without else 1.0


def _hits_for(target: Target, reading: Reading) -> list[Hit]:
    found: list[Hit] = []
    captions = [*reading.captions, *(reading.segments if target.kind in _INLINE else ())]
    if target.printed:
        printed = [caption for caption in captions if _is_printed(caption, target)]
        if target.under:
            heads = [cell for cell in reading.cells if words_of(cell.text) == target.under]
            printed = [caption for head in heads if (caption := first_under(head, printed)) is not None][:1]
        found.extend(Hit(caption.cell, caption.start, caption.end, 1.0) for caption in printed)
        if found or target.under:
            return found
    if len(reading.framed) >= _FORM or reading.asks_a_person:
        found.extend(sectioned(target, reading))
    if target.concept is not None:
        found.extend(_specific(target, hit) for hit in _concept_hits(target, reading))
        alike = (hit for caption in captions if (hit := _alike_hit(target, caption, reading)))
        sure = (hit for hit in alike if _is_sure(hit, reading) and not _names_another(hit, target.concept, reading))
        found.extend(_weaker(hit, 0.92) for hit in sure)
    elif target.part not in {"postcode", "line1", "line2", "street"} or not target.party:
        found.extend(hit for caption in captions if (hit := _alike_hit(target, caption, reading)))
    return found


def _is_sure(hit: Hit, reading: Reading) -> bool:
    """Whether words alone point to a thing that the vocabulary knows: in boxes less will do, nothing else is there."""
    return hit.quality >= (_IN_BOX if hit.cell.tokens[0].index in reading.framed else _SURE)


def _is_printed(caption: Caption, target: Target) -> bool:
    """Whether a caption is the one that the description of the property quotes."""
    return caption.words == target.printed


def _names_another(hit: Hit, concept: Concept, reading: Reading) -> bool:
    """Whether a label is that of another thing of the kind: a customer's number is no customer's reference."""
    said = [held for held in reading.labelled.get(hit.cell.tokens[0].index, ()) if held.quality >= _WHOLE]
    over = [held for held in said if held.start < hit.end and hit.start < held.end and held.concepts]
    same = [held for held in over if any(concepts()[name].kind == concept.kind for name in held.concepts)]
    return bool(same) and not any(concept.name in held.concepts for held in same)


def _specific(target: Target, hit: Hit) -> Hit:
    """Of two labels for one concept the one whose words are the property's own counts a little more."""
    said = words_of(" ".join(token.text for token in hit.cell.tokens[hit.start : hit.end]))
    return _weaker(hit, 0.95 + 0.05 * meant_alike(senses_of(target.words), senses_of(said), _given(target)))


def _concept_hits(target: Target, reading: Reading) -> Iterator[Hit]:
    assert target.concept is not None  # noqa: S101  # the only caller asked
    name = target.concept.name
    for hit in reading.hits.get(name, ()):
        other = {"seller_vat_id": "buyer", "buyer_vat_id": "seller"}.get(name)
        weaker = other is not None and role_at(hit.cell, reading) == other
        yield _weaker(hit, 0.5) if weaker else (_weaker(hit, 0.85) if _means_another(hit, name) else hit)
    if name == "buyer_vat_id":
        for hit in reading.hits.get("seller_vat_id", ()):
            if (role_at(hit.cell, reading) or ("buyer" if reading.is_buyers else "")) == "buyer":
                yield _weaker(hit, 0.95)
    if name == "tax_rate":
        yield from (_weaker(hit, 0.85) for hit in reading.hits.get("tax_total", ()) if _is_rated(hit))
    if name == "delivery_date" and "delivery_note" in reading.own:
        yield from (_weaker(hit, 0.6) for hit in reading.hits.get("issue_date", ()))
    if name in {"order_reference", "sales_order_number"} and "order" in reading.own:
        yield from (_weaker(hit, 0.8) for hit in reading.hits.get("document_number", ()))
    for instead in target.concept.instead:
        for hit in reading.hits.get(instead, ()):
            yield _weaker(hit, 0.6)


def _is_rated(hit: Hit) -> bool:
    """Whether a share stands behind a label of a tax."""
    return any("%" in token.text for token in hit.cell.tokens[hit.end : hit.end + 2])


def _means_another(hit: Hit, name: str) -> bool:
    """A label that may name the document's own number or one it refers to counts less for its own."""
    return name == "document_number" and "order_reference" in hit.concepts


def _weaker(hit: Hit, factor: float) -> Hit:
    return replace(hit, quality=hit.quality * factor)


def _alike_hit(target: Target, caption: Caption, reading: Reading) -> Hit | None:
    alike = likeness(target.words, caption.words)
    if len(target.path) > 1:
        own = words_of_name(target.path[-1])
        alike = max(alike, 0.9 * likeness(target.words[-2:], caption.words))
        if len(reading.framed) >= _FORM:
            meant = meant_alike(senses_of(own), senses_of(caption.words), _given(target))
            alike = max(alike, 0.85 * likeness(own, caption.words), 0.82 * meant)
    if target.about and alike < ALIKE:
        alike = max(alike, 0.8 * likeness(caption.words, target.about)) if len(caption.words) > 1 else alike
    alike = max(alike, 0.97 * _meant(target, caption, reading))
    if len(caption.cell.tokens) > 14 and not (caption.colon or caption.inline or is_numbered(caption.cell)):
        alike *= 0.7  # running text, no label
    if not caption.start and caption.cell.text[:1].islower():
        alike *= 0.8  # the rest of a longer caption
    if (
        len(caption.words) <= _SHORT
        and target.kind in _WORDY
        and _ID_NAMES & set(caption.words)
        and not _ID_NAMES & set(target.words)
    ):
        alike *= 0.6  # a label of a number
    if alike < ALIKE:
        return None
    return Hit(caption.cell, caption.start, caption.end, alike)


def _meant(target: Target, caption: Caption, reading: Reading) -> float:
    """How well the senses of a caption fit the target's, whose party the place or the words must tell."""
    wanted, label = senses_of(target.words), senses_of(caption.words)
    role = _ROLES.get(target.party, "")
    without = tuple(part for part in wanted if role not in part) if role else wanted
    given = _given(target) | (reading.topics if len(reading.framed) < _FORM else frozenset())
    if any(part & _BY_UNIT for part in wanted):
        given |= _unit(caption, reading)
    if role and not any(role not in part and any(part & other for other in without) for part in label):
        given = frozenset()  # "Client" alone is no reference of his
    best = meant_alike(wanted, label, given)
    if role and without != wanted and telling(without) and (alone := meant_alike(without, label, given)) >= ALIKE:
        best = max(best, alone * _role_fit(target.party, label, caption, reading))
    elif role and without and not telling(label) and role_at(caption.cell, reading) == target.party:
        best = max(best, 0.8 * meant_alike(without, label, given))  # "Code" under the heading of the supplier
    return best


def _role_fit(party: str, label: Senses, caption: Caption, reading: Reading) -> float:
    """Whether a label that names no party is the seller's or the buyer's. Units: factor."""
    said = held(label)
    role = "buyer" if said & {"your", "buyer"} else ("seller" if said & {"our", "seller"} else "")
    role = role or role_at(caption.cell, reading)
    if not role:
        return 0.95 if party == "seller" else 0.5
    return 0.98 if role == party else 0.4


def _given(target: Target) -> frozenset[str]:
    return _GIVEN.get(target.kind, frozenset())


def _unit(caption: Caption, reading: Reading) -> frozenset[str]:
    """What the unit behind a number tells: kilograms are a weight."""
    behind = [token.text for token in caption.cell.tokens[caption.end :]]
    for cell in cells_right(reading.layout, caption.cell)[:1]:
        behind += [token.text for token in cell.tokens]
    units = (_UNITS.get(text.lower().strip(".,;")) for text in behind[:4])
    return frozenset(unit for unit in units if unit is not None)
