"""A shared document for whoever has its link: the way in, the page, its pictures and words. No account, no session."""

from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_safe

from core.ids import show_id
from documents.models import ShareLink
from documents.sharing import tickets
from documents.sharing.doors import COOKIE, address_of, asked_width, page_context, public_page
from documents.sharing.errors import SharePasswordWrong, ShareTokenInvalid
from documents.sharing.services import greet, look, open_share
from documents.sharing.shown import shared_picture, shared_words


@csrf_exempt
@require_http_methods(["GET", "HEAD", "POST"])
@public_page
def enter(request: HttpRequest, share_id: str, token: str) -> HttpResponseBase:
    """The link as it was sent. The token is exchanged for a ticket, and leaves the address.

    Where views are counted, or a password is asked for, a button does it: whoever only looks what is behind a link
    (a chat that shows a preview) opens nothing.
    """
    link = greet(share_id=share_id, token=token)
    if _has_ticket(request, link):
        return redirect("share:page", show_id(link.pk))
    context: dict[str, Any] = {"link": link}
    if request.method == "HEAD":
        return HttpResponse()
    if request.method == "GET" and (link.password_hash or link.max_views is not None):
        return render(request, "share/enter.html", context)
    password = request.POST.get("password")
    try:
        opened = open_share(share_id=share_id, token=token, password=password, address=address_of(request))
    except SharePasswordWrong as problem:
        return render(request, "share/enter.html", {**context, "error": problem}, status=problem.status)
    response = redirect("share:page", show_id(link.pk))
    response.set_cookie(
        COOKIE,
        opened.ticket,
        max_age=settings.SHARE_TICKET_SECONDS,
        path=reverse("share:page", args=[show_id(link.pk)]),
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )
    return response


@require_safe
@public_page
def shared_page(request: HttpRequest, share_id: str) -> HttpResponse:
    """The document: its fields and its pages."""
    link = look(share_id=share_id, ticket=request.COOKIES.get(COOKIE, ""))
    return render(request, "share/page.html", page_context(link))


@require_safe
@public_page
def picture(request: HttpRequest, share_id: str, number: int) -> HttpResponse:
    """The picture of a page, with what is hidden painted black in it."""
    link = look(share_id=share_id, ticket=_ticket(request))
    image = shared_picture(link, number, asked_width(request))
    return HttpResponse(image.data, content_type=image.content_type)


@require_safe
@public_page
def words(request: HttpRequest, share_id: str, number: int) -> HttpResponse:
    """The words of a page with their boxes, column by column."""
    link = look(share_id=share_id, ticket=_ticket(request))
    return JsonResponse(shared_words(link, number))


def _ticket(request: HttpRequest) -> str:
    """Of the cookie, or of an address that a program was given."""
    return request.GET.get("ticket") or request.COOKIES.get(COOKIE, "")


def _has_ticket(request: HttpRequest, link: ShareLink) -> bool:
    """Whether this browser has a view open already: the link may be clicked again without another one."""
    try:
        tickets.check(request.COOKIES.get(COOKIE, ""), link.pk)
    except ShareTokenInvalid:
        return False
    return True
