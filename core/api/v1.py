"""The dialect of `/v1`: camelCase names, moments as integers, errors as `{"error": {"code", "message", "details"}}`."""

import math
from datetime import datetime
from typing import Annotated, Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from pydantic import BaseModel, ConfigDict, PlainSerializer
from pydantic.alias_generators import to_camel

from core.api import errors
from core.api.bodies import Answer, Body, BodyInvalid
from core.errors import DomainError

Millis = Annotated[datetime, PlainSerializer(lambda moment: round(moment.timestamp() * 1000), return_type=int)]
"""Units: milliseconds since the epoch."""


class V1Body(Body):
    """A request. Only the camelCase names are read."""

    model_config = ConfigDict(extra="ignore", alias_generator=to_camel)


class V1Answer(Answer):
    """A response. Made with snake_case names, shown with camelCase ones."""

    model_config = ConfigDict(
        from_attributes=True, alias_generator=to_camel, validate_by_name=True, serialize_by_alias=True
    )


class V1Error(V1Answer):
    """A code for a program, a sentence for a person."""

    code: str
    message: str
    details: dict[str, Any]


class V1Problem(V1Answer):
    """What went wrong."""

    error: V1Error


class V1Dialect:
    """Mixed into the views of `/v1`: problems leave in its form."""

    def get_exception_handler(self) -> Any:
        """Called by the framework."""
        return answer_problem


def respond(answer: BaseModel, status: int) -> HttpResponse:
    """An answer with another status than 200."""
    return HttpResponse(answer.model_dump_json(), content_type="application/json", status=status)


def problem_answer(problem: DomainError) -> JsonResponse:
    """A domain error as `/v1` shows it; `extra` that is plain data is in `details`."""
    if isinstance(problem, BodyInvalid):
        return error_answer(problem.status, problem.error_code, problem.detail, {"problems": problem.problems})
    details = {to_camel(key): value for key, value in problem.extra.items() if errors.is_plain(value)}
    if problem.fields:
        details["fields"] = problem.fields
    answer = error_answer(problem.status, problem.error_code, problem.detail, details)
    if problem.retry_after is not None:
        answer["Retry-After"] = str(math.ceil(problem.retry_after))
    if problem.status == 401:
        answer["WWW-Authenticate"] = "Bearer"
    return answer


def error_answer(status: int, code: str, message: str, details: dict[str, Any] | None = None) -> JsonResponse:
    """The one shape."""
    return JsonResponse({"error": {"code": code, "message": message, "details": details or {}}}, status=status)


def answer_problem(problem: Exception, context: dict[str, Any]) -> JsonResponse:
    """Called by the framework for whatever a handler raises."""
    if isinstance(problem, DomainError):
        return problem_answer(problem)
    said = errors.answer_problem(problem, context)
    return in_dialect(said)


def in_dialect(said: JsonResponse) -> JsonResponse:
    """What `/v0` would say, in the words of `/v1`."""
    body = errors.body_of(said)
    details = {key: value for key, value in body.items() if key not in ("detail", "code")}
    return error_answer(said.status_code, body.get("code", "invalid"), body["detail"], details)


def is_v1(request: HttpRequest) -> bool:
    """Whether a client of `/v1`, or of one of its aliases, asks."""
    return request.path.startswith(("/v1/", "/document/"))
