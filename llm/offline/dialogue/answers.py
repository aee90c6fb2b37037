"""Answers without a write: lists, where a value stands, passages that answer. Document text is only quoted."""

import math
from collections import Counter
from decimal import Decimal
from typing import Any

from llm.offline.dialogue.conversation import Conversation
from llm.offline.dialogue.edits import schema_in_work
from llm.offline.dialogue.fieldnames import all_fields, concept_for, find_field, row_number
from llm.offline.dialogue.quoting import things_named, value_of
from llm.offline.dialogue.requests import Request
from llm.offline.dialogue.wording import failed, listing, shown, summary
from llm.offline.extract.fill import is_empty
from llm.offline.extract.reading import Reading
from llm.offline.extract.schema import inner_schema
from llm.offline.layout.model import Line
from llm.offline.matching.lexicon import find_phrases
from llm.offline.matching.words import word_list, words_of
from llm.offline.reply import Reply
from llm.offline.typing.amounts import find_amounts, parse_amount
from llm.offline.typing.dates import find_dates
from llm.offline.typing.folding import fold

_LISTS = {
    "schemas": "list_schemas",
    "prompts": "list_prompts",
    "prompt": "list_prompts",
    "tags": "list_tags",
    "documents": "list_documents",
    "models": "list_llm_models",
}
_NOTHING = (
    "I found nothing about that in this document. I am the built-in model and can only quote what it says; "
    "ask “what can you do” for what I can help with."
)


def show(talk: Conversation, request: Request) -> Reply:
    """Fields, the extraction, or what the organization has."""
    if request.text == "fields":
        return _show_fields(talk)
    if request.text == "extraction":
        extraction = talk.state.get("extraction")
        text = (
            summary(extraction)
            if isinstance(extraction, dict)
            else "Nothing was extracted from this document in this thread yet."
        )
        return Reply(text=text)
    tool = _LISTS.get(request.text, "")
    step = talk.last(tool)
    if step is None:
        if not talk.offers(tool):
            return Reply(text=f"I cannot list {request.text} here, because the tool for it is not offered.")
        return talk.call(f"I look up the {request.text}.", (tool, {} if tool == "list_llm_models" else {"limit": 50}))
    return Reply(text=failed(step) if not step.done else _listed(request.text, step.result))


def _show_fields(talk: Conversation) -> Reply:
    schema = schema_in_work(talk)
    if schema is None:
        return Reply(text="There is no schema in work for this document yet. Ask me to set up extraction.")
    lines = [f"- {'.'.join(path)} ({node.get('type', 'any')})" for path, node in all_fields(inner_schema(schema))]
    name = talk.state.get("schema_name")
    return Reply(
        text=(f"The schema “{name}” has these fields:\n" if name else "The fields are:\n") + "\n".join(lines[:80])
    )


def _listed(kind: str, result: dict[str, Any]) -> str:
    rows = result.get(kind) or result.get(f"{kind}s")
    names = [str(r.get("name") or r.get("document_name")) if isinstance(r, dict) else str(r) for r in rows or ()]
    return (
        f"There are {result.get('total_count', len(names))} {kind}: {listing(names, 25)}."
        if names
        else f"There are no {kind} yet."
    )


def where_from(talk: Conversation, reading: Reading, request: Request) -> Reply:
    """Page and line of a value."""
    extraction = talk.state.get("extraction")
    schema = schema_in_work(talk)
    row, rest = row_number(request.text)
    path = find_field(rest, inner_schema(schema), rows=row is not None) if schema else None
    if not isinstance(extraction, dict) or path is None:
        return ask(reading, request)
    value: Any = extraction
    for name in path:
        key: Any = row if name == "[]" else name
        try:
            value = value[key]
        except (KeyError, IndexError, TypeError):
            value = ""
    label = ".".join(str((row or 0) + 1) if name == "[]" else name for name in path)
    if is_empty(value):
        return Reply(text=f"{label} is empty: I did not find it in the document.")
    line = find_line(value, path[-1], reading)
    if line is None:
        return Reply(
            text=f"{label} is {shown(value)}. I do not find it on the pages as such; it may have been set by hand."
        )
    return Reply(text=f"{label} is {shown(value)}. It stands on page {line.page}: “{_quote(line.text)}”.")


def _quote(text: str) -> str:
    return text if len(text) <= 240 else text[:237] + "…"


def find_line(value: Any, name: str, reading: Reading) -> Line | None:
    """The line that says a value; of several the one whose labels mean the field."""
    best: tuple[float, Line] | None = None
    concept = concept_for(name)
    for line in reading.layout.lines:
        if _says(line, value, reading):
            labels = {held for hit in find_phrases(words_of(line.text)) for held in hit.concepts}
            score = (1.0 if concept in labels else 0.0) + len(set(words_of(name)) & set(words_of(line.text))) * 0.3
            if best is None or score > best[0]:
                best = (score, line)
    return best[1] if best else None


def _says(line: Line, value: Any, reading: Reading) -> bool:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        wanted = Decimal(str(value))
        return any(abs(found.value) == abs(wanted) for found in find_amounts(line.text, reading.point))
    text = str(value)
    if any(found.iso == text for found in find_dates(line.text, reading.order)):
        return True
    number = parse_amount(text)
    if number is not None and any(found.value == number for found in find_amounts(line.text, reading.point)):
        return True
    return bool(text.strip()) and fold(text) in fold(line.text)


def ask(reading: Reading, request: Request) -> Reply:
    """A question about the document: the value that it names, else the best passage, else an honest no."""
    value = _named_value(reading, request.text)
    if value:
        return Reply(text=value)
    line = best_line(reading, request.text)
    if line is None:
        return Reply(text=_NOTHING)
    around = [near for near in reading.layout.lines[line.index : line.index + 2] if near.page == line.page]
    return Reply(
        text=f"The best passage I find is on page {line.page}: “{_quote(' / '.join(near.text for near in around))}”"
    )


def _named_value(reading: Reading, question: str) -> str:
    for named in things_named(question):
        found = value_of(reading, named.concept)
        if found is not None:
            token = found.candidate.value.tokens[0]
            line = next(
                (line for line in reading.layout.lines for c in line.cells for t in c.tokens if t.index == token), None
            )
            where = f" Page {line.page}: “{_quote(line.text)}”." if line else ""
            return f"{named.concept.replace('_', ' ').capitalize()}: {shown(found.value)}.{where}"
    return ""


def best_line(reading: Reading, question: str) -> Line | None:
    """The line that shares the most telling words with the question; None when it shares none."""
    wanted = {
        word for word in words_of(question) if word not in word_list("stop") | word_list("question") and len(word) > 1
    }
    if not wanted:
        return None
    lines = [(line, Counter(words_of(line.text))) for line in reading.layout.lines]
    spread = Counter(word for _, words in lines for word in wanted if word in words)
    count = len(lines)
    best, score = None, 0.0
    for line, words in lines:
        total = sum(math.log(1 + count / spread[word]) for word in wanted if word in words)
        total *= 1 - 0.2 * min(1.0, len(words) / 60)
        if total > score:
            best, score = line, total
    return best
