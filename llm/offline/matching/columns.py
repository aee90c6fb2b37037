"""What the columns of lists are called, in four languages: words that say it only at the head of a column."""

import json
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from llm.offline.matching.words import content_words, word_likeness, words_of

_WHOLE, _PART = 0.9, 0.5
_ALIKE = 0.9
Words = tuple[str, ...]


@lru_cache(maxsize=1)
def _groups() -> list[tuple[list[Words], list[Words]]]:
    told = json.loads((Path(__file__).with_name("data") / "columns.json").read_text(encoding="utf-8"))
    return [(list(map(words_of, group["names"])), list(map(words_of, group["heads"]))) for group in told]


@lru_cache(maxsize=4096)
def _heads_of(name: Words) -> frozenset[Words]:
    """The heads that a column of this name has; the name's words may be in any order ("claimed_amount")."""
    return frozenset(
        head
        for names, heads in _groups()
        for head in (heads if any(_is_same(name, other) for other in (*names, *heads)) else ())
    )


def _is_same(one: Words, other: Words) -> bool:
    return len(one) == len(other) and all(max(word_likeness(word, said) for said in other) >= _ALIKE for word in one)


@lru_cache(maxsize=32768)
def named_as(name: Words, header: Words) -> float:
    """How surely a column under `header` is what `name` asks for. Units: 0–1."""
    said = content_words(header)
    best = 0.0
    for head in _heads_of(name):
        if head in (header, said):
            return _WHOLE
        if len(head) > 1 and _holds(header, head):
            best = max(best, _PART + (_WHOLE - _PART) * len(head) / len(header))
        elif len(head) == 1 and len(head[0]) > 3 and head[0] in said and len(said) <= 2:
            best = max(best, _PART + 0.1)
    return best


def _holds(header: Sequence[str], head: Words) -> bool:
    return any(tuple(header[at : at + len(head)]) == head for at in range(len(header) - len(head) + 1))
