"""The one place where an error becomes JSON: `{"detail": …, "code": …}`, or the list of a 422."""

import json
import math
import sys
import traceback
from typing import Any, cast

import structlog
from django.core.exceptions import PermissionDenied, SuspiciousOperation
from django.core.signals import got_request_exception
from django.http import Http404, HttpRequest, JsonResponse
from rest_framework.exceptions import APIException, MethodNotAllowed

from core.api.bodies import BodyInvalid
from core.errors import DomainError

log = structlog.get_logger(__name__)


def problem_answer(problem: DomainError) -> JsonResponse:
    """A domain error with its status; `extra` that is plain data stands beside the sentence."""
    if isinstance(problem, BodyInvalid):
        return JsonResponse({"detail": problem.problems}, status=problem.status)
    body: dict[str, Any] = {"detail": problem.detail, "code": problem.error_code}
    body |= {key: value for key, value in problem.extra.items() if is_plain(value)}
    if problem.fields:
        body["fields"] = problem.fields
    answer = JsonResponse(body, status=problem.status)
    if problem.retry_after is not None:
        answer["Retry-After"] = str(math.ceil(problem.retry_after))
    if problem.status == 401:
        answer["WWW-Authenticate"] = "Bearer"
    return answer


def answer_problem(problem: Exception, context: dict[str, Any]) -> JsonResponse:
    """Called by the framework for whatever a handler raises; nothing leaves as HTML or plain text."""
    if isinstance(problem, DomainError):
        return problem_answer(problem)
    if isinstance(problem, MethodNotAllowed):
        return JsonResponse({"detail": "Method Not Allowed", "code": "method_not_allowed"}, status=405)
    if isinstance(problem, Http404):
        return JsonResponse({"detail": "Not Found", "code": "not_found"}, status=404)
    if isinstance(problem, PermissionDenied):
        return JsonResponse({"detail": "You may not do this.", "code": "forbidden"}, status=403)
    if isinstance(problem, APIException):
        return JsonResponse({"detail": str(problem.detail), "code": "invalid"}, status=problem.status_code)
    if isinstance(problem, SuspiciousOperation):
        return JsonResponse({"detail": "This request cannot be read.", "code": "invalid"}, status=400)
    return bug_answer(problem, context["request"])


def bug_answer(problem: Exception, request: HttpRequest) -> JsonResponse:
    """A bug of ours: where it happened goes to the log (its message may quote a document), an id to the client."""
    request_id = structlog.contextvars.get_contextvars().get("request_id", "")
    log.error("request.crashed", problem=type(problem).__name__, at=traceback.format_tb(problem.__traceback__)[-4:])
    if sys.exc_info()[1] is not None:
        got_request_exception.send(sender=None, request=request)
    body = {"detail": "Internal Server Error", "code": "internal_error", "request_id": request_id}
    return JsonResponse(body, status=500)


def body_of(answer: JsonResponse) -> dict[str, Any]:
    """What an answer says."""
    return cast("dict[str, Any]", json.loads(answer.content))


def is_plain(value: Any) -> bool:
    """Whether JSON has it."""
    try:
        json.dumps(value)
    except (TypeError, ValueError):
        return False
    return True
