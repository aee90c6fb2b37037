"""What the words of labels and property names stand for, across languages: no list of labels can have them all.

"Kundennr.", "numéro de client" and `customer_id` are all {buyer, number}: words are looked up in one vocabulary of
senses, compounds are taken apart, words that the vocabulary lacks stand for themselves.
"""

import json
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path

from llm.offline.matching.words import word_likeness, word_list, words_of

Senses = tuple[frozenset[str], ...]

_LIGHT = word_list("light")
"""Senses that say what kind of value it is, or whose, rather than which."""
_LIGHT_WEIGHT = 0.3
_WHOSE = frozenset({"your", "our", "until"})
_ENDINGS = ("s", "es", "en", "n", "e")
_LINKS = ("", "s", "n", "en", "es", "er", "e")
_SHORTEST, _LONGEST = 2, 5
"""Units: letters, words. A shorter word is no part of a compound, a longer run of words no phrase."""


@lru_cache(maxsize=1)
def _vocabulary() -> dict[str, frozenset[str]]:
    told = json.loads((Path(__file__).with_name("data") / "senses.json").read_text(encoding="utf-8"))
    found: dict[str, set[str]] = {}
    for sense, words in told.items():
        for word in words.split():
            found.setdefault(word, set()).add(sense)
    return {word: frozenset(senses) for word, senses in found.items()}


@lru_cache(maxsize=1)
def _phrases() -> dict[tuple[str, ...], Senses]:
    """Labels that mean another thing than their words, with the senses that they stand for."""
    told = json.loads((Path(__file__).with_name("data") / "phrases.json").read_text(encoding="utf-8"))
    return {
        words_of(phrase): tuple(frozenset(sense.split("|")) for sense in senses.split())
        for senses, phrases in told.items()
        for phrase in phrases
    }


def is_known(word: str) -> bool:
    """Whether the vocabulary has a word, or the parts of a compound."""
    return bool(_known(word)) or senses_of_word(word) != (frozenset({word}),)


@lru_cache(maxsize=4096)
def in_umlauts(word: str) -> str:
    """A German word of a name that is spelled without dots ("zaehler"), as labels are read ("zahler")."""
    plain = word.replace("ae", "a").replace("oe", "o").replace("ue", "u")
    if plain == word or word in _vocabulary():
        return word
    return plain if _known(plain) or senses_of_word(plain) != (frozenset({plain}),) else word


@lru_cache(maxsize=16384)
def senses_of_word(word: str) -> Senses:
    """The senses of a word, one entry per part of a compound; the word itself when nothing is known of it."""
    known = _known(word)
    if known:
        return (known,)
    if len(word) >= 6:
        parts = _parts(word)
        if parts:
            return parts
    return (frozenset({word}),)


def _known(word: str) -> frozenset[str]:
    plain = _vocabulary().get(word)
    if plain is None and len(word) > 6:
        plain = next(
            (held for end in _ENDINGS if word.endswith(end) and (held := _vocabulary().get(word[: -len(end)]))), None
        )
    if plain is None and len(word) > 4:
        plain = _vocabulary().get(word.replace("ae", "a").replace("oe", "o").replace("ue", "u"))
    return plain or frozenset()


def _parts(word: str) -> Senses:
    """A compound of two known words, the longest last one first; or one whose last part alone is known."""
    for at in range(_SHORTEST, len(word) - 1):
        last = _known(word[at:])
        if not last or len(word) - at < _SHORTEST:
            continue
        for link in _LINKS:
            first = word[: at - len(link)] if word[:at].endswith(link) else ""
            if len(first) >= 3 and (known := _known(first)):
                return known, last
        if len(word) - at >= 5:
            return frozenset({word[:at], "part"}), last
        if len(first := word[:at]) >= 6 and word[at:] in {"nr", "datum"} and len(deeper := _parts(first)) > 1:
            return (*deeper, last)
    return ()


@lru_cache(maxsize=32768)
def senses_of(words: tuple[str, ...]) -> Senses:
    """The senses of a label's words, in order; words that only hold others together are left out."""
    parts: list[frozenset[str]] = []
    at = 0
    while at < len(words):
        length = next((n for n in range(min(_LONGEST, len(words) - at), 0, -1) if words[at : at + n] in _phrases()), 0)
        if length:
            parts.extend(_phrases()[words[at : at + length]])
        elif words[at] not in word_list("stop") or _known(words[at]) & _WHOSE:
            parts.extend(senses_of_word(words[at]))
        at += length or 1
    return tuple(parts) or tuple(part for word in words for part in senses_of_word(word))


def held(senses: Iterable[frozenset[str]]) -> frozenset[str]:
    """All senses of a label together."""
    return frozenset(sense for part in senses for sense in part)


@lru_cache(maxsize=131072)
def meant_alike(target: Senses, label: Senses, given: frozenset[str] = frozenset()) -> float:
    """How well `label` names `target` by meaning. `given`: senses that the place or the value itself tells.

    Units: 0–1. All that tells the target apart must be there.
    """
    if not target or not label or len(label) > 10:
        return 0.0
    found = told = 0.0
    matched: set[int] = set()
    for part in target:
        weight = _weight(part)
        told += weight
        best, place = max(((_same(part, other), -at) for at, other in enumerate(label)), default=(0.0, 0))
        if best > 0:
            matched.add(-place)
        elif part & given:
            best = 0.9
        found += weight * best
    all_words = sum(_weight(part) for part in label)
    said = sum(_weight(part) for at, part in enumerate(label) if at in matched)
    if not matched or (told > _LIGHT_WEIGHT * len(target) and all(_weight(label[at]) < 1 for at in matched)):
        return 0.0
    return found / told * (0.4 + 0.6 * said / all_words)


def _weight(part: frozenset[str]) -> float:
    return _LIGHT_WEIGHT if part & _LIGHT else 1.0


@lru_cache(maxsize=65536)
def _same(a: frozenset[str], b: frozenset[str]) -> float:
    if a & b:
        return 1.0
    return max((word_likeness(one, other) for one in a for other in b), default=0.0)


def telling(senses: Sequence[frozenset[str]]) -> Senses:
    """Without the parts that every label of its kind has."""
    return tuple(part for part in senses if not part & _LIGHT)
