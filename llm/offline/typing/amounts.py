"""Numbers, amounts and percentages as documents print them, to Decimal."""

import re
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

SIGNS = {"€": "EUR", "$": "USD", "£": "GBP", "¥": "JPY"}
CODES = frozenset(
    [
        "EUR",
        "USD",
        "GBP",
        "CHF",
        "JPY",
        "CAD",
        "AUD",
        "NZD",
        "SEK",
        "NOK",
        "DKK",
        "PLN",
        "CZK",
        "HUF",
        "RON",
        "BGN",
        "TRY",
        "CNY",
        "HKD",
        "SGD",
        "INR",
        "ZAR",
        "BRL",
        "MXN",
        "KRW",
        "ILS",
        "AED",
    ]
)

_CURRENCY = r"(?:[€$£¥]|(?:US|CA|A)\$|\b(?:" + "|".join(sorted(CODES)) + r")\b|\bEuros?\b|\bFr\.)"
_DIGITS = r"\d{1,3}(?:[ '’]\d{3})+(?:[.,]\d{1,4})?|\d+(?:[.,]\d+)*"
_AMOUNT = re.compile(
    rf"(?P<before>{_CURRENCY})?\s?(?P<open>\()?(?P<sign>[-−–+])?\s?(?P<inner>{_CURRENCY})?\s?"
    rf"(?P<digits>{_DIGITS})(?P<cents>,-|,—|\.-)?(?P<trail>\s?[-−](?![\s\w]))?"
    rf"(?:\s?(?P<percent>%))?(?P<after>\s?{_CURRENCY}(?!\s?\d))?(?P<late>\s?[-−](?![\s\w]))?(?P<close>\))?",
    re.IGNORECASE,
)


# A whole number with one or two figures behind the sign: neither dates nor codes.
_COMMA = re.compile(r"(?<![\w.,/-])-?\d{1,3}(?:(?:[. '’]\d{3})*|\d*),\d{1,2}(?![\d/-]|[.,]\d)")
_POINT = re.compile(r"(?<![\w.,/-])-?\d{1,3}(?:(?:[, '’]\d{3})*|\d*)\.\d{1,2}(?![\d/-]|[.,]\d)")
_DOLLARS = (
    ("AUD", re.compile(r"\bAUD\b|\bAU?\$|\bABN\b|\bACN\b|\bBSB\b")),
    ("NZD", re.compile(r"\bNZD\b|\bNZ\$|\bNZBN\b|\bIRD No")),
    ("CAD", re.compile(r"\bCAD\b|\bCA?\$|\bHST\b|\bQST\b|\bTVQ\b|\bTPS\b|\b[A-Z]\d[A-Z] \d[A-Z]\d\b")),
    ("SGD", re.compile(r"\bSGD\b|\bS\$|\bUEN\b")),
    ("HKD", re.compile(r"\bHKD\b|\bHK\$")),
)


@dataclass(frozen=True, slots=True)
class FoundAmount:
    """A number in a text. `currency` is an ISO code or "". Units: start, end in characters."""

    value: Decimal
    currency: str
    percent: bool
    decimals: bool
    start: int
    end: int


def find_amounts(text: str, point: str = "") -> list[FoundAmount]:
    """All numbers in `text` that stand alone (not inside a word, a date or a longer code)."""
    return [found for match in _AMOUNT.finditer(text) if _stands_alone(text, match) and (found := _found(match, point))]


def parse_amount(text: str, point: str = "") -> Decimal | None:
    """The number that `text` is, sign and currency included, or None when it is anything else or more."""
    match = _AMOUNT.fullmatch(text.strip())
    found = _found(match, point) if match else None
    return found.value if found else None


def decimal_point(text: str) -> str:
    """The decimal sign of a document, "." or ",": what stands before two final digits most often; "" when unknown."""
    commas = len(_COMMA.findall(text))
    points = len(_POINT.findall(text))
    if commas == points:
        commas, points = (len(re.findall(rf"(?<=\d){sign}\d(?!\d|[.,]\d)", text)) for sign in (",", r"\."))
    return "" if commas == points else ("," if commas > points else ".")


def dollar_of(text: str) -> str:
    """Whose dollar "$" is in a document: by codes, signs and what only companies of one country print."""
    for code, signs in _DOLLARS:
        if signs.search(text):
            return code
    return "USD"


def parse_number(digits: str, point: str = "") -> Decimal | None:
    """Digits with separators to a number.

    The last separator is decimal unless three digits follow it and nothing else says so; `point` (the document's
    decimal sign) settles "5,000".
    """
    plain = re.sub(r"[ '’]", "", digits)
    last = max(plain.rfind("."), plain.rfind(","))
    if last < 0:
        return _decimal(plain)
    separator, other = (plain[last], "," if plain[last] == "." else ".")
    after = len(plain) - last - 1
    lone = after == 3 and other not in plain and not plain.startswith("0") and separator != point
    thousands = plain.count(separator) > 1 or lone
    if thousands:
        if other in plain or any(len(group) != 3 for group in plain.split(separator)[1:]):
            return None
        return _decimal(plain.replace(separator, ""))
    return _decimal(plain[:last].replace(other, "") + "." + plain[last + 1 :])


def _decimal(text: str) -> Decimal | None:
    try:
        value = Decimal(text)
    except InvalidOperation:
        return None
    return value if len(text) <= 18 else None


def _found(match: re.Match[str], point: str) -> FoundAmount | None:
    value = parse_number(match["digits"], point)
    if value is None:
        return None
    negative = (match["sign"] or "") in {"-", "−", "–"} or bool(match["trail"] or match["late"])
    mark = (match["before"] or match["inner"] or match["after"] or "").strip()
    return FoundAmount(
        value=-value if negative and value else value,
        currency=currency_code(mark),
        percent=bool(match["percent"]),
        decimals=bool(re.search(r"[.,]\d{1,2}$", match["digits"])),
        start=match.start(),
        end=match.end(),
    )


def _stands_alone(text: str, match: re.Match[str]) -> bool:
    start = next(i for i in range(match.start(), match.end()) if not text[i].isspace())
    before = text[start - 1] if start else " "
    after = text[match.end()] if match.end() < len(text) else " "
    if before.isalnum() or before in "/_.#" or after.isalnum() or after in "/_":
        return False
    follow = text[match.end() + 1] if match.end() + 1 < len(text) else " "
    glued = before == "-" and start > 1 and text[start - 2].isalnum()
    return not glued and not (after in "-:." and follow.isalnum())


def currency_code(mark: str) -> str:
    """The ISO code of a sign or code, "" for anything else."""
    mark = mark.strip()
    if mark.upper() in CODES:
        return mark.upper()
    if mark.lower() in {"euro", "euros"}:
        return "EUR"
    if mark == "Fr.":
        return "CHF"
    return next((code for sign, code in SIGNS.items() if mark.endswith(sign)), "")
