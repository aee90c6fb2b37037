"""The fields of forms: what they ask people for, filled in or not, and whatever was typed into their boxes."""

import re
from collections.abc import Iterator
from functools import lru_cache

from llm.offline.extract.blocks import address_blocks
from llm.offline.extract.boxes import LARGER
from llm.offline.extract.compound import names_place_and_date
from llm.offline.extract.fill import assign
from llm.offline.extract.labels import Hit
from llm.offline.extract.reading import Reading
from llm.offline.extract.targets import make_target
from llm.offline.layout.analysis import cells_below
from llm.offline.layout.lines import CHECKED, UNCHECKED
from llm.offline.layout.model import Cell, Token
from llm.offline.matching.lexicon import concepts
from llm.offline.matching.senses import held, senses_of
from llm.offline.matching.words import words_of
from llm.offline.propose.asked import Asked, place_of
from llm.offline.propose.english import in_english_words, spoken
from llm.offline.propose.naming import name_from_words
from llm.offline.propose.nodes import Schema, concept_node, field_node

_ALSO = ("birth_date", "email", "phone", "fax", "iban", "bic", "bank_name", "account_holder", "account_number")
_WHOLE = 0.95
_DRAWN, _TICKED = 8, 4
"""So many boxes make a form of a paper."""
_SHORT = 5
"""Units: words."""


def owned_fields(reading: Reading) -> list[Asked]:
    """Name, address and telephone number asked for in one box, place and date on one line."""
    found: dict[str, Asked] = {}
    for name, (node, taken) in (*_owned_fields(reading), *_signing_fields(reading)):
        found.setdefault(name, Asked((name,), node, None, place_of(sorted(taken), reading), frozenset(taken)))
    return list(found.values())


def asked_fields(reading: Reading, spent: set[int]) -> list[Asked]:
    """What the form asks a person for besides, in its order; an empty box will be filled in on the next one."""
    hits = {name: hit for name in _asked_names() if (hit := _first_whole(reading, name)) is not None}
    free = {
        name: hit for name, hit in hits.items() if not spent & {t.index for t in hit.cell.tokens[hit.start : hit.end]}
    }
    names = sorted(free, key=lambda name: (free[name].cell.line, free[name].cell.x0))
    nodes = {name: concept_node(concepts()[name]) for name in names}
    kept: list[Asked] = []
    targets = [make_target((name,), node, str(node["type"])) for name, node in nodes.items()]
    found = {assigned.target.path[0]: assigned for assigned in assign(targets, reading)}
    for name, node in nodes.items():
        tokens = set(found[name].candidate.value.tokens) if name in found else set[int]()
        if not tokens & spent:
            kept.append(Asked((name,), node, None, (free[name].cell.line, free[name].cell.x0)))
            spent |= tokens
    return kept


def answered(reading: Reading) -> frozenset[int]:
    """The words of captions with their answers, where boxes are drawn: they are in no table."""
    firsts = {first for first, cells in reading.framed.items() if cells}
    cells = [cell for cell in reading.cells if cell.tokens[0].index in firsts]
    cells += [cell for answer in reading.framed.values() for cell in answer]
    return frozenset(token.index for cell in cells for token in cell.tokens)


def looks_filled_in(reading: Reading) -> bool:
    """Whether a paper of whatever kind has boxes to fill in, drawn or to tick."""
    drawn = sum(bool(cells) for cells in reading.framed.values())
    listed = any(len(table.rows) > 1 for table in reading.tables)
    return (drawn >= _DRAWN and not listed) or len(reading.layout.checks) >= _TICKED


def _owned_fields(reading: Reading) -> Iterator[tuple[str, tuple[Schema, set[int]]]]:
    """Name, address and telephone number where one box asks for them at once, named after whose they are."""
    for block in address_blocks(reading):
        owner = name_from_words(in_english_words(block.owner, spoken(reading))[0])
        if owner and block.named:
            asked = {"name": "Name", "address": "Address", **({"phone": "Telephone number"} if block.phones else {})}
            words = {token.index for line in (*block.lines, *block.phones) for token in line}
            for part, about in asked.items():
                yield f"{owner}_{part}", (field_node("string", f"{about} of the {block.owner[0]}, as printed"), words)


def _signing_fields(reading: Reading) -> Iterator[tuple[str, tuple[Schema, set[int]]]]:
    """Place and date where one line asks for both."""
    for caption in reading.captions:
        if len(caption.words) <= _SHORT and names_place_and_date(caption.words) and not caption.start:
            words = {token.index for token in caption.cell.tokens}
            words |= {t.index for cell in reading.framed.get(caption.cell.tokens[0].index, ()) for t in cell.tokens}
            yield "signing_place", (field_node("string", "Place of signing, as printed"), words)
            yield "signing_date", (concept_node(concepts()["signing_date"]), words)
            return


@lru_cache(maxsize=1)
def _asked_names() -> tuple[str, ...]:
    return (*_ALSO, *(name for name, concept in concepts().items() if concept.form))


def _first_whole(reading: Reading, name: str) -> Hit | None:
    quality = 0.6 if name == "iban" or concepts()[name].form else _WHOLE
    hits = (hit for hit in reading.hits.get(name, ()) if hit.quality >= quality)
    return next((hit for hit in hits if name != "signing_date" or _names_date(hit)), None)


def _names_date(hit: Hit) -> bool:
    """Whether a label says that it is a date: that of a signature alone does not."""
    said = words_of(" ".join(token.text for token in hit.cell.tokens[hit.start : hit.end]))
    return "date" in held(senses_of(said))


def is_caption(cell: Cell, reading: Reading) -> bool:
    """Whether a cell of a form looks like a caption: known, in a column of known ones, or small over a larger one."""
    if reading.is_label(cell):
        return True
    below = next(iter(cells_below(reading.layout, cell, reach=2.2)), None)
    larger = below is not None and below.height >= LARGER * cell.height
    return below is not None and larger and abs(below.x0 - cell.x0) < 2 * cell.height


def typed_fields(reading: Reading, spent: set[int]) -> Iterator[Asked]:
    """What is left of the answers in form fields, named after the words beside or above them."""
    for cell in reading.cells:
        text = " ".join(token.text for token in cell.tokens)
        answer = cell.tokens[0].origin == "form" and any(map(str.isalnum, text))
        if not answer or spent & {token.index for token in cell.tokens}:
            continue
        caption = (
            _caption_above(cell, reading, aligned=True)
            or _caption_left(cell, reading)
            or _caption_above(cell, reading, aligned=False)
        )
        about = _what_it_asks(caption)
        name = name_from_words(in_english_words(words_of(re.split(r"[,/;]", about)[0]), spoken(reading))[0])
        if name:
            yield Asked((name,), field_node("string", f"{about}, as printed"), None, (cell.line, cell.x0))


def _what_it_asks(text: str) -> str:
    """The sentence of a caption that names the answer: the first one of a numbered box, else the last one."""
    numbered = re.match(r"\d{1,2}[a-z]?[.)]? (?=[^\W\d_])", text)
    plain = re.sub(r"\([^)]*\)?|[▶►:]", " ", text[numbered.end() :] if numbered else text)
    parts = [part.strip() for part in re.split(r"\.\s", plain) if any(map(str.isalpha, part))]
    return " ".join(parts[0 if numbered else -1].split()) if parts else ""


def _caption_left(cell: Cell, reading: Reading) -> str:
    near = [
        other
        for line in reading.layout.lines[max(0, cell.line - 2) : cell.line + 3]
        for other in line.cells
        if other.page == cell.page and abs(other.middle - cell.middle) < cell.height and _prints_words(other)
        if -0.5 * cell.height < cell.x0 - other.x1 < 4 * cell.height
    ]
    left = max(near, key=lambda other: other.x1, default=None)
    if left is None:
        return ""
    return f"{_words_over(left, reading)} {left.text}" if left.text[:1].islower() else left.text


def _caption_above(cell: Cell, reading: Reading, *, aligned: bool) -> str:
    reach = 1.6 if aligned else 4.0
    for line in reversed(reading.layout.lines[max(0, cell.line - 6) : cell.line]):
        over = next((other for other in line.cells if other.overlap(cell) > 0 and _prints_words(other)), None)
        if over is None or line.page != cell.page:
            continue
        if cell.y0 - over.y1 > reach * over.height:
            break
        if not aligned or abs(over.x0 - cell.x0) < 3 * cell.height:
            return f"{_words_over(over, reading)} {over.text}" if over.text[:1].islower() else over.text
    return ""


def _words_over(cell: Cell, reading: Reading) -> str:
    """The words on the line before that stand over a caption's second line."""
    for line in reversed(reading.layout.lines[max(0, cell.line - 3) : cell.line]):
        over: list[Token] = [
            token
            for other in line.cells
            for token in other.tokens
            if token.x0 >= cell.x0 - cell.height and token.x0 < cell.x1 + 6 * cell.height
        ]
        if over and cell.y0 - over[0].y1 < cell.height:
            return " ".join(token.text for token in over)
    return ""


def _prints_words(cell: Cell) -> bool:
    signs = any(token.text in CHECKED or token.text in UNCHECKED for token in cell.tokens)
    return cell.tokens[0].origin != "form" and not signs and sum(map(str.isalpha, cell.text)) >= 3
