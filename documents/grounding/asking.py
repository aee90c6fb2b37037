"""What check boxes ask: the option beside each, the question before them, and how well a property's name says it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from documents.spellings import yes_or_no
from llm.offline.extract.ticks import alike, together
from llm.offline.layout.model import Check, Line, Token
from llm.offline.layout.signs import CHECKED, UNCHECKED
from llm.offline.matching.words import in_english, likeness, polarity, words_of

_MARKS = CHECKED | UNCHECKED
_FARTHER_CAPTION = 0.05
_FEWEST = 2
_NEAR, _CLEARLY = 2.5, 0.6
"""Units: heights of a box; share of the other distance."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A box and what it says: `option` beside it, other texts that may be meant by it, the `question` it answers.

    `answer`: what the option says to the question, None for an option that is no yes and no no.
    """

    check: Check
    option: str
    others: tuple[str, ...]
    question: str
    answer: bool | None


def read_asked(lines: Sequence[Line], checks: Sequence[Check]) -> list[Asked]:
    """The boxes in order: options stand behind their boxes, before them ("Smoker? Yes ☐ No ☒ since 1998"), or at the
    head of their column ("yes", "no" above a list of illnesses)."""
    heads, shifted = _heads(lines), _options_before(lines)
    found = []
    for check in checks:
        if check.token.index in shifted:
            option, question = shifted[check.token.index]
            found.append(_asked(check, option, question or check.question))
            continue
        beside = next((text for text in check.captions[:1] if not _MARKS & set(text)), "")
        asked = _asked(check, beside, check.question)
        head = _head_of(check, heads) if asked.answer is None else None
        found.append(asked if head is None else _asked(check, head.text, check.question or asked.option))
    return found


def _options_before(lines: Sequence[Line]) -> dict[int, tuple[str, str]]:
    """Option and question of the boxes that stand behind their words, by the index of the box."""
    found: dict[int, tuple[str, str]] = {}
    for line in lines:
        tokens = [token for cell in line.cells for token in cell.tokens]
        marks = [at for at, token in enumerate(tokens) if token.text in _MARKS]
        if len(marks) < _FEWEST or not _stand_behind(tokens, marks):
            continue
        question, start = "", 0
        for at in marks:
            option, rest = _option_of(tokens[start:at])
            question = rest or question
            found[tokens[at].index] = (option, question)
            start = at + 1
    return found


def _stand_behind(tokens: Sequence[Token], marks: Sequence[int]) -> bool:
    """Whether boxes are clearly nearer to the words before them than to those behind, or a yes or no stands there."""
    if marks[0] == 0 or any(one + 1 == other for one, other in pairwise(marks)):
        return False
    before = [tokens[at].x0 - tokens[at - 1].x1 for at in marks]
    behind = [tokens[at + 1].x0 - tokens[at].x1 for at in marks if at + 1 < len(tokens)]
    height = tokens[marks[0]].height
    if max(before) > _NEAR * height:
        return False
    said = yes_or_no(tokens[marks[0] - 1].text.strip(" .:;,?"))
    return said is not None or not behind or max(before) < _CLEARLY * min(behind)


def _option_of(tokens: Sequence[Token]) -> tuple[str, str]:
    """The words right before a box, and the question before them."""
    start = len(tokens)
    while start > 0:
        token = tokens[start - 1]
        if start < len(tokens) and (token.text[-1] in ":?" or tokens[start].x0 - token.x1 > token.height):
            break
        start -= 1
        if yes_or_no(token.text.strip(" .,;")) is not None:
            break
    rest = list(tokens[:start])
    asks = [at for at, token in enumerate(rest) if token.text[-1] in ":?"]
    rest = rest[: asks[-1] + 1] if asks else rest
    return " ".join(token.text for token in tokens[start:]), " ".join(token.text for token in rest)


def _heads(lines: Sequence[Line]) -> list[Token]:
    """The words yes and no on lines that have both and no box."""
    found: list[Token] = []
    for line in lines:
        tokens = [token for cell in line.cells for token in cell.tokens]
        said = [(yes_or_no(token.text.strip(" .:")), token) for token in tokens]
        if {True, False} <= {answer for answer, _ in said} and not any(token.text in _MARKS for token in tokens):
            found += [token for answer, token in said if answer is not None]
    return found


def _head_of(check: Check, heads: Sequence[Token]) -> Token | None:
    mark = check.token
    middle = (mark.x0 + mark.x1) / 2
    above = [
        head
        for head in heads
        if head.page == mark.page and head.y1 <= mark.y0 + 1 and head.x0 - mark.height < middle < head.x1 + mark.height
    ]
    return max(above, key=lambda head: head.y1, default=None)


def _asked(check: Check, option: str, question: str) -> Asked:
    head, _, rest = question.partition(" ")
    if rest and _answer(head) is not None:  # the answer to the question before
        question = rest
    clean = tuple(text for text in check.captions if text != option and not _MARKS & set(text))
    answer = _answer(option)
    if answer is not None and not question:
        question = next((text for text in clean if len(words_of(text)) > 1), "")
    return Asked(check, option, clean, question, answer)


def _answer(text: str) -> bool | None:
    said = yes_or_no(text.strip(" .:;,"))
    return said if said is not None else polarity(words_of(text))


def fits(wanted: Sequence[tuple[str, ...]], asked: Asked, named: bool | None) -> Iterator[tuple[float, bool | None]]:
    """How well one of the names means a box, and what the box says then; None when it says nothing about it.

    A box "Yes" or "No" answers its question when it is checked; a name that says the answer itself
    ("electric_car_no") means that box alone.
    """
    if asked.answer is not None:
        told = words_of(asked.question.split("(")[0])
        best = max((max(alike(words, told), likeness(words, in_english(told))) for words in wanted), default=0.0)
        if named is not None:
            yield best, asked.check.checked if named is asked.answer else None
        else:
            yield best, asked.answer if asked.check.checked else None
        return
    best = 0.0
    for words in wanted:
        best = max(best, _by_option(words, asked))
    yield best, asked.check.checked


def _by_option(words: tuple[str, ...], asked: Asked) -> float:
    best = 0.0
    for rank, caption in enumerate((asked.option, *asked.others)):
        said = words_of(caption.split("(")[0])
        best = max(best, max(alike(words, said), likeness(words, in_english(said))) * (1.0 - _FARTHER_CAPTION * rank))
    if asked.question:
        option, told = words_of(asked.option.split("(")[0]), words_of(asked.question.split("(")[0])
        best = max(best, together(words, option, told))
    return best
