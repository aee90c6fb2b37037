"""Plumbing of pages: the typed HTMX request and the one place where a domain error becomes HTML."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from asgiref.sync import iscoroutinefunction, markcoroutinefunction
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render

from core.errors import DomainError

if TYPE_CHECKING:
    from django_htmx.middleware import HtmxDetails

    class HtmxRequest(HttpRequest):
        """A request that went through django-htmx's middleware."""

        htmx: HtmxDetails
else:
    HtmxRequest = HttpRequest


class DomainErrorMiddleware:
    """Translates a DomainError that leaves a page view: a full page, or a fragment for an HTMX request.

    A fragment goes to `#problems`, whatever the request's own target was, so that nothing typed is lost.
    """

    async_capable = True
    sync_capable = True

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response
        if iscoroutinefunction(get_response):
            markcoroutinefunction(self)

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self.get_response(request)

    def process_exception(self, request: HtmxRequest, exception: Exception) -> HttpResponse | None:
        """Called by Django for whatever a view raises; only domain errors are ours."""
        if not isinstance(exception, DomainError):
            return None
        context = {"error": exception}
        if request.htmx:
            response = render(request, "errors/_problem.html", context, status=exception.status)
            response["HX-Retarget"] = "#problems"
            response["HX-Reswap"] = "innerHTML"
            return response
        return render(request, "errors/problem.html", context, status=exception.status)
