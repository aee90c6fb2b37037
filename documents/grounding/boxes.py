"""Check boxes: which one a property means, and whether it says what the property says."""

import re
from collections.abc import Sequence
from functools import cached_property

from documents.page_words import Box, Hit, fold_text
from documents.spellings import yes_or_no
from llm.content import DocumentContent, PageContent
from llm.offline.layout.checks import find_checks
from llm.offline.layout.lines import read_lines
from llm.offline.layout.model import Check
from llm.offline.matching.words import in_english, likeness, words_of, words_of_name

_MARK = re.compile(r"[☒☑☐□❏▢⊠✓✔✗✘]|^[\[(]")
_ALIKE = 0.3
_ASKS = 0.5
_FARTHER_CAPTION = 0.05
_SAME = 0.001
_SAY_NOTHING = frozenset(["is", "has", "tax", "classify", "checked", "selected", "ticked", "box", "flag", "value"])
"""Words of property names that tell no box from another."""


class CheckBoxes:
    """The check boxes of pages, read when they are first asked for."""

    def __init__(self, pages: Sequence[PageContent]) -> None:
        self._pages = {page.number: page for page in pages}

    @cached_property
    def _checks(self) -> list[Check]:
        marked = [page for page in self._pages.values() if any(_MARK.search(word.text) for word in page.words)]
        return find_checks(read_lines(DocumentContent("", "", tuple(marked)))) if marked else []

    def hits(self, path: str, value: bool, beside: Sequence[str] = ()) -> list[Hit]:
        """The boxes that a property means, if they are checked as `value` says.

        `beside` are texts of the same row: an option that is named there ("label": "Express", "checked": true).
        """
        own, answer = _specific(path), None
        if len(own) > 1 and (answer := yes_or_no(own[-1])) is not None:
            own = own[:-1]
        wanted = [words for words in (own, *map(words_of, beside)) if words]
        scored = [
            (_alike(wanted, captions), said, check)
            for check in self._checks
            for said, captions in _asked(check, answer)
        ]
        best = max((score for score, _, _ in scored), default=0.0)
        if best < _ALIKE:
            return []
        meant = [(said, check) for score, said, check in scored if score > best - _SAME]
        return [self._hit(check) for said, check in meant if said is value]

    def option(self, path: str, text: str) -> list[Hit] | None:
        """The box of an option that is an answer in words ("status": "single"), if it is checked.

        None when the text is no option of what the property asks: then it may stand anywhere.
        """
        wanted, folded = _specific(path), fold_text(text)
        offered = [
            check
            for check in self._checks
            if check.question and check.captions and fold_text(check.captions[0]) == folded
            if likeness(wanted, words_of(check.question)) >= _ASKS
        ]
        return [self._hit(check) for check in offered if check.checked] if offered else None

    def _hit(self, check: Check) -> Hit:
        page, token = self._pages[check.token.page], check.token
        width, height = page.width or 1.0, page.height or 1.0
        box: Box = (token.x0 / width, token.y0 / height, token.x1 / width, token.y1 / height)
        x, y = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
        words = tuple(at for at, word in enumerate(page.words) if word.x0 <= x <= word.x1 and word.y0 <= y <= word.y1)
        return Hit(page.number, words[:1], (box,), token.text)


def _asked(check: Check, named: bool | None) -> list[tuple[bool, list[str]]]:
    """What a box says, and which captions ask it.

    A box "Yes" or "No" answers the question beside it, when checked; a property that is `named` after the answer
    ("electric_car_no") means that box alone.
    """
    captions = list(check.captions)
    answer = yes_or_no(captions[0].strip(" .:")) if captions else None
    if answer is None:
        return [(check.checked, captions)]
    asked = [check.question] if check.question else captions[1:]
    if named is not None:
        return [(check.checked, asked)] if named is answer else []
    return [(answer, asked)] if check.checked else []


def _specific(path: str) -> tuple[str, ...]:
    """Words that tell a property from its neighbours; of its parent where its own name says nothing."""
    for name in reversed(path.split(".")):
        if not name.isdigit() and (words := tuple(w for w in words_of_name(name) if w not in _SAY_NOTHING)):
            return words
    return ()


def _alike(wanted: Sequence[tuple[str, ...]], captions: Sequence[str]) -> float:
    best = 0.0
    for rank, caption in enumerate(captions):
        said = words_of(caption.split("(")[0])
        alike = max((likeness(words, one) for words in wanted for one in (said, in_english(said))), default=0.0)
        best = max(best, alike * (1.0 - _FARTHER_CAPTION * rank))
    return best
