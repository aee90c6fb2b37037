"""Labels in English, word by word: "Kundennummer", "numéro de client" and "klantnr." are all customer numbers."""

import json
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from llm.offline.extract.reading import Reading
from llm.offline.matching.senses import is_known, senses_of_word
from llm.offline.matching.words import language_signs, word_list, words_of

_DATA = Path(__file__).parent.parent / "matching" / "data" / "english.json"
_LONGEST = 5
"""Units: words of a name."""
_IDLE = frozenset(
    {
        "nach",
        "diesem",
        "dieser",
        "dieses",
        "aus",
        "bei",
        "mit",
        "auf",
        "bis",
        "par",
        "avec",
        "dans",
        "met",
        "bij",
        "aan",
        "op",
        "te",
    }
)
_OF = frozenset({"of", "de", "du", "des", "d", "van", "von", "der", "del", "dem"})
"""What stands behind these owns what stands before."""
_SAID = {
    "buyer": "customer", "seller": "supplier", "pay_wage": "pay", "pay": "payment", "family": "last_name",
    "first": "first_name", "premium": "contribution", "commercial": "company_registration", "sort": "bank_code",
    "health": "health_insurance", "pension": "pension_insurance", "unemployment": "unemployment_insurance",
    "hired": "entry", "left": "leaving", "labor": "labour", "person": "contact", "registration": "license_plate",
}  # fmt: skip
"""English words for senses whose own names say less."""
_LAST = ("amount", "name", "date", "number", "id", "code", "reference")
"""What a name ends with, whatever the order on paper."""
_ENOUGH = 2
_LINKS = ("", "s", "n", "en", "es", "er", "e")
_SHORT = 4
"""Units: letters. What is shorter is no part of a compound."""


def is_english(reading: Reading) -> bool:
    """Whether a document is in English, and says enough to tell."""
    signs = language_signs()["en"]
    return reading.language == "en" and sum(word in signs for word in words_of(reading.text)) >= _ENOUGH


def in_english_words(words: Sequence[str], *, english: bool) -> tuple[tuple[str, ...], float]:
    """The words of a label in English and in English order, and the share of them that is known. Units: 0–1.

    `english`: the document is in English, its words stay as they are.
    """
    known = told = 0
    parts: list[list[str]] = [[]]
    for word in words:
        if word in _OF:
            parts.append([])
        elif word not in word_list("stop") and word not in _IDLE and not word.isdigit() and (len(word) > 1 or english):
            told += 1
            said, is_known = _said(word, english=english)
            known += is_known
            parts[-1].extend(said)
    ordered = [word for part in reversed(parts) for word in part]
    return _unlike(ordered), known / max(1, told)


@lru_cache(maxsize=1)
def _dictionary() -> dict[str, str]:
    told = json.loads(_DATA.read_text(encoding="utf-8"))
    return {word: english for english, words in told.items() for word in words.split()}


@lru_cache(maxsize=1)
def _english() -> frozenset[str]:
    return frozenset(word for name in _dictionary().values() for word in name.split("_"))


def _said(word: str, *, english: bool) -> tuple[list[str], bool]:
    known = word in _english() or is_known(word)
    if english or word in _english():
        return [word], known
    plain = _translated(word)
    if plain:
        return plain.split("_"), True
    parts = _compound(word)
    if parts:
        return parts, True
    said = [_word_for(part, word) for part in senses_of_word(word)]
    return [part for name in said for part in name.split("_")], known


def _translated(word: str) -> str:
    found = _dictionary().get(word, "")
    return found or _dictionary().get(word.replace("ae", "a").replace("oe", "o").replace("ue", "u"), "")


def _compound(word: str) -> list[str]:
    """A compound of two words of the dictionary, the longest last one first."""
    for at in range(_SHORT, len(word) - 1):
        last = _translated(word[at:])
        if not last or (len(word) - at < _SHORT and word[at:] != "nr"):
            continue
        for link in _LINKS:
            first = word[: at - len(link)] if word[:at].endswith(link) else ""
            if len(first) >= _SHORT and (known := _translated(first)):
                return [*known.split("_"), *last.split("_")]
    return []


def _word_for(part: frozenset[str], word: str) -> str:
    """Of several senses the one that the word itself is, else the most telling."""
    if word in part:
        return _SAID.get(word, word)
    best = min(part, key=lambda sense: (sense in word_list("light"), len(sense), sense))
    return _SAID.get(best, best)


def _unlike(words: Sequence[str]) -> tuple[str, ...]:
    kept = [word for place, word in enumerate(words) if word not in words[:place]]
    ends = [word for word in _LAST if word in kept][:1]
    rest = [word for word in kept if word not in ends]
    return (*rest[: _LONGEST - len(ends)], *ends) if rest else tuple(kept[:_LONGEST])
