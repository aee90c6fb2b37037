"""What kind of document it is: by the titles that it prints, large and near the top."""

import re
from collections import Counter
from dataclasses import dataclass
from statistics import median

from llm.offline.extract.reading import Reading
from llm.offline.layout.model import Cell
from llm.offline.matching.lexicon import Kind, kinds
from llm.offline.matching.words import words_of

_FORM = re.compile(r"\bForm\s+([A-Z]{0,3}-?\d{1,4}[A-Z]?(?:-[A-Z0-9]{1,5})*)\b")
_FORM_KIND = Kind("form", "Form", (), (), form=True)
_OTHER = Kind("document", "Document", (), ())


@dataclass(frozen=True, slots=True)
class DocumentKind:
    """The kind and the name for it ("Invoice", or a form by its number)."""

    kind: Kind
    name: str


def kind_of(reading: Reading) -> DocumentKind:
    """The kind of the document; a plain "Document" when no title says more."""
    form = _form_name(reading)
    if form:
        return DocumentKind(Kind("form", form, (), (), form=True), form)
    scores = dict.fromkeys((kind.key for kind in kinds()), 0.0)
    heads = [cell for cell in reading.cells if cell.page == 1]
    usual = median([cell.height for cell in heads]) if heads else 1.0
    for cell in heads[:150]:
        for kind in kinds():
            scores[kind.key] += _title_score(cell, kind, usual, reading)
    best = max(kinds(), key=lambda kind: scores[kind.key])
    if reading.asks_a_person and not best.form and scores[best.key] < 1.0:
        return DocumentKind(_FORM_KIND, _FORM_KIND.name)
    if scores[best.key] > 0.08:
        return DocumentKind(best, best.name)
    return DocumentKind(_OTHER, _largest(heads, usual) or "Document")


def _form_name(reading: Reading) -> str:
    first = "\n".join(line.text for line in reading.layout.lines if line.page == 1)
    names = Counter(match.group(1) for match in _FORM.finditer(first) if any(map(str.isdigit, match.group(1))))
    if not names:
        return ""
    name, count = names.most_common(1)[0]
    return f"{name} Form" if count > 1 or len(names) == 1 else ""


def _title_score(cell: Cell, kind: Kind, usual: float, reading: Reading) -> float:
    words = words_of(cell.text)
    if len(words) > 9:
        return 0.0
    depth = cell.y0 / reading.layout.page_size(cell.page).height
    best = 0.0
    for title in kind.titles:
        wanted = words_of(title)
        at = next((n for n in range(len(words) - len(wanted) + 1) if words[n : n + len(wanted)] == wanted), None)
        if at is not None:
            size = min(3.0, (cell.height / usual) ** 1.5)
            first = 1.0 if at == 0 else 0.5
            whole = 0.3 + 0.7 * len(wanted) / len(words)
            best = max(best, size * first * whole * (1.15 - depth) * (1 + 0.35 * (len(wanted) - 1)))
    return float(best**1.5)


def _largest(heads: list[Cell], usual: float) -> str:
    large = [cell for cell in heads if cell.height > 1.25 * usual and 1 <= len(cell.tokens) <= 5]
    plain = [cell for cell in large if all(part.isalpha() for part in cell.text.split()) and len(cell.text) >= 4]
    best = max(plain, key=lambda cell: cell.height, default=None)
    return best.text.title() if best is not None else ""
