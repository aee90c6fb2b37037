"""One line of a receipt: which of its words are a quantity, a unit, a name, a price, an amount."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from pathlib import Path

from llm.offline.layout.model import Line, Token
from llm.offline.matching.words import is_unit, words_of
from llm.offline.tables.figures import has_cents, is_money, is_tax_mark
from llm.offline.typing.amounts import CODES

_TIMES = frozenset({"x", "×", "X", "*", "@", "à", "a", "á", "ea"})
_COUNT = re.compile(r"^-?\d{1,4}(?:[.,]\d{1,4})?$")
_WHOLE = re.compile(r"^-?\d{1,3}$")
_LOOSE = re.compile(r"^[€$£]?-?\d{1,5}(?:[.,]\d{1,2})?$")
_WHOLE_MARK = re.compile(r"^(?:[A-Z*]{1,2}|\d)$")
_TAX_CODE = re.compile(r"^\d{2}$")
_POSITION = re.compile(r"^\d{1,3}\.$|^\*?0\d{1,13}$|^\*?\d{5,14}$|^#\d+$")
_CODE = re.compile(r"^\d{6,14}$")
_DAY = re.compile(r"^\d{1,2}[./-]\d{1,2}[./-](?:\d{2}|\d{4})?$|^\d{4}-\d{2}-\d{2}$")
_SIGN = re.compile(r"^(?:[€$£]|[A-Z]{3}|Fr\.?|Euro?)$")
_PER = re.compile(r"^(?:(?:[€$£]|[A-Z]{3}|Fr\.)?/\w+)$", re.IGNORECASE)
_PRICED = re.compile(
    r"^(?P<sign>[€$£])?\d+[.,]\d{2,4}(?:[€$£]|EUR|CHF|USD|GBP)?(?P<per>/\w+)?(?:[€$£])?$", re.IGNORECASE
)
_GLUED = re.compile(r"^(\d+(?:[.,]\d+)?)([xX×@*])([€$£]?\d+[.,]\d{2,4}\S*)?$")
_MEASURED = re.compile(r"^(\d+(?:[.,]\d+)?)([a-z]{1,3})$", re.IGNORECASE)
_PHONE = re.compile(r"^\d{2}(?:\.\d{2}){3,}$")
_MARKED = re.compile(r"^([€$£]?[-−]?\d[\d.,]*[.,]\d{2}[-−]?)(?:€|EUR)?([A-Z*]{1,2})$")
_PRICE_PER = re.compile(r"^([€$£]?\d+[.,]\d{2,4})((?:[€$£]|EUR|CHF|USD|GBP)?/\w+)$", re.IGNORECASE)
_SIGNED = re.compile(r"^([xX×@*])([€$£]?\d+[.,]\d{2,4}\S*)$")
_CENT = Decimal("0.011")


@dataclass(slots=True)
class Item:
    """One item on its way: which words are its number, quantity, unit, name, price and amount."""

    lines: list[int]
    number: list[Token] = field(default_factory=list)
    day: list[Token] = field(default_factory=list)
    quantity: list[Token] = field(default_factory=list)
    unit: list[Token] = field(default_factory=list)
    name: list[Token] = field(default_factory=list)
    price: list[Token] = field(default_factory=list)
    amount: list[Token] = field(default_factory=list)

    @property
    def is_worked_out(self) -> bool:
        """Whether quantity times price is the amount."""
        return self.comes_to(value_of(self.amount))

    def comes_to(self, amount: Decimal | None) -> bool:
        """Whether quantity times price is `amount`."""
        count, price = value_of(self.quantity), value_of(self.price)
        if count is None or price is None or amount is None:
            return False
        return abs(abs(count * price) - abs(amount)) <= _CENT


@lru_cache(maxsize=1)
def _said() -> dict[str, frozenset[tuple[str, ...]]]:
    told = json.loads((Path(__file__).parent.parent / "matching" / "data" / "items.json").read_text(encoding="utf-8"))
    return {part: frozenset(words_of(word) for word in words) for part, words in told.items()}


def names_part(tokens: Sequence[Token], part: str) -> bool:
    """Whether words only say what a number is: "quantity", "price", "amount", or something "aside" of the items."""
    words = tuple(word for word in words_of(" ".join(t.text for t in tokens)) if word.isalpha() and word != "eur")
    return words in _said()[part]


def value_of(tokens: Sequence[Token]) -> Decimal | None:
    """The number that words print; its sign may stand before or behind it."""
    text = "".join(token.text for token in tokens)
    match = re.search(r"\d[\d.,'’]*", text)
    if match is None:
        return None
    digits = match.group().rstrip(".,")
    cut = max(digits.rfind("."), digits.rfind(","))
    whole, rest = (digits[:cut], digits[cut + 1 :]) if cut >= 0 else (digits, "")
    try:
        found = Decimal(re.sub(r"\D", "", whole) + "." + (rest or "0"))
    except InvalidOperation:
        return None
    return -found if re.search(r"[-−]\D*\d|\d[-−]$", text) else found


def read_item(line: Line, *, loose: bool = False) -> Item:
    """What a line says of an item. `loose`: amounts may stand without decimals."""
    tokens = _tokens(line)
    item = Item([line.index])
    if len(tokens) > 1 and _DAY.match(tokens[0].text):
        item.day, tokens = tokens[:1], tokens[1:]
    tokens = _take_amount(item, tokens, _thousands(line), loose=loose)
    if len(tokens) > 1 and _POSITION.match(tokens[0].text):
        item.number, tokens = tokens[:1], tokens[1:]
    elif len(tokens) > 2 and names_part(tokens[:1], "number") and tokens[1].text.isdigit():
        item.number, tokens = tokens[1:2], tokens[2:]
    tokens = _take_product(item, tokens)
    if not item.amount and item.price and not item.quantity and not _PRICED.match(item.price[0].text):
        item.price = []
    while tokens and (tokens[-1].text in _TIMES or _is_sign(tokens[-1]) or set(tokens[-1].text) <= set(".…_-=:")):
        tokens = tokens[:-1]
    while tokens and set(tokens[0].text) <= set("*-=:.#"):
        tokens = tokens[1:]
    if len(tokens) > 1 and _CODE.match(tokens[-1].text) and not item.number:
        item.number, tokens = tokens[-1:], tokens[:-1]
    if any(sum(map(str.isalpha, token.text)) > 1 for token in tokens):
        item.name = list(tokens)
    return item


def _tokens(line: Line) -> list[Token]:
    """The words of a line; a number and its unit are two where they count what follows ("0,512kg x 2.99")."""
    tokens = [part for cell in line.cells for token in cell.tokens for part in _parted(token)]
    found: list[Token] = []
    for place, token in enumerate(tokens):
        counts = place == 0 or (place + 1 < len(tokens) and tokens[place + 1].text in _TIMES)
        match = _MEASURED.match(token.text) if counts else None
        found += _parted(token, _MEASURED) if match and is_unit(match.group(2)) else [token]
    return found


def _parted(token: Token, *patterns: re.Pattern[str]) -> list[Token]:
    """A word without the blanks that belong in it, in its parts: "2x1,99", "x1,99", "2,25A"."""
    for pattern in patterns or (_GLUED, _MARKED, _SIGNED, _PRICE_PER):
        if match := pattern.match(token.text):
            texts = [text for text in match.groups() if text]
            width = (token.x1 - token.x0) / max(1, len(token.text))
            parts, x = [], token.x0
            for text in texts:
                parts.append(replace(token, text=text, x0=x, x1=x + width * len(text)))
                x += width * len(text)
            return [replace(part, x1=token.x1) if part is parts[-1] else part for part in parts]
    return [token]


def _thousands(line: Line) -> set[int]:
    """The words that end a number whose thousands stand apart, alone in its cell: "1 014,24"."""
    pairs = [cell.tokens[:2] for cell in line.cells if len(cell.tokens) > 1]
    return {rest.index for first, rest in pairs if _WHOLE.match(first.text) and re.match(r"\d{3}[.,]\d{2}$", rest.text)}


def _take_amount(item: Item, tokens: list[Token], thousands: set[int], *, loose: bool) -> list[Token]:
    """The amount at the end of a line, before the mark of its tax."""
    end = _unmarked_end(tokens, loose=loose)
    stop = end
    if stop > 1 and tokens[stop - 1].text in {"-", "−"}:
        stop -= 1
    if stop > 1 and _PER.match(tokens[stop - 1].text):
        return tokens  # "1.789 €/L": the price of one
    if stop > 1 and _is_sign(tokens[stop - 1]):
        stop -= 1
    start = stop - 1
    if start < 0 or not _is_amount(tokens[start].text, loose=loose):
        return tokens
    if start and tokens[start].index in thousands:
        start -= 1
    while start > 0 and (
        (_is_sign(tokens[start - 1]) and "/" not in tokens[start - 1].text) or tokens[start - 1].text in {"-", "−", "+"}
    ):
        start -= 1
    if start and tokens[start - 1].text in _TIMES and _counts(tokens[:start]):
        return tokens  # "2 x 1.99": the price of one
    item.amount = tokens[start:end]
    return _without_mark(tokens[:start])


def _unmarked_end(tokens: Sequence[Token], *, loose: bool) -> int:
    """Where an amount ends, with its currency, before the marks of its tax: "1.59 A *", "1,15 € 11"; else the end."""
    end = len(tokens)
    while end > 1 and end > len(tokens) - 3:
        before = tokens[end - 2] if _is_sign(tokens[end - 2]) and end > 2 else None
        money = tokens[end - 3] if before else tokens[end - 2]
        marked = before is not None or has_cents(money.text) or is_tax_mark(money.text)
        coded = marked and bool(_TAX_CODE.match(tokens[end - 1].text))
        if not (is_tax_mark(tokens[end - 1].text) or coded):
            break
        end -= 1
        if _is_amount(tokens[end - 1].text, loose=loose) or (before and _is_amount(money.text, loose=loose)):
            return end
    return len(tokens)


def _without_mark(rest: list[Token]) -> list[Token]:
    """The mark of a tax may stand before the amount."""
    marked = len(rest) > 2 and is_tax_mark(rest[-1].text) and _WHOLE_MARK.match(rest[-1].text)
    return rest[:-1] if marked and (_CODE.match(rest[-2].text) or has_cents(rest[-2].text)) else rest


def _is_amount(text: str, *, loose: bool) -> bool:
    return (is_money(text) and not _DAY.match(text) and not _PHONE.match(text)) or (loose and bool(_LOOSE.match(text)))


def _counts(tokens: Sequence[Token]) -> bool:
    return any(_COUNT.match(token.text) for token in tokens[-3:-1])


def _take_product(item: Item, tokens: list[Token]) -> list[Token]:
    """ "2 x Coffee", "Coffee 2 x 1.99", "0,814 kg x 2,99 EUR/kg", "1.99 x 2", "Coffee 2 1.99"; what is left over."""
    texts = [token.text for token in tokens]
    for times in (at for at, text in enumerate(texts) if text in _TIMES and at):
        count = _count_before(tokens, times)
        if count is None:
            continue
        price = _price_after(tokens, times)
        if price is None and texts[times] in {"a", "à", "á", "@", "*", "ea"}:
            continue
        if price is None and has_cents(texts[count]) and times + 1 < len(texts) and _WHOLE.match(texts[times + 1]):
            item.price, item.quantity = tokens[count : count + 1], tokens[times + 1 : times + 2]
            return [*tokens[:count], *tokens[times + 2 :]]
        item.quantity, item.unit = tokens[count : count + 1], _units(tokens[count + 1 : times])
        after = tokens[times + 1 :]
        if price is not None:
            item.price, after = tokens[times + 1 : price], _without_signs(tokens[price:])
        return _take_price(item, [*tokens[:count], *after])
    return _take_price(item, _take_count(item, tokens))


def _take_count(item: Item, tokens: list[Token]) -> list[Token]:
    """A quantity that begins the line, or one with its unit that ends it."""
    texts = [token.text for token in tokens]
    if len(texts) > 1 and _COUNT.match(texts[0]) and any(map(str.isalpha, texts[1])):
        item.quantity, tokens = tokens[:1], tokens[1:]
        if len(tokens) > 1 and tokens[0].text in {"a", "@", "à", "x", "X", "×"}:
            tokens = tokens[1:]
        if len(tokens) > 1 and is_unit(tokens[0].text):
            item.unit, tokens = tokens[:1], tokens[1:]
            if tokens[0].text in _TIMES and len(tokens) > 1:
                tokens = tokens[1:]
        for at in range(1, len(tokens) - 1):
            if tokens[at].text in _TIMES and has_cents(tokens[at + 1].text):  # "2 Schnitzel à 14,90"
                item.price = tokens[at + 1 : at + 2]
                return [*tokens[:at], *_without_signs(tokens[at + 2 :])]
    elif len(texts) > 1 and is_unit(texts[-1]) and _COUNT.match(texts[-2]) and re.search(r"[.,]\d{2,4}$", texts[-2]):
        item.quantity, item.unit, tokens = tokens[-2:-1], tokens[-1:], tokens[:-2]
    return tokens


def _take_price(item: Item, tokens: list[Token]) -> list[Token]:
    """The price of one that stands before the amount, with the count before it."""
    rest = tokens
    while rest and (_is_sign(rest[-1]) or _PER.match(rest[-1].text)):
        rest = rest[:-1]
    if item.price or not rest:
        return tokens
    priced = _PRICED.match(rest[-1].text)
    if not priced or not (
        item.amount or priced["per"] or len(rest) < len(tokens) or re.search(r"[.,]\d{3}\D*$", rest[-1].text)
    ):
        return tokens
    item.price, rest = rest[-1:], rest[:-1]
    if (rest and _is_sign(rest[-1])) or (rest and rest[-1].text in _TIMES):
        rest = rest[:-1]
    if not item.quantity and len(rest) > 1 and is_unit(rest[-1].text) and _COUNT.match(rest[-2].text):
        item.quantity, item.unit, rest = rest[-2:-1], rest[-1:], rest[:-2]
    elif not item.quantity and len(rest) > 1 and _COUNT.match(rest[-1].text):
        item.quantity, rest = rest[-1:], rest[:-1]
    return rest


def _count_before(tokens: Sequence[Token], times: int) -> int | None:
    """Where the count stands that is multiplied: directly before the sign, or one word before it (its unit)."""
    for at in (times - 1, times - 2):
        if at >= 0 and _COUNT.match(tokens[at].text):
            if at == times - 2 and not (is_unit(tokens[times - 1].text) or _is_sign(tokens[times - 1])):
                continue
            return at
    return None


def _price_after(tokens: Sequence[Token], times: int) -> int | None:
    """Where the words after a price begin that stands behind the sign: "x EUR 1.99"."""
    for at in (times + 1, times + 2):
        if at < len(tokens) and _PRICED.match(tokens[at].text):
            return at + 1
        if at >= len(tokens) or not _is_sign(tokens[at]):
            return None
    return None


def _units(tokens: Sequence[Token]) -> list[Token]:
    return [token for token in tokens if not _is_sign(token)]


def _without_signs(tokens: Sequence[Token]) -> list[Token]:
    return [token for token in tokens if not _PER.match(token.text) and not _is_sign(token)]


def _is_sign(token: Token) -> bool:
    """A currency, with or without what it is for ("EUR/kg")."""
    text = token.text.partition("/")[0]
    return token.text == "=" or (bool(_SIGN.match(text)) and (not text.isupper() or len(text) < 3 or text in CODES))
