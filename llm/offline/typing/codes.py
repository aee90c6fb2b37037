"""Codes with a form of their own: IBAN, BIC, VAT ids, e-mail, phone, web addresses."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from stdnum import iban, numdb
from stdnum.ch import uid as swiss_uid
from stdnum.eu import vat as eu_vat
from stdnum.gb import vat as british_vat
from stdnum.no import mva as norwegian_mva

_IBAN = re.compile(r"(?<![A-Z0-9])[A-Z]{2}\d{2}(?:[ ]?[A-Z0-9]){11,30}(?![A-Za-z0-9])")
_BIC = re.compile(r"(?<![A-Z0-9])[A-Z]{4}[A-Z]{2}[A-Z0-9]{2}(?:[A-Z0-9]{3})?(?![A-Z0-9a-z])")
_VAT = re.compile(
    r"(?<![A-Z0-9])(?:DE ?\d{9}|ATU ?\d{8}|FR ?[0-9A-Z]{2} ?\d{3} ?\d{3} ?\d{3}|NL ?\d{9}B\d{2}|"
    r"BE ?0?\d{3}\.?\d{3}\.?\d{3}|"
    r"ES ?[A-Z0-9]\d{7}[A-Z0-9]|IT ?\d{11}|LU ?\d{8}|GB ?\d{3} ?\d{4} ?\d{2}|PL ?\d{10}|DK ?\d{8}|SE ?\d{12}|FI ?\d{8}|"
    r"IE ?\d[A-Z0-9]\d{5}[A-Z]{1,2}|PT ?\d{9}|CZ ?\d{8,10}|CHE[- ]?\d{3}\.?\d{3}\.?\d{3})(?![A-Z0-9])"
)
_VAT_SPACED = re.compile(
    r"(?<![A-Z0-9])[A-Z]{2}[A-Z]?[ .-]{0,2}[0-9A-Z+*](?:[ ./-]{0,2}[0-9A-Z+*]){6,16}(?![A-Za-z0-9])"
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
    """IBANs by country and length. Check digits tell where one ends: printed examples are often not valid."""
    found, place = [], 0
    while match := _IBAN.search(text, place):
        end = _iban_end(match.group())
        place = match.start() + (end or 2)
        if end:
            found.append(FoundText(match.group()[:end], match.start(), place))
    return found


def _iban_end(text: str) -> int | None:
    """Where the IBAN that `text` begins with ends; one a character short or long in print is taken whole."""
    size = _iban_length(text[:2])
    if not size:
        return None
    ends = [place + 1 for place, char in enumerate(text) if char != " "]
    for count in (size, size - 1, size + 1):
        if count <= len(ends) and iban.is_valid(text[: ends[count - 1]], check_country=False):
            return ends[count - 1]
    if len(ends) >= size:
        return ends[size - 1]
    return len(text) if len(ends) == size - 1 else None


def is_whole_iban(text: str) -> bool:
    """Whether an IBAN has the length of its country."""
    return len(text.replace(" ", "")) == _iban_length(text[:2])


@cache
def _iban_length(country: str) -> int:
    """Characters of an IBAN of `country`; 0 where there is none."""
    structure = numdb.get("iban").info(country)[0][1].get("bban", "")
    return 4 + sum(map(int, re.findall(r"(\d+)!", structure))) if structure else 0


def find_vat_ids(text: str) -> list[FoundText]:
    """VAT ids by the shape of their country, or in any spelling whose check digits hold."""
    found = [FoundText(match.group(), match.start(), match.end()) for match in _VAT.finditer(text)]
    taken = [(one.start, one.end) for one in (*found, *find_ibans(text))]
    for match in _VAT_SPACED.finditer(text):
        for end in _ends(match.group()):
            span = match.start(), match.start() + end
            if all(span[1] <= start or span[0] >= stop for start, stop in taken) and is_vat_id(match.group()[:end]):
                found.append(FoundText(match.group()[:end], *span))
                break
    return sorted(found, key=lambda one: one.start)


def _ends(text: str) -> Iterator[int]:
    """Where the words of `text` end, the last one first."""
    yield len(text)
    for place in range(len(text) - 1, 0, -1):
        if text[place] == " " and text[place - 1] != " ":
            yield place


def is_vat_id(text: str) -> bool:
    """Whether the check digits of a VAT id of the EU, Switzerland, the United Kingdom or Norway hold."""
    country = {"CHE": swiss_uid, "GB": british_vat, "NO": norwegian_mva}
    module = country.get(text[:3]) or country.get(text[:2]) or eu_vat
    return bool(module.is_valid(text))


def find_codes(kind: str, text: str) -> list[FoundText]:
    """All codes of `kind` in `text`: iban, bic, vat_id, email, url, phone, time."""
    if kind == "iban":
        return find_ibans(text)
    if kind == "vat_id":
        return find_vat_ids(text)
    pattern = {"bic": _BIC, "email": _EMAIL, "url": _WEB, "phone": _PHONE, "time": _TIME}[kind]
    return [
        FoundText(match.group(), match.start(), match.end())
        for match in pattern.finditer(text)
        if _plausible(kind, match.group())
    ]


def _plausible(kind: str, text: str) -> bool:
    if kind == "phone":
        digits = sum(map(str.isdigit, text))
        return 7 <= digits <= 15 and not re.fullmatch(r"\d{1,4}[./-]\d{1,2}[./-]\d{1,4}", text)
    return kind != "bic" or any(map(str.isdigit, text)) or len(text) == 11 or bool(_iban_length(text[4:6]))
