"""The page from which members share a document: links with their view counts, and publications."""

from datetime import timedelta

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from core.errors import DomainError
from documents.errors import ExtractionNotFound
from documents.grounding import leaves_of
from documents.publishing import list_publications, publish, unpublish
from documents.results import current_result
from documents.selectors import get_document
from documents.sharing.errors import ShareInvalid
from documents.sharing.guarding import share_url
from documents.sharing.selectors import list_share_links
from documents.sharing.services import MadeLink, create_share_link, revoke_share_link
from organizations.actor import Actor
from organizations.doors import MemberRequest, member_page

LIVES = (("1", "a day"), ("7", "a week"), ("30", "a month"), ("365", "a year"), ("", "until it is revoked"))
MOST_PATHS = 200


@require_http_methods(["GET", "HEAD", "POST"])
@member_page
def share(request: MemberRequest, document_id: str) -> HttpResponse:
    """The page; a post makes a link, which is shown this once."""
    if request.method != "POST":
        return _page(request, document_id)
    try:
        made = create_share_link(
            actor=request.actor,
            document_id=document_id,
            role="ask" if request.POST.get("role") == "ask" else "view",
            expires_in=_life(request),
            max_views=_views(request),
            password=request.POST.get("password", ""),
            redact_paths=request.POST.getlist("redact"),
        )
    except DomainError as problem:
        if problem.status == 404:
            raise
        return _page(request, document_id, problem=problem)
    return _page(request, document_id, made=made)


@require_POST
@member_page
def revoke_share(request: MemberRequest, document_id: str, share_id: str) -> HttpResponse:
    """End a link at once."""
    revoke_share_link(actor=request.actor, document_id=document_id, share_id=share_id)
    messages.success(request, "The link is revoked. Whoever has it open cannot go on.")
    return redirect("documents:share", document_id)


@require_POST
@member_page
def publish_result(request: MemberRequest, document_id: str) -> HttpResponse:
    """Freeze the newest result for everybody who has its address."""
    publish(actor=request.actor, document_id=document_id, with_pages=request.POST.get("with_pages") == "1")
    messages.success(request, "Published.")
    return redirect(f"{reverse('documents:share', args=[document_id])}#publications")


@require_POST
@member_page
def withdraw(request: MemberRequest, document_id: str) -> HttpResponse:
    """Withdraw one publication."""
    unpublish(actor=request.actor, document_id=document_id, publication_id=request.POST.get("publication", ""))
    messages.success(request, "Withdrawn. Its address shows nothing any more.")
    return redirect(f"{reverse('documents:share', args=[document_id])}#publications")


def _page(
    request: MemberRequest, document_id: str, *, made: MadeLink | None = None, problem: DomainError | None = None
) -> HttpResponse:
    actor = request.actor
    document = get_document(actor=actor, document_id=document_id)
    context = {
        "document": document,
        "paths": redactable_paths(actor, document_id),
        "links": list_share_links(actor=actor, document_id=document_id),
        "publications": list_publications(actor=actor, document_id=document_id),
        "lives": LIVES,
        "days": request.POST.get("days", "7"),
        "made": made,
        "made_url": share_url(request, made.link, made.token) if made else "",
        "problem": problem,
        "form": request.POST,
        "ticked": request.POST.getlist("redact") if problem else [],
    }
    response = render(request, "documents/share.html", context, status=problem.status if problem else 200)
    response["Cache-Control"] = "private, no-store"
    return response


def redactable_paths(actor: Actor, document_id: object) -> list[str]:
    """The fields of the newest result that can be ticked; a column of a table is one ("lines.*.total")."""
    try:
        result = current_result(actor=actor, document_id=document_id)
    except ExtractionNotFound:
        return []
    paths = (path for path, _ in leaves_of(result.updated_llm_result))
    columns = (".".join("*" if part.isdecimal() else part for part in path.split(".")) for path in paths)
    return list(dict.fromkeys(columns))[:MOST_PATHS]


def _life(request: HttpRequest) -> timedelta | None:
    """Raises: ShareInvalid, for what the page did not offer: a link that never ends is only made on purpose."""
    days = request.POST.get("days", "7")
    if days not in [value for value, _ in LIVES]:
        raise ShareInvalid("Choose how long the link works.", fields={"days": "not offered"})
    return timedelta(days=int(days)) if days else None


def _views(request: HttpRequest) -> int | None:
    asked = request.POST.get("max_views", "").strip()
    return (int(asked) if asked.isdecimal() and len(asked) < 10 else 0) if asked else None
