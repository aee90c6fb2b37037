"""Codes with a form of their own: IBAN, BIC, VAT ids, e-mail, phone, web addresses."""

import re
from dataclasses import dataclass

_IBAN = re.compile(r"(?<![A-Z0-9])[A-Z]{2}\d{2}(?:[ ]?[A-Z0-9]){11,30}(?![A-Za-z0-9])")
_IBAN_LENGTHS = {
    "AT": 20, "BE": 16, "CH": 21, "CZ": 24, "DE": 22, "DK": 18, "ES": 24, "FI": 18, "FR": 27, "GB": 22, "IE": 22,
    "IT": 27, "LI": 21, "LU": 20, "NL": 18, "NO": 15, "PL": 28, "PT": 25, "SE": 24,
}  # fmt: skip
_BIC = re.compile(r"(?<![A-Z0-9])[A-Z]{4}[A-Z]{2}[A-Z0-9]{2}(?:[A-Z0-9]{3})?(?![A-Z0-9a-z])")
_VAT = re.compile(
    r"(?<![A-Z0-9])(?:DE ?\d{9}|ATU ?\d{8}|FR ?[0-9A-Z]{2} ?\d{3} ?\d{3} ?\d{3}|NL ?\d{9}B\d{2}|"
    r"BE ?0?\d{3}\.?\d{3}\.?\d{3}|"
    r"ES ?[A-Z0-9]\d{7}[A-Z0-9]|IT ?\d{11}|LU ?\d{8}|GB ?\d{3} ?\d{4} ?\d{2}|PL ?\d{10}|DK ?\d{8}|SE ?\d{12}|FI ?\d{8}|"
    r"IE ?\d[A-Z0-9]\d{5}[A-Z]{1,2}|PT ?\d{9}|CZ ?\d{8,10}|CHE[- ]?\d{3}\.?\d{3}\.?\d{3})(?![A-Z0-9])"
)
_EMAIL = re.compile(r"[\w.+%-]+@[\w-]+(?:\.[\w-]+)+")
_WEB = re.compile(r"(?:https?://|www\.)[^\s,;)]+", re.IGNORECASE)
_PHONE = re.compile(
    r"(?<![\w.,+])(?:\+\d{1,3}[ .-]?)?(?:\(\d{1,5}\)[ .-]?)?\d{1,5}(?:[ ./-]{1,3}\d{1,8}){1,6}(?![\w,])|\+\d{8,15}"
)
_TIME = re.compile(r"(?<![\d:])(?:[01]?\d|2[0-3]):[0-5]\d(?::[0-5]\d)?(?:\s?[AaPp]\.?[Mm]\.?)?(?![\d:])")


@dataclass(frozen=True, slots=True)
class FoundText:
    """A code in a text. Units: start, end in characters."""

    value: str
    start: int
    end: int


def find_ibans(text: str) -> list[FoundText]:
    """IBANs by country, length and shape (check digits only rank: printed examples are often not valid)."""
    found = []
    for match in _IBAN.finditer(text):
        size = _IBAN_LENGTHS.get(match.group()[:2])
        end = _end_after(match.group(), size) if size else None
        if end:
            found.append(FoundText(match.group()[:end], match.start(), match.start() + end))
    return found


def _end_after(text: str, size: int) -> int | None:
    """Where `size` characters that are no blanks end. An IBAN one character short or long in print is taken whole."""
    count = 0
    for place, char in enumerate(text):
        count += char != " "
        if count == size:
            return place + 1
    return len(text) if count == size - 1 else None


def valid_iban(text: str) -> bool:
    """Whether the check digits hold."""
    plain = re.sub(r"\s", "", text).upper()
    if not re.fullmatch(r"[A-Z]{2}\d{2}[A-Z0-9]{8,30}", plain):
        return False
    return int("".join(str(int(char, 36)) for char in plain[4:] + plain[:4])) % 97 == 1


def find_codes(kind: str, text: str) -> list[FoundText]:
    """All codes of `kind` in `text`: iban, bic, vat_id, email, url, phone, time."""
    if kind == "iban":
        return find_ibans(text)
    pattern = {"bic": _BIC, "vat_id": _VAT, "email": _EMAIL, "url": _WEB, "phone": _PHONE, "time": _TIME}[kind]
    return [
        FoundText(match.group(), match.start(), match.end())
        for match in pattern.finditer(text)
        if _plausible(kind, match.group())
    ]


def _plausible(kind: str, text: str) -> bool:
    if kind == "phone":
        digits = sum(map(str.isdigit, text))
        return 7 <= digits <= 15 and not re.fullmatch(r"\d{1,4}[./-]\d{1,2}[./-]\d{1,4}", text)
    return kind != "bic" or any(map(str.isdigit, text)) or len(text) == 11 or text[4:6] in _IBAN_LENGTHS
