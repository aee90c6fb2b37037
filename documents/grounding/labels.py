"""What is printed beside and above a place, and whether it names a property."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from documents.page_index import PageIndex
from documents.page_words import Hit, IndexedPage, fold_text
from llm.content import Word
from llm.offline.matching.lexicon import Concept, concept_of, find_phrases
from llm.offline.matching.words import words_of, words_of_name

_NAMED = 2.0
"""What a printed label that names the property counts beside words that are merely like its name."""
_ABOVE = 0.6
_NEAR_COLUMN = 0.01
_PREFIX = 4


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a property is called: its words and its parents', and what they mean."""

    tokens: tuple[str, ...]
    concept: Concept | None
    column: Concept | None

    @classmethod
    def of(cls, path: str) -> "Wanted":
        name = words_of_name(path.rpartition(".")[2])
        tokens = tuple(fold_text(word) for word in words_of_name(path) if not word.isdigit())
        return cls(tokens, concept_of(name), concept_of(name, columns=True))


class Labels:
    """What is printed around the places of a document; worked out once for each place and name."""

    def __init__(self, index: PageIndex) -> None:
        self._index = index
        self._beside: dict[tuple[Wanted, int, tuple[int, ...]], float] = {}
        self._above: dict[tuple[Wanted, int, tuple[int, ...]], float] = {}

    def beside(self, hit: Hit, wanted: Wanted) -> float:
        """How much what stands before and above a place names the property. 0 = not at all."""
        key = (wanted, hit.page, hit.words)
        if key not in self._beside:
            self._beside[key] = _label_score(self._index.page(hit.page), hit, wanted)
        return self._beside[key]

    def above(self, hit: Hit, wanted: Wanted) -> float:
        """How much the words above a place, in its column, name the property: 1, or 2 for a usual name."""
        key = (wanted, hit.page, hit.words)
        if key not in self._above:
            self._above[key] = _header_score(self._index.page(hit.page), hit, wanted)
        return self._above[key]


def _label_score(page: IndexedPage, hit: Hit, wanted: Wanted) -> float:
    """Nearer words count more."""
    score = sum(near for near, word in _neighbours(page, hit) if _names_part(word, wanted.tokens))
    return score + _NAMED * _means(wanted.concept, _label_before(page, hit))


def _header_score(page: IndexedPage, hit: Hit, wanted: Wanted) -> float:
    x0, y0, x1, _ = hit.boxes[0]
    above = [
        word
        for word in page.words
        if word.y1 <= y0 + 0.002 and word.x0 < x1 + _NEAR_COLUMN and word.x1 > x0 - _NEAR_COLUMN
    ]
    likely = 1.0 if any(_names_part(word, wanted.tokens[-2:]) for word in above) else 0.0
    said = [words_of(word.text) for word in above]
    return likely + _NAMED * any(_means(wanted.column, text, columns=True) for text in said if text)


def _names_part(word: Word, tokens: Sequence[str]) -> bool:
    folded = fold_text(word.text)
    return any(_alike(folded, token) for token in tokens)


def _means(concept: Concept | None, label: Sequence[str], *, columns: bool = False) -> bool:
    """Whether a printed label names the concept, in any language of the lexicon ("Subtotal" → net_total)."""
    if concept is None:
        return False
    return any(concept.name in phrase.concepts for phrase in find_phrases(label, columns=columns))


def _label_before(page: IndexedPage, hit: Hit) -> tuple[str, ...]:
    """The words on the row before a place, back to the last thing that is a value itself: its printed label."""
    x0, y0, _, y1 = hit.boxes[0]
    middle = (y0 + y1) / 2
    row = [word for word in page.words if word.y0 <= middle <= word.y1 and word.x1 <= x0 + 0.01]
    label: list[str] = []
    for word in sorted(row, key=lambda word: -word.x1):
        if any(map(str.isdigit, word.text)):
            break
        label.insert(0, word.text)
    return words_of(" ".join(label))


def _neighbours(page: IndexedPage, hit: Hit) -> Iterator[tuple[float, Word]]:
    x0, y0, x1, y1 = hit.boxes[0]
    middle, height = (y0 + y1) / 2, max(y1 - y0, 0.005)
    for position, word in enumerate(page.words):
        if position in hit.words:
            continue
        gap = x0 - word.x1
        if word.y0 <= middle <= word.y1 and gap >= -0.01:
            yield 1.0 / (1.0 + 4 * max(gap, 0.0)), word
        elif 0 < y0 - word.y1 < 3 * height and word.x0 < x1 and word.x1 > x0:
            yield _ABOVE, word


def _alike(word: str, token: str) -> bool:
    """The word must begin like the token, by four letters at least, or be it."""
    if not word or not token:
        return False
    is_long = min(len(word), len(token)) >= _PREFIX
    return word == token or (is_long and (word.startswith(token) or token.startswith(word)))
