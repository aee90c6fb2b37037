"""Pages of prompts: the list, one prompt with its versions, its form, deleting it."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods

from core.errors import Conflict, Invalid, NotFound
from organizations.doors import MemberRequest, member_page
from prompts_app.config import PromptConfig
from prompts_app.default import DEFAULT_PROMPT_ID, show_default_prompt
from prompts_app.forms import PromptForm, initial_of
from prompts_app.models import PromptRevision
from prompts_app.selectors import get_prompt, get_revision, get_version, list_prompts, list_versions
from prompts_app.services import SavedPrompt, config_of, create_prompt, delete_prompt, update_prompt
from schemas_app.selectors import get_schema, list_schemas
from tags_app.selectors import list_tags

PAGE_SIZE = 50
MOST_CHOICES = 1000


@require_GET
@member_page
def prompts_page(request: MemberRequest) -> HttpResponse:
    """The list, searched by name, or those that use one schema (`?schema=`)."""
    query, skip = request.GET.get("q", "").strip()[:200], request.GET.get("skip", "")
    schema_id = request.GET.get("schema", "")
    found = list_prompts(
        actor=request.actor,
        name_search=query,
        schema_id=schema_id,
        skip=int(skip) if skip.isdecimal() and len(skip) < 9 else 0,
        limit=PAGE_SIZE,
    )
    schema = get_schema(actor=request.actor, schema_id=schema_id) if schema_id else None
    context = {"found": found, "q": query, "schema": schema, "default": show_default_prompt()}
    return render(request, "prompts/list.html", context)


@require_GET
@member_page
def prompt_page(request: MemberRequest, prompt_id: str) -> HttpResponse:
    """The latest version, or the one that `?version=` names."""
    if prompt_id == DEFAULT_PROMPT_ID:
        return render(request, "prompts/default.html", {"prompt": show_default_prompt()})
    asked = request.GET.get("version", "")
    number = int(asked) if asked.isdecimal() and len(asked) < 9 else None
    return _shown(request, get_version(actor=request.actor, prompt_id=prompt_id, version=number))


@require_GET
@member_page
def revision_page(request: MemberRequest, prompt_revid: str) -> HttpResponse:
    """One version by its own id: where links of the agent lead."""
    if prompt_revid == DEFAULT_PROMPT_ID:
        return render(request, "prompts/default.html", {"prompt": show_default_prompt()})
    return _shown(request, get_revision(actor=request.actor, prompt_revid=prompt_revid))


@require_http_methods(["GET", "POST"])
@member_page
def create_page(request: MemberRequest) -> HttpResponseBase:
    """The form of a new prompt; a name that exists gets a new version, which is said."""
    form = _form(request, None)
    if request.method == "POST" and form.is_valid():
        try:
            saved = create_prompt(actor=request.actor, config=form.config())
        except (Invalid, Conflict, NotFound) as problem:
            form.tell(problem)
        else:
            return _saved(request, saved)
    return _form_page(request, form, {"heading": "New prompt"})


@require_http_methods(["GET", "POST"])
@member_page
def edit_page(request: MemberRequest, prompt_id: str) -> HttpResponseBase:
    """The form of the latest version; saving adds a version unless only the name changed."""
    latest = get_version(actor=request.actor, prompt_id=prompt_id)
    before = config_of(latest)
    form = _form(request, latest)
    if request.method == "POST" and form.is_valid():
        seen = request.POST.get("seen_version", "")
        try:
            saved = update_prompt(
                actor=request.actor,
                prompt_id=prompt_id,
                config=form.config(before),
                expected_version=int(seen) if seen.isdecimal() and len(seen) < 9 else None,
            )
        except (Invalid, Conflict, NotFound) as problem:
            form.tell(problem)
        else:
            return _saved(request, saved)
    return _form_page(request, form, {"heading": f"Edit “{latest.prompt.name}”", "prompt": latest.prompt})


@require_http_methods(["GET", "POST"])
@member_page
def delete_page(request: MemberRequest, prompt_id: str) -> HttpResponseBase:
    """Ask, then delete."""
    prompt = get_prompt(actor=request.actor, prompt_id=prompt_id)
    if request.method == "POST":
        delete_prompt(actor=request.actor, prompt_id=prompt.pk)
        messages.success(request, f"Prompt “{prompt.name}” was moved to the trash.")
        return redirect("prompts:list")
    return render(request, "prompts/delete.html", {"prompt": prompt})


def _form(request: MemberRequest, latest: PromptRevision | None) -> PromptForm:
    schemas = list_schemas(actor=request.actor, limit=MOST_CHOICES).rows
    if latest and latest.schema_revision and latest.schema_revision not in schemas:
        schemas = [latest.schema_revision, *schemas]
    return PromptForm(
        request.POST or None,
        initial=initial_of(config_of(latest) if latest else PromptConfig(name="", content="", model="gpt-4o-mini")),
        schemas=schemas,
        own_tags=list_tags(actor=request.actor, limit=MOST_CHOICES).rows,
    )


def _saved(request: HttpRequest, saved: SavedPrompt) -> HttpResponseBase:
    prompt = saved.revision.prompt
    texts = {
        "created": f"Prompt “{prompt.name}” was created.",
        "new_version": f"Version {saved.revision.version} of “{prompt.name}” was saved.",
        "renamed": f"The prompt is called “{prompt.name}” now.",
    }
    messages.success(request, texts[saved.outcome])
    return redirect("prompts:detail", prompt.pk.hex)


def _shown(request: MemberRequest, revision: PromptRevision) -> HttpResponse:
    context = {
        "revision": revision,
        "prompt": revision.prompt,
        "schema_revision": revision.schema_revision,
        "tags": [tag for tag in revision.tags.all() if tag.deleted_at is None],
        "versions": list_versions(actor=request.actor, prompt_id=revision.prompt_id),
    }
    return render(request, "prompts/detail.html", context)


def _form_page(request: HttpRequest, form: PromptForm, context: dict[str, object]) -> HttpResponse:
    return render(request, "prompts/form.html", {"form": form, **context}, status=422 if form.errors else 200)
