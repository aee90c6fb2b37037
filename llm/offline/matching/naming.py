"""Which number or date a label names, by the senses it is made of and by what the document itself is.

"Bestellung 4711" on an order is the document's own number, on an invoice the order that it refers to. A label needs
no entry in a list of labels: what its words stand for, in any of the languages, decides.
"""

from collections.abc import Sequence

from llm.offline.matching.lexicon import Concept, concepts
from llm.offline.matching.senses import Senses, held, senses_of
from llm.offline.matching.words import word_list

DOCUMENTS = word_list("documents")
"""Senses that say which kind of document is meant."""
_NUMBER = frozenset({"number", "id", "code", "reference"})
_REFERRED = (
    ("delivery_note", "delivery_note_number"),
    ("order", "order_reference"),
    ("contract", "contract_reference"),
    ("policy", "contract_reference"),
    ("invoice", "related_document_number"),
    ("booking", "order_reference"),
)
_NUMBERED = (
    ("buyer", "buyer_id"),
    ("seller", "seller_id"),
    ("member", "membership_number"),
    ("tracking", "tracking_number"),
    ("project", "project_reference"),
)
_OTHERS = word_list("numbered")
"""What else is numbered: no number of a document."""
_DATES: tuple[tuple[str, str, str], ...] = (
    ("birth", "", "birth_date"),
    ("valid until", "", "period_end"),
    ("valid end", "", "period_end"),
    ("valid from", "", "period_start"),
    ("valid start", "", "period_start"),
    ("valid", "", "period_end"),
    ("due", "delivery", "due_date"),
    ("collect_direct", "delivery", "due_date"),
    ("pay until", "", "due_date"),
    ("pay date", "", "due_date"),
    ("delivery", "address valid", "delivery_date"),
    ("ship", "address", "delivery_date"),
    ("service", "period", "delivery_date"),
    ("signature", "", "signing_date"),
    ("period start", "", "period_start"),
    ("period end", "", "period_end"),
    ("start date", "", "period_start"),
    ("end date", "", "period_end"),
)
_OF_OTHERS = frozenset({"order", "delivery_note", "contract", "policy", "booking"})
"""Documents that others refer to by their number."""
_PERIODS = frozenset({"period", "statement", "billing", "contract", "valid", "consumption", "invoice", "service"})
_FROM = frozenset({"from", "von", "ab", "du", "van", "vanaf", "depuis", "start", "debut", "beginn", "begin"})
_UNTIL = frozenset({"to", "until", "bis", "au", "tot", "end", "fin", "ende", "eind", "einde"})
_ON = frozenset({"am", "le", "op", "on"})
_REFERENCE = frozenset({"reference", "ref", "referenz", "referentie"})
_SURE, _SHORT = 0.9, 3
_PLAIN = _NUMBER | {"date", "document", "your", "our", "name", "until", "from", "part"}


def number_meant(words: Sequence[str], own: frozenset[str]) -> tuple[str, float] | None:
    """The concept of a label of a number, and how much of the label says so (0–1). `own`: what the document is."""
    senses = _last_document(senses_of(_behind_link(tuple(words))))
    said = held(senses)
    if not senses or len(senses) > 5 or said & _OTHERS or ("date" in said and not said & _NUMBER):
        return None
    documents = said & DOCUMENTS
    if "buyer" in said and "reference" in said and not documents:
        return "buyer_reference", _share(senses, frozenset({"buyer"}))
    whose = next(((sense, name) for sense, name in _NUMBERED if sense in said and not documents), None)
    if whose is not None and said & _NUMBER:
        return whose[1], _share(senses, frozenset({whose[0]}))
    if documents:
        return _of_documents(documents, senses, said, own)
    if "document" in said and "number" in said:
        return "document_number", _share(senses, frozenset())
    if "your" in said and "number" in said:
        return "buyer_reference", 0.9 * _share(senses, frozenset())
    return None


def meant_by(words: Sequence[str], json_type: str) -> Concept | None:
    """The concept of a property that is named in the words of a label: "numero_facture", "faellig_am"."""
    said = tuple(words)
    if json_type != "string" or not said:
        return None
    found: tuple[str, float] | None = None
    if 1 < len(said) <= _SHORT and said[-1] in _FROM | _UNTIL and held(senses_of(said[:-1])) & _PERIODS:
        found = ("period_start" if said[-1] in _FROM else "period_end"), 1.0
    elif said[-1] not in _REFERENCE:
        found = number_meant(said, DOCUMENTS - _OF_OTHERS) or date_meant(said, DOCUMENTS - _OF_OTHERS)
    if found is None or found[1] < _SURE:
        return None
    dated = bool(held(senses_of(said)) & {"date"}) or said[-1] in _ON
    named = dated if concepts()[found[0]].kind == "date" else bool(held(senses_of(said)) & {"number"})
    return concepts()[found[0]] if named or found[0].startswith("period") else None


def _behind_link(words: tuple[str, ...]) -> tuple[str, ...]:
    """ "Credit for invoice": what the label is of stands behind the small word."""
    last = max((at for at, word in enumerate(words) if word in word_list("links")), default=-1)
    behind = words[last + 1 :]
    return behind if last > 0 and held(senses_of(behind)) & DOCUMENTS else words


def _last_document(senses: Senses) -> Senses:
    """ "Invoice for order no." is the number of the order."""
    places = [at for at, part in enumerate(senses) if part & DOCUMENTS]
    return senses[places[-1] :] if len(places) > 1 and places[-1] - places[-2] > 1 else senses


def _of_documents(
    documents: frozenset[str], senses: Sequence[frozenset[str]], said: frozenset[str], own: frozenset[str]
) -> tuple[str, float] | None:
    share = _share(senses, documents) * (1.0 if said & _NUMBER else 0.9)
    if documents & own and "buyer" not in said:
        return "document_number", share
    if "order" in documents and "our" in said:
        return "sales_order_number", share
    for sense, name in _REFERRED:
        if sense in documents:
            return name, share
    return None if own else ("document_number", 0.8 * share)


def date_meant(words: Sequence[str], own: frozenset[str]) -> tuple[str, float] | None:
    """The concept of a label of a date, and how much of the label says so (0–1)."""
    senses = senses_of(tuple(words))
    said = held(senses)
    if not senses or len(senses) > 5:
        return None
    for has, without, name in _DATES:
        needed = frozenset(has.split())
        if needed <= said and not said & frozenset(without.split()):
            return name, _share(senses, needed)
    documents = said & DOCUMENTS
    if documents and not documents & own and own:
        name = "order_date" if "order" in documents else "related_document_date"
        return name, _share(senses, documents) * (1.0 if "date" in said else 0.9)
    if "issued" in said or ("date" in said and (documents or "document" in said)):
        return "issue_date", _share(senses, documents | {"issued"})
    return None


def _share(senses: Sequence[frozenset[str]], telling: frozenset[str]) -> float:
    """How many of the label's parts are those that tell, or stand beside them on every such label."""
    known = sum(bool(part & (telling | _PLAIN)) for part in senses)
    return 0.4 + 0.6 * known / len(senses)
