"""The workspace page of one document, and what can be done to the document itself."""

from django.http import HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from documents.panel import extraction_panel, has_result
from documents.review_card import review_card
from documents.selectors import get_document, latest_parse, pages
from documents.services import reparse, update_document
from documents.status import kept_here, shown_tags, status_of
from organizations.actor import Actor
from organizations.doors import MemberRequest, member_page
from tags_app.selectors import list_tags

_SPLIT = (25, 75, 46)


@require_GET
@member_page
def workspace(request: MemberRequest, document_id: str) -> HttpResponse:
    """The page. Its tabs and its viewer are the same fragments that are sent later."""
    context = viewer_context(actor=request.actor, document_id=document_id)
    document = get_document(actor=request.actor, document_id=document_id)
    shown = extraction_panel(actor=request.actor, document_id=document_id, chosen=request.GET.get("prompt", ""))
    return render(
        request,
        "documents/detail.html",
        {
            **context,
            "panel": shown,
            "review": review_card(actor=request.actor, document_id=document_id),
            "all_tags": list_tags(actor=request.actor, limit=200).rows,
            "split": _split(request.COOKIES.get("split", "")),
            "tab": "extraction" if has_result(actor=request.actor, document=document) else "agent",
        },
    )


@require_GET
@member_page
def viewer(request: MemberRequest, document_id: str) -> HttpResponse:
    """Only the viewer: asked for again when reading has ended."""
    return render(request, "documents/_viewer.html", viewer_context(actor=request.actor, document_id=document_id))


@require_GET
@member_page
def review(request: MemberRequest, document_id: str) -> HttpResponse:
    """Only what the agent proposes: asked for again when that has changed."""
    document = get_document(actor=request.actor, document_id=document_id)
    card = review_card(actor=request.actor, document_id=document_id)
    response = render(request, "documents/_review_slot.html", {"document": document, "review": card})
    response["Cache-Control"] = "no-store"
    return response


def viewer_context(*, actor: Actor, document_id: object) -> dict[str, object]:
    """What the viewer shows: the pages that were read, or how far reading is, or why it failed."""
    document = get_document(actor=actor, document_id=document_id)
    sheets = list(pages(actor=actor, document_id=document_id).defer("words", "text"))
    version = document.current_version
    return {
        "document": document,
        "status": status_of(document, latest_parse(actor=actor, document_id=document_id)),
        "shown_tags": shown_tags(document),
        "kept_here": kept_here(document),
        "sheets": sheets if document.state != "ocr_failed" else [],
        "stamp": version.sha256[:12] if version else "",
        "notes": version.notes if version else [],
    }


@require_POST
@member_page
def read_again(request: MemberRequest, document_id: str) -> HttpResponse | HttpResponseRedirect:
    """Read the document again from its first page."""
    reparse(actor=request.actor, document_id=document_id)
    if request.htmx:
        return render(request, "documents/_viewer.html", viewer_context(actor=request.actor, document_id=document_id))
    return redirect("documents:detail", document_id)


@require_POST
@member_page
def set_tags(request: MemberRequest, document_id: str) -> HttpResponseRedirect:
    """Replace the document's tags."""
    update_document(actor=request.actor, document_id=document_id, tag_ids=request.POST.getlist("tag_ids"))
    return redirect("documents:detail", document_id)


@require_POST
@member_page
def rename(request: MemberRequest, document_id: str) -> HttpResponseRedirect:
    """Give the document another name."""
    update_document(actor=request.actor, document_id=document_id, name=request.POST.get("name", ""))
    return redirect("documents:detail", document_id)


@require_POST
@member_page
def never_send(request: MemberRequest, document_id: str) -> HttpResponseRedirect:
    """Keep the document from models outside this server, or no longer."""
    update_document(actor=request.actor, document_id=document_id, never_send=request.POST.get("never_send") == "1")
    return redirect("documents:detail", document_id)


def _split(text: str) -> int:
    """How wide the left half is, remembered in a cookie. Units: percent."""
    low, high, usual = _SPLIT
    return min(max(int(text), low), high) if text.isdecimal() and len(text) < 4 else usual
