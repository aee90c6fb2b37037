"""Who is who: addresses, sender lines and labelled names, with the role of seller, buyer or recipient."""

import re
from collections.abc import Sequence
from dataclasses import replace

from llm.offline.extract.addresses import LEGAL, Party, party_at
from llm.offline.extract.contracting import contract_parties
from llm.offline.extract.labels import Hit
from llm.offline.extract.reading import Reading
from llm.offline.extract.roles import ROLES, is_heading, rest_of, role_at
from llm.offline.extract.tills import paid_with
from llm.offline.extract.values import Value, values_in
from llm.offline.matching.words import words_of
from llm.offline.typing.codes import find_codes
from llm.offline.typing.folding import fold

_CONFIRMED = re.compile(r"confirm|acknowledg|bestatig|bevestig|accuse de reception")
_HEAD, _SHORT_WORD = 14, 3
"""Units: lines; letters."""
_PAID = 0.4
"""Units: score. What is paid with, beside the amount."""
_TOLD = 0.8
"""Units: certainty. From here on a heading told the role."""
_NAME_LABEL = frozenset({("name",), ("nom",), ("naam",), ("firma",), ("company",)})


def find_parties(reading: Reading) -> list[Party]:
    """All parties of the document, each with the role that its label or place gives it; those that a contract names."""
    if named := contract_parties(reading):
        return named
    parties = [party for cell in reading.cells if (party := party_at(cell, reading))]
    parties += _labelled_names(reading, parties)
    _infer_roles(parties, reading)
    if _is_order(reading):
        _turn_round(parties)
    if (alone := _shop(parties, reading)) is not None:
        alone.role, alone.certainty = "seller", 0.7
    parties += _recipients(parties)
    _name_by_letterhead(parties, reading)
    head = _head_name(reading)
    if head is not None and not any(party.role == "seller" for party in parties):
        parties.append(head)
    return parties


def _is_order(reading: Reading) -> bool:
    """Whether it is an order: its letterhead is the buyer's. A confirmation of one is the seller's."""
    head = fold(" ".join(line.text for line in reading.layout.lines[:_HEAD]))
    return "order" in reading.own and not _CONFIRMED.search(head)


def _turn_round(parties: Sequence[Party]) -> None:
    """Of an order the sender, or whose address stands first, is the buyer, unless headings say who is who."""
    told = [party for party in parties if party.certainty < _TOLD and party.role in {"seller", "buyer"}]
    named = {party.role for party in parties if party.certainty >= _TOLD and "city" in party.parts}
    first = min(told, key=lambda one: (not one.sender_line, one.cell.page, one.cell.y0), default=None)
    if first is None or "seller" in named:
        return
    others = [party for party in told if party is not first and not _same_place(party, first)]
    for party in told:
        party.role = "seller" if party in others or ("buyer" in named and not others) else "buyer"


def _name_by_letterhead(parties: Sequence[Party], reading: Reading) -> None:
    """The letterhead's large name is fuller than the one in the sender's line, when both have a word in common."""
    head = _head_name(reading)
    if head is None or "name" not in head.parts:
        return
    said = set(words_of(head.parts["name"].text))
    for party in parties:
        name = party.parts.get("name")
        if name is None or not party.sender_line or LEGAL.search(name.text):
            continue
        own = words_of(name.text)
        if len(said) > len(own) and any(len(word) > _SHORT_WORD and word in said for word in own):
            party.parts["name"] = head.parts["name"]


def _shop(parties: Sequence[Party], reading: Reading) -> Party | None:
    """The one address of a paper that a till printed: whoever is named over it, it is the shop's."""
    placed = [party for party in parties if "city" in party.parts]
    if len(placed) != 1 or placed[0].role == "seller" or placed[0].cell.line >= _HEAD:
        return None
    return placed[0] if any(told.score >= _PAID for told in paid_with(reading)) else None


def _recipients(parties: Sequence[Party]) -> list[Party]:
    """Who gets the goods is the buyer where no other address is the buyer's."""
    if any(party.role == "buyer" and "city" in party.parts for party in parties):
        return []
    return [replace(party, role="buyer", certainty=0.4) for party in parties if party.role == "ship_to"][:1]


def _labelled_names(reading: Reading, parties: Sequence[Party]) -> list[Party]:
    """ "Name: …" under a heading, "Sold to … " beside a name without an address."""
    found = []
    for caption in reading.captions:
        if caption.words in _NAME_LABEL and (role := role_at(caption.cell, reading)):
            right = [cell for cell in reading.layout.lines[caption.cell.line].cells if cell.x0 >= caption.cell.x1]
            near = bool(right) and not reading.is_label(right[0])
            names = values_in("name", right[0].tokens, reading) if near else []
            if names:
                found.append(Party(right[0], {"name": names[0]}, role, 1.1))
    taken = {party.role for party in (*parties, *found) if party.certainty >= 0.9 and "name" in party.parts}
    for role in ROLES:
        if role in taken:
            continue
        for hit in reading.hits.get(f"{role}_name", ()):
            name = _name_at(hit, reading) if is_heading(hit) else None
            if name is not None:
                found.append(Party(hit.cell, {"name": name}, role, 0.85 * hit.quality))
    return found


def _name_at(hit: Hit, reading: Reading) -> Value | None:
    rest = values_in("name", rest_of(hit.cell, hit.end), reading)
    if rest:
        return rest[0] if ":" in hit.cell.text else None
    for cell in (o for o in reading.layout.lines[hit.cell.line].cells if o.x0 >= hit.cell.x1):
        names = [] if reading.is_label(cell) else values_in("name", cell.tokens, reading)
        return names[0] if names else None
    return None


def _infer_roles(parties: list[Party], reading: Reading) -> None:
    """Roles that no label gives: sender's line and contact details mark the seller; who is left is the buyer."""
    sender = next((party for party in parties if party.sender_line), None)
    for party in parties:
        if party.role == "" and sender is not None and _same_place(party, sender):
            party.role, party.certainty = "seller", 0.9
    open_parties = [party for party in parties if party.role == ""]
    lettered = len(open_parties) == 1 and _under_letterhead(open_parties[0], reading)
    if not any(party.role == "seller" for party in parties) and open_parties and not lettered:
        seller = max(open_parties, key=lambda party: _seller_signs(party, reading))
        if len(open_parties) > 1 or _seller_signs(seller, reading) > 0 or any(p.role == "buyer" for p in parties):
            seller.role, seller.certainty = "seller", 0.6
    for party in parties:
        if party.role == "":
            alone = not any(other.role == "buyer" for other in parties)
            party.role, party.certainty = "buyer", 0.6 if alone else 0.4


def _under_letterhead(party: Party, reading: Reading) -> bool:
    """Whether another company's name stands over an address in larger print: the letter is from that one."""
    head, name = _head_name(reading), party.parts.get("name")
    if head is None or name is None or not LEGAL.search(head.cell.text) or head.cell.y1 >= party.cell.y0:
        return False
    larger = head.cell.height >= 1.2 * party.cell.height
    return larger and words_of(str(name.value)) != words_of(head.cell.text)


def _same_place(a: Party, b: Party) -> bool:
    def key(party: Party) -> tuple[str, ...]:
        return tuple(str(party.parts[part].value) for part in ("postcode", "line1") if part in party.parts)

    return bool(key(a)) and key(a) == key(b)


def _seller_signs(party: Party, reading: Reading) -> float:
    """Contact details near the block, a legal form in the name and a first place speak for the seller."""
    cell = party.cell
    near = [o for o in reading.cells if o.page == cell.page and abs(o.x0 - cell.x0) < 6 * cell.height]
    near = [o for o in near if abs(o.y0 - cell.y0) < 9 * cell.height]
    text = " ".join(o.text for o in near)
    signs = sum(bool(find_codes(kind, text)) for kind in ("phone", "email", "url", "vat_id"))
    name = party.parts.get("name")
    legal = bool(name and LEGAL.search(name.text))
    return signs + legal - cell.y0 / reading.layout.page_size(cell.page).height * 0.5


def _head_name(reading: Reading) -> Party | None:
    """The first words of the first page, when they are a name and nothing better names the seller."""
    for line in reading.layout.lines[:4]:
        for cell in line.cells:
            names = [] if reading.is_label(cell) else values_in("name", cell.tokens, reading)
            plain = names and not any(map(str.isdigit, cell.text)) and len(cell.tokens) <= 6
            if plain and line.page == 1 and ":" not in cell.text:
                return Party(cell, {"name": names[0]}, "seller", 0.8 if LEGAL.search(cell.text) else 0.55)
    return None
