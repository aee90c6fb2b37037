"""What a page view knows of who is asking, and the guard in front of it."""

from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Any, cast

from asgiref.sync import iscoroutinefunction
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponseBase

from core.pages import HtmxRequest
from organizations.actor import Actor
from organizations.errors import NotAMember
from organizations.models import Membership, Organization


class PageRequest(HtmxRequest):
    """A request that went through the actor middleware. For typing only: views behind `member_page` have an actor."""

    actor: Actor | None
    organization: Organization | None
    memberships: tuple[Membership, ...]


class MemberRequest(PageRequest):
    """A request of a member: what a view behind `member_page` gets."""

    actor: Actor
    organization: Organization


def page_request(request: HttpRequest) -> PageRequest:
    """The same request, with its type said."""
    return cast("PageRequest", request)


def member_page(view: Callable[..., Any]) -> Callable[..., Any]:
    """Let members through; send nobody to the sign-in page; tell a person without an organization.

    Works for synchronous and asynchronous views.
    """
    if iscoroutinefunction(view):

        @wraps(view)
        async def guarded_async(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            refused = _refusal(request)
            return (
                refused
                if refused is not None
                else await cast("Awaitable[HttpResponseBase]", view(request, *args, **kwargs))
            )

        return guarded_async

    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        refused = _refusal(request)
        return refused if refused is not None else cast("HttpResponseBase", view(request, *args, **kwargs))

    return guarded


def _refusal(request: HttpRequest) -> HttpResponseBase | None:
    page = page_request(request)
    if page.actor is not None:
        return None
    if request.user.is_authenticated:
        raise NotAMember("You do not belong to an organization yet. Ask an administrator to add you.")
    response = redirect_to_login(request.get_full_path())
    if page.htmx:
        response["HX-Redirect"] = response["Location"]
        response.status_code = 204
    return response
