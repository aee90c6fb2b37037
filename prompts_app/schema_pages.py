"""The page that deletes a schema: only here is known which prompts use it."""

from django.contrib import messages
from django.http import HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from organizations.doors import MemberRequest, member_page
from prompts_app.selectors import prompts_of_schema
from prompts_app.services import delete_schema
from schemas_app.errors import SchemaInUse
from schemas_app.selectors import get_schema


@require_http_methods(["GET", "POST"])
@member_page
def delete_page(request: MemberRequest, schema_id: str) -> HttpResponseBase:
    """Ask, then delete; says which prompts are in the way."""
    schema = get_schema(actor=request.actor, schema_id=schema_id)
    context: dict[str, object] = {"schema": schema}
    if request.method == "POST":
        try:
            delete_schema(actor=request.actor, schema_id=schema.pk)
        except SchemaInUse as problem:
            context["error"] = problem
        else:
            messages.success(request, f"Schema “{schema.name}” was moved to the trash.")
            return redirect("schemas:list")
    context["users"] = list(prompts_of_schema(actor=request.actor, schema_id=schema.pk)[:20])
    return render(request, "schemas/delete.html", context, status=409 if "error" in context else 200)
