"""Check boxes: which one a property means, and whether it says what the property says."""

import re
from collections.abc import Sequence
from functools import cached_property

from documents.grounding.asking import Asked, fits, read_asked
from documents.page_words import Box, Hit, IndexedPage, fold_text
from documents.spellings import yes_or_no
from llm.content import DocumentContent, PageContent
from llm.offline.extract.ticks import alike
from llm.offline.layout.checks import find_checks
from llm.offline.layout.lines import read_lines
from llm.offline.layout.model import Check
from llm.offline.matching.words import words_of, words_of_name

_MARK = re.compile(r"[☒☑☐□❏▢⊠✓✔✗✘]|^[\[(]")
_ALIKE = 0.3
_HARDLY = 0.2
"""Enough where nothing else is asked that is half as like."""
_NEARLY = 0.9
_ASKS = 0.5
_DAY1 = re.compile(r"([a-z])(?=\d)")
_SAME = 0.001
_SAY_NOTHING = frozenset(["is", "has", "tax", "classify", "checked", "selected", "ticked", "box", "flag", "value"])
"""Words of property names that tell no box from another."""

Claim = tuple[float, bool | None, Asked]
"""How well a property means a box, and what the box says then; None for nothing."""


class CheckBoxes:
    """The check boxes of pages, read when they are first asked for.

    `paths` are the properties that may each mean a box: what one of them fits best is no other's.
    """

    def __init__(self, pages: Sequence[PageContent], paths: Sequence[str] = ()) -> None:
        self._pages = {page.number: page for page in pages}
        self._paths = paths

    @cached_property
    def _asked(self) -> list[Asked]:
        marked = [page for page in self._pages.values() if any(_MARK.search(word.text) for word in page.words)]
        lines = read_lines(DocumentContent("", "", tuple(marked))) if marked else []
        return read_asked(lines, find_checks(lines))

    def hits(self, path: str, value: bool, beside: Sequence[str] = ()) -> list[Hit]:
        """The boxes that a property means, if they are checked as `value` says.

        `beside` are texts of the same row: an option that is named there ("label": "Express", "checked": true).
        """
        claims = self._claims(path, beside)
        best = max((score for score, _, _ in claims), default=0.0)
        meant = [(said, asked) for score, said, asked in claims if score > best - _SAME]
        if best < _ALIKE and not (best >= _HARDLY and self._stands_alone(claims, best)):
            return []
        return [self._hit(asked.check) for said, asked in meant if said is value]

    def is_doubtful(self, path: str, beside: Sequence[str] = ()) -> bool:
        """Whether boxes that fit a property equally well say different things: the same question to two people."""
        claims = self._claims(path, beside)
        best = max((score for score, _, _ in claims), default=0.0)
        return len({said for score, said, _ in claims if score > best - _SAME and said is not None}) > 1

    def _claims(self, path: str, beside: Sequence[str]) -> list[Claim]:
        """How well each box fits a property, without those that another property fits better."""
        return [
            (score, said, asked)
            for score, said, asked in self._fits(path, tuple(beside))
            if beside or score >= _NEARLY * self._most_wanted.get(asked.check.token.index, 0.0)
        ]

    def _fits(self, path: str, beside: tuple[str, ...]) -> list[Claim]:
        own, named = _specific(path), None
        if len(own) > 1 and (named := yes_or_no(own[-1])) is not None:
            own = own[:-1]
        wanted = [words for words in (own, *map(words_of, beside)) if words]
        return [(score, said, asked) for asked in self._asked for score, said in fits(wanted, asked, named)]

    @cached_property
    def _most_wanted(self) -> dict[int, float]:
        """How well each box fits the property that it fits best."""
        found: dict[int, float] = {}
        for path in self._paths:
            for score, _, asked in self._fits(path, ()):
                found[asked.check.token.index] = max(score, found.get(asked.check.token.index, 0.0))
        return found

    @staticmethod
    def _stands_alone(claims: Sequence[Claim], best: float) -> bool:
        """Whether nothing else that is asked is nearly as like the property as the best."""
        likely = [asked for score, _, asked in claims if score > best / 2]
        things = {asked.option if asked.answer is None else asked.question for asked in likely}
        return len(things) == 1 and bool(likely[0].question)

    def answers(self, path: str, value: bool, beside: Sequence[str] = ()) -> list[Hit]:
        """The same for an answer in words: with the word beside the box, where it says the answer."""
        return [self._with_option(hit) for hit in self.hits(path, value, beside)]

    def option(self, path: str, text: str) -> list[Hit] | None:
        """The box of an option that is an answer in words ("status": "single"), if it is checked.

        None when the text is no option of what the property asks, or its words do not stand at the box: then it may
        stand anywhere.
        """
        wanted, folded = _specific(path), fold_text(text)
        offered = [
            asked.check
            for asked in self._asked
            if asked.question and fold_text(asked.option) == folded
            if alike(wanted, words_of(asked.question)) >= _ASKS and self._hit(asked.check) in self._options
        ]
        return [self._with_option(self._hit(check)) for check in offered if check.checked] if offered else None

    def offers(self, hit: Hit) -> bool:
        """Whether a word is only what a box offers, or part of a sentence: "Yes" of "☐ Yes", of "if yes, when"."""
        page = self._pages[hit.page]
        after = page.words[hit.words[-1] + 1 : hit.words[-1] + 2]
        goes_on = any(word.line == page.words[hit.words[-1]].line and word.text[:1].islower() for word in after)
        return goes_on or hit.quote.endswith(",") or (hit.page, hit.words) in self._offered

    @cached_property
    def _offered(self) -> set[tuple[int, tuple[int, ...]]]:
        return {(hit.page, words) for hit, words in self._options.items()}

    @cached_property
    def _options(self) -> dict[Hit, tuple[int, ...]]:
        """The words of the option of each box."""
        found = {}
        for asked in self._asked:
            hit = self._hit(asked.check)
            words = self._words_beside(hit, asked.option)
            if words:
                found[hit] = words
        return found

    def _words_beside(self, hit: Hit, option: str) -> tuple[int, ...]:
        texts = [word.text for word in self._pages[hit.page].words]
        said = option.split()
        for mark in hit.words:
            for start in (mark + 1, mark - len(said)):
                if start >= 0 and said and texts[start : start + len(said)] == said:
                    return tuple(range(start, start + len(said)))
        return ()

    def _with_option(self, hit: Hit) -> Hit:
        words = (*hit.words, *self._options.get(hit, ()))
        return IndexedPage(hit.page, self._pages[hit.page].words).hit(words) if len(words) > 1 else hit

    def _hit(self, check: Check) -> Hit:
        page, token = self._pages[check.token.page], check.token
        width, height = page.width or 1.0, page.height or 1.0
        box: Box = (token.x0 / width, token.y0 / height, token.x1 / width, token.y1 / height)
        x, y = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
        words = tuple(at for at, word in enumerate(page.words) if word.x0 <= x <= word.x1 and word.y0 <= y <= word.y1)
        return Hit(page.number, words[:1], (box,), token.text)


def _specific(path: str) -> tuple[str, ...]:
    """Words that tell a property from its neighbours; of its parent where its own name says nothing."""
    for name in reversed(path.split(".")):
        if not name.isdigit() and (
            words := tuple(w for w in words_of_name(_DAY1.sub(r"\1 ", name)) if w not in _SAY_NOTHING)
        ):
            return words
    return ()
