"""Combs: characters that stand in boxes of their own, or set wide apart, are one word."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from statistics import median

from llm.offline.layout.model import Token

_LEAST = 5
"""Units: characters. Fewer that stand apart are figures of a table, or initials."""
_PITCH = (0.75, 2.3)
"""Units: of the print's height. How far the characters of a comb stand from each other, middle to middle."""
_BLANK = 0.4
"""Units: of the height. Words of running text stand closer."""
_EVEN = 0.16
"""How much the pitch may differ from the usual one."""
_CHARACTER, _WIDE = 0.53, 0.95
"""Units: of the height. The width of a character; how far apart those of a word stand that is a part of a comb."""
_GROUP = 2.3
"""Units: pitches. Boxes of one comb may stand in groups so far from each other."""
_BETWEEN = frozenset("-–/.")
"""What is printed between the boxes of a comb, in a narrower one or none."""
_NARROW = 0.6
"""How much nearer such a sign may stand than the characters."""


def combed(tokens: Sequence[Token]) -> list[Token]:
    """The tokens of a line, left to right, those of a comb joined: one word for each of its groups."""
    found: list[Token] = []
    whole = {token.index: token for token in tokens}
    for run in _runs([tooth for token in tokens for tooth in _teeth(token)]):
        joined = _joined(run) if len(run) >= _LEAST else run
        if joined is run:  # no comb: its words as they were
            joined = [whole[index] for index in dict.fromkeys(tooth.index for tooth in run)]
        found.extend(joined)
    return found


def _teeth(token: Token) -> list[Token]:
    """The characters of a word that a reader of the page made of a part of a comb: they stand wide apart."""
    count = len(token.text)
    width = token.x1 - token.x0
    if not (
        2 <= count < _LEAST and token.text.isalnum() and token.origin != "form" and token.text.upper() == token.text
    ):
        return [token]
    char = _CHARACTER * token.height
    pitch = (width - char) / (count - 1)
    if not _WIDE * token.height <= pitch <= _PITCH[1] * token.height:
        return [token]
    starts = [token.x0 + place * pitch for place in range(count)]
    return [replace(token, text=text, x0=x0, x1=x0 + char) for text, x0 in zip(token.text, starts, strict=True)]


def _runs(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    run: list[Token] = []
    for token in tokens:
        if run and not (_is_tooth(token) and _is_tooth(run[-1]) and _is_near(run[-1], token)):
            yield run
            run = []
        run.append(token)
    if run:
        yield run


def _is_tooth(token: Token) -> bool:
    return len(token.text) == 1 and (token.text.isalnum() or token.text in _BETWEEN) and token.origin != "form"


def _is_near(token: Token, after: Token) -> bool:
    pitch = _pitch(token, after) / max(token.height, 1e-6)
    least = _NARROW if {token.text, after.text} & _BETWEEN else 1.0
    blank = least * least * _BLANK * token.height
    return least * _PITCH[0] <= pitch <= _PITCH[1] * _GROUP and after.x0 - token.x1 > blank


def _pitch(token: Token, after: Token) -> float:
    return (after.x0 + after.x1 - token.x0 - token.x1) / 2


def _joined(run: list[Token]) -> list[Token]:
    """The words of a run: boxes are evenly wide, letters set apart have even blanks between them."""
    pairs = list(pairwise(run))
    if median(_pitch(*pair) for pair in pairs) > _PITCH[1] * run[0].height:
        return run
    for measure in (_pitch, _gap):
        steps = [measure(*pair) for pair in pairs]
        inner = [step for step, pair in zip(steps, pairs, strict=True) if not _BETWEEN & {pair[0].text, pair[1].text}]
        usual = median(inner) if inner else 0.0
        if usual and _is_even(inner, usual):
            groups = [[run[0]]]
            for step, token in zip(steps, run[1:], strict=True):
                if step > (1 + 2 * _EVEN) * usual:
                    groups.append([])
                groups[-1].append(token)
            return [_word(group) for group in groups]
    return run


def _gap(token: Token, after: Token) -> float:
    return after.x0 - token.x1


def _is_even(steps: Sequence[float], usual: float) -> bool:
    """Whether nearly all are alike, but for what stands between groups."""
    even = sum(abs(step - usual) <= _EVEN * usual for step in steps)
    narrower = sum(step < (1 - _EVEN) * usual for step in steps)
    return even >= 0.6 * len(steps) and narrower <= 0.15 * len(steps)


def _word(group: Sequence[Token]) -> Token:
    text = "".join(token.text for token in group)
    y0, y1 = min(token.y0 for token in group), max(token.y1 for token in group)
    return replace(group[0], text=text, y0=y0, y1=y1, x1=group[-1].x1)
