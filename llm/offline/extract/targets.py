"""What a schema asks for: each leaf as a target with its words, its concept and the kind of its values."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from llm.offline.extract.schema import MAX_DEPTH, Node, properties_of, resolve, type_of
from llm.offline.matching.lexicon import Concept, concept_of
from llm.offline.matching.naming import meant_by
from llm.offline.matching.senses import held, in_umlauts, senses_of
from llm.offline.matching.words import word_list, words_of, words_of_name

Path = tuple[str, ...]
MAX_TARGETS = 600

_PARTIES = {
    "seller": "seller vendor supplier merchant issuer sender store provider contractor employer landlord lessor "
    "insurer laboratory hotel shop restaurant pharmacy cafe bakery cinema garage retailer taxi pub bar market dealer "
    "magasin enseigne boutique pharmacie boulangerie commerce winkel zaak apotheek bakkerij geschaft laden markt "
    "apotheke backerei gaststatte filiale verkaufer lieferant vendeur fournisseur bank utility creditor operator "
    "versorger anbieter arbeitgeber vermieter glaubiger labor employeur operateur bailleur creancier emetteur assureur "
    "laboratoire leverancier werkgever verhuurder schuldeiser afzender absender expediteur verzekeraar",
    "buyer": "buyer customer client recipient bill billing sold invoicee kaufer kunde acheteur purchaser "
    "employee tenant lessee insured policyholder guest passenger subscriber holder cardholder debtor titulaire "
    "inhaber kontoinhaber arbeitnehmer arbeitnehmerin mitarbeiter mitarbeiterin mieter schuldner empfanger salarie "
    "locataire abonne debiteur destinataire klant werknemer medewerker huurder schuldenaar rekeninghouder afnemer "
    "ontvanger geadresseerde",
    "ship_to": "ship shipping delivery consignee",
}
_PARTY_OF = {word: role for role, words in _PARTIES.items() for word in words.split()}
_PARTS = {
    "line1": "line1 street street1 address1 addressline1 strasse rue straat",
    "line2": "line2 street2 address2 addressline2 additional",
    "postcode": "postcode zip zipcode postal plz",
    "city": "city town place ort ville stad",
    "state": "state province region",
    "country": "country land pays",
}
_PART_OF = {word: part for part, words in _PARTS.items() for word in words.split()}
_ID_WORDS = word_list("id_names")
_NUMBER_OF = frozenset({"numero", "num", "no", "nr", "nummer"})
"""What names of numbers begin with: "numero_dossier", "nummer_polis"."""
_NAME_WORDS = word_list("person_names")
_PRINTED = re.compile(r"\blabelled “([^”]{1,100})”(?: under “([^”]{1,60})”)?")
_DATED = frozenset({"date", "until"})
_NO_DATES = frozenset({"place", "city", "name", "family", "country", "state"})
"""Of a birth: where it was, and under which name."""
_ON = frozenset({"am", "le", "op", "on", "since", "seit", "sinds", "depuis"})
"""What a name of a date ends with: "faellig_am", "paid_on"."""
_DONE_BY = frozenset({"by", "durch", "par", "door"})
"""What a name of who did something ends with: "referred_by"."""
_SHORT = 3
"""Units: words of a name."""
_ENDS = frozenset({("from",), ("to",), ("von",), ("bis",), ("de",), ("a",), ("van",), ("tot",)})
_DATE_WORDS = frozenset(["date", "datum", "dob", "day"])


@dataclass(frozen=True, slots=True)
class Target:
    """One leaf of the schema. `party` and `part` are set for pieces of a seller's or buyer's details."""

    path: Path
    words: tuple[str, ...]
    about: tuple[str, ...]
    concept: Concept | None
    kind: str
    json_type: str
    enum: tuple[Any, ...] = ()
    party: str = ""
    part: str = ""
    node_format: str = ""
    printed: tuple[str, ...] = ()
    """The words of the label that the description says is printed: labelled “Net pay”."""
    under: tuple[str, ...] = ()
    """Those of the heading over it: labelled “Street” under “Sender”."""


def targets_of(schema: Any, root: Node) -> tuple[list[Target], list[tuple[Path, Node]]]:
    """The leaves outside arrays, and the arrays (path and resolved array node), both in schema order."""
    leaves: list[Target] = []
    arrays: list[tuple[Path, Node]] = []
    stack: list[tuple[Path, Any]] = [((), schema)]
    while stack and len(leaves) < MAX_TARGETS:
        path, raw = stack.pop()
        node = resolve(raw, root)
        kind = type_of(node)
        if kind == "object" and len(path) < MAX_DEPTH:
            stack.extend(reversed([((*path, name), child) for name, child in properties_of(node).items()]))
        elif kind == "array":
            arrays.append((path, node))
        elif kind in {"string", "number", "integer", "boolean"} and path:
            leaves.append(make_target(path, node, kind))
    return _whole_streets(leaves), arrays


def _whole_streets(leaves: list[Target]) -> list[Target]:
    """Where an address has one line for the street, that takes the whole line, commas and all."""
    second = {(target.party, target.path[:-1]) for target in leaves if target.part == "line2"}
    return [
        replace(target, part="street")
        if target.part == "line1" and (target.party, target.path[:-1]) not in second
        else target
        for target in leaves
    ]


def make_target(path: Path, node: Mapping[str, Any], json_type: str, *, column: bool = False) -> Target:
    """The target for one leaf."""
    words, own = _path_words(path), words_of_name(path[-1])
    if len(own) <= _SHORT:
        words, own = tuple(map(in_umlauts, words)), tuple(map(in_umlauts, own))
    described = str(node.get("description") or node.get("title") or "")
    about, printed = words_of(described), _PRINTED.search(described)
    options = node.get("enum", [node["const"]] if "const" in node else ())
    enum = tuple(options) if isinstance(options, (list, tuple)) else ()
    party, part = ("", "") if column or json_type != "string" else _party(words, own)
    concept = concept_of(own, columns=column) or (None if column else concept_of(words) or meant_by(own, json_type))
    if not column and len(path) > 1 and (longer := concept_of(words)):
        concept = longer
    if len(path) > 1 and own in _ENDS and concept is not None and concept.kind == "party":
        concept = None  # when something began or ended, or where
    if party and part != "name" and concept is not None and concept.form:
        concept = None  # a part of the seller's or the buyer's address, not what a form asks for
    kind = _kind(concept, json_type, words, str(node.get("format", "")), about)
    node_format, label = str(node.get("format", "")), words_of(printed.group(1)) if printed else ()
    head = words_of(printed.group(2) or "") if printed else ()
    return Target(path, words, about, concept, kind, json_type, enum, party, part, node_format, label, head)


def _path_words(path: Path) -> tuple[str, ...]:
    words: list[str] = []
    for name in path[-3:]:
        words.extend(word for word in words_of_name(name) if word not in words)
    return tuple(words)


def _party(words: Sequence[str], own: Sequence[str]) -> tuple[str, str]:
    if own[-1:] and own[-1] not in _PARTY_OF and own[-1].removesuffix("s") in _PARTY_OF:
        words = own = (*own[:-1], own[-1].removesuffix("s"))  # "tenants"
    role = next((_PARTY_OF[word] for word in words if word in _PARTY_OF), "")
    joined = "".join(own)
    if joined in _PART_OF:
        return role, _PART_OF[joined]
    part = next((_PART_OF[word] for word in reversed(own) if word in _PART_OF), "")
    if "address" in words and not part:
        numbered = next((word for word in ("1", "2") if word in own), "")
        return role, f"line{numbered}" if numbered else "address"
    if role and (own == tuple(w for w in words if w in _PARTY_OF) or "name" in own or own[-1:] == ("issuer",)):
        return role, "name"
    return role, part if role or "address" in words else ""


def _kind(concept: Concept | None, json_type: str, words: Sequence[str], node_format: str, about: Sequence[str]) -> str:
    if json_type == "boolean":
        return "boolean"
    by_format = {"date": "date", "date-time": "date", "email": "email", "uri": "url", "time": "time"}.get(node_format)
    if by_format:
        return by_format
    if json_type in {"number", "integer"}:
        return concept.kind if concept is not None and concept.kind in {"amount", "percent"} else "amount"
    if concept is not None:
        return concept.kind
    if len(words) > 1 and words[-1] in _DONE_BY and words[-2] not in {"due", "pay", "payable"}:
        return "name"
    senses = held(senses_of(tuple(words)))
    born = "birth" in senses and not senses & _NO_DATES
    if (
        _DATE_WORDS & set(words)
        or (words[-1:] and words[-1] in _ON)
        or senses & _DATED
        or born
        or ("iso" in about and "8601" in about)
    ):
        return "date"
    for kind in ("email", "phone", "iban", "bic", "currency", "url"):
        if kind in words:
            return kind
    if words and (words[-1] in _ID_WORDS or words[0] in _NUMBER_OF):
        return "id"
    return "name" if words and words[-1] in _NAME_WORDS else "text"
