"""Headings that say whose name and address stand under them: seller, buyer or recipient of the goods."""

from collections.abc import Sequence

from llm.offline.extract.labels import Hit
from llm.offline.extract.reading import Reading
from llm.offline.layout.model import Cell, Token
from llm.offline.matching.words import words_of

ROLES = ("seller", "buyer", "ship_to")
_YOURS = frozenset(["vos", "votre", "ihre", "ihr", "your", "uw"])
_OURS = frozenset(["nos", "notre", "unsere", "unser", "our", "ons", "onze"])


def role_at(cell: Cell, reading: Reading) -> str:
    """The role whose heading stands nearest above `cell` in its column; "" when there is none."""
    best, distance = "", 0.3 * reading.layout.page_size(cell.page).height
    for heading, role in headings(reading):
        near = cell.y0 - heading.y0
        aligned = abs(heading.x0 - cell.x0) < 4 * cell.height or heading.overlap(cell) > 0
        if heading.page == cell.page and 0 < near < distance and aligned:
            best, distance = role, near
    return best


def headings(reading: Reading) -> list[tuple[Cell, str]]:
    cached: list[tuple[Cell, str]] | None = reading.__dict__.get("_headings")
    if cached is None:
        cached = [(hit.cell, role) for role in ROLES for hit in reading.hits.get(f"{role}_name", ()) if is_heading(hit)]
        cached += [(cell, role) for cell in reading.cells if (role := _possessive(cell))]
        reading.__dict__["_headings"] = cached
    return cached


def is_heading(hit: Hit) -> bool:
    """A label of a party stands alone, before a colon, or has several words; "Supplier Ltd" is a name."""
    tokens = hit.cell.tokens
    ends = hit.end == len(tokens) or tokens[hit.end - 1].text.endswith(":") or tokens[hit.end].text in {":", "-", "/"}
    explained = hit.end < len(tokens) and tokens[hit.end].text.startswith("(") and tokens[-1].text.endswith(")")
    explained = explained or _is_number(tokens[hit.end :])
    short = len(tokens) - hit.end <= 4 and (ends or hit.end > 1)
    return hit.start == 0 and hit.quality >= 0.7 and (explained or short)


def _possessive(cell: Cell) -> str:
    words = words_of(cell.text)
    if not 2 <= len(words) <= 3 or ":" in cell.text:
        return ""
    return "buyer" if words[0] in _YOURS else ("seller" if words[0] in _OURS else "")


def hit_role(cell: Cell, reading: Reading) -> str:
    index = cell.tokens[0].index
    for role in ROLES:
        if any(hit.cell.tokens[0].index == index and is_heading(hit) for hit in reading.hits.get(f"{role}_name", ())):
            return role
    return ""


def rest_of(cell: Cell, end: int) -> list[Token]:
    """What stands behind a heading in its cell, without what explains it in brackets."""
    rest = [token for token in cell.tokens[end:] if token.text not in {":", "-", "/"}]
    explained = bool(rest) and rest[0].text.startswith("(") and rest[-1].text.endswith(")")
    return [] if explained or _is_number(rest) else rest


def _is_number(tokens: Sequence[Token]) -> bool:
    """Whether a heading is followed by nothing but a number: "Customer 22690"."""
    return len(tokens) == 1 and tokens[0].text.strip("#:()").replace("-", "").isdigit()
