"""What a model answered, as data: the JSON object in its text, and only what can be stored, shown and worked with."""

import json
import math
from typing import Any, NoReturn

from documents.errors import ExtractionFailed, FieldInvalid

MAX_DEPTH = 20
MAX_INTEGER_BITS = 1024
MAX_VALUES = 10_000
_TRIES = 20
_UNSTORABLE = {0: None} | dict.fromkeys(range(0xD800, 0xE000))


def parse_object(text: str) -> dict[str, Any]:
    """The JSON object of a model's answer, also out of a code fence or between sentences.

    A broken object is not searched for smaller ones: a part is not the answer. Characters that nothing can hold
    (NUL, lone surrogates) are left out. Raises: ExtractionFailed.
    """
    start = text.find("{")
    for _ in range(_TRIES):
        if start < 0:
            break
        try:
            data, _end = _decoder.raw_decode(text, start)
            return {_plain(key): _sound(value, 2) for key, value in data.items()}
        except json.JSONDecodeError as problem:
            start = text.find("{", max(problem.pos, start + 1))
        except (ValueError, RecursionError) as problem:
            raise ExtractionFailed() from problem
    raise ExtractionFailed()


def sound_values(data: dict[str, Any]) -> dict[str, Any]:
    """The same for data that a program sends. Raises: FieldInvalid."""
    try:
        sound = {_plain(key): _sound(value, 2) for key, value in data.items()}
    except (ValueError, RecursionError) as problem:
        raise FieldInvalid("This result is too deep, or has a number that is too large.") from problem
    if _count(sound) > MAX_VALUES:
        raise FieldInvalid(f"A result has at most {MAX_VALUES:,} values.")
    return sound


def _count(value: Any) -> int:
    if isinstance(value, dict | list):
        return 1 + sum(_count(part) for part in (value.values() if isinstance(value, dict) else value))
    return 1


def _sound(value: Any, depth: int) -> Any:
    """The same value, clean. Raises: ValueError for what is too deep or no number."""
    if depth > MAX_DEPTH:
        raise ValueError("too deep")
    if isinstance(value, str):
        return _plain(value)
    if isinstance(value, dict):
        return {_plain(key): _sound(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list):
        return [_sound(item, depth + 1) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError("no number")
    if isinstance(value, int) and value.bit_length() > MAX_INTEGER_BITS:
        raise ValueError("too large")
    return value


def _plain(text: str) -> str:
    return text.translate(_UNSTORABLE)


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


_decoder = json.JSONDecoder(parse_constant=_refuse)
