"""What a document says it is: the senses of its title, large and near its top."""

from collections.abc import Sequence
from statistics import median

from llm.offline.layout.model import Cell, Layout
from llm.offline.matching.naming import DOCUMENTS
from llm.offline.matching.senses import Senses, held, senses_of
from llm.offline.matching.words import words_of

_WORDS = 7
_OTHERS = frozenset({"your", "buyer", "seller", "until", "from", "recipient", "sender", "address"})
"""A line with these is about another document than this one."""
_LARGE, _FIRST = 1.2, 6
_TOPICS = frozenset({"pay_wage", "payslip", "insurance", "coverage", "policy", "contract", "rent", "booking", "energy"})
_ENOUGH = 0.35
_NEARLY = 0.8
"""A title that is so nearly as good as the best one counts too: "Proforma invoice" is both."""


def own_kinds(layout: Layout, table_lines: frozenset[int]) -> frozenset[str]:
    """The senses of the document's title; empty when it has none that says."""
    heads = [cell for cell in layout.cells if cell.page == 1 and cell.line not in table_lines][:120]
    if not heads:
        return frozenset()
    usual = median(cell.height for cell in heads)
    height = layout.page_size(1).height
    scores: dict[str, float] = {}
    for cell in heads:
        senses = title_senses(cell)
        for sense in held(senses) & DOCUMENTS:
            size = min(3.0, (cell.height / usual) ** 1.5)
            first = 1.0 if sense in senses[0] or len(senses) <= 2 else 0.5
            upper = 2.0 if cell.text.isupper() and len(cell.tokens) <= 3 else 1.0
            score = size * first * upper * (1.15 - cell.y0 / height) / max(1, len(senses) - 1)
            scores[sense] = max(scores.get(sense, 0.0), score)
    best = max(scores.values(), default=0.0)
    return frozenset(sense for sense, score in scores.items() if score >= max(_ENOUGH, _NEARLY * best))


def is_buyers(layout: Layout, own: frozenset[str]) -> bool:
    """Whether the buyer issued the document: an order, and no confirmation of one."""
    heads = [cell for cell in layout.cells if cell.page == 1][:60]
    return "order" in own and not any("confirmation" in held(title_senses(cell)) for cell in heads)


def topics(layout: Layout) -> frozenset[str]:
    """What the head of the document speaks of (wages, an insurance, rent): its labels need not say so again."""
    heads = [cell for cell in layout.cells if cell.page == 1][:120]
    usual = median(cell.height for cell in heads) if heads else 1.0
    large = [cell for cell in heads if cell.height > _LARGE * usual and len(cell.tokens) <= 2 * _WORDS]
    said = (words_of(cell.text) for cell in (*heads[:_FIRST], *large))
    return frozenset(sense for words in said for sense in held(senses_of(words)) & _TOPICS)


def title_senses(cell: Cell) -> Senses:
    """The senses of a short line; letters that are set apart are put together first."""
    texts = " ".join(token.text for token in cell.tokens).split("(")[0].split()
    if len(texts) > 3 and _spaced(texts):
        return senses_of(words_of("".join(texts))) + senses_of(tuple(_words_in("".join(texts).lower())))
    words = words_of(" ".join(text for text in texts if not any(map(str.isdigit, text))))
    senses = senses_of(words) if 1 <= len(words) <= _WORDS else ()
    return () if held(senses) & _OTHERS else senses


def _spaced(texts: Sequence[str]) -> bool:
    return sum(len(text) <= 2 for text in texts) >= 0.5 * len(texts) and all(text.isalpha() for text in texts)


def _words_in(text: str) -> list[str]:
    """The two words that a run of letters may be."""
    for at in range(3, len(text) - 2):
        first, last = senses_of((text[:at],)), senses_of((text[at:],))
        if held(first) & DOCUMENTS and held(last) & DOCUMENTS:
            return [text[:at], text[at:]]
    return []
