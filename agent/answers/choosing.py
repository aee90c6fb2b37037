"""Which pages of a long document a model is shown: those whose words are most like the question's, whole.

The words of the question, and what things it names are called on paper in the languages of the lexicon, count by how
rare they are. No model.
"""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence

from llm.offline.matching.lexicon import find_phrases, labels
from llm.offline.matching.words import word_list, words_of
from llm.offline.typing.folding import fold

_WORD = re.compile(r"[^\W_]+")
_STEM = 5
"""Letters. From here on a word is met by one that begins with it, or that has it as a part ("Gesamtbetrag")."""
_NAMED = 0.6
_OFTEN = 3
_FIRST_PAGE = 0.1
"""The first page says what a document is: it wins when nothing else does."""


def choose_pages(texts: Sequence[tuple[int, str]], *, question: str, room: int) -> list[int]:
    """Numbers of the pages to show, in order; at least one. Units: `room` in characters of all texts together."""
    if sum(len(text) for _, text in texts) <= room:
        return [number for number, _ in texts]
    scores = _scores(texts, _terms(question))
    chosen: list[int] = []
    left = room
    for number, text in sorted(texts, key=lambda page: (-scores[page[0]], page[0])):
        if len(text) <= left or not chosen:
            chosen.append(number)
            left -= len(text)
    return sorted(chosen)


def _terms(question: str) -> dict[str, float]:
    """What to look for: word → how much it counts."""
    asked = words_of(question)
    terms: dict[str, float] = {}
    for hit in [*find_phrases(asked), *find_phrases(asked, columns=True)]:
        for concept in hit.concepts:
            for by_concept in labels().values():
                for phrase in by_concept.get(concept, ()):
                    terms |= dict.fromkeys(words_of(phrase), _NAMED)
    terms |= {word: 1.0 for word in asked if word not in word_list("question")}
    return {word: weight for word, weight in terms.items() if len(word) > 1 and word not in word_list("stop")}


def _scores(texts: Sequence[tuple[int, str]], terms: Mapping[str, float]) -> dict[int, float]:
    counts = {number: Counter(_WORD.findall(fold(text))) for number, text in texts}
    spread = Counter(word for words in counts.values() for word in words)
    met = {word: found for word in spread if (found := _met(word, terms))}
    seen = Counter(term for words in counts.values() for term in {met[word] for word in words if word in met})
    scores = {}
    for number, words in counts.items():
        on_page: Counter[str] = Counter()
        for word, times in words.items():
            if word in met:
                on_page[met[word]] += times
        score = sum(
            terms[term] * math.log(1 + len(texts) / seen[term]) * (1 + 0.2 * min(times - 1, _OFTEN))
            for term, times in on_page.items()
        )
        scores[number] = score + (_FIRST_PAGE if number == texts[0][0] else 0.0)
    return scores


def _met(word: str, terms: Mapping[str, float]) -> str:
    """The term that a word of a page meets, "" for none."""
    if word in terms:
        return word
    if len(word) <= _STEM:
        return ""
    near = (
        term
        for term in terms
        if len(term) >= _STEM and (term in word or (len(term) > _STEM and word[: len(term) - 1] == term[:-1]))
    )
    return max(near, key=len, default="")
