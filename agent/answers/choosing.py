"""Which pages of a long document a model is shown: those whose words are most like the question's, whole.

The words of the question, and what things it names are called on paper in the languages of the lexicon, count by how
rare they are. No model.
"""

import math
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from unicodedata import normalize

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
    """Thousands of pages are looked through here: each word is looked at once, however often it stands somewhere."""
    words = {number: _WORD.findall(normalize("NFC", text).lower()) for number, text in texts}
    met = _met(set().union(*words.values()), terms)
    counts = {number: Counter([met[word] for word in found if word in met]) for number, found in words.items()}
    seen = Counter(term for on_page in counts.values() for term in on_page)
    scores = {}
    for number, on_page in counts.items():
        score = sum(
            terms[term] * math.log(1 + len(texts) / seen[term]) * (1 + 0.2 * min(times - 1, _OFTEN))
            for term, times in on_page.items()
        )
        scores[number] = score + (_FIRST_PAGE if number == texts[0][0] else 0.0)
    return scores


def _met(spellings: Collection[str], terms: Mapping[str, float]) -> dict[str, str]:
    """Spelling on a page → the term that it meets: itself, else the longest that it begins with or has as a part."""
    words = {spelling: _folded(spelling) for spelling in spellings}
    met = {spelling: word for spelling, word in words.items() if word in terms}
    long = [(spelling, word) for spelling, word in words.items() if len(word) > _STEM and word not in terms]
    for term in terms:
        if len(term) < _STEM:
            continue
        begin = term[:-1] if len(term) > _STEM else term
        for spelling, word in [pair for pair in long if begin in pair[1]]:
            if (term in word or word.startswith(begin)) and len(term) > len(met.get(spelling, "")):
                met[spelling] = term
    return met


def _folded(word: str) -> str:
    """As `fold`, which remembers what it was given: not for all the words of a document."""
    return word if word.isascii() else fold.__wrapped__(word)
