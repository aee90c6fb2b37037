"""Deciding about a proposal on pages: in the workspace and on "Waiting on you". Every press works without a script."""

from django.contrib import messages
from django.http import HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from agent import reviewing as with_chat
from core.errors import Invalid
from documents import reviewing
from documents.errors import NothingProposed
from documents.models import AutoCreate
from documents.proposals import newest_attempt
from documents.review_card import review_card
from documents.reviewing import Outcome
from documents.spreading import tag_previews
from organizations.doors import MemberRequest, member_page
from tags_app.services import create_tag


@require_POST
@member_page
def accept(request: MemberRequest, document_id: str) -> HttpResponseBase:
    """Yes."""
    return _decided(request, document_id, reviewing.accept(actor=request.actor, document_id=document_id))


@require_POST
@member_page
def reject(request: MemberRequest, document_id: str) -> HttpResponseBase:
    """No; who works on it in the chat is stopped."""
    return _decided(request, document_id, with_chat.reject(actor=request.actor, document_id=document_id))


@require_POST
@member_page
def retry(request: MemberRequest, document_id: str) -> HttpResponseBase:
    """Again."""
    reviewing.try_again(actor=request.actor, document_id=document_id)
    return _shown(request, document_id, "The agent tries again.")


@require_http_methods(["GET", "POST"])
@member_page
def tag(request: MemberRequest, document_id: str) -> HttpResponseBase:
    """Ask for the tag and say on how many documents the prompt will run; then do it."""
    if request.method == "POST":
        tag_id, count = _chosen(request)
        outcome = reviewing.accept_and_tag(actor=request.actor, document_id=document_id, tag_id=tag_id, count=count)
        return _decided(request, document_id, outcome)
    attempt = newest_attempt(actor=request.actor, document_id=document_id)
    if attempt is None or attempt.status not in (AutoCreate.Status.PROPOSED, AutoCreate.Status.ACCEPTED):
        raise NothingProposed
    previews = tag_previews(actor=request.actor, attempt=attempt)
    template = "agent/review_tag.html#question" if request.htmx else "agent/review_tag.html"
    return render(request, template, {"attempt": attempt, "document": attempt.document, "previews": previews})


def _chosen(request: MemberRequest) -> tuple[str, int]:
    """The tag with the count that was shown beside it; a new tag is on no other document yet. Raises: Invalid."""
    tag_id, _, count = request.POST.get("tag", "").partition(":")
    if tag_id == "new":
        return create_tag(actor=request.actor, name=request.POST.get("name", "")).pk.hex, 0
    if not tag_id or not count.isdecimal() or len(count) > 9:
        raise Invalid("Choose a tag, or name a new one.", fields={"tag": "choose one"})
    return tag_id, int(count)


def _decided(request: MemberRequest, document_id: str, outcome: Outcome) -> HttpResponseBase:
    return _shown(request, document_id, sentence_of(outcome))


def sentence_of(outcome: Outcome) -> str:
    """What a press led to, for who pressed."""
    attempt = outcome.attempt
    if not outcome.counted:
        return f"{attempt.decided_by_name or 'Somebody'} had {attempt.status} this proposal before you."
    if attempt.status == AutoCreate.Status.ACCEPTED:
        return "Accepted. Schema and prompt are yours now."
    if outcome.kept:
        return f"Rejected. What something else uses by now stayed: {', '.join(outcome.kept)}."
    return "Rejected. What the agent made for it is gone."


def _shown(request: MemberRequest, document_id: str, said: str) -> HttpResponseBase:
    """The card as it is now, and word that the count of what waits has changed; a page for who has no script."""
    if not request.htmx:
        messages.info(request, said)
        back = request.POST.get("back") == "waiting"
        return redirect("agent:waiting") if back else redirect("documents:detail", document_id)
    card = review_card(actor=request.actor, document_id=document_id)
    response = render(request, "documents/_review.html", {"review": card, "said": said})
    response["HX-Trigger"] = "waiting-changed"
    response["Cache-Control"] = "no-store"
    return response
