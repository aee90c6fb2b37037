"""Who is who: address blocks, sender lines and labelled names, with the role of seller, buyer or recipient."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from llm.offline.extract.labels import Hit
from llm.offline.extract.reading import Reading
from llm.offline.extract.values import Value, values_in
from llm.offline.layout.model import Cell, Token
from llm.offline.matching.words import words_of
from llm.offline.typing.codes import find_codes
from llm.offline.typing.places import PlaceLine, find_place, lone_postcode

ROLES = ("seller", "buyer", "ship_to")
_SENDER_SEPARATOR = frozenset("●•·|-–—,;")
_SALUTATION = frozenset(
    ["herrn", "herr", "frau", "monsieur", "madame", "mr", "mrs", "ms", "firma", "an", "to", "mme", "m"]
)
_NAME_LABEL = frozenset({("name",), ("nom",), ("naam",), ("firma",), ("company",)})
_ADDRESS = frozenset({"anschrift", "adresse", "address", "adres"})
_YOURS = frozenset(["vos", "votre", "ihre", "ihr", "your", "uw"])
_OURS = frozenset(["nos", "notre", "unsere", "unser", "our", "ons", "onze"])
_COUNTRY = re.compile(r"^[A-Z]{2}$|^[A-ZÀ-Þ][\w\-À-ÿ]+(?: (?:/ )?[A-ZÀ-Þ]?[\w\-À-ÿ]+){0,2}$")
_LEGAL = re.compile(
    r"\b(?:GmbH|AG|KG|UG|e\.K\.|OHG|Ltd|LLC|Inc|Corp|PLC|LLP|SARL|S\.A\.|SAS|SA|EURL|B\.?V\.?|N\.?V\.?|a\.G\.|e\.V\.|SE|Co)\b\.?"
)


@dataclass(slots=True)
class Party:
    """One address or name on a page. `parts`: name, line1, line2, postcode, city, state, country, address."""

    cell: Cell
    parts: dict[str, Value] = field(default_factory=dict)
    role: str = ""
    certainty: float = 0.0
    sender_line: bool = False


def find_parties(reading: Reading) -> list[Party]:
    """All parties of the document, each with the role that its label or place gives it."""
    parties = [party for cell in reading.cells if (party := _party_at(cell, reading))]
    parties += _labelled_names(reading, parties)
    _infer_roles(parties, reading)
    head = _head_name(reading)
    if head is not None and not any(party.role == "seller" for party in parties):
        parties.append(head)
    return parties


def role_at(cell: Cell, reading: Reading) -> str:
    """The role whose heading stands nearest above `cell` in its column; "" when there is none."""
    best, distance = "", 0.3 * reading.layout.page_size(cell.page).height
    for heading, role in _headings(reading):
        near = cell.y0 - heading.y0
        aligned = abs(heading.x0 - cell.x0) < 4 * cell.height or heading.overlap(cell) > 0
        if heading.page == cell.page and 0 < near < distance and aligned:
            best, distance = role, near
    return best


def _headings(reading: Reading) -> list[tuple[Cell, str]]:
    cached: list[tuple[Cell, str]] | None = reading.__dict__.get("_headings")
    if cached is None:
        cached = [
            (hit.cell, role) for role in ROLES for hit in reading.hits.get(f"{role}_name", ()) if _is_heading(hit)
        ]
        cached += [(cell, role) for cell in reading.cells if (role := _possessive(cell))]
        reading.__dict__["_headings"] = cached
    return cached


def _is_heading(hit: Hit) -> bool:
    """A label of a party stands alone, before a colon, or has several words; "Supplier Ltd" is a name."""
    tokens = hit.cell.tokens
    ends = hit.end == len(tokens) or tokens[hit.end - 1].text.endswith(":") or tokens[hit.end].text in {":", "-", "/"}
    return hit.start == 0 and hit.quality >= 0.7 and len(tokens) - hit.end <= 4 and (ends or hit.end > 1)


def _possessive(cell: Cell) -> str:
    words = words_of(cell.text)
    if not 2 <= len(words) <= 3 or ":" in cell.text:
        return ""
    return "buyer" if words[0] in _YOURS else ("seller" if words[0] in _OURS else "")


def _value(tokens: Sequence[Token]) -> Value | None:
    text = " ".join(token.text for token in tokens).strip(" ,;:-–|●•·")
    return Value(text, text, tuple(token.index for token in tokens)) if text else None


def _party_at(cell: Cell, reading: Reading) -> Party | None:
    """The party whose postcode and city stand in `cell`."""
    if len(cell.text) > 110 or cell.line in reading.table_lines:
        return None
    parts = _split(cell.tokens)
    if len(parts) >= 3 and (party := _sender_line(cell, parts)):
        return party
    place = find_place(cell.text)
    if place is None or len(cell.text) > 60 or "%" in cell.text:
        return None
    stack = _stack_above(cell, reading)
    if not stack and not re.search(r"[A-Z]{2}", place.state):
        return None
    return _block(cell, place, stack, reading)


def _split(tokens: Sequence[Token]) -> list[list[Token]]:
    """The parts of a sender line, between dots and dashes that stand alone."""
    parts: list[list[Token]] = [[]]
    for token in tokens:
        if token.text in _SENDER_SEPARATOR:
            parts.append([])
        else:
            parts[-1].append(token)
            if token.text.endswith((",", ";")) and len(token.text) > 1:
                parts.append([])
    return [part for part in parts if part]


def _sender_line(cell: Cell, parts: list[list[Token]]) -> Party | None:
    places = [find_place(" ".join(token.text for token in part)) for part in parts]
    at = next((number for number, place in enumerate(places) if place is not None), 0)
    place = places[at]
    if at < 2 or place is None:
        return None
    party = Party(cell, role="seller", certainty=0.7, sender_line=True)
    named = {"name": _value(parts[0]), "line1": _value(parts[1]), "line2": _value(parts[2]) if at > 2 else None}
    party.parts.update({key: value for key, value in named.items() if value})
    _add_place(party, place, parts[at])
    if at + 1 < len(parts) and (country := _value(parts[at + 1])) and _COUNTRY.match(country.text):
        party.parts["country"] = country
    return party


def _add_place(party: Party, place: PlaceLine, tokens: Sequence[Token]) -> None:
    for key, text in (
        ("postcode", place.postcode),
        ("city", place.city),
        ("state", place.state),
        ("country", place.country),
    ):
        spent = tuple(
            token.index for token in tokens if token.text.strip(",") and any(w in token.text for w in text.split())
        )
        if text:
            party.parts[key] = Value(text, text, spent)


def _stack_above(cell: Cell, reading: Reading) -> list[Cell]:
    """The cells of the address over its last line, top first; a heading that names the role is the first of them."""
    stack: list[Cell] = []
    floor = cell
    for line in reversed(reading.layout.lines[max(0, cell.line - 24) : cell.line]):
        if line.page != cell.page or floor.y0 - line.y1 > 2.6 * cell.height or len(stack) >= 6:
            break
        over = next((o for o in line.cells if abs(o.x0 - floor.x0) < 2.2 * cell.height and o.overlap(floor) > 0), None)
        if over is None:
            continue
        pitch = min((below.y0 - upper.y0 for upper, below in pairwise([*stack, cell])), default=9 * cell.height)
        if floor.y0 - over.y0 > 1.8 * pitch or _ends_block(over, stack):
            break
        stack.insert(0, over)
        floor = over
        if _hit_role(over, reading):
            break
    return _from_address_label(stack, reading)


def _from_address_label(stack: list[Cell], reading: Reading) -> list[Cell]:
    """Where "Address:" stands left of a line, the address begins there; lines above it are other fields."""
    for place, cell in enumerate(stack):
        left = [other for other in reading.layout.lines[cell.line].cells if other.x1 <= cell.x0]
        if left and any(word in _ADDRESS for word in words_of(left[-1].text)):
            return stack[place:]
    return stack


def _ends_block(cell: Cell, stack: Sequence[Cell]) -> bool:
    text = cell.text
    contact = any(find_codes(kind, text) for kind in ("email", "url"))
    return (
        contact
        or len(text) > 60
        or (find_place(text) is not None and bool(stack))
        or bool(re.search(r"[€$£%]|^\W*$", text))
    )


def _hit_role(cell: Cell, reading: Reading) -> str:
    index = cell.tokens[0].index
    for role in ROLES:
        if any(hit.cell.tokens[0].index == index and _is_heading(hit) for hit in reading.hits.get(f"{role}_name", ())):
            return role
    return ""


def _block(cell: Cell, place: PlaceLine, stack: list[Cell], reading: Reading) -> Party:
    party = Party(cell)
    lines = [list(part.tokens) for part in stack]
    _take_role(party, stack, lines, reading)
    lines = [line for line in lines if line]
    lines = _without_labels(lines, reading)
    if lines and len(lines) > 1 and len(lines[0]) == 1 and lines[0][0].text.lower() in _SALUTATION:
        lines = [lines[0] + lines[1], *lines[2:]]
    street = next(
        (n for n in range(len(lines) - 1, -1, -1) if any(any(map(str.isdigit, t.text)) for t in lines[n])), None
    )
    if street is not None:
        street = next(
            n
            for n in range(len(lines))
            if any(t.text[0].isdigit() or t.text[-1].isdigit() for t in lines[n]) or n == street
        )
    _name_lines(party, lines, street)
    _add_place(party, place, cell.tokens)
    _add_country(party, cell, reading)
    whole = [token for line in lines[1:] for token in line]
    pieces = [" ".join(token.text for token in line).strip(" ,") for line in (*lines[1:], list(cell.tokens))]
    address = ", ".join(piece for piece in pieces if piece)
    party.parts["address"] = Value(address, address, tuple(token.index for token in (*whole, *cell.tokens)))
    return party


def _name_lines(party: Party, lines: list[list[Token]], street: int | None) -> None:
    at = street if street is not None else len(lines) - 1
    if lines and at > 0 and (name := _value(lines[0])):
        party.parts["name"] = name
    elif len(lines) == 1 and street is None and (name := _value(lines[0])):
        party.parts["name"] = name
        return
    if 0 <= at < len(lines):
        pieces = [piece for line in lines[at:] for piece in _split_commas(line)]
        for key, piece in zip(("line1", "line2"), pieces, strict=False):
            if value := _value(piece):
                party.parts[key] = value


def _split_commas(tokens: Sequence[Token]) -> list[list[Token]]:
    pieces: list[list[Token]] = [[]]
    for token in tokens:
        pieces[-1].append(token)
        if token.text.endswith(","):
            pieces.append([])
    return [piece for piece in pieces if piece]


def _take_role(party: Party, stack: list[Cell], lines: list[list[Token]], reading: Reading) -> None:
    """A heading over, before or left of the block gives the role and is no part of the name."""
    for number, part in enumerate(stack[:2]):
        for role in ROLES:
            hit = next((h for h in reading.hits.get(f"{role}_name", ()) if h.cell is part and _is_heading(h)), None)
            if hit is not None:
                party.role, party.certainty = role, 1.0
                lines[number] = _rest(part, hit.end)
                for earlier in range(number):
                    lines[earlier] = []
                return
    if stack:
        left = [o for o in reading.layout.lines[stack[0].line].cells if o.x1 <= stack[0].x0]
        above = [cell for cell, _ in _headings(reading) if cell in left]
        role = _hit_role(above[-1], reading) if above else ""
        beside = next((found for cell in reversed(left) if (found := role_at(cell, reading))), "")
        role = role or role_at(stack[0], reading) or beside
        if role:
            party.role, party.certainty = role, 0.9
        elif any(part.tokens[0].text.lower().strip(".") in _SALUTATION for part in stack):
            party.role, party.certainty = "buyer", 0.8


def _rest(cell: Cell, end: int) -> list[Token]:
    return [token for token in cell.tokens[end:] if token.text not in {":", "-", "/"}]


def _without_labels(lines: list[list[Token]], reading: Reading) -> list[list[Token]]:
    """Leave out lines that are labels of something else ("phone", "N° TVA")."""
    kept = []
    for line in lines:
        hits = reading.labelled.get(line[0].index, [])
        named = sum(hit.end - hit.start for hit in hits)
        if not any(token.text.endswith(":") for token in line) and not (hits and named >= 0.7 * len(line)):
            kept.append(line)
    return kept or []


def _add_country(party: Party, cell: Cell, reading: Reading) -> None:
    for line in reading.layout.lines[cell.line + 1 : cell.line + 4]:
        for below in line.cells:
            close = below.page == cell.page and below.y0 - cell.y1 < 1.5 * cell.height
            if (
                close
                and abs(below.x0 - cell.x0) < cell.height
                and _COUNTRY.match(below.text)
                and not reading.is_label(below)
            ):
                party.parts.setdefault("country", Value(below.text, below.text, tuple(t.index for t in below.tokens)))
                return
    after = cell.text.rpartition(",")[2].strip()
    if re.fullmatch(r"[A-Z]{2}", after) and after != party.parts.get("state", Value("", "", ())).text:
        party.parts.setdefault("country", Value(after, after, (cell.tokens[-1].index,)))


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
            name = _name_at(hit, reading) if _is_heading(hit) else None
            if name is not None:
                found.append(Party(hit.cell, {"name": name}, role, 0.85 * hit.quality))
    return found


def _name_at(hit: Hit, reading: Reading) -> Value | None:
    rest = values_in("name", _rest(hit.cell, hit.end), reading)
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
    if head is None or name is None or not _LEGAL.search(head.cell.text) or head.cell.y1 >= party.cell.y0:
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
    legal = bool(name and _LEGAL.search(name.text))
    return signs + legal - cell.y0 / reading.layout.page_size(cell.page).height * 0.5


def _head_name(reading: Reading) -> Party | None:
    """The first words of the first page, when they are a name and nothing better names the seller."""
    for line in reading.layout.lines[:4]:
        for cell in line.cells:
            names = [] if reading.is_label(cell) else values_in("name", cell.tokens, reading)
            plain = names and not any(map(str.isdigit, cell.text)) and len(cell.tokens) <= 6
            if plain and line.page == 1 and ":" not in cell.text:
                return Party(cell, {"name": names[0]}, "seller", 0.8 if _LEGAL.search(cell.text) else 0.55)
    return None
