"""Values in the box of a caption, or behind a label: a text is all of it, anything else what is of its kind."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from llm.offline.extract.reading import Reading
from llm.offline.extract.values import WORDY, Value, values_in
from llm.offline.layout.model import Cell, Token
from llm.offline.typing.codes import find_codes

_PHONE_DIGITS = range(8, 13)
_TAX_DIGITS = 8
"""A tax number has at least so many digits."""
_ID_PARTS, _CENTS = 5, 2


def labelled_values(kind: str, tokens: Sequence[Token], reading: Reading) -> list[Value]:
    """The values behind a label; a tax number of a form that is not known is whatever number stands there."""
    found = values_in(kind, tokens, reading)
    if not found and kind == "phone":
        return [Value(t.text, t.text, (t.index,)) for t in tokens if t.text.isdigit() and len(t.text) in _PHONE_DIGITS]
    if found or kind != "vat_id":
        return found
    whole = "".join(token.text for token in tokens[:5] if not token.text.endswith(":"))
    for code in find_codes("vat_id", re.sub(r"[.\-]", "", whole)):
        return [Value(code.value, code.value, tuple(token.index for token in tokens[:5]))]
    numbers = values_in("id", tokens, reading)
    return [
        replace(value, fit=0.85 * value.fit) for value in numbers if sum(map(str.isdigit, value.text)) >= _TAX_DIGITS
    ]


def in_frame(cells: Sequence[Cell], kind: str, reading: Reading) -> Iterator[tuple[Value, float]]:
    """What is written in the box of a caption: a text is all of it, anything else what is of its kind in a line."""
    if kind in {"amount", "text"} and len(cells) == _CENTS and cells[1].text.isdigit() and len(cells[1].text) == _CENTS:
        both = tuple(token.index for cell in cells for token in cell.tokens)
        said = f"{cells[0].text}{reading.point or ','}{cells[1].text}"
        yield from ((replace(value, tokens=both), 1.0) for value in _of_text(kind, said, cells, reading))
        return
    first = [token for cell in cells if abs(cell.middle - cells[0].middle) < 0.5 * cell.height for token in cell.tokens]
    if kind == "id" and 1 < len(first) <= _ID_PARTS and any(map(str.isdigit, first[-1].text)):
        yield from ((value, 1.0) for value in values_in("text", first, reading)[:1])
    if kind == "text" and len(cells) > 1:
        tokens = [token for cell in cells for token in cell.tokens]
        yield from ((value, 1.0) for value in values_in(kind, tokens, reading)[:1])
    if cells:
        yield from in_box(cells, kind, reading)


def _of_text(kind: str, said: str, cells: Sequence[Cell], reading: Reading) -> list[Value]:
    """The value of a number whose parts stand in two boxes, units and cents."""
    return values_in(kind, [replace(cells[0].tokens[0], text=said)], reading)[:1]


def in_box(lines: Sequence[Cell], kind: str, reading: Reading) -> Iterator[tuple[Value, float]]:
    """Under a caption, in its box: a text is the first line, the rest of that line with it."""
    first = [cell for cell in lines if abs(cell.middle - lines[0].middle) < 0.5 * lines[0].height]
    rows = [first, *([cell] for cell in lines if cell not in first)] if kind not in WORDY else [first]
    for rank, row in enumerate(rows):
        tokens = [token for cell in row for token in cell.tokens]
        yield from ((value, 0.97 - 0.05 * rank) for value in labelled_values(kind, tokens, reading)[:1])
