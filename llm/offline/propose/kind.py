"""What kind of document it is: by the title that it prints, large and near the top, and by the words in it."""

import re
from collections import Counter
from dataclasses import dataclass
from statistics import median

from llm.offline.extract.captions import is_numbered
from llm.offline.extract.reading import Reading
from llm.offline.layout.model import Cell
from llm.offline.matching.lexicon import Kind, kinds
from llm.offline.matching.naming import DOCUMENTS
from llm.offline.matching.senses import senses_of_word
from llm.offline.matching.words import words_of
from llm.offline.propose.english import in_english_words, spoken

_FORM = re.compile(r"\bForm\s+([A-Z]{0,3}-?\d{1,4}[A-Z]?(?:-[A-Z0-9]{1,5})*)\b")
_FORM_KIND = Kind("form", "Form", (), (), form=True)
_OTHER = Kind("document", "Document", (), ())
_TITLE, _OWN, _SIGN = 2.0, 1.6, 0.4
"""What a title, the sense of the title and one word of the contents are worth at most."""
_FEW, _TELLING, _MANY = 3, 4, 8
"""So many signs say something, say a kind, and say no more with one more."""
_LEAST = 0.08
_FILLED, _BOXES, _CAPTIONS = 4, 2, 8
_UNLIKELY = 0.3
_HEAD = 30
"""Units: lines. So far down a letter says what it is about."""
_LONG = 9


@dataclass(frozen=True, slots=True)
class DocumentKind:
    """The kind and the name for it ("Invoice", or a form by its number)."""

    kind: Kind
    name: str


def kind_of(reading: Reading) -> DocumentKind:
    """The kind of the document; a plain "Document" when neither title nor contents say more."""
    form = _form_name(reading)
    if form:
        return DocumentKind(Kind("form", form, (), (), form=True), form)
    heads = [cell for cell in reading.cells if cell.page == 1]
    usual = median([cell.height for cell in heads]) if heads else 1.0
    signs = _signs(reading)
    scores = {kind.key: _score(kind, heads, usual, signs[kind.key], reading) for kind in kinds()}
    best = max(kinds(), key=lambda kind: scores[kind.key])
    if (
        _is_filled_in(reading)
        and not best.form
        and (scores[best.key] < _TITLE or _is_untitled(best, heads, usual, reading))
    ):
        return DocumentKind(_FORM_KIND, _FORM_KIND.name)
    if _is_boxed(reading) and not best.form:
        return DocumentKind(_FORM_KIND, _FORM_KIND.name)
    if scores[best.key] <= _LEAST:
        best = _mentioned(reading) or _OTHER
    if best is not _OTHER:
        kind = _nearer(best, signs)
        return DocumentKind(kind, kind.name)
    return DocumentKind(_OTHER, _largest(heads, usual, reading) or "Document")


def _form_name(reading: Reading) -> str:
    first = "\n".join(line.text for line in reading.layout.lines if line.page == 1)
    names = Counter(match.group(1) for match in _FORM.finditer(first) if any(map(str.isdigit, match.group(1))))
    if not names:
        return ""
    name, count = names.most_common(1)[0]
    return f"{name} Form" if count > 1 or len(names) == 1 else ""


def _score(kind: Kind, heads: list[Cell], usual: float, signs: int, reading: Reading) -> float:
    titles = (_title_score(cell, kind, usual, reading) for cell in heads[:150])
    score = min(_TITLE, max(titles, default=0.0))
    if kind.sense in reading.own:
        score += _OWN
    if signs >= (_TELLING if kind.sense else _FEW):
        score += _SIGN * min(signs, _MANY)
    likely = not kind.form or kind.sense in reading.own or reading.asks_a_person or _has_boxes(reading)
    return score if likely else _UNLIKELY * score


def _signs(reading: Reading) -> dict[str, int]:
    """Per kind how many of its signs the document has."""
    text = f" {' '.join(words_of(reading.text))} "
    return {kind.key: sum(f" {' '.join(words_of(sign))} " in text for sign in kind.signs) for kind in kinds()}


def _nearer(best: Kind, signs: dict[str, int]) -> Kind:
    """A kind whose title is the same but whose contents say more: the invoice for electricity, the one of a hotel."""
    alike = [kind for kind in kinds() if kind.of == best.key and signs[kind.key] >= _TELLING]
    return max(alike, key=lambda kind: signs[kind.key], default=best)


def _mentioned(reading: Reading) -> Kind | None:
    """The kind that a letter without a title speaks of most on its first page."""
    counts = _senses(reading)
    named = [kind for kind in kinds() if kind.sense and not kind.form and counts[kind.sense]]
    return max(named, key=lambda kind: counts[kind.sense], default=None)


def _senses(reading: Reading) -> Counter[str]:
    words = [word for line in reading.layout.lines[:_HEAD] for word in words_of(line.text)]
    return Counter(sense for word in words for part in senses_of_word(word) for sense in part & DOCUMENTS)


def _is_filled_in(reading: Reading) -> bool:
    """Whether a person filled it in: by what is asked, or by its form fields."""
    typed = sum(cell.tokens[0].origin == "form" for cell in reading.cells)
    return reading.asks_a_person or typed >= _FILLED


def _is_boxed(reading: Reading) -> bool:
    """Whether nearly all of it are boxes with captions, numbered or to tick: no business paper, whatever its title."""
    captions = {*reading.answers_under, *reading.answers_over}
    numbered = sum(is_numbered(cell) for cell in reading.cells if cell.tokens[0].index in captions)
    boxes = numbered >= _FILLED or len(reading.layout.checks) >= _FILLED
    listed = any(len(table.rows) > 1 for table in reading.tables) and numbered < _CAPTIONS
    return boxes and len(captions) >= _CAPTIONS and not listed


def _is_untitled(kind: Kind, heads: list[Cell], usual: float, reading: Reading) -> bool:
    """Whether only words in it speak for a kind, and nothing is listed: a card that guests fill in is no bill."""
    titled = any(_title_score(cell, kind, usual, reading) > 0 for cell in heads[:_HEAD])
    return not titled and not any(len(table.rows) > 1 for table in reading.tables)


def _has_boxes(reading: Reading) -> bool:
    return _is_filled_in(reading) or len(reading.layout.checks) >= _BOXES


def _title_score(cell: Cell, kind: Kind, usual: float, reading: Reading) -> float:
    words = words_of(cell.text)
    if len(words) > 2 and sum(len(word) == 1 for word in words) > 0.7 * len(words):
        words = ("".join(words),)  # letters set apart
    depth = cell.y0 / reading.layout.page_size(cell.page).height
    best = 0.0
    for title in kind.titles:
        wanted = words_of(title)
        at = next((n for n in range(len(words) - len(wanted) + 1) if words[n : n + len(wanted)] == wanted), None)
        if words == ("".join(wanted),):
            at, wanted = 0, words
        if at is not None and (len(words) <= _LONG or at == 0):
            size = min(3.0, (cell.height / usual) ** 1.5)
            first = 1.0 if at == 0 else 0.5
            whole = 0.3 + 0.7 * len(wanted) / len(words)
            best = max(best, size * first * whole * (1.15 - depth) * (1 + 0.35 * (len(wanted) - 1)))
    return float(best**1.5)


def _largest(heads: list[Cell], usual: float, reading: Reading) -> str:
    """A large line near the top as a name, where its words are known: no company's name, no total."""
    page = reading.layout.page_size(1).height
    large = [
        cell for cell in heads if cell.height > 1.25 * usual and 1 <= len(cell.tokens) <= 5 and cell.y0 < 0.4 * page
    ]
    named: list[tuple[float, str]] = []
    for cell in large:
        words, known = in_english_words(words_of(cell.text), spoken(reading))
        if known >= 1.0 and all(part.isalpha() for part in words):
            named.append((cell.height, " ".join(words).title()))
    return max(named, default=(0.0, ""))[1]
