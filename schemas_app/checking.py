"""A Draft 7 validator that always comes to an end: nothing is fetched, the clock is watched, patterns included."""

import json
import time
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from typing import Any

import regex  # type: ignore[import-untyped]  # publishes no types
from jsonschema import Draft7Validator, FormatChecker, ValidationError
from jsonschema.validators import extend
from referencing import Registry
from referencing.exceptions import Unresolvable

from schemas_app.problems import MAX_PROBLEMS, Problem
from schemas_app.references import without_identity

CHECK_SECONDS = 2.0
MAX_PATTERN = 1000
ENDLESS = "this schema takes too long to check; simplify its references, combinations and patterns"
_deadline: ContextVar[float] = ContextVar("deadline")
_formats = FormatChecker(formats=())


def data_problems(schema: dict[str, Any] | bool, data: object, *, as_schema: bool = False) -> list[Problem]:
    """How `data` breaks a Draft 7 schema, ordered by path, at most 20 of them.

    `as_schema`: the data is a schema itself, its patterns must be regular expressions.
    """
    token = _deadline.set(time.monotonic() + CHECK_SECONDS)
    checker = _Checker(without_identity(schema), registry=Registry(), format_checker=_formats if as_schema else None)
    problems: list[Problem] = []
    try:
        for error in checker.iter_errors(data):
            problems.append(Problem(".".join(str(step) for step in error.absolute_path), error.message[:500]))
            if len(problems) == MAX_PROBLEMS:
                break
    except (TimeoutError, RecursionError):
        return [Problem("", ENDLESS)]
    except (Unresolvable, OverflowError, ValueError, regex.error) as problem:
        return [Problem("", f"this schema cannot be checked: {str(problem)[:200]}")]
    finally:
        _deadline.reset(token)
    return sorted(problems, key=lambda problem: problem.path)


def _watched(check: Any) -> Any:
    def watched(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
        _time_left()
        yield from check(validator, value, instance, schema) or ()

    return watched


def _time_left() -> float:
    left = _deadline.get() - time.monotonic()
    if left <= 0:
        raise TimeoutError()
    return left


def _matches(pattern: str, text: str) -> bool:
    return regex.search(pattern, text, timeout=_time_left()) is not None


@_formats.checks("regex", raises=(regex.error, ValueError))
def _is_pattern(text: object) -> bool:
    if isinstance(text, str):
        if len(text) > MAX_PATTERN:
            return False
        regex.compile(text)
    return True


def _pattern(validator: Any, wanted: str, instance: Any, _schema: Any) -> Iterator[ValidationError]:
    if validator.is_type(instance, "string") and not _matches(wanted, instance):
        yield ValidationError(f"{instance[:200]!r} does not match the pattern {wanted!r}")


def _pattern_properties(
    validator: Any, patterns: Mapping[str, Any], instance: Any, _schema: Any
) -> Iterator[ValidationError]:
    if not validator.is_type(instance, "object"):
        return
    for pattern, schema in patterns.items():
        for key, value in instance.items():
            if _matches(pattern, key):
                yield from validator.descend(value, schema, path=key, schema_path=pattern)


def _additional_properties(validator: Any, allowed: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if not validator.is_type(instance, "object"):
        return
    named, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
    extras = [key for key in instance if key not in named and not any(_matches(p, key) for p in patterns)]
    if validator.is_type(allowed, "object"):
        for key in extras:
            yield from validator.descend(instance[key], allowed, path=key)
    elif not allowed:
        for key in extras:
            yield ValidationError("this field is not in the schema", path=[key])


def _required(validator: Any, required: list[str], instance: Any, _schema: Any) -> Iterator[ValidationError]:
    if validator.is_type(instance, "object"):
        for name in required:
            if name not in instance:
                yield ValidationError("this field is missing", path=[name])


def _unique_items(validator: Any, wanted: bool, instance: Any, _schema: Any) -> Iterator[ValidationError]:
    if wanted and validator.is_type(instance, "array"):
        texts = [json.dumps(item, sort_keys=True) for item in instance]
        if len(set(texts)) < len(texts):
            yield ValidationError("an entry stands in the list twice")


_Checker = extend(  # type: ignore[no-untyped-call]  # its stub has no types
    Draft7Validator,
    {
        name: _watched(check)
        for name, check in {
            **Draft7Validator.VALIDATORS,
            "pattern": _pattern,
            "patternProperties": _pattern_properties,
            "additionalProperties": _additional_properties,
            "required": _required,
            "uniqueItems": _unique_items,
        }.items()
    },
)
