"""Comparing what was found with the truth, by leaf; and whether a value stands on the page at all.

None of this uses the product's own matching: the judge must not share the mistakes of the judged.
"""

import re
import unicodedata
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from bench.accuracy.reading import Case
from documents.grounding import Grounding, ground

Json = dict[str, Any]
Path = tuple[str | int, ...]
_ISO = re.compile(r"\d{4}-\d\d-\d\d")
_PRINTED = re.compile(r"\d{1,2}[./-]\d{1,2}[./-](?:\d{4}|\d\d)")
_NUMBER = re.compile(r"\d[\d.,'’\s\u00a0\u202f]*")
_CHECKED = frozenset("☒☑✓✔✗✘✕✖⊠⊗◉⦿")
_SIGNS = {"EUR": "€", "USD": "$", "GBP": "£", "CHF": "fr", "JPY": "¥"}


@dataclass(slots=True)
class Score:
    """Counts of one document, or of many added up. Units: `seconds` of extraction, without reading."""

    leaves: int = 0
    right: int = 0
    true_values: int = 0
    found_by_own_schema: int = 0
    given: int = 0
    invented: list[str] = field(default_factory=list)
    to_locate: int = 0
    located: int = 0
    wrong_place: list[str] = field(default_factory=list)
    seconds: float = 0.0
    pages: int = 0

    def add(self, other: "Score") -> None:
        for name in ("leaves", "right", "true_values", "found_by_own_schema", "given", "to_locate", "located", "pages"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.seconds += other.seconds
        self.invented += other.invented
        self.wrong_place += other.wrong_place


def schema_of(value: Any) -> Json:
    """The schema that has exactly the truth's field names, and nothing that says what they mean."""
    if isinstance(value, dict):
        return _object({name: schema_of(part) for name, part in value.items()})
    if isinstance(value, list):
        names = {name: part for row in value for name, part in row.items()}
        return {"type": "array", "items": _object({name: schema_of(part) for name, part in names.items()})}
    if isinstance(value, bool):
        return {"type": "boolean"}
    return {"type": "number" if isinstance(value, int | float) else "string"}


def _object(properties: Json) -> Json:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def leaves(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every leaf with the way to it."""
    if isinstance(value, dict):
        for name, part in value.items():
            yield from leaves(part, (*path, name))
    elif isinstance(value, list):
        for index, part in enumerate(value):
            yield from leaves(part, (*path, index))
    else:
        yield path, value


def at(value: Any, path: Path) -> Any:
    """What stands at the end of a way; None when it leads nowhere."""
    for part in path:
        try:
            value = value[part]
        except (KeyError, IndexError, TypeError):
            return None
    return value


def normalized(value: Any) -> Any:
    """Text without case, accents' composition, spaces and signs; numbers with two decimals."""
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int | float):
        return round(float(value), 2)
    return "".join(letter for letter in unicodedata.normalize("NFKC", str(value)).casefold() if letter.isalnum())


def same(wanted: Any, given: Any, *, sign_counts: bool = True) -> bool:
    """Whether both say the same. A credit note may show its amounts with or without a minus, a truth that keeps dates
    as they are printed ("03/28/2025") the same day."""
    one, other = normalized(wanted), normalized(given)
    if isinstance(given, str) and _ISO.fullmatch(given) and isinstance(wanted, str) and _PRINTED.fullmatch(wanted):
        return date.fromisoformat(given) in _days(wanted)
    if isinstance(one, float) and isinstance(other, float) and not sign_counts:
        return abs(one) == abs(other)
    return type(one) is type(other) and one == other


def _days(printed: str) -> set[date]:
    """The days that a date in figures may mean: the day first, or the month. Two-digit years are of this century."""
    first, second, year = map(int, re.split(r"\D+", printed))
    found = set()
    for month, day in ((first, second), (second, first)):
        with suppress(ValueError):
            found.add(date(year if year > 99 else 2000 + year, month, day))
    return found


def stands_on_page(value: Any, text: str) -> bool:
    """Whether a value can be read somewhere in the text, in whatever spelling."""
    if isinstance(value, bool) or value in (None, "", 0):
        return True
    if isinstance(value, int | float):
        return round(abs(float(value)), 2) in _numbers(text)
    if _ISO.fullmatch(str(value)):
        return _date_stands(date.fromisoformat(str(value)), text)
    folded = normalized(text)
    if normalized(value) in folded or all(normalized(part) in folded for part in re.split(r"[\s,;/]+", str(value))):
        return True
    return str(value) in _SIGNS and _SIGNS[str(value)] in text.casefold()


def _numbers(text: str) -> set[float]:
    """Every reading of every run of digits: with the last sign as the decimal point, and with none."""
    found = set()
    for run in _NUMBER.findall(text):
        parts = [part for part in re.split(r"\D+", run) if part]
        for start in range(len(parts)):
            for end in range(start + 1, min(start + 6, len(parts) + 1)):
                whole = "".join(parts[start:end])
                if len(whole) <= 15:
                    found.add(float(whole))
                    found.add(round(float(f"{''.join(parts[start : end - 1]) or '0'}.{parts[end - 1]}"), 2))
    return found


def _date_stands(day: date, text: str) -> bool:
    digits = set(re.findall(r"\d+", text))
    has_year = {str(day.year), f"{day.year % 100:02d}"} & digits or str(day.year) in text
    has_day = {str(day.day), f"{day.day:02d}"} & digits
    return (
        bool(has_year and has_day)
        or f"{day:%d%m%y}" in digits
        or f"{day:%m%d%y}" in digits
        or f"{day:%Y%m%d}" in digits
        or f"{day:%d%m%Y}" in re.sub(r"[\s./-]", "", text)  # each figure in a box of its own
    )


def score_places(case: Case, score: Score) -> dict[str, Grounding]:
    """Ground the truth itself: every value that stands on a page must be found, and where it stands."""
    found = ground(data=case.fields, pages=case.content.pages)
    for path, value in leaves(case.fields):
        name = ".".join(map(str, path))
        if value in ("", 0) or not stands_on_page(value, case.content.text):
            continue  # 0 is false too: an empty box says less than a checked one
        if value is True and not _CHECKED & set(case.content.text):
            continue
        score.to_locate += 1
        place = found[name]
        if place.state not in ("found", "ambiguous"):
            continue
        score.located += 1
        if not _is_right_place(case, name, value, place):
            score.wrong_place.append(f"{case.name} {name}: {value!r} located at {place.quote!r}, page {place.page}")
    return found


def _is_right_place(case: Case, name: str, value: Any, place: Grounding) -> bool:
    if value is True:
        return place.quote in _CHECKED
    known = case.places.get(name)
    if known:
        return any(_touches(place, drawn) for drawn in known)
    return stands_in_quote(value, place.quote, case.content.text)


def stands_in_quote(value: Any, quote: str, text: str) -> bool:
    """Whether a quote says a value; a date also by its day and month alone, where its year stands elsewhere in `text`:
    the rows of many statements print no year."""
    if stands_on_page(value, quote):
        return True
    if not _ISO.fullmatch(str(value)) or re.search(r"\d{4}", quote):
        return False
    day = date.fromisoformat(str(value))
    digits = set(re.findall(r"\d+", quote))
    has_month = {str(day.month), f"{day.month:02d}"} & digits or re.search(r"[^\W\d_]{3}", quote)
    return bool(has_month) and str(day.year) in text and _date_stands(day, f"{quote} {day.year}")


def _touches(place: Grounding, drawn: list[float]) -> bool:
    page, x0, y0, x1, y1 = drawn
    return place.page == page and any(
        min(box[2], x1) > max(box[0], x0) and min(box[3], y1) > max(box[1], y0) for box in place.boxes
    )
