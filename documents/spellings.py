"""What a value may look like when it is spelled another way. Pure text, no pages."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from itertools import chain

from llm.offline.matching.lexicon import concept_of
from llm.offline.matching.words import words_of_name
from llm.offline.typing.amounts import find_amounts, parse_amount
from llm.offline.typing.dates import DateOrder, parse_date

_TIME = re.compile(r"(?<=\d)[T ]\d{1,2}:\d{2}.*$")
_NUMBERS = re.compile(r"(?<![^\W_])(?<![^\W_][-–/])(?<!\d[.,])\d+(?:[.,]\d+)*")
"""Numbers that are not a part of a code."""
_PLAIN = re.compile(r"\d+")
_OTHER_CURRENCIES = re.compile(
    r"^(?:kr\.?|R\$|[₹₺₽₩฿₴₪])\s?(?=[\d-])|(?<=\d)\s?(?:kr\.?|zł|Kč|Ft|lei|[₹₺₽₩฿₴₪])$", re.I
)
_NUMBER_AND_UNIT = re.compile(r"([-+]?\d[\d.,]*)\s?([^\W\d_]{1,4}[²³]?\.?|%)")
_PLAIN_YEAR = re.compile(r"(?:19|20|21)\d{2}")
_CLOCK = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)(?::([0-5]\d))?")
_PHONE = re.compile(r"\+?[\d\s()/.-]{7,}")
_ORDERS: tuple[DateOrder, ...] = ("day_first", "month_first")
_CURRENCIES = {"EUR": "€", "USD": "$", "GBP": "£", "JPY": "¥", "CHF": "Fr."}
_CURRENCY_WORDS = {"EURO": "EUR", "EUROS": "EUR"} | {sign: code for code, sign in _CURRENCIES.items()}
_YES = frozenset(
    ["yes", "true", "checked", "ticked", "selected", "on", "x", "ja", "wahr", "oui", "vrai", "waar", "✓", "☒"]
)
_NO = frozenset(["no", "false", "unchecked", "off", "nein", "falsch", "non", "faux", "nee", "onwaar", "☐"])


@dataclass(frozen=True, slots=True)
class AmountSaid:
    """A text that is a number. `bare`: digits alone, so it may as well be a code."""

    values: tuple[Decimal, ...]
    percent: bool
    bare: bool


def amount_said(text: str) -> AmountSaid | None:
    """The number that a text is: "1.234,56 €", "EUR 1,234.56", "19 %"; "1.234" may be two. None for anything else."""
    shown = _OTHER_CURRENCIES.sub("", text.strip())
    values = dict.fromkeys(value for point in ".," if (value := parse_amount(shown, point)) is not None)
    if not values:
        return None
    return AmountSaid(tuple(values), percent=shown.endswith("%"), bare=bool(_PLAIN.fullmatch(shown)))


def kind_of(path: str) -> str:
    """What the values of a property look like by its name ("amount", "date", "id"…), "" when its name tells nothing."""
    name = words_of_name(path.rpartition(".")[2])
    concept = concept_of(name, columns=True) or concept_of(name)
    return concept.kind if concept else ""


def dates_said(text: str) -> tuple[str, ...]:
    """The days (YYYY-MM-DD) that a text is; two for "03/04/2024"."""
    shown = _TIME.sub("", text.strip())
    days = [day for order in _ORDERS if (day := parse_date(shown, order))]
    return tuple(dict.fromkeys(iso for day in days for iso in centuries(day, shown)))


def centuries(day: date, shown: str) -> Iterator[str]:
    """The day, and the same day of the other century where a year of two digits does not say which."""
    yield day.isoformat()
    if _PLAIN_YEAR.search(shown) or (day.month, day.day) == (2, 29):
        return
    yield day.replace(year=day.year + (100 if day.year < 2000 else -100)).isoformat()


def number_and_unit(text: str) -> tuple[str, str] | None:
    """ "12kg" → ("12", "kg")."""
    match = _NUMBER_AND_UNIT.fullmatch(text.strip())
    return (match[1], match[2]) if match else None


def currency_sign(text: str) -> tuple[str, ...]:
    """Other ways to say a currency: "EUR" → €; "€" → EUR, Euro."""
    said = text.strip(" .").upper()
    code = _CURRENCY_WORDS.get(said, said)
    if code not in _CURRENCIES:
        return ()
    return tuple(other for other in (code, _CURRENCIES[code], "Euro" if code == "EUR" else "") if other)


def yes_or_no(text: str) -> bool | None:
    """What "yes", "ja", "false" mean; None for any other text."""
    said = text.strip().casefold()
    return True if said in _YES else False if said in _NO else None


def times(text: str) -> Iterator[str]:
    """Other ways to print a time of day: 7:51, 07h51, 07.51, 7:51 PM; without seconds where they are none."""
    match = _CLOCK.fullmatch(text.strip())
    if match is None:
        return
    hours, minutes, seconds = int(match[1]), match[2], match[3]
    if seconds and seconds != "00":
        return
    for hour in dict.fromkeys((match[1], f"{hours:02d}", str(hours))):
        yield f"{hour}:{minutes}"
        yield f"{hour}h{minutes}"
    noon = "PM" if hours >= 12 else "AM"
    yield f"{(hours - 1) % 12 + 1}:{minutes} {noon}"
    yield f"{(hours - 1) % 12 + 1:02d}:{minutes} {noon}"


def phones(text: str) -> Iterator[str]:
    """Other ways to print a telephone number: with 00 or (0) for the country, or without it."""
    if not _PHONE.fullmatch(text.strip()):
        return
    country = re.match(r"\s*(?:\+|00)\s?(\d{1,2})[\s(/.-]", text)
    digits = re.sub(r"\D", "", text.replace("(0)", ""))
    if text.strip().startswith("+"):
        yield "00" + digits
    elif digits.startswith("00"):
        yield digits[2:]
    yield digits
    if country:
        rest = digits.removeprefix("00").removeprefix(country[1])
        yield "0" + rest
        yield country[1] + "0" + rest


def same_numbers(one: str, other: str) -> bool:
    """Whether numbers in two texts that are equal without signs are the same with them: "6,59" is not "65.9".

    Where they do not stand one to one (a code in groups) nothing is said against it.
    """
    mine, theirs = _NUMBERS.findall(one), _NUMBERS.findall(other)
    if len(mine) != len(theirs):
        return True
    return all(a == b or not (_is_signed(a) or _is_signed(b)) or _meet(a, b) for a, b in zip(mine, theirs, strict=True))


def _is_signed(digits: str) -> bool:
    return not digits.isdigit()


def _meet(one: str, other: str) -> bool:
    """Whether both may be one number ("1.234" and "1,234"), or one of them is a code with dots and none at all."""
    mine, theirs = _readings(one), _readings(other)
    return bool(mine & theirs) or not (mine and theirs)


def _readings(digits: str) -> set[Decimal]:
    return {found.value for found in chain(*(find_amounts(digits, point) for point in ".,"))}
