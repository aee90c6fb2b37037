"""What went wrong outside of any view: JSON for programs, a page for people."""

import structlog
from django.http import HttpRequest, HttpResponseBase, JsonResponse
from django.views import defaults

from core.api.v1 import in_dialect, is_v1


def is_api(request: HttpRequest) -> bool:
    """Whether a program asks."""
    return request.path.startswith(("/v0/", "/v1/", "/document/", "/api/"))


def server_error(request: HttpRequest) -> HttpResponseBase:
    """Called by Django for what nobody caught. Its log line has the request's id."""
    if not is_api(request):
        return defaults.server_error(request)
    request_id = structlog.contextvars.get_contextvars().get("request_id", "")
    body = {"detail": "Internal Server Error", "code": "internal_error", "request_id": request_id}
    return _in_dialect(request, JsonResponse(body, status=500))


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponseBase:
    """Called by Django for a request that it refuses before any view: a foreign host name, a malformed form."""
    if not is_api(request):
        return defaults.bad_request(request, exception)
    refused = JsonResponse({"detail": "This request cannot be read.", "code": "invalid"}, status=400)
    return _in_dialect(request, refused)


def _in_dialect(request: HttpRequest, said: JsonResponse) -> JsonResponse:
    return in_dialect(said) if is_v1(request) else said
