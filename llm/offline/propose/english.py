"""Labels in English, word by word: "Kundennummer", "numéro de client" and "klantnr." are all customer numbers."""

import json
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from llm.offline.extract.reading import Reading
from llm.offline.matching.senses import is_known, senses_of_word
from llm.offline.matching.words import language_signs, word_list, words_of

_DATA = Path(__file__).parent.parent / "matching" / "data"
_LONGEST = 5
"""Units: words of a name."""
_OF = frozenset({"of", "de", "du", "des", "d", "van", "von", "vom", "der", "del", "dem", "la", "l", "le", "les"})
"""What stands behind these owns what stands before."""
_DETAILS = frozenset({"name", "address", "date", "place", "phone", "email", "last_name", "first_name", "initials"})
"""What is asked for together: "Name und Anschrift", "Ort, Datum"."""
_PAIR = 2
_HEADS = frozenset({"count", "type", "signature", "name", "number", "date", "amount", "license_plate", "reason"})
_OWNED = {"last_name": "name", "height": "amount", "type": "type"}
"""Of somebody or something: "nom de l'employeur", "Höhe des Schadens"."""
_NAMED = {"last_name": "name"}
_OTHERS = frozenset({"address", "employer", "company"})
_PER = "per"
_VAGUE = frozenset({"information", "details"})
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
_SHORT, _FIRST, _STEM = 4, 3, 4
"""Units: letters. What is shorter is no last or first part of a compound, and no word without its ending."""
_TAILS = frozenset({"nr", "ort", "tag", "art", "amt"})
_ENDINGS = ("es", "en", "er", "em", "e", "s", "n", "ees", "ee")


def spoken(reading: Reading) -> str:
    """The language of a document; "" for an English one that says too little to tell."""
    signs = language_signs()["en"]
    told = reading.language != "en" or sum(word in signs for word in words_of(reading.text)) >= _ENOUGH
    return reading.language if told else ""


def in_english_words(words: Sequence[str], language: str) -> tuple[tuple[str, ...], float]:
    """The words of a label in English and in English order, and the share of them that is known. Units: 0–1.

    `language`: the document's; the words of an English one stay as they are.
    """
    if words and language != "en" and not any(_names_something(word, english=False) for word in words):
        only = _translated(words[0], language)  # "von", "bis": small words are all of the label
        return tuple(only.split("_")) if only else tuple(words), float(bool(only))
    known = told = at = 0
    parts: list[list[str]] = [[]]
    while at < len(words):
        length, unit = _phrase(words[at:], language)
        if unit:
            told, known = told + 1, known + 1
            parts[-1].append(unit)
        elif words[at] in _OF and (language != "en" or words[at] == "of"):
            parts.append([])
        elif _names_something(words[at], english=language == "en"):
            said, is_known = _said(words[at], language)
            told, known = told + 1, known + is_known
            parts[-1].extend(said)
        at += length or 1
    filled = [part for part in parts if part]
    units = [unit for place, part in enumerate(filled) for unit in _turned(part, owned=place + 1 < len(filled))]
    sizes = [len(part) for part in filled]
    ordered = [unit for place in reversed(range(len(sizes))) for unit in units[sum(sizes[:place]) :][: sizes[place]]]
    joined = ordered if language == "en" else _without_idle(_headed(ordered, filled))
    return _unlike(joined), known / max(1, told)


def _phrase(words: Sequence[str], language: str) -> tuple[int, str]:
    """How many words begin a phrase of the dictionary, and what it is in English; (0, "") for none."""
    for length in range(min(_LONGEST, len(words)), 1, -1):
        joined = "+".join(words[:length])
        found = _dictionary().get(f"{language}:{joined}") or (_dictionary().get(joined) if language != "en" else "")
        if found:
            return length, found
    return 0, ""


def _turned(part: Sequence[str], *, owned: bool) -> list[str]:
    """The units of a part in English order. `owned`: what it is of follows."""
    units, adjectives = list(part), _grammar("adjectives")
    for place in range(1, len(units)):
        if units[place] in adjectives and units[place - 1] not in adjectives:
            units[place - 1], units[place] = units[place], units[place - 1]
    return [_OWNED.get(unit, unit) if owned and len(part) == 1 else unit for unit in units]


def _headed(units: Sequence[str], parts: Sequence[Sequence[str]]) -> list[str]:
    """ "Aantal kinderen", "Kenteken voertuig": what is said first is what is asked for."""
    first = units[0] if units else ""
    moved = len(parts) == 1 and first in _HEADS and len(units) > 1 and not set(units[1:]) & _DETAILS
    return [*units[1:], first] if moved else list(units)


def _without_idle(units: Sequence[str]) -> list[str]:
    told = [unit for unit in units if unit not in _VAGUE]
    named = [_NAMED.get(unit, unit) if set(told) & _OTHERS else unit for unit in told]
    return named or list(units)


def _names_something(word: str, *, english: bool) -> bool:
    if (word in word_list("stop") and word != _PER) or word.isdigit():
        return False
    return english or (word not in _grammar("idle"))


@lru_cache(maxsize=2)
def _grammar(name: str) -> frozenset[str]:
    """ "idle": words that name nothing in German, French and Dutch; "adjectives": what may stand behind its thing."""
    return frozenset(json.loads((_DATA / "grammar.json").read_text(encoding="utf-8"))[name].split())


@lru_cache(maxsize=1)
def _dictionary() -> dict[str, str]:
    told = json.loads((_DATA / "english.json").read_text(encoding="utf-8"))
    return {word: english for english, words in told.items() for word in words.split()}


@lru_cache(maxsize=1)
def _english() -> frozenset[str]:
    return frozenset(word for name in _dictionary().values() for word in name.split("_"))


def _said(word: str, language: str) -> tuple[list[str], bool]:
    """A word's units: those of several words stay together."""
    if language == "en":
        return [_dictionary().get(f"en:{word}", word)], word in _english() or is_known(word)
    plain = _translated(word, language)
    if plain:
        return [plain], True
    if word in _english():
        return [word], True
    parts = _compound(word, language)
    if parts:
        return parts, True
    return [_word_for(part, word) for part in senses_of_word(word)], is_known(word)


@lru_cache(maxsize=8192)
def _translated(word: str, language: str) -> str:
    """What a word is in English, also when it is bent or spelled without accents."""
    for form in (word, word.replace("ae", "a").replace("oe", "o").replace("ue", "u")):
        for stem in (form, *(form.removesuffix(end) for end in _ENDINGS if form.endswith(end))):
            found = _dictionary().get(f"{language}:{stem}") or _dictionary().get(stem)
            if found and (len(stem) >= _STEM or stem == form):
                return found
    return ""


@lru_cache(maxsize=8192)
def _compound(word: str, language: str) -> list[str]:
    """A compound of words of the dictionary, the longest last one first."""
    for at in range(_SHORT, len(word) - 1):
        last = _translated(word[at:], language)
        if not last or (len(word) - at < _SHORT and word[at:] not in _TAILS):
            continue
        for link in _LINKS:
            first = word[: at - len(link)] if word[:at].endswith(link) else ""
            if len(first) < _FIRST:
                continue
            known = _translated(first, language)
            deeper = [known] if known else _compound(first, language)
            if deeper:
                return [*deeper, last]
    return []


def _word_for(part: frozenset[str], word: str) -> str:
    """Of several senses the one that the word itself is, else the most telling."""
    if word in part:
        return _SAID.get(word, word)
    best = min(part, key=lambda sense: (sense in word_list("light"), len(sense), sense))
    return _SAID.get(best, best)


def _unlike(units: Sequence[str]) -> tuple[str, ...]:
    """The words of a name, each once; what kind of thing it is comes last, several of these joined by "and"."""
    kept = [unit for place, unit in enumerate(units) if unit not in units[:place]]
    asked = [unit for unit in kept if unit in _DETAILS]
    if len(asked) == _PAIR:
        kept = [*(unit for unit in kept if unit not in asked), f"{asked[0]}_and_{asked[1]}"]
        return tuple(word for unit in kept for word in unit.split("_"))
    ends = [unit for unit in _LAST if unit in kept][:1]
    words = [word for unit in kept if unit not in ends for word in unit.split("_")]
    once = [word for place, word in enumerate(words) if word not in words[:place]]
    last = [word for word in ends if word not in once[-1:]]
    return (*once[: _LONGEST - len(last)], *last)
