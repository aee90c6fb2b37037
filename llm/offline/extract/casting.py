"""A found value in the type that the schema wants; None when it cannot be that."""

import re
from decimal import Decimal
from typing import Any

from llm.offline.extract.targets import Target
from llm.offline.extract.values import Value
from llm.offline.matching.words import words_of
from llm.offline.typing.amounts import currency_code, parse_amount, parse_number

_TAKEN_OFF = frozenset({"prepaid", "discount_total"})
"""What is printed with or without a minus, and meant without."""


_TITLE = re.compile(
    r"^(?:Herrn?|Frau|Mr|Mrs|Ms|Miss|Mx|M\.|MM?E|Mme|Mlle|Monsieur|Madame|De heer|Dhr|Heer|Mevrouw|Mevr|Mw)\.?\s+"
    r"(?=[^\W\d_])",
    re.IGNORECASE,
)
_NAMED, _ADDRESSED = frozenset({"name", "holder", "nom", "naam"}), frozenset({"buyer", "recipient", "ship"})


def cast(value: Value, target: Target) -> Any:
    """`value` as string, number, integer or boolean of the target; an enum takes the option that the text names."""
    if target.enum:
        return _option(value, target.enum)
    if target.json_type == "boolean":
        return value.value == "true" if value.value in {"true", "false"} else None
    if target.json_type in {"number", "integer"}:
        number = _number(value, whole=target.json_type == "integer")
        taken_off = target.concept is not None and target.concept.name in _TAKEN_OFF
        return abs(number) if taken_off and number is not None else number
    if isinstance(value.value, Decimal):
        return _printed_number(value.text)
    if target.kind == "text" and re.search(r"[$€£¥]", value.text) and parse_amount(value.text) is not None:
        return _printed_number(value.text)
    if (target.part == "name" or target.kind == "name") and _is_name(target):
        return _TITLE.sub("", str(value.value))
    return str(value.value)


def _is_name(target: Target) -> bool:
    """Whether the name of a person is asked for, not who stands in an address."""
    return bool(_NAMED & set(target.words)) and not _ADDRESSED & set(target.words)


def _number(value: Value, *, whole: bool) -> int | float | None:
    number = value.value if isinstance(value.value, Decimal) else parse_number(re.sub(r"[^\d.,]", "", value.text))
    if number is None or not number.is_finite():
        return None
    if number == number.to_integral_value():
        return int(number)
    return None if whole else float(number)


def _printed_number(text: str) -> str:
    """A number for a text field: as printed, without the currency."""
    kept = [part for part in re.split(r"\s+", text) if not currency_code(part)]
    return " ".join(kept).strip("$€£¥ ")


def _option(value: Value, options: tuple[Any, ...]) -> Any:
    said = words_of(value.text) or words_of(str(value.value))
    for option in options:
        if isinstance(option, bool):
            continue
        wanted = words_of(str(option).replace("_", " "))
        if wanted and (wanted == said or " ".join(wanted) == " ".join(said) or str(option) == str(value.value)):
            return option
    return None
