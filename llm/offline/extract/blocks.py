"""Addresses in the boxes of forms: several lines under one caption, or street and city in boxes of their own."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from llm.offline.extract.reading import Reading
from llm.offline.extract.values import Value
from llm.offline.layout.model import Cell, Token
from llm.offline.matching.senses import held, senses_of
from llm.offline.matching.words import likeness, word_list, words_of
from llm.offline.typing.codes import find_codes
from llm.offline.typing.places import find_place

_ADDRESS = frozenset(["address", "adresse", "anschrift", "adres", "street", "strasse", "rue", "straat"])
_CITY = frozenset(["city", "town", "ort", "stadt", "ville", "plaats", "zip", "plz", "postcode"])
_NAME = frozenset(["name", "nom", "naam"])
_TOWN = frozenset(["city", "state", "postcode"])
_PARTS = _TOWN | {"name", "address", "street", "phone"}
_OWNED = 0.8
"""Units: likeness. A box whose caption says whose it is, and asks for the thing among others."""
_FEW = 4
"""Units: letters beside a telephone number ("Tel")."""
_MOST_LINES = 6


@dataclass(frozen=True, slots=True)
class AddressBlock:
    """`words` are those of the captions. `lines`: what was written, top first; with a name in it when `named`.

    `phones`: the lines that are telephone numbers, where the caption asks for one.
    """

    words: tuple[str, ...]
    lines: tuple[tuple[Token, ...], ...]
    named: bool
    phones: tuple[tuple[Token, ...], ...] = ()

    @property
    def owner(self) -> tuple[str, ...]:
        """Whose they are: "PAYER'S name, street …", "Nom et adresse de l'employeur"."""
        telling = [word for word in self.words if word not in word_list("stop") and len(word) > 1]
        known = {word for word in telling if held(senses_of((word,))) & (_PARTS | {"country"})}
        first = next((place for place, word in enumerate(telling) if word in known), 0)
        last = next((place for place, word in enumerate(reversed(telling)) if word in known), 0)
        before, after = telling[:first], telling[len(telling) - last :]
        return tuple((before or after)[:2])

    def value(self, *, with_name: bool) -> Value | None:
        """The lines as one text. None when nothing but a name was written."""
        return _value(self.lines[1:] if self.named and not with_name else self.lines)

    def part(self, wanted: frozenset[str]) -> Value | None:
        """The name, the telephone number, the street or the line of the town."""
        if wanted == {"phone"}:
            return _value(self.phones[:1])
        if wanted == {"name"}:
            return _value(self.lines[:1]) if self.named else None
        rest = self.lines[1:] if self.named else self.lines
        town = [line for line in rest if find_place(" ".join(token.text for token in line)) is not None][-1:]
        if wanted & {"street", "address"}:
            return _value([line for line in rest if line not in town]) if "street" in wanted else None
        return _value(town) if len(wanted & _TOWN) > 1 else None


def _value(lines: Sequence[Sequence[Token]]) -> Value | None:
    tokens = [token for line in lines for token in line]
    text = " ".join(token.text for token in tokens)
    return Value(text, text, tuple(token.index for token in tokens)) if text else None


def boxed_addresses(wanted: Sequence[str], reading: Reading) -> Iterator[tuple[Value, float, str]]:
    """Addresses for a name such as payer_address: the value, how alike its caption is, and the caption.

    Only where the caption says whose address it is, in the same words. Units: likeness 0–1.
    """
    whose = {word for word in wanted if not held(senses_of((word,))) & _PARTS}
    parts = held(senses_of(tuple(wanted))) & _PARTS
    for block in address_blocks(reading):
        if not whose or not all(_says(block.words, word) for word in whose):
            continue
        whole = "address" in parts and "street" not in parts
        value = block.value(with_name="name" in wanted) if whole else block.part(parts)
        if value is not None:
            yield value, max(likeness(wanted, block.words), _OWNED), " ".join(block.words)


def _says(words: Sequence[str], wanted: str) -> bool:
    """Whether a caption has a word, or one of its meaning: "des Arbeitgebers" for employer."""
    meant = held(senses_of((wanted,)))
    return any(other == wanted or meant & held(senses_of((other.removesuffix("s"),))) for other in words)


def address_blocks(reading: Reading) -> list[AddressBlock]:
    """The boxes of a form that ask for an address, with what was written into them."""
    found = []
    for caption in reading.captions:
        words = words_of(caption.cell.text)
        is_answer = any(map(str.isdigit, " ".join(words[1:])))
        if not set(words) & _ADDRESS or caption.colon or is_answer or caption.cell.text[:1].islower():
            continue
        named = bool(set(words) & _NAME)
        owner = () if named else _owner(caption.cell, reading)
        lines = _lines_under(caption.cell, reading)
        if owner and len(lines) == 1 and not set(words) & _CITY:
            lines += _city_box(caption.cell, reading)
        phones = [line for line in lines if _is_phone(line)] if named else []
        kept = [line for line in lines if line not in phones]
        if len(kept) > 1:
            found.append(AddressBlock((*owner, *words), tuple(kept), named, tuple(phones)))
    return found


def _is_phone(line: Sequence[Token]) -> bool:
    text = " ".join(token.text for token in line)
    return bool(find_codes("phone", text)) and sum(map(str.isalpha, text)) <= _FEW


def _lines_under(caption: Cell, reading: Reading) -> list[tuple[Token, ...]]:
    """The answer's lines, which begin at one place; captions that run on over several lines are no answer."""
    boxed = reading.answers_under.get(caption.tokens[0].index)
    if boxed:
        return [tuple(t for cell in row for t in cell.tokens) for _, row in groupby(boxed, lambda cell: cell.line)]
    lines: list[tuple[Token, ...]] = []
    first, floor = None, caption
    for line in reading.layout.lines[caption.line + 1 : caption.line + 12]:
        if line.page != caption.page or len(lines) >= _MOST_LINES:
            break
        cell = next((cell for cell in line.cells if abs(cell.x0 - (first or caption).x0) < 2.5 * caption.height), None)
        if cell is None:
            continue
        if cell.y0 - floor.y1 > 2.2 * caption.height or _is_caption(cell, reading):
            break
        if first is None and _goes_on(caption, cell, reading):
            floor = cell
            continue
        first, floor = first or cell, cell
        lines.append(cell.tokens)
    return lines


def _is_caption(cell: Cell, reading: Reading) -> bool:
    words = set(words_of(cell.text))
    return reading.is_label(cell) or bool(words & _NAME) or len(words & (_ADDRESS | _CITY)) > 1


def _goes_on(caption: Cell, cell: Cell, reading: Reading) -> bool:
    """Whether a line under a caption is still printed: set like it, and nothing of what a person filled in."""
    alike = abs(cell.height - caption.height) < 0.12 * caption.height and cell.x0 - caption.x0 < caption.height
    answers = reading.is_answer([token.index for token in cell.tokens])
    return alike and cell.tokens[0].origin == caption.tokens[0].origin and (not answers or cell.text[:1].islower())


def _city_box(street: Cell, reading: Reading) -> list[tuple[Token, ...]]:
    """What stands in the next box of the column, when that asks for the city."""
    for caption in reading.captions:
        below = caption.cell.page == street.page and 0 < caption.cell.y0 - street.y1 < 6 * street.height
        if below and abs(caption.cell.x0 - street.x0) < street.height and set(caption.words) & _CITY:
            return _lines_under(caption.cell, reading)[:1]
    return []


def _owner(street: Cell, reading: Reading) -> tuple[str, ...]:
    """Whose address it is: the words of the nearest box above in the column that asks for a name."""
    above = [
        caption
        for caption in reading.captions
        if caption.cell.page == street.page
        and 0 < street.y0 - caption.cell.y1 < 6 * street.height
        and abs(caption.cell.x0 - street.x0) < street.height
        and set(caption.words) & _NAME
    ]
    nearest = max(above, key=lambda caption: caption.cell.y0, default=None)
    return tuple(word for word in nearest.words if word not in _NAME) if nearest else ()
