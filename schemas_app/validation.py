"""Is this a schema, is it a strict one, and does this data fit it? No input hangs or crashes any of it."""

import json
from itertools import islice
from typing import Any

from jsonschema import Draft7Validator

from schemas_app.checking import data_problems
from schemas_app.errors import SchemaInvalid
from schemas_app.problems import MAX_PROBLEMS, Problem, size_problem
from schemas_app.references import reference_problems, without_identity
from schemas_app.strict import FIELD_TYPES, strict_problems, strict_warnings

MAX_JSON_CHARS = 500_000
_META = {key: value for key, value in Draft7Validator.META_SCHEMA.items() if key not in ("$id", "$schema")}


def format_problems(response_format: object) -> list[Problem]:
    """What the server enforces: the envelope, and a schema that is valid Draft 7 with local references."""
    size = size_problem(response_format)
    if size:
        return [size]
    if not isinstance(response_format, dict) or response_format.get("type") != "json_schema":
        return [Problem("type", 'set it to "json_schema"')]
    envelope = response_format.get("json_schema")
    if not isinstance(envelope, dict):
        return [Problem("json_schema", "add it: an object with name, strict and schema")]
    problems = []
    if not isinstance(envelope.get("name"), str) or not envelope["name"].strip():
        problems.append(Problem("json_schema.name", "add it: a name for the schema"))
    if not isinstance(envelope.get("schema"), dict):
        problems.append(Problem("json_schema.schema", "add it: a JSON Schema (Draft 7) object"))
        return problems
    return problems + _draft7_problems(envelope["schema"])


def all_problems(response_format: object) -> list[Problem]:
    """What the server enforces and, when that holds, the strict rules; at most 20."""
    problems = format_problems(response_format)
    if problems or not isinstance(response_format, dict):
        return problems
    envelope = response_format["json_schema"]
    inner = without_identity(envelope["schema"])
    return list(islice(strict_problems(inner, strict=envelope.get("strict")), MAX_PROBLEMS))


def warnings(response_format: dict[str, Any]) -> list[Problem]:
    """Things in a valid schema that work less well than they look; at most 20."""
    return list(islice(strict_warnings(response_format["json_schema"]["schema"]), MAX_PROBLEMS))


def check_response_format(response_format: object) -> dict[str, Any]:
    """Raises: SchemaInvalid with a sentence and a field for each problem."""
    return _checked(response_format, format_problems(response_format))


def check_strict(response_format: object) -> dict[str, Any]:
    """Raises: SchemaInvalid when `check_response_format` would, or when a strict rule is broken."""
    return _checked(response_format, all_problems(response_format))


def parse_json(text: str) -> Any:
    """JSON text that came from outside.

    Raises: SchemaInvalid.
    """
    if len(text) > MAX_JSON_CHARS:
        raise SchemaInvalid(f"The JSON text is too long; at most {MAX_JSON_CHARS} characters.")
    try:
        return json.loads(text)
    except json.JSONDecodeError as problem:
        where = f"line {problem.lineno}, column {problem.colno}"
        raise SchemaInvalid(f"This is not JSON ({problem.msg} at {where}).") from problem
    except (ValueError, RecursionError) as problem:
        raise SchemaInvalid(
            "This is not JSON that can be read: it is nested too deeply or a number is too long."
        ) from problem


def validate_data(response_format: dict[str, Any], data: object) -> list[dict[str, str]]:
    """How data breaks the schema of a response format.

    Shape: a list of {"path": "lines.0.total", "message"}; empty when it fits.
    """
    size = size_problem(data)
    problems = [size] if size else data_problems(response_format["json_schema"]["schema"], data)
    return [{"path": problem.path, "message": problem.message} for problem in problems]


def _draft7_problems(inner: dict[str, Any]) -> list[Problem]:
    broken = data_problems(_META, inner, as_schema=True)
    problems = [_mended(problem) for problem in broken]
    if not problems:
        problems = reference_problems(without_identity(inner))[:MAX_PROBLEMS]
    return problems or _trial(inner)


def _mended(problem: Problem) -> Problem:
    """A wrong type is the mistake that is made most; the meta-schema's own words for it help nobody."""
    if problem.path.rpartition(".")[2] == "type":
        return Problem(problem.path, f"use one of {', '.join(FIELD_TYPES)}")
    return Problem(problem.path, f"not valid JSON Schema: {problem.message}")


def _trial(inner: dict[str, Any]) -> list[Problem]:
    """A schema that cannot even be held against an empty object never becomes one."""
    return [problem for problem in data_problems(inner, {}) if problem.message.startswith("this schema ")]


def _checked(response_format: object, problems: list[Problem]) -> dict[str, Any]:
    if not problems:
        return response_format  # type: ignore[return-value]  # without problems it is an object
    detail = "; ".join(str(problem) for problem in problems)
    raise SchemaInvalid(detail, fields={problem.path or "response_format": problem.message for problem in problems})
