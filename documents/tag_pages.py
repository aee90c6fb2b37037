"""The page that deletes a tag: only here is known which documents and prompts carry it."""

from django.contrib import messages
from django.http import HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from documents.tagging import delete_tag
from organizations.doors import MemberRequest, member_page
from tags_app.errors import TagInUse
from tags_app.selectors import get_tag


@require_http_methods(["GET", "POST"])
@member_page
def delete_page(request: MemberRequest, tag_id: str) -> HttpResponseBase:
    """Ask, then delete; says what is in the way."""
    tag = get_tag(actor=request.actor, tag_id=tag_id)
    context: dict[str, object] = {"tag": tag}
    if request.method == "POST":
        try:
            delete_tag(actor=request.actor, tag_id=tag.pk)
        except TagInUse as problem:
            context["error"] = problem
        else:
            messages.success(request, f"Tag “{tag.name}” was moved to the trash.")
            return redirect("tags:list")
    return render(request, "tags/delete.html", context, status=409 if "error" in context else 200)
