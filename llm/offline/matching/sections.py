"""Whom and what the sections of forms are about, in four languages: "Antragsteller/in", "demandeur", `applicant`."""

import json
from functools import lru_cache
from pathlib import Path

from llm.offline.matching.senses import Senses, senses_of
from llm.offline.matching.words import word_list, words_of

_LONGEST = 6
"""Units: words."""


@lru_cache(maxsize=1)
def _phrases() -> dict[tuple[str, ...], frozenset[str]]:
    told = json.loads((Path(__file__).with_name("data") / "sections.json").read_text(encoding="utf-8"))
    found: dict[tuple[str, ...], set[str]] = {}
    for about, phrases in told.items():
        for phrase in (*phrases, about.replace("_", " ")):
            found.setdefault(words_of(phrase), set()).add(about)
    return {words: frozenset(about) for words, about in found.items()}


@lru_cache(maxsize=8192)
def abouts_of(words: tuple[str, ...]) -> Senses:
    """What the words of a heading or of an object's name are about, in order; other words stand for their senses."""
    parts: list[frozenset[str]] = []
    at = 0
    while at < len(words):
        longest = range(min(_LONGEST, len(words) - at), 0, -1)
        length = next((n for n in longest if words[at : at + n] in _phrases()), 0)
        if length:
            parts.append(_phrases()[words[at : at + length]])
        elif split := _compound(words[at]):
            parts.extend(split)
        elif words[at] not in word_list("stop"):
            parts.extend(senses_of((words[at],)))
        at += length or 1
    return tuple(parts)


def _compound(word: str) -> Senses:
    """A compound of two of these words: "Arbeitgeberanschrift"."""
    for at in range(4, len(word) - 3):
        last = _phrases().get((word[at:],))
        if last is not None:
            for link in ("", "s", "n", "en"):
                first = word[: at - len(link)] if word[:at].endswith(link) else ""
                if len(first) > 3 and (known := _phrases().get((first,))) is not None:
                    return known, last
    return ()


def is_about_somebody(words: tuple[str, ...]) -> bool:
    """Whether words say of whom or of what part of a form something is."""
    known = frozenset(about for found in _phrases().values() for about in found)
    return any(part & known for part in abouts_of(words))
