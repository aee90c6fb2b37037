"""Find a text in a document: the places where it stands, with their boxes. Plain; no index, no ranking."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from documents.models import Page

MOST_HITS = 500


@dataclass(frozen=True, slots=True)
class Place:
    """One place. Units: boxes are fractions of the page, one for each line that it runs over."""

    page: int
    boxes: list[list[float]]


def find_places(*, pages: Iterable[Page], text: str) -> list[Place]:
    """Where the words of pages say `text`, blanks and case aside, in reading order; at most 500 places."""
    wanted = "".join(text.casefold().split())
    found: list[Place] = []
    if not wanted:
        return found
    for page in pages:
        for place in _places_on(page, wanted):
            found.append(place)
            if len(found) == MOST_HITS:
                return found
    return found


def _places_on(page: Page, wanted: str) -> Iterator[Place]:
    """Words run together without blanks; each character remembers its word."""
    texts: list[str] = page.words.get("text", [])
    owners: list[int] = []
    parts: list[str] = []
    for position, word in enumerate(texts):
        folded = "".join(word.casefold().split())
        parts.append(folded)
        owners.extend([position] * len(folded))
    compact = "".join(parts)
    start = compact.find(wanted)
    while start >= 0:
        yield Place(page.number, _boxes(page.words, sorted(set(owners[start : start + len(wanted)]))))
        start = compact.find(wanted, start + len(wanted))


def _boxes(words: dict[str, list[float]], positions: list[int]) -> list[list[float]]:
    lines: dict[float, list[float]] = {}
    for at in positions:
        box = [words[side][at] for side in ("x0", "y0", "x1", "y1")]
        known = lines.setdefault(words["line"][at], box)
        known[:] = [min(known[0], box[0]), min(known[1], box[1]), max(known[2], box[2]), max(known[3], box[3])]
    return list(lines.values())
