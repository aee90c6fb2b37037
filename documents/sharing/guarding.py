"""What every public answer carries: no referrer, no index, no line in a log; and how publications are cached."""

from collections.abc import Callable
from typing import Any, TypeVar

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase, HttpResponseNotModified
from django.urls import reverse
from django.utils.cache import patch_vary_headers

from core.ids import show_id
from documents.models import Publication, ShareLink

View = Callable[..., HttpResponseBase]
R = TypeVar("R", bound=HttpResponseBase)


def guarded_public(response: R) -> R:
    """Its address may hold a token: it is kept from other sites, from search engines and from the log."""
    response._has_been_logged = True  # type: ignore[attr-defined]  # Django logs refusals with their path otherwise
    response["Referrer-Policy"] = "no-referrer"
    response["X-Robots-Tag"] = "noindex, nofollow"
    return response


def published(
    request: HttpRequest, row: Publication, kind: str, make: Callable[[], HttpResponseBase]
) -> HttpResponseBase:
    """One form of a publication: it never changes, but caches ask before each use: withdrawing works at once."""
    etag = f'"{row.pk.hex}-{kind}"'
    fresh = etag in [one.strip().removeprefix("W/") for one in request.headers.get("If-None-Match", "").split(",")]
    response = HttpResponseNotModified() if fresh else make()
    response["ETag"] = etag
    response["Cache-Control"] = "public, no-cache"
    patch_vary_headers(response, ["Accept"])
    return response


def by_preference(page: View, data: View) -> View:
    """One address for people and programs: the page, unless only JSON is welcome."""

    def chosen(request: HttpRequest, **kwargs: Any) -> HttpResponseBase:
        wants_data = request.accepts("application/json") and not request.accepts("text/html")
        return (data if wants_data else page)(request, **kwargs)

    return chosen


def site(request: HttpRequest) -> str:
    """Where people reach us, without a slash at the end."""
    return (settings.PUBLIC_URL or request.build_absolute_uri("/")).rstrip("/")


def share_url(request: HttpRequest, link: ShareLink, token: str) -> str:
    """The whole address of a link."""
    return site(request) + reverse("share:enter", args=[show_id(link.pk), token])
