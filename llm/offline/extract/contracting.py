"""The parties of contracts, as their first sentence names them: between X, Road 1, Town, the "Provider", and Y."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from llm.offline.extract.addresses import Party
from llm.offline.extract.reading import Reading
from llm.offline.extract.values import Value, joined
from llm.offline.layout.model import Token
from llm.offline.matching.words import word_list
from llm.offline.typing.folding import fold
from llm.offline.typing.places import find_place

Span = tuple[int, int]
_LINES = 40
_LONGEST = 420
"""Units: characters. What is said of one party."""
_NAMED = re.compile(
    r"(?:ci-après|hereinafter|hereafter|nachfolgend|nachstehend|im Folgenden|hierna|verder|\()[^«“„\"'‘]{0,40}"
    r"[«“„\"'‘]\s*(?P<role>[^»”“\"'’]{3,30}?)\s*[»”“\"'’]|"
    r"(?:nachstehend|nachfolgend|im Folgenden|hierna|ci-après)\s+(?:als\s+|te noemen:?\s+|dénommée?\s+)?"
    r"(?:der |die |de |le |la |l’|l')?(?P<plain>[^\W\d_]{4,30})(?=\s+(?:genannt|bezeichnet)|\s*[,;)–—-])",
    re.IGNORECASE,
)
_BEGINS = re.compile(
    r"(?:^|(?<=[\s,;:.»”\")]))(?:entre|(?:by )?(?:and )?between|zwischen|tussen|et|and|und|en)"
    r"(?: (?:les soussignés?|undersigned))?\s*:?\s+"
    r"(?=(?:[a-z]+\s+)?[A-ZÀ-Þ])",
    re.IGNORECASE,
)
_LEAD = re.compile(
    r"^(?:(?:(?:der |de )?firma|la société|the company|het bedrijf|l'entreprise|m\.|mme|mr\.?|mrs\.?|ms\.?|madame|"
    r"monsieur|herrn?|frau|dhr\.?|mevr\.?|de heer|mevrouw|der|die|das|la|le)\s+)+",
    re.IGNORECASE,
)
_SEATED = re.compile(
    r"^(?:derzeit |zurzeit |currently |actuellement |thans )?"
    r"(?:sise?|située?|demeurant|domiciliée?|dont le siège(?: social)? est|ayant son siège|residing|of|located|"
    r"wohnhaft(?:/Sitz)?|mit sitz|ansässig|wonende|gevestigd|kantoorhoudende)\s*(?:à|au|at|in|te|aan(?: de| het)?)?\s+",
    re.IGNORECASE,
)
_SURE = 0.97


def contract_parties(reading: Reading) -> list[Party]:
    """The two parties of a contract; none when its first lines do not name both with their roles."""
    lines = [line for line in reading.layout.lines if line.page == 1][:_LINES]
    tokens = [token for line in lines for cell in line.cells for token in cell.tokens]
    text, owners = joined(tokens)
    found: list[Party] = []
    start = 0
    for match in _NAMED.finditer(text):
        begins = list(_BEGINS.finditer(text, start, match.start()))
        role = _role(match["role"] or match["plain"])
        if begins and role and match.start() - begins[0].end() <= _LONGEST:
            found.append(_party(text, owners, tokens, (begins[0].end(), match.start()), role, reading))
        start = match.end()
    return found if {party.role for party in found} == {"seller", "buyer"} else []


def _role(said: str) -> str:
    words = re.findall(r"\w+", fold(said))
    if any(word in word_list("buyer_roles") for word in words):
        return "buyer"
    return "seller" if any(word in word_list("seller_roles") for word in words) else ""


def _party(text: str, owners: Sequence[int], tokens: Sequence[Token], span: Span, role: str, reading: Reading) -> Party:
    """Name up to the first comma; the address is the clause before the town, and the town."""
    start, end = span
    lead = _LEAD.match(text[start:end])
    first = start + (lead.end() if lead else 0)
    comma = text.find(",", first, end)
    spans = {"name": (first, comma if comma > 0 else end)}
    for street, clause in _clauses(text, start, end):
        place = find_place(text[clause[0] : clause[1]])
        if place is None:
            continue
        seated = _SEATED.match(text[street[0] : street[1]])
        spans["line1"] = spans["street"] = (street[0] + (seated.end() if seated else 0), street[1])
        for part, said in (("postcode", place.postcode), ("city", place.city)):
            found = text.find(said, *clause) if said else -1
            if found >= 0:
                spans[part] = (found, found + len(said))
        break
    parts = {part: value for part, where in spans.items() if (value := _value(text, owners, tokens, where))}
    cell = next(c for c in reading.cells if any(token is tokens[owners[first]] for token in c.tokens))
    return Party(cell, parts, role, _SURE, is_contracting=True)


def _clauses(text: str, start: int, end: int) -> Iterator[tuple[Span, Span]]:
    """Each clause with the one before it; two together too, for a town whose state stands behind a comma."""
    cuts = [start - 2, *(match.start() for match in re.finditer(", ", text[:end]) if match.start() > start), end]
    clauses = [(one + 2, other) for one, other in pairwise(cuts)]
    yield from pairwise(clauses)
    for place in range(1, len(clauses) - 1):
        yield clauses[place - 1], (clauses[place][0], clauses[place + 1][1])


def _value(text: str, owners: Sequence[int], tokens: Sequence[Token], span: Span) -> Value | None:
    said = text[span[0] : span[1]].strip(" ,;()")
    held_by = sorted({owners[at] for at in range(*span) if text[at].strip(" ,;()")})
    return Value(said, said, tuple(tokens[place].index for place in held_by)) if len(said) > 1 else None
