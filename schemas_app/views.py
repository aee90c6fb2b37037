"""Pages of schemas: the list, one schema with its versions, its form. Deleting is a page of `prompts_app`."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods

from core.errors import Conflict, Invalid
from organizations.doors import MemberRequest, member_page
from schemas_app.forms import EXAMPLE, SchemaForm, as_text
from schemas_app.models import SchemaRevision
from schemas_app.presentation import field_rows
from schemas_app.selectors import get_revision, get_version, list_schemas, list_versions
from schemas_app.services import SavedSchema, create_schema, update_schema

PAGE_SIZE = 50


@require_GET
@member_page
def schemas_page(request: MemberRequest) -> HttpResponse:
    """The list, searched by name."""
    query = request.GET.get("q", "").strip()[:200]
    skip = request.GET.get("skip", "")
    found = list_schemas(
        actor=request.actor,
        name_search=query,
        skip=int(skip) if skip.isdecimal() and len(skip) < 9 else 0,
        limit=PAGE_SIZE,
    )
    rows = [(row, sum(field.depth == 0 for field in field_rows(row.response_format))) for row in found.rows]
    return render(request, "schemas/list.html", {"found": found, "rows": rows, "q": query})


@require_GET
@member_page
def schema_page(request: MemberRequest, schema_id: str) -> HttpResponse:
    """The latest version, or the one that `?version=` names."""
    asked = request.GET.get("version", "")
    number = int(asked) if asked.isdecimal() and len(asked) < 9 else None
    return _shown(request, get_version(actor=request.actor, schema_id=schema_id, version=number))


@require_GET
@member_page
def revision_page(request: MemberRequest, schema_revid: str) -> HttpResponse:
    """One version by its own id: where links of the agent lead."""
    return _shown(request, get_revision(actor=request.actor, schema_revid=schema_revid))


@require_http_methods(["GET", "POST"])
@member_page
def create_page(request: MemberRequest) -> HttpResponseBase:
    """The form of a new schema; a name that exists gets a new version, which is said."""
    form = SchemaForm(request.POST or None, initial={"response_format": as_text(EXAMPLE)})
    if request.method == "POST" and form.is_valid():
        try:
            saved = create_schema(actor=request.actor, strict=True, **form.cleaned_data)
        except (Invalid, Conflict) as problem:
            form.tell(problem)
        else:
            return _saved(request, saved)
    return _form_page(request, form, {"heading": "New schema"})


@require_http_methods(["GET", "POST"])
@member_page
def edit_page(request: MemberRequest, schema_id: str) -> HttpResponseBase:
    """The form of the latest version; saving adds a version unless only the name changed."""
    latest = get_version(actor=request.actor, schema_id=schema_id)
    initial = {"name": latest.schema.name, "response_format": as_text(latest.response_format)}
    form = SchemaForm(request.POST or None, initial=initial)
    if request.method == "POST" and form.is_valid():
        seen = request.POST.get("seen_version", "")
        try:
            saved = update_schema(
                actor=request.actor,
                schema_id=schema_id,
                strict=True,
                skip_identical=True,
                expected_version=int(seen) if seen.isdecimal() and len(seen) < 9 else None,
                **form.cleaned_data,
            )
        except (Invalid, Conflict) as problem:
            form.tell(problem)
        else:
            return _saved(request, saved)
    return _form_page(request, form, {"heading": f"Edit “{latest.schema.name}”", "schema": latest.schema})


def _saved(request: HttpRequest, saved: SavedSchema) -> HttpResponseBase:
    schema = saved.revision.schema
    texts = {
        "created": f"Schema “{schema.name}” was created.",
        "new_version": f"Version {saved.revision.version} of “{schema.name}” was saved.",
        "renamed": f"The schema is called “{schema.name}” now.",
        "unchanged": "Nothing was changed.",
    }
    messages.success(request, texts[saved.outcome])
    return redirect("schemas:detail", schema.pk.hex)


def _shown(request: MemberRequest, revision: SchemaRevision) -> HttpResponse:
    context = {
        "revision": revision,
        "schema": revision.schema,
        "fields": field_rows(revision.response_format),
        "raw": as_text(revision.response_format),
        "versions": list_versions(actor=request.actor, schema_id=revision.schema_id),
    }
    return render(request, "schemas/detail.html", context)


def _form_page(request: HttpRequest, form: SchemaForm, context: dict[str, object]) -> HttpResponse:
    return render(request, "schemas/form.html", {"form": form, **context}, status=422 if form.errors else 200)
