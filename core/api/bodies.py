"""What comes in and goes out as JSON: pydantic models, read with the same leniency and the same 422 as the reference.

A body is refused before a model sees it when it is no JSON, too deep, has NaN, or holds text that PostgreSQL has not
(NUL, lone surrogates): no handler needs to think of those again.
"""

import json
import math
from collections.abc import Mapping
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from core.errors import Invalid

B = TypeVar("B", bound=BaseModel)

MAX_DEPTH = 100
MAX_PROBLEMS = 50
MAX_ECHO = 500
HIGHEST = 2**31 - 1
Problem = dict[str, Any]


class Body(BaseModel):
    """A request: unknown keys are left out."""

    model_config = ConfigDict(extra="ignore")


class Answer(BaseModel):
    """A response. Moments are UTC and end in Z."""

    model_config = ConfigDict(from_attributes=True)


class Message(Answer):
    """An act that has nothing else to say."""

    message: str


class Paging(Body):
    """Which part of a list."""

    skip: Annotated[int, Field(ge=0, le=HIGHEST)] = 0
    limit: Annotated[int, Field(ge=1, le=100)] = 10


class GridQuery(Paging):
    """A list's search text, and the data grid's `sort` and `filters` as JSON text."""

    name_search: str | None = None
    sort: str | None = None
    filters: str | None = None


class BodyInvalid(Invalid):
    """`problems`: what is wrong where, as `{"type", "loc", "msg", "input"}`."""

    code = "validation"
    status = 422
    detail = "The request is not valid."

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__()
        self.problems = problems


def read_json(raw: bytes | str) -> Any:
    """Raises: BodyInvalid for what is no JSON, or JSON that nobody can keep."""
    if not raw:
        raise BodyInvalid([_problem("missing", [], "Field required", None)])
    try:
        value = json.loads(raw, parse_constant=_refuse_constant)
    except json.JSONDecodeError as problem:
        error = {"error": problem.msg}
        raise BodyInvalid([_problem("json_invalid", [problem.pos], "JSON decode error", {}, ctx=error)]) from problem
    except (ValueError, RecursionError) as problem:
        error = {"error": "The JSON is too deep, has a number that is too long, or is not UTF-8."}
        raise BodyInvalid([_problem("json_invalid", [0], "JSON decode error", {}, ctx=error)]) from problem
    _check_storable(value)
    return value


def read_model(model: type[B], value: Any, *, place: str) -> B:
    """Check a value against a model; `place` begins the way to each problem: "body", "query" or "path".

    Raises: BodyInvalid.
    """
    try:
        return model.model_validate(value)
    except ValidationError as problem:
        raise BodyInvalid([_shown(error, place) for error in problem.errors()[:MAX_PROBLEMS]]) from problem


def read_query(model: type[B], values: Mapping[str, str]) -> B:
    """Raises: BodyInvalid."""
    for name, text in values.items():
        if not _is_storable(name + text):
            raise BodyInvalid([_problem("value_error", [name[:100]], "This text cannot be used", None, place="query")])
    return read_model(model, dict(values), place="query")


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _check_storable(root: Any) -> None:
    """Walk without recursion: a hostile body must not end the thread."""
    waiting: list[tuple[Any, list[Any]]] = [(root, [])]
    while waiting:
        value, way = waiting.pop()
        if isinstance(value, str):
            if not _is_storable(value):
                raise BodyInvalid([_problem("value_error", way, "Text may not have NUL or half a character", None)])
        elif isinstance(value, float):
            if not math.isfinite(value):
                raise BodyInvalid([_problem("finite_number", way, "Input should be a finite number", None)])
        elif isinstance(value, dict):
            waiting += [(key, way) for key in value] + [(part, [*way, key]) for key, part in value.items()]
        elif isinstance(value, list):
            waiting += [(part, [*way, index]) for index, part in enumerate(value)]
        if len(way) > MAX_DEPTH:
            raise BodyInvalid([_problem("value_error", way[:5], f"At most {MAX_DEPTH} levels", None)])


def _is_storable(text: str) -> bool:
    if "\0" in text:
        return False
    return text.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in text)


def _problem(kind: str, way: list[Any], message: str, given: Any, *, place: str = "body", **more: Any) -> Problem:
    return {"type": kind, "loc": [place, *way], "msg": message, "input": given, **more}


def _shown(error: Any, place: str) -> Problem:
    """pydantic's problem as the reference shows it; long input is not sent back."""
    given = error["input"]
    shown: Problem = {"type": error["type"], "loc": [place, *error["loc"]], "msg": error["msg"]}
    shown["input"] = given if len(json.dumps(given, default=str)) <= MAX_ECHO else None
    if "ctx" in error:
        shown["ctx"] = {key: {} if isinstance(part, Exception) else part for key, part in error["ctx"].items()}
    return shown
