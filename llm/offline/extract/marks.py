"""Cells of lists with boxes to check: which answer was chosen, or whether the box is."""

from collections.abc import Sequence

from llm.offline.extract.values import Value
from llm.offline.layout.model import Token
from llm.offline.layout.signs import CHECKED, UNCHECKED
from llm.offline.matching.words import polarity, words_of

_CROSSES = frozenset({"x", "X"})


def chosen(tokens: Sequence[Token]) -> list[Token]:
    """The words behind the checked boxes of a cell; all of them where it has no boxes, or boxes alone."""
    signs = [place for place, token in enumerate(tokens) if token.text in CHECKED | UNCHECKED]
    if not signs or len(signs) == len(tokens):
        return list(tokens)
    edges = [*signs, len(tokens)]
    if signs[0] > 0 and signs[-1] == len(tokens) - 1:  # the boxes stand behind their words
        starts = [0, *(place + 1 for place in signs)]
        spans = [(starts[at], place) for at, place in enumerate(signs) if tokens[place].text in CHECKED]
    else:
        spans = [(place + 1, edges[at + 1]) for at, place in enumerate(signs) if tokens[place].text in CHECKED]
    return [token for start, end in spans for token in tokens[start:end]]


def answered(tokens: Sequence[Token]) -> list[Value]:
    """Yes or no, as a cell says it: by a box, a cross or a word."""
    said = chosen(tokens)
    texts = {token.text for token in tokens}
    told = polarity(words_of(" ".join(token.text for token in said)))
    if told is None and (texts & CHECKED or texts & _CROSSES or texts & UNCHECKED):
        told = bool(texts & CHECKED or texts & _CROSSES)
    if told is None:
        return []
    return [Value("true" if told else "false", "", tuple(token.index for token in tokens))]
