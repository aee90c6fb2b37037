"""The business vocabulary: concepts, their labels on paper in several languages, their names in schemas."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from llm.offline.matching.words import language_signs, word_list, words_of, words_of_name

_DATA = Path(__file__).with_name("data")
LANGUAGES = ("en", "de", "fr", "nl")


@dataclass(frozen=True, slots=True)
class Concept:
    """A thing that documents say. `kind` is what its values look like; `column` marks what stands in tables.

    `form` marks what forms ask people for: everyday words ("city"), which are labels only when they stand alone.
    """

    name: str
    kind: str
    names: tuple[str, ...]
    about: str
    column: bool = False
    instead: tuple[str, ...] = ()
    form: bool = False


@dataclass(frozen=True, slots=True)
class PhraseHit:
    """A label phrase in a list of words. `weight` is below 1 for words that mean many things."""

    concepts: tuple[str, ...]
    start: int
    end: int
    weight: float
    languages: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of document: what it is called, its titles on paper, the fields that it usually has.

    `form`: one to fill in; `sense`: what its title stands for; `signs`: words that only such documents have together;
    `of`: the wider kind whose title it has.
    """

    key: str
    name: str
    titles: tuple[str, ...]
    fields: tuple[str, ...]
    form: bool = False
    sense: str = ""
    signs: tuple[str, ...] = ()
    of: str = ""


def _load(name: str) -> Any:
    return json.loads((_DATA / name).read_text(encoding="utf-8"))


@lru_cache(maxsize=1)
def concepts() -> dict[str, Concept]:
    """All concepts by name."""
    return {
        name: Concept(
            name,
            entry["kind"],
            tuple(entry["names"]),
            entry["about"],
            entry.get("column", False),
            tuple(entry.get("instead", ())),
            entry.get("form", False),
        )
        for name, entry in _load("concepts.json").items()
    }


@lru_cache(maxsize=1)
def kinds() -> tuple[Kind, ...]:
    """All kinds of documents, the most telling first."""
    return tuple(
        Kind(
            key,
            entry["name"],
            tuple(entry["titles"]),
            tuple(entry["fields"]),
            entry.get("form", False),
            entry.get("sense", ""),
            tuple(entry.get("signs", ())),
            entry.get("of", ""),
        )
        for key, entry in _load("kinds.json").items()
    )


@lru_cache(maxsize=1)
def labels() -> dict[str, dict[str, tuple[str, ...]]]:
    """Per language, per concept: the phrases that name it on paper."""
    return {code: {name: tuple(found) for name, found in _load(f"labels_{code}.json").items()} for code in LANGUAGES}


@lru_cache(maxsize=2)
def _phrases(columns: bool) -> dict[str, dict[tuple[str, ...], tuple[set[str], set[str]]]]:
    """By first word: phrase words → (concepts, languages)."""
    table: dict[str, dict[tuple[str, ...], tuple[set[str], set[str]]]] = {}
    for code, by_concept in labels().items():
        for name, found in by_concept.items():
            if concepts()[name].column != columns:
                continue
            for phrase in found:
                words = words_of(phrase)
                held = table.setdefault(words[0], {}).setdefault(words, (set(), set()))
                held[0].add(name)
                held[1].add(code)
    return table


def find_phrases(words: Sequence[str], *, columns: bool = False) -> list[PhraseHit]:
    """The label phrases among `words`; a phrase inside a longer one does not count."""
    hits: list[PhraseHit] = []
    reach = 0
    table = _phrases(columns)
    for start, word in enumerate(words):
        fitting = [p for p in table.get(word, ()) if tuple(words[start : start + len(p)]) == p]
        if not fitting:
            continue
        phrase = max(fitting, key=len)
        end = start + len(phrase)
        if end > reach:
            found, languages = table[word][phrase]
            weight = 0.72 if len(phrase) == 1 and word in word_list("weak") else 1.0
            hits.append(PhraseHit(tuple(sorted(found)), start, end, weight, tuple(sorted(languages))))
            reach = end
    return hits


@lru_cache(maxsize=2)
def _names(columns: bool) -> dict[tuple[str, ...], str]:
    """Property name words → concept; names given for a concept win over labels on paper."""
    table: dict[tuple[str, ...], str] = {}
    ordered = [concept for concept in concepts().values() if concept.column == columns]
    for concept in ordered:
        table.setdefault(words_of_name(concept.name), concept.name)
    for concept in ordered:
        for name in concept.names:
            table.setdefault(words_of(name), concept.name)
    for code in LANGUAGES:
        for concept in ordered:
            for phrase in labels()[code].get(concept.name, ()):
                table.setdefault(words_of(phrase), concept.name)
    return table


@lru_cache(maxsize=2)
def _joined_names(columns: bool) -> dict[str, str]:
    """The same names written as one word; the first of two that look alike."""
    table: dict[str, str] = {}
    for words, name in _names(columns).items():
        table.setdefault("".join(words), name)
    return table


def concept_of(words: Sequence[str], *, columns: bool = False) -> Concept | None:
    """The concept that a property's words name: all of them, else their longest tail of two words or more."""
    table = _names(columns)
    for start in range(max(1, len(words) - 1)):
        name = table.get(tuple(words[start:]))
        if name is not None:
            return concepts()[name]
    name = _joined_names(columns).get("".join(words)) if len(words) > 1 else None
    return concepts()[name] if name else None


def language_of(text: str) -> str:
    """The language of a text by its commonest words; English when nothing speaks for another."""
    counts = dict.fromkeys(LANGUAGES, 0)
    for word in words_of(text):
        for code, signs in language_signs().items():
            counts[code] += word in signs
    return max(LANGUAGES, key=lambda code: counts[code])
