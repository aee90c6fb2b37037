"""What a form asks, one question per box or blank, with what was written there and the heading that it stands under."""

import re
from collections import Counter
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass, replace

from llm.offline.extract.candidates import values_near
from llm.offline.extract.captions import LEADING_NUMBER, Caption, is_numbered
from llm.offline.extract.headings import first_under, row_under
from llm.offline.extract.labels import Hit
from llm.offline.extract.reading import Reading
from llm.offline.extract.values import Value, values_in
from llm.offline.layout.lines import CHECKED, UNCHECKED
from llm.offline.layout.model import Cell, Line, Token
from llm.offline.matching.words import words_of
from llm.offline.propose.english import in_english_words, spoken

_SENTENCE = re.compile(
    r"\b(?:is|are|was|you|this|that|must|will|see|enter|check|do|not|if|we|please|bitte|wir|sie|ist|sind|wird|werden|"
    r"nous|vous|est|sont|sera|merci|wij|wordt|worden|graag|veuillez|ik|ich|je)\b",
    re.IGNORECASE,
)
_LONGEST, _ANSWER = 90, 90
"""Units: characters of a caption, of an answer."""
_LIKELY_WORDS, _LIKELY = 6, 45
_HEADING, _REACH = 6, 24
"""Units: words of a heading, lines. How far over a caption its heading may stand."""
_FIGURES = re.compile(r"\d{3,}")
_KNOWN = 0.5
"""The share of a heading's words that must be known: names of people are none."""
_LETTERS = 2
_BOXES = 45
_ROWS, _HEADS, _MOST_HEADS = 3, 2, 6
IsCaption = Callable[[Cell, Reading], bool]


@dataclass(frozen=True, slots=True)
class Question:
    """A caption, its printed words, the answer (None: left empty) and the heading that tells it from others."""

    caption: Caption
    label: str
    value: Value | None
    head: Cell | None = None


def questions(reading: Reading, lines: Container[int], is_caption: IsCaption) -> list[Question]:
    """What the form asks, in reading order. `lines`: those of tables; `is_caption` knows the captions of boxes."""
    found = list(_grids(reading, lines))
    spent = {token.index for question in found for token in question.caption.cell.tokens}
    spent |= {index for question in found if question.value for index in question.value.tokens}
    tops = {question.head.line for question in found if question.head is not None}
    spent |= {t.index for line in tops for cell in reading.layout.lines[line].cells for t in cell.tokens}
    written = {cell.tokens[0].index for cell in reading.answers_over.values() if cell is not None}
    written |= {cell.tokens[0].index for cells in reading.answers_under.values() for cell in cells}
    options = {index for check in reading.layout.checks for index in (*check.said, check.token.index)}
    for caption in reading.captions:
        if caption.cell.tokens[0].index in written:
            continue
        own = {token.index for token in caption.cell.tokens[caption.start : caption.end]}
        if caption.cell.line in lines or spent & own or not _is_label(caption, reading):
            continue
        value, sure = _answer(caption, reading, is_caption)
        if not sure or (value is not None and (spent | options) & set(value.tokens)) or own <= options:
            continue
        found.append(Question(caption, label_of(caption), value))
        spent |= own | set(value.tokens if value else ())
    ordered = sorted(found, key=lambda question: (question.caption.cell.line, question.caption.cell.x0))
    return _told_apart(ordered, reading)


def label_of(caption: Caption) -> str:
    """The label as printed, without its number and what surrounds it; the part of "PLZ / Ort" that is meant."""
    tokens = [token.text for token in caption.cell.tokens[caption.start : caption.end]]
    while len(tokens) > 1 and LEADING_NUMBER.match(tokens[0]):
        tokens = tokens[1:]
    label = " ".join(tokens).split("(")[0].strip(" :*.…_#,;–-")
    if words_of(label) == caption.words:
        return label
    parts = (part.strip() for part in label.split("/"))
    return next((part for part in parts if words_of(part) == caption.words), " ".join(caption.words))


def _is_label(caption: Caption, reading: Reading) -> bool:
    """Whether words may ask for something: short, no figures, no sentence but where something is drawn to fill in."""
    cell = caption.cell
    text = " ".join(token.text for token in cell.tokens[caption.start : caption.end])
    drawn = cell.tokens[0].index in reading.framed
    if len(caption.words) > len(words_of(text)):
        return False  # it runs on over lines that may be captions themselves
    if sum(map(str.isalpha, text)) < _LETTERS or cell.tokens[caption.start].origin == "form":
        return False
    if any(token.text in CHECKED or token.text in UNCHECKED for token in cell.tokens[: caption.end]):
        return False
    if drawn:
        return len(text) <= _LONGEST and not _FIGURES.search(text)
    first = next((char for char in text if char.isalpha()), "")
    return (
        len(caption.words) <= _LIKELY_WORDS
        and len(text) <= _LIKELY
        and not any(map(str.isdigit, "".join(caption.words)))
        and not first.islower()
        and not _SENTENCE.search(text)
    )


def _answer(caption: Caption, reading: Reading, is_caption: IsCaption) -> tuple[Value | None, bool]:
    """What was written for a caption (None: nothing), and whether it asks for anything at all."""
    cell = caption.cell
    first = cell.tokens[0].index
    if first in reading.framed and not reading.framed[first]:
        return None, True
    value = next((value for value, _ in values_near(_hit(caption), "text", reading) if _may_be(value, reading)), None)
    if value is None or value.text == cell.text or len(value.text) > _ANSWER:
        return None, False
    if first in reading.framed or first in reading.answers_over or first in reading.answers_under:
        return value, True
    heads = [other for other in reading.cells if value.tokens and other.tokens[0].index == value.tokens[0]]
    if any(reading.is_label(other) or is_numbered(other) for other in heads) or _SENTENCE.search(value.text):
        return None, False
    likely = caption.colon or is_caption(cell, reading) or _is_numbered(caption) or first in reading.in_lists
    return value, likely and (caption.colon or not value.text[:1].islower())


def _hit(caption: Caption) -> Hit:
    return Hit(caption.cell, caption.start, caption.end, 1.0)


def _may_be(value: Value, reading: Reading) -> bool:
    return reading.is_answer(value.tokens) and any(map(str.isalnum, value.text))


def _is_numbered(caption: Caption) -> bool:
    """Whether a caption has the number of a box: no house has so low a one in an address, mostly."""
    tokens = caption.cell.tokens
    number = re.match(r"^(\d{1,2})(?:\.\d{1,2})?[a-z]?[.)]?$", tokens[0].text)
    return len(tokens) > 1 and number is not None and int(number.group(1)) <= _BOXES


def _told_apart(found: Sequence[Question], reading: Reading) -> list[Question]:
    """Questions that are asked twice with the headings that tell which is meant; once each where none does."""
    counts = Counter(question.caption.words for question in found if question.head is None)
    asking = {question.caption.cell.tokens[0].index for question in found}
    answers = {index for question in found if question.value for index in question.value.tokens}
    answers |= {index for check in reading.layout.checks for index in check.said}
    kept: list[Question] = []
    for question in found:
        if question.head is None and counts[question.caption.words] > 1:
            question = replace(question, head=_head_of(question.caption, reading, asking | answers))
            same = [other for other in kept if other.caption.words == question.caption.words]
            if any(_same_head(question.head, other.head) for other in same):
                continue
        kept.append(question)
    return kept


def _same_head(one: Cell | None, other: Cell | None) -> bool:
    return (one is None) == (other is None) and (one is None or other is None or one.text == other.text)


def _head_of(caption: Caption, reading: Reading, taken: Container[int]) -> Cell | None:
    """The nearest heading over a caption, in its column or left of it, that no other caption like it is nearer to."""
    cell = caption.cell
    same = [other for other in reading.captions if other.words == caption.words and not other.start]
    for line in reversed(reading.layout.lines[max(0, cell.line - _REACH) : cell.line]):
        heads = [head for head in line.cells if _may_head(head, reading, taken) and head.x0 <= cell.x0 + cell.height]
        for head in reversed(heads if line.page == cell.page else []):
            meant = first_under(head, same)
            if meant is not None and meant.cell is cell:
                return head
    return None


def _may_head(cell: Cell, reading: Reading, taken: Container[int]) -> bool:
    """Whether words may be a heading: few, none of them a caption or an answer, no sentence."""
    words = words_of(cell.text)
    signs = any(token.text in CHECKED or token.text in UNCHECKED for token in cell.tokens)
    return (
        0 < len(words) <= _HEADING
        and sum(map(str.isalpha, cell.text)) >= _LETTERS
        and cell.text[0].isupper() | cell.text[0].isdigit()
        and not signs
        and not any(token.index in taken for token in cell.tokens)
        and not cell.text.endswith((":", ".", ","))
        and not _FIGURES.search(cell.text)
        and cell.tokens[0].index not in reading.filled_in
        and cell.line not in reading.table_lines
        and in_english_words([word for word in words if not word.isdigit()], spoken(reading))[1] >= _KNOWN
    )


def _grids(reading: Reading, lines: Container[int]) -> Iterator[Question]:
    """Grids that ask the same of several: captions in the first column, whose they are over each of the others."""
    last = -1
    for line in reading.layout.lines[:-1]:
        heads = _heads_in(line, reading)
        if len(heads) < _HEADS or line.index in lines or line.index <= last:
            continue
        rows = _rows_under(heads, reading)
        if len(rows) < _ROWS or not (_are_alike(heads) or _are_persons(heads, line, rows, reading)):
            continue
        last = rows[-1].cell.line
        for caption in rows:
            for head in heads:
                answer = row_under(caption, head, reading)
                if answer is not None and any(map(_is_sign, answer.tokens)):
                    continue
                value = next(iter(values_in("text", answer.tokens, reading)), None) if answer is not None else None
                yield Question(caption, label_of(caption), value, head)


def _is_sign(token: Token) -> bool:
    return token.text in CHECKED or token.text in UNCHECKED


def _heads_in(line: Line, reading: Reading) -> list[Cell]:
    """What may head columns, without what stands over the first one."""
    heads = [cell for cell in line.cells[-_MOST_HEADS:] if _may_head(cell, reading, frozenset())]
    under = reading.layout.lines[line.index + 1].cells[0]
    if heads and heads[0] is line.cells[0] and under.x1 > heads[0].x0:
        return heads[1:]
    return heads


def _are_persons(heads: Sequence[Cell], line: Line, rows: Sequence[Caption], reading: Reading) -> bool:
    """Whether two headings stand alone over columns that are filled in alike, beside known captions."""
    alone = len(heads) == _HEADS == len(line.cells)
    known = sum(reading.is_label(caption.cell) for caption in rows)
    both = sum(all(row_under(caption, head, reading) is not None for head in heads) for caption in rows)
    return alone and 2 * known > len(rows) and 2 * both > len(rows)


def _are_alike(heads: Sequence[Cell]) -> bool:
    """Whether headings differ in a number or a letter only: "Person 1", "Person 2"; "Vehicle A", "Vehicle B"."""
    words = [words_of(head.text) for head in heads]
    return len({said[:-1] for said in words}) == 1 and len(set(words)) == len(words) and len(words[0]) > 1


def _rows_under(heads: Sequence[Cell], reading: Reading) -> list[Caption]:
    """The captions left of the columns, down to the first line that has none."""
    found: list[Caption] = []
    for line in reading.layout.lines[heads[0].line + 1 : heads[0].line + _REACH]:
        first = line.cells[0]
        if line.page != heads[0].page or first.x1 > heads[0].x0:
            break
        caption = next((c for c in reading.captions if c.cell is first), None)
        if caption is None or any(map(str.isdigit, "".join(caption.words))):
            break
        answers = [row_under(caption, head, reading) for head in heads]
        if any(answer is not None for answer in answers):
            found.append(caption)
    return found
