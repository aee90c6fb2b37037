"""Cells of lists with boxes to check: which answer was chosen, or whether the box is."""

from collections.abc import Container, Sequence

from llm.offline.extract.targets import Target
from llm.offline.extract.values import WORDY, Value
from llm.offline.layout.model import Row, Table, Token
from llm.offline.layout.signs import CHECKED, UNCHECKED
from llm.offline.matching.words import polarity, words_of

_CROSSES = frozenset({"x", "X", "●", "•"})
_ANSWERS = frozenset(
    [
        *("result", "answer", "status", "condition", "rating", "outcome", "assessment", "check", "ergebnis", "antwort"),
        *("bewertung", "zustand", "befund", "resultat", "reponse", "etat", "constat", "resultaat", "antwoord"),
        *("staat", "toestand", "beoordeling"),
    ]
)
"""What a column is called in a schema that holds which of several columns is marked on paper."""
_MOSTLY = 0.75
_GOOD = frozenset({"ok", "pass", "passed", "good", "satisfactory", "io", "bestanden", "gut", "bon", "conforme", "goed"})


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


def marked_columns(row: Row, table: Table, used: Container[int], targets: Sequence[Target]) -> dict[int, Value]:
    """Which of several columns is marked in a row ("Yes | No | N/A"), for the one target that asks for it.

    `targets` are those without a column, by their number elsewhere. Returns: place in `targets` → value.
    """
    columns = [c for c, head in enumerate(table.headers) if head and c not in used and _holds_marks(table, c)]
    ticked = [column for column in columns if _is_marked(row, column)]
    asking = [place for place, target in enumerate(targets) if _asks(target)]
    if len(columns) < 2 or len(ticked) != 1 or len(asking) != 1:
        return {}
    head, tokens = table.headers[ticked[0]], tuple(t.index for cell in row.cells[ticked[0]] for t in cell.tokens)
    if targets[asking[0]].kind != "boolean":
        return {asking[0]: Value(head, head, tokens)}
    words = words_of(head)
    is_good = polarity(words) is True or bool(_GOOD & set(words))
    return {asking[0]: Value("true" if is_good else "false", "", tokens)}


def _asks(target: Target) -> bool:
    return target.kind == "boolean" or (target.kind in WORDY and bool(target.enum or _ANSWERS & set(target.words)))


def _holds_marks(table: Table, column: int) -> bool:
    texts = [token.text for row in table.rows for cell in row.cells[column] for token in cell.tokens]
    return bool(texts) and sum(text in CHECKED | UNCHECKED | _CROSSES for text in texts) >= _MOSTLY * len(texts)


def _is_marked(row: Row, column: int) -> bool:
    texts = {token.text for cell in row.cells[column] for token in cell.tokens}
    return texts <= CHECKED | UNCHECKED | _CROSSES and bool(texts & (CHECKED | _CROSSES))
