"""Which field a person means: by its name, its words or another word for the same thing."""

import re
from collections.abc import Iterator
from typing import Any

from llm.offline.extract.schema import properties_of
from llm.offline.matching.lexicon import concept_of, concepts, find_phrases
from llm.offline.matching.words import likeness, words_of_name

Path = tuple[str, ...]
_LINE = re.compile(
    r"\b(?:line|row|item|position|entry) (?:no\.? |number |#)?(\d{1,4})\b"
    r"|\b(first|second|third|fourth|fifth|last) (?:line|row|item)\b",
    re.I,
)
_ORDINALS = {"first": 0, "second": 1, "third": 2, "fourth": 3, "fifth": 4, "last": -1}


def all_fields(schema: Any, path: Path = ()) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Every field with its path; fields of rows stand under "[]"."""
    if not isinstance(schema, dict) or len(path) > 12:
        return
    for name, node in properties_of(schema).items():
        held = node if isinstance(node, dict) else {}
        yield (*path, name), held
        if held.get("type") == "object":
            yield from all_fields(held, (*path, name))
        elif held.get("type") == "array":
            yield from all_fields(held.get("items"), (*path, name, "[]"))


def find_field(said: str, schema: Any, *, rows: bool | None = None) -> Path | None:
    """The path of the field that `said` means, None when nothing is near. `rows` limits to columns or to others."""
    words = words_of_name(said)
    best: tuple[float, Path] | None = None
    for path, _ in all_fields(schema):
        if rows is not None and ("[]" in path) != rows:
            continue
        score = _score(words, path) - 0.02 * len(path)
        if best is None or score > best[0]:
            best = (score, path)
    return best[1] if best is not None and best[0] >= 0.5 else None


def _score(words: tuple[str, ...], path: Path) -> float:
    own = words_of_name(path[-1])
    if words == own or "".join(words) == "".join(own):
        return 1.1
    longer = tuple(word for name in path if name != "[]" for word in words_of_name(name))
    score = max(likeness(words, own) * 0.95, likeness(words, longer) * 0.9)
    return max(score, 0.95 if _same_concept(words, own, columns="[]" in path) else 0.0)


def _same_concept(words: tuple[str, ...], own: tuple[str, ...], *, columns: bool) -> bool:
    mine, other = concept_of(own, columns=columns), concept_of(words, columns=columns)
    if mine is not None and other is not None and mine.name == other.name:
        return True
    if mine is None:
        return False
    named = {
        name
        for hit in find_phrases(words, columns=columns)
        if hit.end - hit.start == len(words)
        for name in hit.concepts
    }
    return mine.name in named


def row_number(said: str) -> tuple[int | None, str]:
    """The row that "line 2 quantity" means, from 0, and the words without it."""
    match = _LINE.search(said)
    if match is None:
        return None, said
    number = int(match[1]) - 1 if match[1] else _ORDINALS[match[2].lower()]
    rest = re.sub(
        r"\b(?:of|in|on|for|the|at)\s*$|^\s*(?:of|in|on|for|the|'s)\b",
        "",
        (said[: match.start()] + said[match.end() :]).strip(),
        flags=re.I,
    )
    return number, rest.strip(" ,'s") if rest.strip().startswith("'s") else rest.strip(" ,")


def concept_for(said: str, *, columns: bool = False) -> str:
    """The concept that a person names, "" when the vocabulary has none."""
    words = words_of_name(said)
    found = concept_of(words, columns=columns)
    if found is not None:
        return found.name
    for hit in find_phrases(words, columns=columns):
        if hit.end - hit.start == len(words):
            return next((name for name in hit.concepts if name in concepts()), "")
    return ""
