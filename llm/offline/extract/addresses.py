"""Addresses: the lines over a postcode and its city, or name, street and city on one line."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from llm.offline.extract.reading import Reading
from llm.offline.extract.roles import ROLES, headings, hit_role, is_heading, rest_of, role_at
from llm.offline.extract.values import Value
from llm.offline.layout.model import Cell, Token
from llm.offline.matching.lexicon import find_phrases
from llm.offline.matching.words import words_of
from llm.offline.typing.codes import find_codes
from llm.offline.typing.places import PlaceLine, find_place, is_country, lone_postcode

_SEPARATORS = frozenset("●•·|-–—,;:")
_SALUTATION = frozenset(
    ["herrn", "herr", "frau", "monsieur", "madame", "mr", "mrs", "ms", "firma", "an", "to", "mme", "m"]
)
_SHORT, _FEW = 80, 3
"""Units: characters; pieces. A line that may have its name over it; a line that begins with the name."""
_CODE = 7
"""Units: digits. So many make a code or the number of a telephone."""
_HOUSE = re.compile(r"^(?:Unit|Suite|Ste|Floor|Flat|Apt|No|P\.?O\.? Box|Postfach|Postbus|BP)\b\.? ?\d", re.IGNORECASE)
_ADDRESS = frozenset({"anschrift", "adresse", "address", "adres"})
_LONGEST = 220
"""Units: characters. The small print at a page's foot has no longer lines that name a party."""
LEGAL = re.compile(
    r"\b(?:GmbH|mbH|AG|KG|UG|e\.K\.|e\.U\.|OHG|OG|GbR|Ges\.m\.b\.H\.|KGaA|Genossenschaft|eG|Ltd|Limited|LLC|Inc|Corp|"
    r"PLC|plc|LLP|LP|P\.C\.|PC|DAC|CLG|Pty|SARL|Sàrl|S\.A\.|S\.A\.S|SAS|SASU|SA|EURL|SRL|SPRL|SNC|SCI|SCOP|"
    r"B\.?V\.?(?:BA)?|N\.?V\.?|BV|bv|NV|nv|V\.?O\.?F\.?|vof|C\.?V\.?|a\.G\.|e\.V\.|SE|Co)\b\.?"
)


@dataclass(slots=True)
class Party:
    """One address or name on a page. `parts`: name, line1, line2, street, postcode, city, state, country, address."""

    cell: Cell
    parts: dict[str, Value] = field(default_factory=dict)
    role: str = ""
    certainty: float = 0.0
    sender_line: bool = False
    is_contracting: bool = False
    """Named as such by a contract's first sentence."""


def value_of(tokens: Sequence[Token]) -> Value | None:
    text = " ".join(token.text for token in tokens).strip(" ,;:-–|●•·")
    return Value(text, text, tuple(token.index for token in tokens)) if text else None


def party_at(cell: Cell, reading: Reading) -> Party | None:
    """The party whose postcode and city stand in `cell`, alone or behind its name and street."""
    if len(cell.text) > _LONGEST or cell.line in reading.table_lines:
        return None
    place = find_place(cell.text)
    if place is None or _is_named(place.city):
        return _over_postcode(cell, reading)
    before = _pieces(cell, place)
    if len(before) >= 2 and (party := _one_line(cell, place, before)) is not None:
        return party
    if place.end > _SHORT or "%" in cell.text:
        return None
    stack = _stack_above(cell, reading)
    if not stack and not before and not re.search(r"[A-Z]{2}", place.state):
        return None
    return _block(cell, place, stack, reading, street=before)


def _is_named(city: str) -> bool:
    """Whether what follows a number is a label, not a city: "0771 Date"."""
    words = words_of(city)
    return any(hit.end - hit.start == len(words) for hit in find_phrases(words))


def _over_postcode(cell: Cell, reading: Reading) -> Party | None:
    """A postcode on a line of its own, with the city over it."""
    postcode = lone_postcode(cell.text)
    stack = _stack_above(cell, reading) if postcode else []
    if len(stack) < 2 or any(map(str.isdigit, stack[-1].text)):
        return None
    city = stack[-1].text.strip(" ,")
    party = _block(cell, PlaceLine(postcode, city), stack[:-1], reading)
    party.parts["city"] = Value(city, city, tuple(token.index for token in stack[-1].tokens))
    return party


@dataclass(frozen=True, slots=True)
class _Piece:
    """A part of a line between commas. `segment` counts the dots and dashes before it."""

    tokens: tuple[Token, ...]
    segment: int

    @property
    def text(self) -> str:
        return " ".join(token.text for token in self.tokens)

    @property
    def has_digit(self) -> bool:
        return any(map(str.isdigit, self.text))


def _pieces(cell: Cell, place: PlaceLine) -> list[_Piece]:
    """What stands before postcode and city in their cell, between commas, dots and dashes."""
    end, segment = 0, 0
    pieces: list[_Piece] = []
    kept: list[Token] = []
    for token in cell.tokens:
        if end >= place.start:
            break
        end += len(token.text) + 1
        if token.text not in _SEPARATORS:
            kept.append(token)
        if token.text in _SEPARATORS or token.text.endswith((",", ";")):
            pieces += [_Piece(tuple(kept), segment)] if kept else []
            kept = []
            segment += token.text in _SEPARATORS and token.text not in {",", ";"}
    pieces += [_Piece(tuple(kept), segment)] if kept else []
    return [piece for piece in pieces if _is_of_address(piece.text)]


def _is_of_address(text: str) -> bool:
    """Whether a piece may be a name or a street: words, and no code, number of a telephone or labelled value."""
    code = sum(map(str.isdigit, text)) >= _CODE or "@" in text or ":" in text
    return any(map(str.isalpha, text)) and not code


def _one_line(cell: Cell, place: PlaceLine, before: list[_Piece]) -> Party | None:
    """ "Name, Street 1, 12345 City" on one line: a sender's line, or the small print of a letterhead's foot."""
    first = len(before) - 1
    while first > 0 and before[first - 1].segment == before[first].segment and before[first - 1].has_digit:
        first -= 1
    street = [token for piece in before[first:] for token in piece.tokens]
    name = _name_before(before[:first])
    if name is None and (first == 0 or place.end <= _SHORT):
        return None
    party = Party(cell, role="seller", certainty=0.7 if name else 0.5, sender_line=True)
    named = {
        "name": value_of(name or ()),
        "line1": value_of(before[first].tokens),
        "line2": value_of(before[-1].tokens) if first < len(before) - 1 else None,
        "street": value_of(street),
    }
    party.parts.update({key: value for key, value in named.items() if value})
    _add_place(party, place, cell.tokens)
    rest = cell.text[place.end :].strip(" ,;·•|–-()")
    if is_country(rest):
        spent = tuple(token.index for token in cell.tokens if token.text.strip(" ,;.()") in rest.split())
        party.parts["country"] = Value(rest, rest, spent)
    whole = tuple(token.index for token in cell.tokens if token.index >= street[0].index)
    text = cell.text[cell.text.index(street[0].text) : place.end].strip(" ,")
    party.parts["address"] = Value(text, text, whole)
    return party


def _name_before(pieces: Sequence[_Piece]) -> list[Token] | None:
    """The name before a street: what has a legal form, what begins the line, or what stands next to the street."""
    names = [piece for piece in pieces if not piece.has_digit]
    if not names:
        return None
    legal = next((at for at in range(len(names) - 1, -1, -1) if LEGAL.search(names[at].text)), None)
    if legal is not None:
        ending = legal > 0 and len(names[legal].tokens) <= 2 and names[legal - 1].segment == names[legal].segment
        whole = names[legal - 1 : legal + 1] if ending else [names[legal]]
        return [token for piece in whole for token in piece.tokens]
    if names[0] is pieces[0] and len(pieces) <= _FEW:
        return list(names[0].tokens)
    return list(names[-1].tokens) if names[-1] is pieces[-1] else None


def _has_digit(tokens: Sequence[Token]) -> bool:
    return any(char.isdigit() for token in tokens for char in token.text)


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
        over = next((other for other in line.cells if _is_over(other, floor)), None)
        if over is None:
            continue
        pitch = min((below.y0 - upper.y0 for upper, below in pairwise([*stack, cell])), default=9 * cell.height)
        if floor.y0 - over.y0 > 1.8 * pitch or _ends_block(over, stack):
            break
        stack.insert(0, over)
        floor = over
        if hit_role(over, reading):
            break
    return _from_address_label(stack, reading)


def _is_over(other: Cell, floor: Cell) -> bool:
    """Whether a line goes on below another: both begin, end or have their middle at one place."""
    if other.overlap(floor) <= 0:
        return False
    height = floor.height
    ends = abs(other.x1 - floor.x1) < 0.5 * height and abs(other.x0 - floor.x0) > 3 * height
    return abs(other.x0 - floor.x0) < 2.2 * height or abs(other.center - floor.center) < 0.7 * height or ends


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


def _block(
    cell: Cell, place: PlaceLine, stack: list[Cell], reading: Reading, *, street: Sequence[_Piece] = ()
) -> Party:
    party = Party(cell)
    lines = [list(part.tokens) for part in stack]
    _take_role(party, stack, lines, reading)
    lines = [line for line in lines if line]
    lines = _without_labels(lines, reading)
    if street:
        lines = [*lines, [token for piece in street for token in piece.tokens]]
    if lines and len(lines) > 1 and len(lines[0]) == 1 and lines[0][0].text.lower() in _SALUTATION:
        lines = [lines[0] + lines[1], *lines[2:]]
    lines = _joined_name(_largest_first(lines))
    _name_lines(party, lines, len(lines) - 1 if street else _street_at(lines))
    _add_place(party, place, cell.tokens)
    _add_country(party, cell, reading)
    over = lines[1 : len(lines) - bool(street)] if len(lines) > bool(street) else []
    whole = [token for line in over for token in line]
    pieces = [" ".join(token.text for token in line).strip(" ,") for line in (*over, list(cell.tokens))]
    address = ", ".join(piece for piece in pieces if piece)
    party.parts["address"] = Value(address, address, tuple(token.index for token in (*whole, *cell.tokens)))
    return party


def _street_at(lines: Sequence[Sequence[Token]]) -> int | None:
    """Which line is the street: the first with a number of a house, else the last with any digit."""
    last = next((n for n in range(len(lines) - 1, -1, -1) if _has_digit(lines[n])), None)
    if last is None:
        return None
    return next(
        n for n in range(len(lines)) if any(t.text[0].isdigit() or t.text[-1].isdigit() for t in lines[n]) or n == last
    )


def _joined_name(lines: list[list[Token]]) -> list[list[Token]]:
    """A name that was too long for its line goes on below: the second line ends with the legal form."""
    if len(lines) < 3 or _has_digit(lines[1]) or _has_digit(lines[0]):
        return lines
    first, second = (" ".join(token.text for token in line) for line in lines[:2])
    ends = bool(LEGAL.search(" ".join(second.split()[-2:]))) and not LEGAL.search(first)
    return [lines[0] + lines[1], *lines[2:]] if ends else lines


def _largest_first(lines: list[list[Token]]) -> list[list[Token]]:
    """Where a name is set larger than what stands with it, lines over it are none of the address."""
    heights = [max(token.height for token in line) for line in lines]
    at = heights.index(max(heights)) if heights else 0
    return lines[at:] if at and heights[at] > 1.25 * heights[-1] and not _has_digit(lines[at]) else lines


def _name_lines(party: Party, lines: list[list[Token]], street: int | None) -> None:
    at = street if street is not None else len(lines) - 1
    if lines and _HOUSE.match(" ".join(token.text for token in lines[0])):
        at = 0
    if lines and at > 0 and (name := value_of(lines[0])):
        party.parts["name"] = name
    elif len(lines) == 1 and street is None and (name := value_of(lines[0])):
        party.parts["name"] = name
        return
    if 0 <= at < len(lines):
        if whole := value_of(lines[at]):
            party.parts["street"] = whole
        pieces = [piece for line in lines[at:] for piece in _split_commas(line)]
        for key, piece in zip(("line1", "line2"), pieces, strict=False):
            if value := value_of(piece):
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
            hit = next((h for h in reading.hits.get(f"{role}_name", ()) if h.cell is part and is_heading(h)), None)
            if hit is not None:
                party.role, party.certainty = role, 1.0
                lines[number] = rest_of(part, hit.end)
                for earlier in range(number):
                    lines[earlier] = []
                return
    if stack:
        left = [o for o in reading.layout.lines[stack[0].line].cells if o.x1 <= stack[0].x0]
        above = [cell for cell, _ in headings(reading) if cell in left]
        role = hit_role(above[-1], reading) if above else ""
        beside = next((found for cell in reversed(left) if (found := role_at(cell, reading))), "")
        role = role or role_at(stack[0], reading) or beside
        if role:
            party.role, party.certainty = role, 0.9
        elif any(part.tokens[0].text.lower().strip(".") in _SALUTATION for part in stack):
            party.role, party.certainty = "buyer", 0.8


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
                and is_country(below.text)
                and not reading.is_label(below)
            ):
                party.parts.setdefault("country", Value(below.text, below.text, tuple(t.index for t in below.tokens)))
                return
    after = cell.text.rpartition(",")[2].strip()
    if re.fullmatch(r"[A-Z]{2}", after) and after != party.parts.get("state", Value("", "", ())).text:
        party.parts.setdefault("country", Value(after, after, (cell.tokens[-1].index,)))
