"""Fields named after a heading and a caption: the town of "New home", the date of birth of "Person 2"."""

from collections.abc import Iterator, Sequence

from llm.offline.extract.boxes import LARGER
from llm.offline.extract.captions import Caption
from llm.offline.extract.reading import Reading
from llm.offline.extract.targets import Target
from llm.offline.extract.values import Value, values_in
from llm.offline.layout.analysis import cells_below, cells_right
from llm.offline.layout.model import Cell
from llm.offline.matching.lexicon import concept_of
from llm.offline.matching.senses import meant_alike, senses_of
from llm.offline.matching.words import in_english, likeness, words_of

_ENOUGH = 0.6
"""Units: likeness 0–1."""
_REACH = 14
"""Units: lines. How far under its heading a caption may stand."""
_CHECKS = 2
_SHORT = 4
"""Units: words of a heading."""
_NEAR = 5
"""Units: heights of a heading. How far behind its beginning an answer in its column begins."""
_FROM = frozenset(["from", "sender", "von", "absender", "expediteur", "van", "afzender"])
_TO = frozenset(
    ["to", "recipient", "addressee", "an", "empfanger", "destinataire", "aan", "geadresseerde", "ontvanger"]
)


def headed(target: Target, reading: Reading) -> Iterator[tuple[Value, float, str]]:
    """Answers whose column is headed by the first words of a name and whose caption says the others."""
    yield from _in_grid(target, reading)
    plain = target.concept is None and not target.under and len(target.path) == 1
    words = target.words if plain and _is_filled_in(reading) else ()
    for cut in range(1, len(words)):
        heads = [cell for cell in reading.cells if _is_named(cell, words[:cut])]
        if not heads:
            continue
        for caption in reading.captions:
            alike = _alike(words[cut:], caption.words)
            if alike < _ENOUGH or caption.start or set(words[:cut]) <= set(caption.words):  # it says all of it itself
                continue
            for head in heads:
                answer = _answer(caption, head, reading)
                if answer is not None:
                    concept = concept_of(words[cut:])
                    found = values_in(concept.kind if concept else target.kind, answer.tokens, reading)
                    yield from ((value, 0.85 + 0.25 * alike, caption.cell.text) for value in found[:1])


def headed_checks(target: Target, reading: Reading) -> Iterator[tuple[Value, float, str]]:
    """The boxes for yes or no in the column of a heading."""
    words = (*target.under, *target.printed) or target.words
    for cut in (len(target.under),) if target.under else range(1, len(words)):
        for head in (cell for cell in reading.cells if _is_named(cell, words[:cut])):
            columns = [cell.x0 for cell in reading.layout.lines[head.line].cells]
            end = min((x0 for x0 in columns if x0 > head.x0), default=float("inf"))
            for check in reading.layout.checks:
                line = reading.tokens_line.get(check.token.index, -1)
                inside = head.x0 - head.height <= check.token.x0 < end - head.height
                said = words_of(check.captions[0])
                alike = max(_alike(words[cut:], said), _alike(words[cut:], in_english(said)))
                if inside and check.token.page == head.page and 0 < line - head.line <= _REACH and alike >= _ENOUGH:
                    state = "true" if check.checked else "false"
                    yield Value(state, check.token.text, (check.token.index,)), 0.85 + 0.25 * alike, check.captions[0]


def first_under(head: Cell, captions: Sequence[Caption]) -> Caption | None:
    """Of captions that say the same the one that a heading is nearest to: under it, or right of what is under it."""
    below = [
        caption
        for caption in captions
        if caption.cell.page == head.page
        and caption.cell.line > head.line
        and caption.cell.x0 >= head.x0 - 2 * head.height
    ]
    return min(below, key=lambda caption: (caption.cell.line, caption.cell.x0), default=None)


def row_under(caption: Caption, head: Cell, reading: Reading) -> Cell | None:
    """What stands in the row of a caption under a heading right of it."""
    inside = caption.cell.page == head.page and 0 < caption.cell.line - head.line <= 2 * _REACH
    if not inside or caption.cell.x1 > head.x0:
        return None
    columns = [cell.x0 for cell in reading.layout.lines[head.line].cells]
    end = min((x0 for x0 in columns if x0 > head.x0), default=float("inf"))
    right = cells_right(reading.layout, caption.cell)
    end = min(end - head.height, head.x0 + _NEAR * head.height)
    return next((cell for cell in right if head.x0 - 1.5 * head.height <= cell.x0 < end), None)


def _in_grid(target: Target, reading: Reading) -> Iterator[tuple[Value, float, str]]:
    """What is labelled so in the first column of a grid, under the heading that the description quotes."""
    heads = [cell for cell in reading.cells if target.under and words_of(cell.text) == target.under]
    for head in heads:
        for caption in (caption for caption in reading.captions if caption.words == target.printed):
            answer = row_under(caption, head, reading)
            told = answer is not None and words_of(answer.text) != target.printed
            found = values_in(target.kind, answer.tokens, reading) if answer is not None and told else []
            yield from ((value, 1.0, caption.cell.text) for value in found[:1])


def _is_filled_in(reading: Reading) -> bool:
    """Whether the page is a form: business papers have headings of their own, which parties and roles tell."""
    return reading.asks_a_person or len(reading.layout.checks) >= _CHECKS


def _is_named(cell: Cell, wanted: tuple[str, ...]) -> bool:
    """Whether a cell is a heading of these words: "Person 1", "From" for the sender."""
    words = words_of(cell.text)
    if not words or len(words) > _SHORT or cell.text.endswith(":") or not cell.text[0].isupper():
        return False
    said, asked = set(words), set(wanted)
    sides = any(said <= side and asked <= side for side in (_FROM, _TO))
    return sides or "".join(words) == "".join(wanted)


def _alike(wanted: tuple[str, ...], said: tuple[str, ...]) -> float:
    return max(likeness(wanted, said), 0.97 * meant_alike(senses_of(wanted), senses_of(said)))


def _answer(caption: Caption, head: Cell, reading: Reading) -> Cell | None:
    """What stands beside a caption in the column of a heading, or beside or under one in it."""
    cell = caption.cell
    if cell.page != head.page or not 0 < cell.line - head.line <= _REACH:
        return None
    right = cells_right(reading.layout, cell)
    if head.x0 > cell.x1:
        inside = [other for other in right if other.overlap(head) > 0 or abs(other.x0 - head.x0) < head.height]
        return next(iter(inside), None)
    if not _is_first(cell, head, reading):
        return None
    boxed = reading.answers_under.get(cell.tokens[0].index)
    if boxed:
        return boxed[0]
    under = next(iter(cells_below(reading.layout, cell, reach=1.6)), None)
    if under is not None and under.height >= LARGER * cell.height and abs(under.x0 - cell.x0) < 2 * cell.height:
        return under
    near = next((other for other in right if other.x0 - cell.x1 < _REACH * cell.height), None)
    return near if near is not None and not (reading.is_label(near) or near.text[0].islower()) else None


def _is_first(cell: Cell, head: Cell, reading: Reading) -> bool:
    """Whether a caption stands under this heading, and no caption like it stands between them."""
    line = reading.layout.lines[cell.line].cells
    column = next((other for other in line if abs(other.x0 - head.x0) < head.height), cell)
    aligned = abs(column.x0 - head.x0) < head.height
    between = (other for other in reading.cells if head.line < other.line < cell.line and other.page == cell.page)
    same = any(abs(other.x0 - cell.x0) < head.height and other.text == cell.text for other in between)
    return aligned and cell.x0 - head.x0 < _REACH * 2 * head.height and not same
