"""Where labels stand in cells: by the phrases of the vocabulary, and by what their words stand for."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from llm.offline.extract.captions import Caption, captions_of, segments_of
from llm.offline.layout.analysis import cells_below, cells_right
from llm.offline.layout.model import Cell, Layout, Token
from llm.offline.matching.lexicon import concepts, find_phrases
from llm.offline.matching.naming import DOCUMENTS, date_meant, number_meant
from llm.offline.matching.senses import held, senses_of
from llm.offline.matching.totals import TOTALS, amount_meant
from llm.offline.matching.words import word_list, words_of
from llm.offline.typing.amounts import find_amounts

Named = tuple[tuple[str, ...], "Hit"]
_WHOLE = 0.95
"""Units: quality. A phrase as good as this is all of its label."""
_LONGEST = 6
"""Units: words. Longer labels are sentences."""
_SENTENCE = 8
"""Units: words. In a cell with more, what stands before a number inside it is part of a sentence."""
_AMONG = 0.8
_SURE = 0.72
_PARTS = frozenset({"-", "–", "|", "●", "•", "·", ":", "/"})


@dataclass(frozen=True, slots=True)
class Hit:
    """A label on a page: tokens `start`–`end` of `cell` name it. Units: quality 0–1."""

    cell: Cell
    start: int
    end: int
    quality: float
    concepts: tuple[str, ...] = ()


def label_hits(cell: Cell, layout: Layout, own: frozenset[str]) -> list[Named]:
    """All labels in a cell: known phrases, unless the whole label means something else, and what labels mean."""
    exact = [(names, _plain(_own(names, hit, own))) for names, hit in cell_hits(cell)]
    meant: list[Hit] = []
    for caption in (*captions_of(layout, cell)[:1], *segments_of(cell)):
        if caption.cell is cell and len(caption.words) <= _LONGEST and not _has_figures(caption):
            meant.extend(hit for hit in _meant(caption, layout, own) if not _is_known(hit, exact, meant))
    kept = [(names, hit) for names, hit in exact if not any(_replaces(other, names, hit) for other in meant)]
    return [*kept, *((hit.concepts, hit) for hit in meant)]


def _has_figures(caption: Caption) -> bool:
    tokens = caption.cell.tokens[caption.start : caption.end]
    return any(any(map(str.isdigit, token.text)) for token in tokens)


def _meant(caption: Caption, layout: Layout, own: frozenset[str]) -> Iterator[Hit]:
    """What the words of a caption mean together: an amount, a number, a date."""
    factor = _AMONG if caption.start and len(caption.cell.tokens) > _SENTENCE else 0.97
    dated = None if factor == _AMONG and not caption.colon else date_meant(caption.words, own)
    for found in (_number(caption, layout, own), dated):
        if found is not None and found[1] >= _SURE:
            yield Hit(caption.cell, caption.start, caption.end, factor * found[1], (found[0],))
    amount = amount_meant(caption.words)
    if amount is not None and _has_amount(caption, layout):
        yield Hit(caption.cell, caption.start, caption.end, factor * amount[1], (amount[0],))


def _number(caption: Caption, layout: Layout, own: frozenset[str]) -> tuple[str, float] | None:
    """What number is meant; in running text the last words before it say so: "bestätigen wir Ihren Auftrag 12"."""
    if held(senses_of(caption.words)) & {"buyer"} and len(caption.words) == 1 and _has_code(caption, layout):
        return "buyer_id", 0.85  # "Kunde: 55102"
    for last in (len(caption.words), *((3, 2) if caption.inline else ())):
        found = number_meant(caption.words[-last:], own)
        if found is not None and found[1] >= _SURE:
            return found
    return None


def _has_code(caption: Caption, layout: Layout) -> bool:
    """Whether a number stands behind a label, or one alone under it."""
    below = [cell for cell in cells_below(layout, caption.cell, reach=2.0)[:1] if len(cell.tokens) == 1]
    alone = any(sum(map(str.isdigit, cell.text)) >= 3 and "@" not in cell.text for cell in below)
    return _next(caption, layout).isdigit() or (caption.end == len(caption.cell.tokens) and alone)


def _next(caption: Caption, layout: Layout) -> str:
    """The first word behind a label, in its cell or right of it."""
    right = cells_right(layout, caption.cell)[:1]
    behind = [*caption.cell.tokens[caption.end :], *(token for cell in right for token in cell.tokens)]
    return next((token.text.strip(":,") for token in behind if token.text.strip(":,")), "")


def _has_amount(caption: Caption, layout: Layout) -> bool:
    """Whether money stands behind a label, right of it or under it."""
    rest = " ".join(token.text for token in caption.cell.tokens[caption.end :])
    if any(map(str.isdigit, rest)):
        return _is_money(rest)
    right = cells_right(layout, caption.cell)[:3]
    below = cells_below(layout, caption.cell, reach=2.0)[:1]
    return any(_is_money(cell.text) for cell in right or below)


def _is_money(text: str) -> bool:
    return any((found.decimals or found.currency) and not found.percent for found in find_amounts(text))


def _is_known(hit: Hit, exact: Sequence[Named], meant: Sequence[Hit]) -> bool:
    """Whether a phrase that is the whole label names a thing of that kind already."""
    kind = concepts()[hit.concepts[0]].kind
    whole = [other for _, other in exact if other.quality >= _WHOLE and _overlap(hit, other)]
    if kind == "amount":  # "Totaal credit" is a sum of a statement, and the total of a credit note
        whole = [other for other in whole if TOTALS & set(other.concepts)]
    held_by = [*whole, *(other for other in meant if _overlap(hit, other))]
    return any(concepts()[name].kind == kind for other in held_by for name in other.concepts)


def _replaces(meant: Hit, names: Sequence[str], exact: Hit) -> bool:
    """Whether a phrase is only a part of a label that means another thing of the same kind."""
    same_kind = any(concepts()[name].kind == concepts()[meant.concepts[0]].kind for name in names)
    return same_kind and _overlap(meant, exact) and exact.quality < min(_WHOLE, meant.quality)


def _overlap(one: Hit, other: Hit) -> bool:
    return one.start < other.end and other.start < one.end


def _plain(hit: Hit) -> Hit:
    """A word that means many things is hardly a label in the midst of something else: "Z.I. n° 2", "Angebot vom"."""
    inside = hit.start > 0 and hit.end - hit.start == 1 and not has_colon(hit)
    inside = inside and ("document_number" in hit.concepts or len(hit.cell.tokens) > _SENTENCE)
    word = words_of(hit.cell.tokens[hit.start].text)
    few = inside and word and word[-1] in word_list("plain") and hit.cell.tokens[hit.start - 1].text[-1:] not in _PARTS
    return replace(hit, quality=0.6 * hit.quality) if few else hit


def _own(names: Sequence[str], hit: Hit, own: frozenset[str]) -> Hit:
    """A label that names another kind of document than this one is hardly its own number or date."""
    if not own or not {"document_number", "issue_date"} & set(names):
        return hit
    label = words_of(" ".join(token.text for token in hit.cell.tokens[hit.start : hit.end]))
    documents = held(senses_of(label)) & DOCUMENTS
    return replace(hit, quality=0.8 * hit.quality) if documents and not documents & own else hit


def has_colon(hit: Hit) -> bool:
    after = hit.cell.tokens[hit.end : hit.end + 1]
    return hit.cell.tokens[hit.end - 1].text.endswith(":") or any(token.text == ":" for token in after)


def cell_hits(cell: Cell) -> list[tuple[tuple[str, ...], Hit]]:
    """The label phrases of a cell, in tokens."""
    words: list[str] = []
    owners: list[int] = []
    for place, token in enumerate(cell.tokens):
        for word in _token_words(token):
            words.append(word)
            owners.append(place)
    found = []
    for phrase in find_phrases(words):
        start, end = owners[phrase.start], owners[phrase.end - 1] + 1
        whole = _covers(owners, phrase.start, phrase.end)
        if whole:
            hit = Hit(cell, start, end, phrase.weight * _coverage(cell, start, end), phrase.concepts)
            found.append((phrase.concepts, hit))
    return found


def _token_words(token: Token) -> tuple[str, ...]:
    if token.text == "/":  # "To / For" is one label in two words
        return ()
    if any(map(str.isdigit, token.text)):
        return (token.text.split(":")[0].lower(),) if ":" in token.text and token.text[0].isalpha() else (token.text,)
    return words_of(token.text.removesuffix(":").removesuffix("(s)")) or ("",)


def _covers(owners: Sequence[int], start: int, end: int) -> bool:
    """A phrase must not begin or end inside a token, except behind a slash or before a colon's value."""
    begins = start == 0 or owners[start - 1] != owners[start]
    ends = end == len(owners) or owners[end] != owners[end - 1]
    return begins and ends


def _coverage(cell: Cell, start: int, end: int) -> float:
    """How much of the label's own words the phrase is: words before it (up to a separator) weaken it."""
    before = 0
    for token in reversed(cell.tokens[:start]):
        if token.text.endswith((":", ",", ".", ";", "-", "–", "|", "●")) or any(map(str.isdigit, token.text)):
            break
        before += 1
    after = _words_after(cell, end)
    return 0.5 + 0.5 * (end - start) / (end - start + before + after)


def _words_after(cell: Cell, end: int) -> int:
    """Words between the phrase and the colon, if there is a colon close by; else plain words up to a value."""
    if end and cell.tokens[end - 1].text.endswith(":"):
        return 0
    count, inside = 0, False
    for token in cell.tokens[end : end + 4]:
        inside = inside or token.text.startswith("(")
        if inside:
            inside = not token.text.endswith(")")
            continue
        if any(map(str.isdigit, token.text)) or token.text in {":", "-", "–", "|", "#", "*", "/"}:
            return count
        count += 1
        if token.text.endswith(":"):
            return count
    return min(count, 2)
