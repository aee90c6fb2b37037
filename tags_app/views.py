"""Pages of tags: the list, one tag, its form. Deleting is a page of `documents`, which knows what carries a tag."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods

from core.errors import Conflict, Invalid
from organizations.doors import MemberRequest, member_page
from tags_app.forms import TagForm
from tags_app.selectors import get_tag, list_tags
from tags_app.services import create_tag, update_tag

PAGE_SIZE = 50


@require_GET
@member_page
def tags_page(request: MemberRequest) -> HttpResponse:
    """The list, searched by name."""
    query = request.GET.get("q", "").strip()[:200]
    skip = request.GET.get("skip", "")
    found = list_tags(
        actor=request.actor,
        name_search=query,
        skip=int(skip) if skip.isdecimal() and len(skip) < 9 else 0,
        limit=PAGE_SIZE,
        sort='[{"field": "name", "sort": "asc"}]',
    )
    return render(request, "tags/list.html", {"found": found, "q": query})


@require_GET
@member_page
def tag_page(request: MemberRequest, tag_id: str) -> HttpResponse:
    """One tag."""
    return render(request, "tags/detail.html", {"tag": get_tag(actor=request.actor, tag_id=tag_id)})


@require_http_methods(["GET", "POST"])
@member_page
def create_page(request: MemberRequest) -> HttpResponseBase:
    """The form of a new tag."""
    form = TagForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            tag = create_tag(actor=request.actor, **form.cleaned_data)
        except (Invalid, Conflict) as problem:
            tell_form(form, problem)
        else:
            messages.success(request, f"Tag “{tag.name}” was created.")
            return redirect("tags:list")
    return _form_page(request, form, {"heading": "New tag"})


@require_http_methods(["GET", "POST"])
@member_page
def edit_page(request: MemberRequest, tag_id: str) -> HttpResponseBase:
    """The form of a tag that exists."""
    tag = get_tag(actor=request.actor, tag_id=tag_id)
    initial = {"name": tag.name, "color": tag.color, "description": tag.description or "", "never_send": tag.never_send}
    form = TagForm(request.POST or None, initial=initial)
    if request.method == "POST" and form.is_valid():
        try:
            update_tag(actor=request.actor, tag_id=tag.pk, **form.cleaned_data)
        except (Invalid, Conflict) as problem:
            tell_form(form, problem)
        else:
            return redirect("tags:detail", tag.pk.hex)
    return _form_page(request, form, {"heading": f"Edit “{tag.name}”", "tag": tag})


def tell_form(form: TagForm, problem: Invalid | Conflict) -> None:
    """A rule said no: the sentence goes beside the field that it names."""
    named = next((name for name in problem.fields if name in form.fields), None)
    form.add_error(named, problem.detail)


def _form_page(request: HttpRequest, form: TagForm, context: dict[str, object]) -> HttpResponse:
    return render(request, "tags/form.html", {"form": form, **context}, status=422 if form.errors else 200)
