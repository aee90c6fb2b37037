"""The fields of a form: a field per question, named in English, those under one of several headings in an object."""

import re
from collections.abc import Container, Sequence
from dataclasses import dataclass, replace

from llm.offline.extract.fill import extract
from llm.offline.extract.reading import Reading
from llm.offline.extract.values import Value, values_in
from llm.offline.layout.model import Cell
from llm.offline.matching.lexicon import concepts
from llm.offline.matching.words import words_of
from llm.offline.propose.english import in_english_words, spoken
from llm.offline.propose.naming import name_from_words
from llm.offline.propose.nodes import Schema, concept_node, field_node, object_node
from llm.offline.propose.questions import IsCaption, Question, questions

Path = tuple[str, ...]
_WHOLE = 0.95
_DATE_SHARE = 0.7
_PARTIES = frozenset({"party"})
_WORDS = 60
_FEW, _MOST = 2, 6
_DATE_WORDS = 8
_SIDES = {
    "sender": frozenset(["from", "von", "van", "absender", "afzender", "expediteur"]),
    "recipient": frozenset(["to", "an", "aan", "empfanger", "ontvanger", "destinataire"]),
}
SIGNED = ("signature", "signed", "stamp")
"""What is no data."""
_PRINTED = frozenset({"amount", "percent"})


@dataclass(frozen=True, slots=True)
class Asked:
    """A field with the value that it should find, and where its caption stands."""

    path: Path
    node: Schema
    value: Value | None
    place: tuple[int, float]
    spent: frozenset[int] = frozenset()
    """The words that its caption and its answer take."""
    instead: Schema | None = None
    """A field told by its printed label, where the vocabulary's own finds something else."""


def place_of(tokens: Sequence[int], reading: Reading) -> tuple[int, float]:
    """Where words stand, for the order of the page."""
    first = next(iter(tokens), -1)
    return next(
        ((cell.line, token.x0) for cell in reading.cells for token in cell.tokens if token.index == first), (-1, 0.0)
    )


def asked_questions(
    reading: Reading, spent: set[int], taken: Container[str], room: int, *, lines: Container[int], form: IsCaption
) -> list[Asked]:
    """A field per question, those that find again what they were made of; at most `room`."""
    found: list[Asked] = []
    names: set[Path] = set()
    for question in questions(reading, lines, form):
        value = question.value
        cell = question.caption.cell
        own = {token.index for token in cell.tokens[question.caption.start : question.caption.end]}
        if spent & own or (value is not None and spent & set(value.tokens)):
            continue
        path = _path(question, reading)
        if not path[-1] or path[-1].endswith(SIGNED) or path in names or (len(path) == 1 and path[0] in taken):
            continue
        names.add(path)
        place, taking = (
            (cell.line, cell.x0),
            frozenset(own | _head_words(question) | set(value.tokens if value else ())),
        )
        found.append(Asked(path, _node(question, path, reading), value, place, taking, _plain(question, path, reading)))
    kept = _found_again(found, reading)[:room]
    for asked in kept:
        spent |= asked.spent
    return kept


def _head_words(question: Question) -> set[int]:
    return {token.index for token in question.head.tokens} if question.head is not None else set()


def nested(found: list[Asked]) -> dict[str, Schema]:
    """The fields by name in their order; those with a heading in one object each."""
    tree: dict[str, Schema] = {}
    groups: dict[str, dict[str, Schema]] = {}
    abouts = {asked.path[0]: asked.node["description"] for asked in found}
    for asked in found:
        if len(asked.path) == 1:
            tree[asked.path[0]] = asked.node
            continue
        groups.setdefault(asked.path[0], {})[asked.path[1]] = asked.node
        heading = str(abouts[asked.path[0]]).rpartition("under ")[2].split(" (ISO")[0]
        tree[asked.path[0]] = object_node(groups[asked.path[0]], f"What is asked under {heading}")
    return tree


def _path(question: Question, reading: Reading) -> Path:
    name = _name(question, reading)
    if question.head is None:
        return (name,)
    head = _head_name(question.head, reading)
    return (head, name) if head else (name,)


def _head_name(head: Cell, reading: Reading) -> str:
    """ "Person 1", "1. Angaben zum Kind", "Fahrzeug A"."""
    words = words_of(head.text)
    side = next((name for name, said in _SIDES.items() if words and set(words) <= said), "")
    if side:
        return side
    last = words[-1:] if len(words) > 1 and (words[-1].isdigit() or len(words[-1]) == 1) else ()
    said, _ = in_english_words(words[: len(words) - len(last)], spoken(reading))
    return name_from_words((*said, *last))


def _name(question: Question, reading: Reading) -> str:
    caption = question.caption
    for hit in reading.labelled.get(caption.cell.tokens[0].index, ()):
        whole = hit.quality >= _WHOLE and hit.start <= caption.start + 1 and hit.end >= caption.end - 1
        names = [name for name in hit.concepts if concepts()[name].kind not in _PARTIES]
        if whole and len(names) == 1 and hit.start >= caption.start and _may_say(names[0], question, reading):
            return names[0]
    tokens = caption.cell.tokens[caption.start : caption.end]
    printed = re.sub(r"\([^)]*\)?", "", " ".join(token.text for token in tokens))
    label = printed if len(words_of(question.label)) < _FEW and len(words_of(printed)) <= _MOST else question.label
    words, _ = in_english_words(_last_clause(label), spoken(reading))
    return name_from_words(words)


def _may_say(name: str, question: Question, reading: Reading) -> bool:
    """Whether what was written may be what the concept is: the box of a signature holds no date."""
    return concepts()[name].kind != "date" or question.value is None or _is_date(question, reading)


def _last_clause(label: str) -> tuple[str, ...]:
    """The words that lead to a blank inside a sentence: ", agissant en qualité de"."""
    leads = not label[:1].isupper() and not label[:1].isdigit()
    parts = [part for part in re.split(r"[,;]", label) if words_of(part)]
    return words_of(parts[-1] if leads and parts else label)


def _node(question: Question, path: Path, reading: Reading) -> Schema:
    concept = concepts().get(path[-1])
    told = concept is not None and (concept.form or concept.kind not in _PRINTED)
    if concept is None or not told or (concept.kind == "date") != _is_date(question, reading):
        return _plain(question, path, reading)
    about = f"{concept.about}, {_labelled(question, path)}" if len(path) > 1 else concept.about
    return {**concept_node(concept), "description": about}


def _plain(question: Question, path: Path, reading: Reading) -> Schema:
    said = path[-1].replace("_", " ").capitalize()
    same = set(words_of(question.label)) >= set(words_of(said))
    date = " (ISO 8601 date)" if _is_date(question, reading) else ""
    return field_node("string", f"{'What is' if same else said + ','} {_labelled(question, path)}{date}")


def _labelled(question: Question, path: Path) -> str:
    under = f" under “{question.head.text[:_WORDS]}”" if question.head is not None and len(path) > 1 else ""
    return f"labelled “{question.label}”{under}"


def _is_date(question: Question, reading: Reading) -> bool:
    """Whether the answer is a date and nothing else."""
    if question.value is None:
        words, _ = in_english_words(words_of(question.label), spoken(reading))
        return "date" in words
    tokens = [reading.tokens[index] for index in question.value.tokens]
    dates = values_in("date", tokens, reading) if len(tokens) <= _DATE_WORDS else []
    return bool(dates) and len(dates[0].tokens) >= _DATE_SHARE * len(tokens)


def _found_again(found: list[Asked], reading: Reading) -> list[Asked]:
    """Those that find the value that they were made of, if need be by their printed label."""
    first = _finding(found, reading)
    again = [
        asked if at in first or asked.instead is None else replace(asked, node=asked.instead)
        for at, asked in enumerate(found)
    ]
    told = _finding(again, reading) if len(first) < len(found) else first
    return [asked for at, asked in enumerate(again) if at in told]


def _finding(found: list[Asked], reading: Reading) -> set[int]:
    """The places of those that find the value that they were made of."""
    result = extract(object_node(nested(found)), reading)
    kept = set()
    for at, asked in enumerate(found):
        given = result.get(asked.path[0])
        given = given.get(asked.path[1]) if len(asked.path) > 1 and isinstance(given, dict) else given
        if _says(given, asked.value, reading):
            kept.add(at)
    return kept


def _says(given: object, value: Value | None, reading: Reading) -> bool:
    if value is None:
        return not given
    dates = values_in("date", [reading.tokens[index] for index in value.tokens], reading)
    if dates and str(given) == str(dates[0].value):
        return True
    if isinstance(given, int | float):
        return _digits(f"{given:.2f}") == _digits(value.text) or _digits(str(given)) == _digits(value.text)
    return isinstance(given, str) and words_of(given)[:2] == words_of(value.text)[:2] and bool(given)


def _digits(text: str) -> str:
    return re.sub(r"\D", "", text).strip("0")
