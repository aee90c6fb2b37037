"""What language models make of a true value: other spellings of it, which stand on the page, and inventions, which
do not."""

import copy
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from bench.papers.vocabulary import FORMS, MONTHS

Json = dict[str, Any]
Path = tuple[str | int, ...]
Respell = Callable[[Any], Any]
_ISO = re.compile(r"\d{4}-\d\d-\d\d")
_LEGAL = {form.casefold() for forms in FORMS.values() for form in forms} | {"ltd.", "inc.", "gmbh", "ag", "sarl"}
_OPENED_OUT = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue", "ß": "ss"})
_TYPOGRAPHIC = str.maketrans({"'": "’", "-": "–", '"': "”"})
_STANDS_FOR = {"0": "7", "1": "4", "2": "8", "3": "9", "4": "6", "5": "2", "6": "3", "7": "1", "8": "5", "9": "0"}


@dataclass(frozen=True, slots=True)
class Change:
    """`respell` gives the other spelling of a value, None where it does not apply. `true`: it stands on the page."""

    name: str
    respell: Respell
    true: bool = True


def changed(fields: Json, change: Change) -> tuple[Json, list[Path]]:
    """The fields with every value respelled that the change applies to, and the ways to those."""
    given, ways = copy.deepcopy(fields), []
    for way, holder, key in list(_slots(given, ())):
        other = change.respell(holder[key])
        if other is not None and (type(other) is not type(holder[key]) or other != holder[key]):
            holder[key] = other
            ways.append(way)
    return given, ways


def _slots(value: Any, way: Path) -> Iterator[tuple[Path, Any, Any]]:
    """Every leaf, and every address (which is joined as a whole), with what holds it."""
    steps: Sequence[Any] = (
        list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    )
    for step in steps:
        if isinstance(value[step], dict | list) and not _is_address(value[step]):
            yield from _slots(value[step], (*way, step))
        elif _is_address(value[step]):
            yield (*way, step), value, step
            yield from _slots(value[step], (*way, step))
        else:
            yield (*way, step), value, step


def _is_address(value: Any) -> bool:
    return isinstance(value, dict) and "line1" in value


def _unchanged(_value: Any) -> None:
    """Grounded as it is."""


def _day(shape: Callable[[date], str]) -> Respell:
    def respell(value: Any) -> str | None:
        return (shape(date.fromisoformat(value)) or None) if isinstance(value, str) and _ISO.fullmatch(value) else None

    return respell


def _amount(shape: Callable[[float], Any]) -> Respell:
    def respell(value: Any) -> Any:
        if isinstance(value, bool) or not isinstance(value, int | float) or not value or round(value, 2) != value:
            return None
        return shape(value)

    return respell


def _name(shape: Callable[[str], str | None]) -> Respell:
    """For texts of words, without codes and dates."""

    def respell(value: Any) -> str | None:
        return shape(value) if isinstance(value, str) and re.search(r"[^\W\d]{3}", value) else None

    return respell


def _code(shape: Callable[[str], str]) -> Respell:
    """For texts mostly of digits: numbers of documents, accounts, telephones."""

    def respell(value: Any) -> str | None:
        is_code = isinstance(value, str) and sum(map(str.isdigit, value)) >= 3 and not _ISO.fullmatch(value)
        return shape(value) if is_code and not re.search(r"[^\W\d]{4}|[.,]\d\d?$", value) else None

    return respell


def _address(join: Callable[[Json], str]) -> Respell:
    def respell(value: Any) -> str | None:
        return join(value) if _is_address(value) else None

    return respell


def _lines(address: Json) -> list[str]:
    middle = [address["line2"]] if address.get("line2") else []
    return [address["line1"], *middle, f"{address['postcode']} {address['city']}"]


def _city_first(address: Json) -> str:
    return ", ".join([*_lines(address)[:-1], f"{address['city']} {address['postcode']}"])


def _swapped(text: str, points: str) -> str:
    """ "1,234.56" with other signs for thousands and decimals."""
    return text.translate(str.maketrans({",": points[0], ".": points[1]}))


def _plain(text: str) -> str:
    return "".join(char for char in unicodedata.normalize("NFKD", text) if not unicodedata.combining(char))


def _without_form(text: str) -> str | None:
    words = text.split()
    return " ".join(words[:-1]) if len(words) > 1 and words[-1].casefold() in _LEGAL else None


def _fours(text: str) -> str:
    bare = "".join(text.split())
    return " ".join(bare[start : start + 4] for start in range(0, len(bare), 4))


def _other_digit(text: str) -> str:
    """The last digit but one is another."""
    places = [place for place, char in enumerate(text) if char.isdigit()]
    place = places[max(len(places) - 2, 0)]
    return text[:place] + _STANDS_FOR[text[place]] + text[place + 1 :]


def _other_word(text: str) -> str | None:
    words = text.split()
    return " ".join([*words[:-2], "Vantorix", *words[-1:]]) if len(words) > 1 else None


def _last_word_first(text: str) -> str | None:
    words = text.split()
    return f"{words[1]}, {words[0]}" if len(words) == 2 else None


def _a_month_later(day: date) -> str:
    return day.replace(day=1, month=day.month % 12 + 1).isoformat()


def _other_year(day: date) -> str:
    return day.replace(year=day.year - 7, day=min(day.day, 28)).isoformat()


def _day_as_month(day: date) -> str:
    return f"{day:%Y-%d-%m}" if day.day <= 12 and day.day != day.month else ""


def _other_letter(text: str) -> str:
    letters = [place for place, char in enumerate(text) if char.isalpha()]
    place = letters[len(letters) // 2]
    return text[:place] + ("k" if text[place].casefold() != "k" else "w") + text[place + 1 :]


def _long_day(language: str, shape: str) -> Respell:
    return _day(lambda day: shape.format(d=day, month=MONTHS[language][day.month - 1]))


CHANGES = (
    Change("as in the truth", _unchanged),
    Change("date 21.11.2020", _day(lambda day: f"{day:%d.%m.%Y}")),
    Change("date 11/21/2020", _day(lambda day: f"{day:%m/%d/%Y}")),
    Change("date 2020/11/21", _day(lambda day: f"{day:%Y/%m/%d}")),
    Change("date 2020-11-21T00:00:00Z", _day(lambda day: f"{day:%Y-%m-%d}T00:00:00Z")),
    Change("date 21 Nov 20", _day(lambda day: f"{day.day} {MONTHS['en'][day.month - 1][:3]} {day:%y}")),
    Change("date November 21, 2020", _long_day("en", "{month} {d.day}, {d.year}")),
    Change("date 21. November 2020", _long_day("de", "{d.day}. {month} {d.year}")),
    Change("date 21 novembre 2020", _long_day("fr", "{d.day} {month} {d.year}")),
    Change("amount '1234.56'", _amount(lambda value: f"{value:.2f}")),
    Change("amount '1234.5'", _amount(str)),
    Change("amount '1,234.56'", _amount(lambda value: f"{value:,.2f}")),
    Change("amount '1.234,56'", _amount(lambda value: _swapped(f"{value:,.2f}", ".,"))),
    Change("amount '1 234,56 €'", _amount(lambda value: _swapped(f"{value:,.2f}", " ,") + " €")),
    Change("amount 'EUR 1,234.56'", _amount(lambda value: f"EUR {value:,.2f}")),
    Change("amount '$1234.56'", _amount(lambda value: f"${value:.2f}")),
    Change("amount '1.234,56-'", _amount(lambda value: _swapped(f"{abs(value):,.2f}", ".,") + "-")),
    Change("whole amount 12", _amount(lambda value: int(value) if value == int(value) else None)),
    Change("name IN CAPITALS", _name(str.upper)),
    Change("name without accents", _name(_plain)),
    Change("name with ae, oe, ue", _name(lambda text: text.translate(_OPENED_OUT))),
    Change("name without legal form", _name(_without_form)),
    Change("name, last word first", _name(_last_word_first)),
    Change("name with a full stop", _name(lambda text: f"{text}.")),
    Change("name with other dashes, quotes", _name(lambda text: text.translate(_TYPOGRAPHIC))),
    Change("name over two lines", _name(lambda text: text.replace(" ", "\n", 1))),
    Change("address joined by commas", _address(lambda value: ", ".join(_lines(value)))),
    Change("address joined by line breaks", _address(lambda value: "\n".join(_lines(value)))),
    Change("address joined by blanks", _address(lambda value: " ".join(_lines(value)))),
    Change("address, city before postcode", _address(_city_first)),
    Change("code without blanks", _code(lambda text: re.sub(r"\s", "", text))),
    Change("code in groups of four", _code(_fours)),
    Change("code without hyphens", _code(lambda text: re.sub(r"[-/.]", "", text))),
    Change("code in small letters", _code(str.lower)),
    Change("true as 'yes'", lambda value: "yes" if value is True else None),
    Change("INVENTED digit of an amount", _amount(lambda value: float(_other_digit(f"{value:.2f}"))), true=False),
    Change("INVENTED amount × 10", _amount(lambda value: value * 10), true=False),
    Change("INVENTED amount / 100", _amount(lambda value: value / 100), true=False),
    Change("INVENTED amount as text", _amount(lambda value: _other_digit(f"{value:,.2f}")), true=False),
    Change("INVENTED digit of a code", _code(_other_digit), true=False),
    Change("INVENTED end of a code", _code(lambda text: f"{text}7"), true=False),
    Change("INVENTED cut code", _code(lambda text: text[:-2]), true=False),
    Change("INVENTED word of a name", _name(_other_word), true=False),
    Change("INVENTED letter of a name", _name(_other_letter), true=False),
    Change("INVENTED date, a month later", _day(_a_month_later), true=False),
    Change("INVENTED date, another year", _day(_other_year), true=False),
    Change("INVENTED date, day and month swapped", _day(_day_as_month), true=False),
    Change("INVENTED enum value", _name(lambda text: "not_applicable_" + str(len(text))), true=False),
    Change("INVENTED flipped boxes", lambda value: not value if isinstance(value, bool) else None, true=False),
)  # fmt: skip
