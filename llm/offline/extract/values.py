"""Values of a kind in a piece of text, normalized, with the tokens they came from."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise

from llm.offline.extract.reading import Reading
from llm.offline.layout.model import Token
from llm.offline.layout.signs import CHECKED, UNCHECKED
from llm.offline.typing.amounts import currency_code, find_amounts
from llm.offline.typing.codes import find_codes
from llm.offline.typing.dates import find_dates, find_day
from llm.offline.typing.places import find_place

CODE_KINDS = frozenset({"iban", "bic", "vat_id", "email", "url", "phone", "time"})
_TORN = 0.3
"""Units: line heights. Blanks between words are wider."""
_REST = re.compile(r"^(?:\d{1,2}|\d{4,})[.,]\d{2}$")
_PUNCTUATION = " \t:;,|●•*=_–-▶►"
_ID_TOKEN = re.compile(r"^[#№]?[\w./\-+*&]*\d[\w./\-+*&]*$|^[A-Z0-9]{2,}(?:[_/-][A-Z0-9]+)+$|^[A-Z]{3,}\d*$")
_NO_PREFIX = frozenset({"NR", "NO", "N", "ID", "TVA", "VAT", "BTW", "HT", "TTC", "DE"})
_ID_LAST = re.compile(r"^[A-Z]$")
"""The letter that ends a number in groups: "QQ 77 41 09 A"."""
_ID_MORE = re.compile(r"^(?:[-–/]|[-–]?\d[\d./-]*,?|[A-Z0-9]{1,4}\d[A-Z0-9]*,?)$")


@dataclass(frozen=True, slots=True)
class Value:
    """A value as normalized and as printed. Units: fit 0–1, how surely the text is of its kind."""

    value: str | Decimal
    text: str
    tokens: tuple[int, ...]
    fit: float = 1.0


_PARTED, _YEARS = {(8,), (2, 2, 4), (4, 2, 2)}, (1900, 2050)
"""How many figures stand together in a date without signs; it is of one of these years."""
THRESHOLD = 0.3
"""Units: score. What fits a target less is no answer."""
WORDY = frozenset({"text", "name", "party"})


@dataclass(frozen=True, slots=True)
class Candidate:
    """A value for a target. `label` is the text that points to it. Units: score 0–1.2."""

    value: Value
    score: float
    label: str = ""

    def weaker(self, factor: float) -> "Candidate":
        """The same at a part of its score."""
        return Candidate(self.value, self.score * factor, self.label)


def values_in(kind: str, tokens: Sequence[Token], reading: Reading) -> list[Value]:
    """The values of `kind` among `tokens`, left to right. A text kind takes all of them as one value."""
    if not tokens:
        return []
    if kind in CODE_KINDS:
        return _codes(kind, tokens)
    finder = _FINDERS.get(kind, _texts)
    return finder(tokens, reading)


def days_in(tokens: Sequence[Token], reading: Reading) -> list[Value]:
    """A day and month at the beginning, in the year of the document's other dates."""
    text, owners = joined(tokens)
    years = Counter(found.value.year for found in find_dates(reading.text, reading.order))
    found = find_day(text, years.most_common(1)[0][0], reading.order) if years else None
    if found is None:
        return []
    return [Value(found.iso, text[: found.end], _span(tokens, owners, 0, found.end), 0.9)]


def joined(tokens: Sequence[Token]) -> tuple[str, list[int]]:
    """The text of tokens and, per character, the place of its token."""
    text, owners = "", []
    for place, token in enumerate(tokens):
        if place and not _is_torn(tokens[place - 1], token):
            text += " "
            owners.append(place)
        text += token.text
        owners.extend([place] * len(token.text))
    return text, owners


def _is_torn(before: Token, token: Token) -> bool:
    """Whether two words are one number that a scan tore apart: digits close together that are no thousands."""
    close = -_TORN * token.height < token.x0 - before.x1 < _TORN * token.height
    return close and before.text.isdigit() and bool(_REST.match(token.text))


def _span(tokens: Sequence[Token], owners: Sequence[int], start: int, end: int) -> tuple[int, ...]:
    places = sorted(set(owners[start:end]))
    return tuple(tokens[place].index for place in places)


def _codes(kind: str, tokens: Sequence[Token]) -> list[Value]:
    text, owners = joined(tokens)
    return [
        Value(code.value, code.value, _span(tokens, owners, code.start, code.end)) for code in find_codes(kind, text)
    ]


def _dates(tokens: Sequence[Token], reading: Reading) -> list[Value]:
    text, owners = joined(tokens)
    close = "".join(token.text for token in tokens)
    if close.isdigit() and tuple(len(token.text) for token in tokens) in _PARTED:
        return _combed(close, tokens, reading)
    return [
        Value(
            date.iso,
            text[date.start : date.end],
            _span(tokens, owners, date.start, date.end),
            0.97 if date.ambiguous else 1.0,
        )
        for date in find_dates(text, reading.order)
    ]


def _combed(text: str, tokens: Sequence[Token], reading: Reading) -> list[Value]:
    """A date of eight boxes without signs between them."""
    cuts = ((0, 2, 4, 8), (0, 4, 6, 8))
    parts = ("/".join(text[start:end] for start, end in pairwise(cut)) for cut in cuts)
    dates = [date for said in parts for date in find_dates(said.replace("/", "-"), reading.order)]
    known = [date for date in dates if _YEARS[0] <= date.value.year <= _YEARS[1]]
    return [Value(date.iso, text, tuple(token.index for token in tokens), 0.9) for date in known[:1]]


def _amounts(tokens: Sequence[Token], reading: Reading) -> list[Value]:
    text, owners = joined(tokens)
    dates = find_dates(text, reading.order)
    found = []
    for amount in find_amounts(text, reading.point):
        if amount.percent or any(date.start < amount.end and amount.start < date.end for date in dates):
            continue
        fit = 1.0 if amount.decimals or amount.currency else 0.8
        span = _span(tokens, owners, amount.start, amount.end)
        found.append(Value(amount.value, text[amount.start : amount.end].strip(), span, fit))
    return found


def _percents(tokens: Sequence[Token], reading: Reading) -> list[Value]:
    text, owners = joined(tokens)
    found = []
    for amount in find_amounts(text, reading.point):
        fit = 1.0 if amount.percent else 0.6
        if abs(amount.value) <= 100 and not amount.currency:
            span = _span(tokens, owners, amount.start, amount.end)
            found.append(Value(amount.value, text[amount.start : amount.end].strip(), span, fit))
    return found


def _currencies(tokens: Sequence[Token], reading: Reading) -> list[Value]:
    found = []
    for token in tokens:
        code = (
            currency_code(token.text.strip("().,:;")) or currency_code(token.text[:1]) or currency_code(token.text[-1:])
        )
        if code == "USD" and "$" in token.text and not re.search(r"[A-Z]", token.text):
            code = reading.dollar
        if code:
            found.append(Value(code, token.text, (token.index,)))
    return found


def _ends_in_letter(rest: Sequence[Token]) -> bool:
    return len(rest) == 1 and bool(_ID_LAST.match(rest[0].text))


def _ids(tokens: Sequence[Token], reading: Reading) -> list[Value]:
    """Numbers and codes: the first token that looks like one, with the groups of digits that continue it."""
    if len(tokens) == 1 and re.fullmatch(r"[A-Z]{1,3}", tokens[0].text):
        return [Value(tokens[0].text, tokens[0].text, (tokens[0].index,), 0.7)]
    dated = {index for date in _dates(tokens, reading) if len(date.tokens) > 1 for index in date.tokens}
    for place, token in enumerate(tokens):
        text = token.text.strip("#:;,()").rstrip(".")
        if token.index in dated or token.text.startswith("(") or not _is_id(text, place, tokens):
            continue
        whole = any(date.end - date.start == len(text) for date in find_dates(text, reading.order))
        if whole and not re.search(r"[A-Za-z]", text) and place == 0 and len(tokens) == 1:
            return []
        end = place + (1 if _ID_TOKEN.match(text) else 2)
        while end < len(tokens) and _ID_MORE.match(tokens[end].text) and not _is_date(tokens[end], reading):
            end += 1
        while end > place + 1 and not any(map(str.isdigit, tokens[end - 1].text)):
            end -= 1
        run = tokens[place : end + (end - place > 1 and _ends_in_letter(tokens[end:]))]
        plain = " ".join(part.text for part in run).strip("#:;,()").rstrip(".")
        if plain.isalpha() and len(run) < len(tokens):
            continue
        fit = (1.0 if any(map(str.isdigit, plain)) else 0.75) * max(0.62, 0.88**place)
        if place == 0 and len([part for part in tokens[end:] if part.text.isalpha()]) > 1:
            fit *= 0.75  # a house and its street
        if re.fullmatch(r"-?\d+[.,]\d{2}", plain) or _is_date(run[0], reading):
            fit *= 0.4
        return [Value(plain, plain, tuple(part.index for part in run), fit)]
    return []


def _is_id(text: str, place: int, tokens: Sequence[Token]) -> bool:
    """Whether a number begins here: a token with figures, or capitals with the figures behind them ("BC 2025-88")."""
    if _ID_TOKEN.match(text):
        return True
    follows = tokens[place + 1].text if place + 1 < len(tokens) else ""
    prefix = place == 0 and re.fullmatch(r"[A-Z]{1,3}", text) is not None and text not in _NO_PREFIX
    return prefix and bool(_ID_TOKEN.match(follows)) and follows[:1].isdigit() and not currency_code(text)


def _is_date(token: Token, reading: Reading) -> bool:
    return any(date.end - date.start == len(token.text) for date in find_dates(token.text, reading.order))


def _texts(tokens: Sequence[Token], reading: Reading) -> list[Value]:
    del reading
    kept = [token for token in tokens if token.text not in CHECKED and token.text not in UNCHECKED]
    text = " ".join(token.text for token in kept).strip(_PUNCTUATION)
    if not text or not any(map(str.isalnum, text)) or text.endswith(":"):
        return []
    return [Value(text, text, tuple(token.index for token in kept), 1.0 if len(text) < 80 else 0.7)]


def _names(tokens: Sequence[Token], reading: Reading) -> list[Value]:
    """Names: text with letters that is no code and no sentence."""
    return [
        Value(found.value, found.text, found.tokens, found.fit * (0.5 if found.text[0].islower() else 1.0))
        for found in _texts(tokens, reading)
        if re.search(r"[^\W\d_]\D*[^\W\d_]", found.text) and len(found.text) <= 80 and find_place(found.text) is None
    ]


_FINDERS = {
    "date": _dates,
    "amount": _amounts,
    "percent": _percents,
    "currency": _currencies,
    "id": _ids,
    "name": _names,
    "party": _names,
    "text": _texts,
}
