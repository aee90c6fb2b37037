"""Words of labels and of property names, and how alike two of them are."""

import json
import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from llm.offline.typing.folding import fold

_WORD = re.compile(r"n°|[#%]|[^\W_]+")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[A-Za-z])(?=\d{3,})|(?<=\d)(?=[A-Z][a-z])")


@lru_cache(maxsize=1)
def _lists() -> Any:
    return json.loads((Path(__file__).with_name("data") / "words.json").read_text(encoding="utf-8"))


@lru_cache(maxsize=8)
def word_list(name: str) -> frozenset[str]:
    """A list of words: "stop", "weak" (labels that mean many things), "question"."""
    return frozenset(_lists()[name])


@lru_cache(maxsize=1)
def language_signs() -> dict[str, frozenset[str]]:
    """Per language its commonest words on business documents."""
    return {code: frozenset(found) for code, found in _lists()["languages"].items()}


@lru_cache(maxsize=1)
def _flags() -> dict[tuple[str, ...], tuple[str, ...]]:
    return {words_of(said): words_of(name) for name, others in _lists()["flags"].items() for said in others}


def in_english(words: Sequence[str]) -> tuple[str, ...]:
    """The words beside a check box, those that forms use most put into English ("verheiratet" → married)."""
    whole = _flags().get(tuple(words))
    if whole is not None:
        return whole
    return tuple(english for word in words for english in _flags().get((word,), (word,)))


def polarity(words: Sequence[str]) -> bool | None:
    """Whether words say yes or no, None when they say something else ("ja, ab sofort" is a yes)."""
    first = words[0] if words and len(words) <= 3 else ""  # a word and what goes with it
    return True if first in word_list("yes") else (False if first in word_list("no") else None)


@lru_cache(maxsize=32768)
def words_of(text: str) -> tuple[str, ...]:
    """The folded words of a label."""
    return tuple(_WORD.findall(fold(text)))


@lru_cache(maxsize=4096)
def words_of_name(name: str) -> tuple[str, ...]:
    """The words of a property name: snake_case, camelCase, PascalCase or plain."""
    return words_of(" ".join(_CAMEL.split(name.replace("_", " ").replace("-", " ").replace(".", " "))))


@lru_cache(maxsize=1)
def _units() -> frozenset[str]:
    told = json.loads((Path(__file__).with_name("data") / "units.json").read_text(encoding="utf-8"))
    return frozenset(fold(unit) for unit in told)


def is_unit(word: str) -> bool:
    """Whether a word is a unit that things are counted or measured in."""
    return fold(word).rstrip(".").replace("²", "2").replace("³", "3") in _units()


def content_words(words: Sequence[str]) -> tuple[str, ...]:
    """Words that carry meaning; all of them when none does."""
    kept = tuple(word for word in words if word not in word_list("stop"))
    return kept or tuple(words)


@lru_cache(maxsize=65536)
def word_likeness(a: str, b: str) -> float:
    """1 for equal words, less for plural, prefix or one letter's difference, 0 for different ones."""
    if a == b:
        return 1.0
    short, long = sorted((a, b), key=len)
    if len(short) >= 3 and long in {short + "s", short + "es", short + "e", short + "n"}:
        return 0.95
    if len(short) >= 4 and long.startswith(short):
        return 0.85
    if len(short) >= 6 and len(long) - len(short) <= 1 and _one_edit(short, long):
        return 0.85
    return 0.0


def _one_edit(short: str, long: str) -> bool:
    at = next((i for i, (x, y) in enumerate(zip(short, long, strict=False)) if x != y), len(short))
    return short[at + 1 :] == long[at + 1 :] if len(short) == len(long) else short[at:] == long[at + 1 :]


def likeness(target: Sequence[str], label: Sequence[str]) -> float:
    """How well `label` names `target`: most of the target's words must be there; words beside them cost little."""
    return _likeness(tuple(target), tuple(label))


@lru_cache(maxsize=65536)
def _likeness(target: tuple[str, ...], label: tuple[str, ...]) -> float:
    target, label = content_words(target), content_words(label)
    if not target or not label or len(label) > 18:
        return 0.0
    if "".join(target) == "".join(label):
        return 1.0
    total = 0.0
    matched: set[int] = set()
    for word in target:
        score, places = _best_place(word, label)
        total += score
        matched.update(places)
    recall: float = total / len(target)
    return recall * (0.6 + 0.4 * len(matched) / len(label))


def _best_place(word: str, label: Sequence[str]) -> tuple[float, tuple[int, ...]]:
    best, place = max(((word_likeness(word, other), at) for at, other in enumerate(label)), default=(0.0, 0))
    if best > 0:
        return best, (place,)
    if 2 <= len(word) <= 5 and word.isalpha():
        for start in range(len(label) - len(word) + 1):
            if all(label[start + i].startswith(letter) for i, letter in enumerate(word)):
                return 0.95, tuple(range(start, start + len(word)))
    return 0.0, ()
