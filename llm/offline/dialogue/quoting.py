"""Answers to questions about the pages, each with the passage that shows it: a value by its name, else the line that
is most like the question, else that the document does not say it. Text of the pages is only quoted.

A citation is written as `[[p3: words]]`, and `[[none]]` before an answer that there is none.
"""

import json
import math
import re
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from llm.offline.extract.fill import Assigned, assign
from llm.offline.extract.reading import Reading
from llm.offline.extract.targets import make_target
from llm.offline.layout.model import Cell, Line
from llm.offline.matching.lexicon import concepts, find_phrases
from llm.offline.matching.words import word_likeness, word_list, words_of
from llm.offline.propose.nodes import concept_node
from llm.offline.reply import Reply
from llm.offline.typing.folding import fold

_DATA = Path(__file__).resolve().parent.parent / "matching" / "data" / "questions.json"
_SURE = 0.5
_COVERED = 0.6
"""How much of what a question asks for a line must have: its telling words, weighed by how rare they are."""
_ALIKE = 0.85
_ENDING = 3
_LONG = 30
"""Words of a passage that is quoted as a whole."""
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Named:
    """A thing that a question names: its concept, and the question's own words for it ("" when it uses others)."""

    concept: str
    label: str


def answer_with_quotes(reading: Reading, question: str) -> Reply:
    """The answer in the language of the question."""
    says = _data()["says"][_language(question, reading)]
    for named in things_named(question):
        found = value_of(reading, named.concept)
        if found is not None:
            return Reply(text=_told(reading, named, found))
    line = _best_line(reading, question)
    if line is None:
        return Reply(text=f"[[none]] {says['nothing']}")
    quote = _short(line)
    return Reply(text=f"{says['passage'].format(_plain(quote))} [[p{line.page}: {quote}]]")


@lru_cache(maxsize=1)
def _data() -> Any:
    return json.loads(_DATA.read_text(encoding="utf-8"))


def _language(question: str, reading: Reading) -> str:
    words = set(words_of(question))
    counts = {code: len(words & set(signs)) for code, signs in _data()["languages"].items()}
    best = max(counts, key=lambda code: counts[code])
    if counts[best] and counts[best] >= len(words & (word_list("question") | {"the", "is", "of"})):
        return str(best)
    return "en" if len(words) > 1 else reading.language


def things_named(question: str) -> list[Named]:
    """What a question may ask for, the likeliest first: what it does ("who issued"), then what it names."""
    asked = words_of(question)
    done = [Named(act["concept"], "") for act in _data()["acts"] if _has(asked, act["ask"]) and _has(asked, act["act"])]
    empty = set(_data()["documents"]) | word_list("stop") | set(_data()["words"])
    named: list[Named] = []
    phrases = _synonyms(asked) + [(hit.start, hit.end, hit.concepts) for hit in find_phrases(asked)]
    for start, end, names in sorted(phrases, key=lambda phrase: (phrase[0] - phrase[1], phrase[0])):
        if not set(asked[start:end]) <= empty and _rest(asked, start, end) <= 1:
            named += [Named(name, _printed_label(question, asked[start:end])) for name in names]
    if _has(asked, _data()["how_much"]):
        named.sort(key=lambda one: concepts()[one.concept].kind not in {"amount", "percent", "number"})
    return list(dict.fromkeys([*done, *named]))[:4]


def _has(asked: tuple[str, ...], phrases: list[str]) -> bool:
    text = f" {' '.join(asked)} "
    return any(f" {phrase} " in text for phrase in phrases)


def _synonyms(asked: tuple[str, ...]) -> list[tuple[int, int, tuple[str, ...]]]:
    known = _data()["synonyms"]
    return [(at, at + 1, (known[word],)) for at, word in enumerate(asked) if word in known]


def _rest(asked: tuple[str, ...], start: int, end: int) -> int:
    """How many telling words of a question a phrase leaves over: a question for more is not a question for it."""
    aside = word_list("stop") | word_list("question") | set(_data()["words"]) | set(_data()["documents"])
    return sum(word not in aside and len(word) > 1 for word in (*asked[:start], *asked[end:]))


def _printed_label(question: str, words: tuple[str, ...]) -> str:
    """The words of a phrase as the question writes them."""
    written = [word for word in _WORD.findall(question) if fold(word) in words]
    label = " ".join(written)
    return label[:1].upper() + label[1:]


def value_of(reading: Reading, name: str) -> Assigned | None:
    """What a document says for a concept, where it surely does."""
    node = concept_node(concepts()[name])
    found = assign([make_target((name,), node, str(node["type"]))], reading)
    if not found or found[0].candidate.score < _SURE or not found[0].candidate.value.tokens:
        return None
    return found[0]


def _told(reading: Reading, named: Named, found: Assigned) -> str:
    """A value as it is printed, with the passage that shows it."""
    tokens = set(found.candidate.value.tokens)
    cells = [cell for cell in reading.cells if any(token.index in tokens for token in cell.tokens)]
    value = " ".join(token.text for cell in cells for token in cell.tokens if token.index in tokens).strip(" :;,")
    said = f"{named.label}: {_plain(value)}" if named.label else _plain(value)
    if not cells:
        return said
    return f"{said} [[p{cells[0].page}: {_passage(reading, cells, value, found.candidate.label)}]]"


def _passage(reading: Reading, cells: list[Cell], value: str, label: str) -> str:
    """The longest text around a value that stands on its page as one piece: its line, its label and it, its cell."""
    line = reading.layout.lines[cells[0].line]
    page = next(page for page in reading.document.pages if page.number == line.page)
    whole = _joined([word.text for word in page.words] or [page.text])
    for text in (line.text, f"{label} {value}", " ".join(cell.text for cell in cells), cells[0].text):
        if len(text.split()) <= _LONG and value in text and _joined([text]) in whole and "]]" not in text:
            return text
    return value


def _joined(parts: list[str]) -> str:
    return "".join("".join(filter(str.isalnum, fold(part))) for part in parts)


def _plain(text: str) -> str:
    """Text of a page in an answer: what stands there must not look like a citation of ours."""
    return text.replace("[[", "[ [").replace("]]", "] ]")


def _short(line: Line) -> str:
    text = line.text if len(line.text.split()) <= _LONG else max((cell.text for cell in line.cells), key=len)
    return " ".join(text.split()[:_LONG]).replace("]]", "] ]")


def _best_line(reading: Reading, question: str) -> Line | None:
    """The line that has most of what the question asks for; None when none has enough of it."""
    aside = word_list("stop") | word_list("question") | set(_data()["words"])
    wanted = {word for word in words_of(question) if word not in aside and len(word) > 1}
    if not wanted:
        return None
    lines = [(line, _met(wanted, words_of(line.text))) for line in reading.layout.lines]
    spread = Counter(word for _, met in lines for word in met)
    weights = {word: math.log(1 + len(lines) / (spread[word] or 0.5)) for word in wanted}
    whole = sum(weights.values())
    best, score = None, 0.0
    for line, met in lines:
        covered = sum(weights[word] for word in met) / whole
        length = len(words_of(line.text))
        worth = covered * (1 - 0.2 * min(1.0, length / 60)) * (0.6 if length <= len(met) else 1.0)
        if covered >= _COVERED and worth > score:
            best, score = line, worth
    return best


def _met(wanted: set[str], words: tuple[str, ...]) -> set[str]:
    there = set(words)
    return {word for word in wanted if word in there or any(_alike(word, other) for other in there)}


def _alike(word: str, other: str) -> bool:
    """The same word in another form. A part of it is another word: "Rechnung" is not "Rechnungsdatum"."""
    return len(word) - len(other) <= _ENDING and word_likeness(word, other) >= _ALIKE
