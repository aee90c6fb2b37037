"""Does a quote stand on the page that it is said to stand on? Deterministic; the model's word is not enough."""

import re
from collections.abc import Sequence
from typing import Any

from agent.answers.asked import Citation
from agent.answers.marks import Mark
from documents.grounding import ground
from documents.page_index import Hit, PageIndex, fold_text
from llm.content import PageContent

MAX_CITATIONS = 50
MAX_QUOTE = 1000
_ELLIPSIS = re.compile(r"\s*(?:…|\.{3,}|\[\s*(?:…|\.{3})\s*\])\s*")
_BOXES = "☒☑☐"


class Citer:
    """Checks the citations of one answer. A page is indexed when it is first cited."""

    def __init__(self, pages: Sequence[PageContent]) -> None:
        self._pages = {page.number: page for page in pages}
        self._indexes: dict[int, PageIndex] = {}
        self._given: set[tuple[int, str]] = set()
        self._stopped = False
        self.dropped = 0

    def stop(self) -> None:
        """The model says that the document has no answer: then nothing proves it."""
        self._stopped = True

    def cite(self, mark: Mark, *, at: int) -> Citation | None:
        """The citation with the page's own words and their boxes; None for one that does not hold, or comes again."""
        hits = [] if self._stopped else self._hits(mark)
        if not hits or len(self._given) >= MAX_CITATIONS:
            self.dropped += 1
            return None
        quote = " … ".join(hit.quote for hit in hits)
        if (mark.page, quote) in self._given:
            return None
        self._given.add((mark.page, quote))
        boxes = tuple(box for hit in hits for box in hit.boxes)
        return Citation(page=mark.page, quote=quote, boxes=boxes, at=at)

    def _hits(self, mark: Mark) -> list[Hit]:
        page = self._pages.get(mark.page)
        if page is None or not _says_something(mark.quote):
            return []
        index = self._indexes.setdefault(page.number, PageIndex([page]))
        if whole := _place(index, mark.quote):
            return [whole]
        parts = [part for part in _ELLIPSIS.split(mark.quote) if part]
        if len(parts) < 2 or not all(_says_something(part) for part in parts):
            return []
        found = [_place(index, part) for part in parts]
        return [hit for hit in found if hit] if all(found) else []


def cite_values(data: dict[str, Any], pages: Sequence[PageContent]) -> tuple[list[Citation], int]:
    """Citations of a structured answer's values, and how many values stand nowhere."""
    places = ground(data=data, pages=pages)
    found = [
        Citation(page=place.page, quote=place.quote, boxes=place.boxes, path=path)
        for path, place in places.items()
        if place.state == "found" and place.page is not None
    ]
    return found[: 4 * MAX_CITATIONS], sum(place.state == "not_found" for place in places.values())


def _place(index: PageIndex, quote: str) -> Hit | None:
    hits = index.text(quote) or index.scattered(quote)
    return hits[0] if hits else None


def _says_something(quote: str) -> bool:
    return len(quote) <= MAX_QUOTE and bool(fold_text(quote) or any(box in quote for box in _BOXES))
