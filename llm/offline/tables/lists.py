"""Items without a head over them, as on receipts and in letters: words, and an amount at the end of the line."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from llm.offline.layout.model import Cell, Line, Row, Table, Token
from llm.offline.matching.lexicon import find_phrases
from llm.offline.matching.words import is_unit, words_of
from llm.offline.tables.bodies import is_carried, is_sum
from llm.offline.tables.figures import is_money, is_numeric, is_tax_mark

HEADERS = ("quantity", "unit", "description", "unit price", "amount")
_TIMES = frozenset({"x", "×", "X", "*", "@", "à", "a"})
_COUNT = re.compile(r"^\d{1,4}(?:[.,]\d{1,3})?$")
_POSITION = re.compile(r"^\d{1,3}\.$|^0\d{1,4}$")
_GLUED = re.compile(r"^(\d{1,4})[x×]$", re.IGNORECASE)
_PRICE_EACH = re.compile(r"^(?:[A-Z]{3}|[€$£])?(?:/\w+)$")
_FAR = 2.6
"""Units: line heights. Items stand no further apart."""


@dataclass(slots=True)
class _Item:
    """One item on its way: which words are its quantity, unit, name, price and amount."""

    lines: list[int]
    quantity: list[Token] = field(default_factory=list)
    unit: list[Token] = field(default_factory=list)
    name: list[Token] = field(default_factory=list)
    price: list[Token] = field(default_factory=list)
    amount: list[Token] = field(default_factory=list)


def find_lists(lines: Sequence[Line], taken: set[int]) -> list[Table]:
    """The longest run of items on each page."""
    runs: list[list[_Item]] = [[]]
    waiting: Line | None = None
    last: Line | None = None
    for line in lines:
        far = last is not None and (line.page != last.page or line.y0 - last.y1 > _FAR * _height(line))
        if far or line.index in taken or _ends(line):
            if runs[-1]:
                runs.append([])
            waiting = None
        last = line
        if line.index in taken or _ends(line):
            continue
        item = _item(line)
        if item is None:
            waiting = line if len(line.cells) == 1 and not any(map(str.isdigit, line.text[-3:])) else None
            continue
        if not item.name:
            if waiting is None:
                continue
            item.name, item.lines = list(waiting.cells[0].tokens), [waiting.index, *item.lines]
        waiting = None
        runs[-1].append(item)
    best = max(runs, key=len)
    if len(best) < 2 and not (best and best[0].quantity and len(best[0].name) > 1):
        return []
    return [_table(best, lines)]


def _height(line: Line) -> float:
    return max(cell.height for cell in line.cells)


def _ends(line: Line) -> bool:
    """A total ends the items; so does a line of label and value that the vocabulary knows."""
    words = " ".join(cell.text for cell in line.cells if not is_numeric(cell.text))
    if is_sum(words) or is_carried(words):
        return True
    label = words_of(line.cells[0].text)
    return any(hit.end - hit.start >= 0.9 * len(label) for hit in find_phrases(label)) and len(line.cells) > 1


def _item(line: Line) -> _Item | None:
    """A line that ends with an amount (and the letter of its tax) and begins with words or a quantity."""
    tokens = [token for cell in line.cells for token in cell.tokens]
    if tokens and is_tax_mark(tokens[-1].text) and len(tokens) > 2:
        tokens = tokens[:-1]
    end = len(tokens)
    if end > 1 and re.fullmatch(r"[A-Z]{3}|[€$£]", tokens[end - 1].text):
        end -= 1
    start = end - 1
    text = tokens[start].text if start >= 0 else ""
    money = re.sub(r"(?<=\d)[A-Z*]$", "", text)
    if not is_money(money) or start == 0:
        return None
    item = _Item([line.index], amount=list(tokens[start:end]))
    if re.fullmatch(r"[-−+]|[A-Z]{3}|[€$£]", tokens[start - 1].text):
        item.amount.insert(0, tokens[start - 1])
        start -= 1
    counted = start > 2 and bool(_POSITION.match(tokens[0].text))
    _take_middle(item, tokens[counted:start])
    return item if item.name or item.quantity else None


def _take_middle(item: _Item, tokens: list[Token]) -> None:
    """ "2 x Coffee", "Coffee 2 x 1.99", "0,814 kg x 2,99 EUR/kg", "Coffee 2 1.99"."""
    texts = [token.text for token in tokens]
    times = next((at for at, text in enumerate(texts) if text in _TIMES and 0 < at < len(texts)), None)
    if texts and (match := _GLUED.match(texts[0])) and match:
        item.quantity, tokens = tokens[:1], tokens[1:]
    elif times is not None and (at := _count_before(texts, times)) is not None:
        item.quantity = tokens[at : at + 1]
        item.unit = tokens[at + 1 : times]
        after = tokens[times + 1 :]
        price = next((place for place, token in enumerate(after) if is_money(token.text) or _has_price(token)), None)
        if price is not None and price <= 1:
            item.price = after[: price + 1]
            after = [t for t in after[price + 1 :] if not _PRICE_EACH.match(t.text) and not _is_sign(t)]
        tokens = [*tokens[:at], *after]
    elif len(texts) > 1 and _COUNT.match(texts[0]) and any(map(str.isalpha, texts[1])):
        item.quantity, tokens = tokens[:1], tokens[1:]
        if len(tokens) > 1 and is_unit(tokens[0].text):
            item.unit, tokens = tokens[:1], tokens[1:]
    if not item.price and len(tokens) > 1 and is_money(tokens[-1].text):
        item.price, tokens = tokens[-1:], tokens[:-1]
        if not item.quantity and len(tokens) > 1 and _COUNT.match(tokens[-1].text):
            item.quantity, tokens = tokens[-1:], tokens[:-1]
    while tokens and (tokens[-1].text in _TIMES or _is_sign(tokens[-1]) or set(tokens[-1].text) <= set(".…_-")):
        tokens = tokens[:-1]
    if any(sum(map(str.isalpha, token.text)) > 1 for token in tokens):
        item.name = tokens


def _count_before(texts: Sequence[str], times: int) -> int | None:
    """Where the count stands that is multiplied: directly before the sign, or one word before it (its unit)."""
    for at in (times - 1, times - 2):
        if at >= 0 and _COUNT.match(texts[at]):
            return at
    return None


def _has_price(token: Token) -> bool:
    return bool(re.match(r"^[€$£]?\d+[.,]\d{2,3}", token.text))


def _is_sign(token: Token) -> bool:
    return bool(re.fullmatch(r"[A-Z]{3}|[€$£=]|[A-Z]{3}/\w+|/\w+", token.text))


def _table(items: Sequence[_Item], lines: Sequence[Line]) -> Table:
    covered = frozenset(index for item in items for index in item.lines)
    page = next(line.page for line in lines if line.index in covered)
    used = [
        number
        for number, name in enumerate(("quantity", "unit", "name", "price", "amount"))
        if any(getattr(item, name) for item in items)
    ]
    rows = tuple(Row(tuple(_cells(item)[number] for number in used)) for item in items)
    return Table(tuple(HEADERS[number] for number in used), rows, covered, page)


def _cells(item: _Item) -> tuple[tuple[Cell, ...], ...]:
    parts = (item.quantity, item.unit, item.name, item.price, item.amount)
    return tuple((Cell.of(part, item.lines[-1]),) if part else () for part in parts)
