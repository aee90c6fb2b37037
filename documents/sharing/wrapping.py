"""Values that are broken over lines in a column, where the next word in reading order is that of another column."""

from collections.abc import Iterator
from functools import cached_property

from documents.page_index import fold_text
from llm.content import PageContent, Word

_SHORTEST = 5
_WIDE_GAP = 0.9
_LINES = 4.0
_MOST_WORDS = 80


class WrappedPage:
    """The words of a page with what can come after each: the next of its line, or one that begins a line below."""

    def __init__(self, page: PageContent) -> None:
        self._words = page.words
        self._shape = page.width / (page.height or 1.0)
        self._folded = [fold_text(word.text) for word in page.words]

    def positions_of(self, wanted: str) -> set[int]:
        """Words that say the folded text one after the other. Texts of fewer than five letters are never broken."""
        found: set[int] = set()
        if len(wanted) < _SHORTEST:
            return found
        for at, folded in enumerate(self._folded):
            for begun in _beginnings(folded, wanted):
                for chain in self._chains([at], wanted[begun:]):
                    found.update(chain)
        return found

    def _chains(self, chain: list[int], rest: str) -> Iterator[list[int]]:
        if not rest:
            yield chain
            return
        if len(chain) >= _MOST_WORDS:
            return
        for after in self._after(chain[-1], rest[0]):
            folded = self._folded[after]
            if after in chain or not folded:
                continue
            if folded.startswith(rest):
                yield [*chain, after]
            elif rest.startswith(folded):
                yield from self._chains([*chain, after], rest[len(folded) :])

    def _after(self, at: int, letter: str) -> Iterator[int]:
        """What can come after a word and begins with the letter."""
        if at + 1 < len(self._words):
            yield at + 1
        if at in self._firsts_of:
            here = self._words[at]
            column = self._words[self._firsts_of[at]]
            begin = self._firsts.get(letter, ())
            yield from (other for other in begin if other != at + 1 and _below(here, column, self._words[other]))

    @cached_property
    def _cells(self) -> list[list[int]]:
        """Words of a line, apart where the gap is wide."""
        cells: list[list[int]] = []
        for at, word in enumerate(self._words):
            before = self._words[at - 1] if at else None
            together = (
                before is not None
                and before.line == word.line
                and (word.x0 - before.x1) * self._shape <= _WIDE_GAP * (word.y1 - word.y0)
            )
            if not together:
                cells.append([])
            cells[-1].append(at)
        return cells

    @cached_property
    def _firsts(self) -> dict[str, list[int]]:
        """The first words of cells, by their first letter."""
        found: dict[str, list[int]] = {}
        for cell in self._cells:
            found.setdefault(self._folded[cell[0]][:1], []).append(cell[0])
        return found

    @cached_property
    def _firsts_of(self) -> dict[int, int]:
        """The first word of the cell that a word ends."""
        return {cell[-1]: cell[0] for cell in self._cells}


def _beginnings(folded: str, wanted: str) -> Iterator[int]:
    """How many letters of the text a word ends with, when it does not hold all of it."""
    for length in range(min(len(folded), len(wanted) - 1), 0, -1):
        if wanted.startswith(folded[-length:]):
            yield length


def _below(here: Word, column: Word, other: Word) -> bool:
    """Whether a word begins the line after that: a little below, in the column that this one ends."""
    height = max(here.y1 - here.y0, 0.005)
    drop = other.y0 - here.y0
    return 0 < drop < _LINES * height and column.x0 - height <= other.x0 <= here.x1 + height
