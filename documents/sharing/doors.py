"""What the public pages share: their guard, who asks, the ticket they came with, and what a shared page shows.

These pages send no referrer, so a browser cannot say where a form of theirs comes from: what a form may do is decided
by the token in its address, or by the ticket in a cookie that no other site's form carries.
"""

from collections.abc import Awaitable, Callable
from functools import partial, wraps
from typing import Any, cast

from asgiref.sync import iscoroutinefunction
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.urls import reverse

from core.api.limits import count
from core.errors import DomainError
from core.ids import show_id
from core.threads import in_thread
from documents.models import Extraction, ShareLink
from documents.result_form import Node, build_form
from documents.sharing.guarding import guarded_public
from documents.sharing.shown import SharedFields, shared_fields, shared_name, shared_sheets

COOKIE = "share_ticket"
MOST_WIDTH = 2200


def public_page(view: Callable[..., Any]) -> Callable[..., Any]:
    """Count the request for its network address; say what is wrong on a page of its own; keep the address secret.

    Works for synchronous and asynchronous views.
    """
    if iscoroutinefunction(view):

        @wraps(view)
        async def guarded_async(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            try:
                await in_thread(partial(_count, request))
                response = await cast("Awaitable[HttpResponseBase]", view(request, *args, **kwargs))
            except DomainError as problem:
                response = await in_thread(partial(_problem, request, problem))
            return _finished(response)

        return guarded_async

    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        try:
            _count(request)
            response = cast("HttpResponseBase", view(request, *args, **kwargs))
        except DomainError as problem:
            response = _problem(request, problem)
        return _finished(response)

    return guarded


def _count(request: HttpRequest) -> None:
    count("public", [("address", address_of(request))])


def _problem(request: HttpRequest, problem: DomainError) -> HttpResponse:
    return render(request, "share/problem.html", {"error": problem}, status=problem.status)


def _finished(response: HttpResponseBase) -> HttpResponseBase:
    if not response.has_header("Cache-Control"):
        response["Cache-Control"] = "private, no-store"
    return guarded_public(response)


def page_context(link: ShareLink) -> dict[str, Any]:
    """What the page of a link shows."""
    fields, number_of = shared_fields(link), show_id(link.pk)
    sheets = [
        {
            "number": sheet.number,
            "width": sheet.width,
            "height": sheet.height,
            "image": reverse("share:picture", args=[number_of, sheet.number]),
            "words": reverse("share:words", args=[number_of, sheet.number]),
        }
        for sheet in shared_sheets(link)
    ]
    return {
        "link": link,
        "name": shared_name(link),
        "nodes": nodes_of(fields),
        "sheets": sheets,
        "answers_left": max(link.max_answers - link.answers, 0),
    }


def nodes_of(fields: SharedFields | None) -> tuple[Node, ...]:
    """Values as the form of the workspace arranges them, to read only."""
    if fields is None:
        return ()
    return build_form(Extraction(updated_llm_result=fields.data, grounding=fields.grounding), {}, [])


def address_of(request: HttpRequest) -> str:
    """The network address that asks."""
    return str(request.META.get("REMOTE_ADDR", ""))


def asked_width(request: HttpRequest) -> int:
    """Units: pixels."""
    asked = request.GET.get("w", "1280")
    return min(int(asked), MOST_WIDTH) if asked.isdecimal() and len(asked) < 6 else 1280
