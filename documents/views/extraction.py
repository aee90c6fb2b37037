"""The Extraction tab: run a prompt, edit a field, add and remove rows, verify, export."""

import json
from typing import Any

from asgiref.sync import sync_to_async
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from documents.background import launch_extraction
from documents.errors import ExtractionStale
from documents.extraction import begin_extraction
from documents.models import Extraction
from documents.panel import extraction_panel, inner_schema, revid_of
from documents.result_form import build_form, empty_value, find_node, read_value, schema_at, value_at
from documents.results import get_result, list_edits, set_verified, update_field
from organizations.doors import MemberRequest, member_page
from prompts_app.default import DEFAULT_PROMPT_ID

_FIELD = "value:"


@require_GET
@member_page
def panel(request: MemberRequest, document_id: str) -> HttpResponse:
    """The whole tab."""
    shown = extraction_panel(actor=request.actor, document_id=document_id, chosen=request.GET.get("prompt", ""))
    return render(request, "documents/extraction.html", {"panel": shown, "document": shown.document})


@require_POST
@member_page
async def run(request: MemberRequest, document_id: str) -> HttpResponseBase:
    """Start a run of the chosen prompt; the socket tells when it has ended."""
    chosen = request.POST.get("prompt") or DEFAULT_PROMPT_ID
    prompt_revid = None if chosen == DEFAULT_PROMPT_ID else chosen
    begun = await sync_to_async(begin_extraction)(
        actor=request.actor, document_id=document_id, prompt_revid=prompt_revid
    )
    launch_extraction(actor=request.actor, run_id=begun.pk)
    return await sync_to_async(_panel)(request, document_id, chosen)


@require_POST
@member_page
def save_fields(request: MemberRequest, document_id: str, extraction_id: str) -> HttpResponse:
    """Save what differs. A script sends one field and gets it back; a plain form sends all of them."""
    result = get_result(actor=request.actor, document_id=document_id, extraction_id=extraction_id)
    version = _version(request)
    typed = {name.removeprefix(_FIELD): text for name, text in request.POST.items() if name.startswith(_FIELD)}
    schema = inner_schema(result)
    try:
        for path, text in typed.items():
            previous = value_at(result.updated_llm_result, path)
            value = read_value(str(text), schema=schema_at(schema, path), previous=previous)
            if value != previous:
                result = _set(request, result, path, value, version)
                version = result.edit_version
    except ExtractionStale as problem:
        return _stale(request, result, problem)
    if not request.htmx or len(typed) != 1:
        return _panel(request, document_id, revid_of(result))
    edits = list(list_edits(actor=request.actor, document_id=document_id, extraction_id=result.pk))
    node = find_node(build_form(result, schema, edits), next(iter(typed)))
    shown = extraction_panel(actor=request.actor, document_id=document_id, chosen=revid_of(result))
    return render(request, "documents/_saved.html", {"node": node, "panel": shown, "document": shown.document})


@require_POST
@member_page
def change_rows(request: MemberRequest, document_id: str, extraction_id: str) -> HttpResponse:
    """Add an empty row to a list, or remove one."""
    result = get_result(actor=request.actor, document_id=document_id, extraction_id=extraction_id)
    path, _, removed = request.POST.get("remove", "")[:500].rpartition(".")
    path = path or request.POST.get("add", "")[:500]
    rows = value_at(result.updated_llm_result, path)
    if isinstance(rows, list):
        if removed.isdecimal() and len(removed) < 10:
            rows = [row for at, row in enumerate(rows) if at != int(removed)]
        else:
            rows = [*rows, empty_value(schema_at(inner_schema(result), f"{path}.0"))]
        try:
            result = _set(request, result, path, rows, _version(request))
        except ExtractionStale as problem:
            return _stale(request, result, problem)
    return _panel(request, document_id, revid_of(result))


@require_POST
@member_page
def verify(request: MemberRequest, document_id: str, extraction_id: str) -> HttpResponse:
    """Mark the whole result as checked, or take the mark back."""
    verified = request.POST.get("verified", "1") == "1"
    result = set_verified(
        actor=request.actor, document_id=document_id, extraction_id=extraction_id, verified=verified
    )  # fmt: skip
    return _panel(request, document_id, revid_of(result))


@require_GET
@member_page
def export(request: MemberRequest, document_id: str, extraction_id: str) -> HttpResponse:
    """The values as a JSON file, as edited."""
    result = get_result(actor=request.actor, document_id=document_id, extraction_id=extraction_id)
    text = json.dumps(result.updated_llm_result, ensure_ascii=False, indent=2)
    response = HttpResponse(text + "\n", content_type="application/json")
    response["Content-Disposition"] = f'attachment; filename="extraction-{result.pk.hex[:12]}.json"'
    return response


def _set(request: MemberRequest, result: Extraction, path: str, value: Any, version: int | None) -> Extraction:
    return update_field(
        actor=request.actor,
        document_id=result.document_id,
        extraction_id=result.pk,
        path=path,
        value=value,
        edit_version=version,
    )


def _version(request: HttpRequest) -> int | None:
    given = request.POST.get("edit_version", "")
    return int(given) if given.isdecimal() and len(given) < 9 else None


def _panel(request: MemberRequest, document_id: str, chosen: str) -> HttpResponse:
    """The tab again; a plain form goes back to the page."""
    if not request.htmx:
        return redirect(f"{reverse('documents:detail', args=[document_id])}?prompt={chosen}#extraction")
    shown = extraction_panel(actor=request.actor, document_id=document_id, chosen=chosen)
    return render(request, "documents/extraction.html", {"panel": shown, "document": shown.document})


def _stale(request: MemberRequest, result: Extraction, problem: ExtractionStale) -> HttpResponse:
    """Somebody was quicker: say so, keep what was typed, offer the new values."""
    if not request.htmx:
        raise problem
    context = {"error": problem, "document_id": result.document_id.hex, "chosen": revid_of(result)}
    response = render(request, "documents/_stale.html", context, status=problem.status)
    response["HX-Retarget"], response["HX-Reswap"] = "#problems", "innerHTML"
    return response
