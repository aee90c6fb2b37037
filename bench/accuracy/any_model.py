"""How grounding stands up against the answers of any model: true values in other spellings, and inventions."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from bench.accuracy.reading import Case
from bench.accuracy.respelling import CHANGES, Change, Path, changed
from bench.accuracy.scoring import at, leaves, normalized, stands_in_quote, stands_on_page
from documents.grounding import Grounding, ground

_PLACED = ("found", "ambiguous")
_ISO = re.compile(r"\d{4}-\d\d-\d\d")
_SPARE = re.compile(r"[^\w]+")


@dataclass(slots=True)
class Tally:
    """Counts of one change. `wrong`: found somewhere else than where the value stands; `invented`: found, although it
    is an invention; `doubtful`: either of them, but grounding says itself that it is not sure (state `ambiguous`)."""

    asked: int = 0
    located: int = 0
    missed: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    doubtful: list[str] = field(default_factory=list)
    invented: list[str] = field(default_factory=list)


def tally(cases: Iterable[Case], *, only: str = "") -> dict[str, Tally]:
    """Every change on every document."""
    counts = {change.name: Tally() for change in CHANGES if only in change.name}
    for case in cases:
        for change in CHANGES:
            if only in change.name:
                _count(case, change, counts[change.name])
    return counts


def _count(case: Case, change: Change, counts: Tally) -> None:
    given, ways = changed(case.fields, change)
    if not ways and change.respell("") is None and change.name != CHANGES[0].name:
        return
    if change.name == CHANGES[0].name:
        ways = [way for way, _ in leaves(case.fields)]
    found = ground(data=given, pages=case.content.pages)
    for way in ways:
        name = ".".join(map(str, way))
        value, true = at(given, way), at(case.fields, way)
        told = f"{case.name} {name}: {value!r}"
        if change.true:
            _true(case, counts, way, found[name], value, true)
        elif not _says(found[name].quote, value) and not _known(case, value):
            counts.asked += 1
            if found[name].state in _PLACED:
                listed = counts.invented if found[name].state == "found" else counts.doubtful
                listed.append(f"{told} {found[name].state} at {found[name].quote!r}")


def _true(case: Case, counts: Tally, way: Path, place: Grounding, given: Any, true: Any) -> None:
    told = f"{case.name} {'.'.join(map(str, way))}: {given!r}"
    parts = [(way, true)]
    if isinstance(true, dict):
        parts = [(part, value) for part, value in leaves(true, way) if value and normalized(value) in normalized(given)]
    if not all(_to_locate(value, case.content.text) for _, value in parts):
        return
    counts.asked += 1
    if place.state not in _PLACED:
        counts.missed.append(told)
        return
    counts.located += 1
    if not all(_is_right(case, ".".join(map(str, part)), value, given, place) for part, value in parts):
        listed = counts.wrong if place.state == "found" else counts.doubtful
        listed.append(f"{told} {place.state} at {place.quote!r}, page {place.page}")


def _to_locate(value: Any, text: str) -> bool:
    if isinstance(value, bool):
        return value and "☒" in text
    return value not in ("", 0) and value is not None and stands_on_page(value, text)


def _is_right(case: Case, name: str, value: Any, given: Any, place: Grounding) -> bool:
    if known := case.places.get(name):
        return any(_touches(place, drawn) for drawn in known)
    if isinstance(value, bool):
        return place.quote[:1] in "☒☑☐✓✔✗✘⊠[("
    said = isinstance(given, str) and normalized(given) in normalized(place.quote)
    return said or stands_in_quote(value, place.quote, case.content.text)


def _touches(place: Grounding, drawn: list[float]) -> bool:
    page, x0, y0, x1, y1 = drawn
    return place.page == page and any(
        min(box[2], x1) > max(box[0], x0) and min(box[3], y1) > max(box[1], y0) for box in place.boxes
    )


def _known(case: Case, value: Any) -> bool:
    """Whether an invented value happens to be another true value of the document."""
    if isinstance(value, bool):
        return False
    return any(normalized(value) == normalized(other) for _, other in leaves(case.fields))


def _says(quote: str, value: Any) -> bool:
    """Whether a quote really says an invented value: a digit changed may give what stands somewhere else."""
    if isinstance(value, bool):
        return False
    if isinstance(value, str) and _ISO.fullmatch(value):
        return f"{date.fromisoformat(value):%d.%m.%Y}" in quote
    number = _number(value)
    if number is not None:
        digits = re.sub(r"\D", "", quote).strip("0")
        scaled = (number, number * 100) if "%" in quote else (number,)
        return any(re.sub(r"\D", "", f"{one:.8f}").strip("0") == digits for one in scaled) and bool(digits)
    wanted = _SPARE.sub(" ", str(value).casefold()).strip()
    return bool(wanted) and wanted in _SPARE.sub(" ", quote.casefold())


def _number(value: Any) -> float | None:
    try:
        return abs(float(str(value).replace(",", "")))
    except ValueError:
        return None
