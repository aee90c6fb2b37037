"""The documents page: list, filter, sort; and deleting one."""

import json
from dataclasses import dataclass
from urllib.parse import urlencode

from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods
from django.views.decorators.vary import vary_on_headers

from documents.selectors import get_document, list_documents
from documents.services import delete_document
from documents.status import STATE_NAMES, document_lines
from organizations.doors import MemberRequest, member_page
from tags_app.selectors import list_tags

PAGE_SIZE = 50
_SORTS = {"name": "document_name", "created": "upload_date"}


@dataclass(frozen=True, slots=True)
class Filters:
    """What the address asks for, and the addresses beside it."""

    q: str
    state: str
    tag: str
    sort: str
    skip: int
    total: int = 0

    @classmethod
    def of(cls, request: MemberRequest) -> "Filters":
        given = request.GET
        state = given.get("state", "")
        sort = given.get("sort", "")
        skip = given.get("skip", "0")
        return cls(
            q=given.get("q", "").strip()[:200],
            state=state if state in dict(STATE_NAMES) else "",
            tag=given.get("tag", ""),
            sort=sort if sort.removeprefix("-") in _SORTS else "",
            skip=int(skip) if skip.isdecimal() and len(skip) < 9 else 0,
        )

    @property
    def active(self) -> bool:
        return bool(self.q or self.state or self.tag or self.skip)

    @property
    def query(self) -> str:
        """The filters as a query string, without order and place."""
        return urlencode({name: value for name in ("q", "state", "tag") if (value := getattr(self, name))})

    @property
    def first(self) -> int:
        return self.skip + 1

    @property
    def last(self) -> int:
        return min(self.skip + PAGE_SIZE, self.total)

    @property
    def earlier(self) -> str:
        return self._at(max(0, self.skip - PAGE_SIZE)) if self.skip else ""

    @property
    def later(self) -> str:
        return self._at(self.skip + PAGE_SIZE) if self.last < self.total else ""

    def _at(self, skip: int) -> str:
        return f"{self.query}&{urlencode({'sort': self.sort, 'skip': skip})}".lstrip("&")

    def grid_sort(self) -> str | None:
        """The order in the form that the selector reads."""
        if not self.sort:
            return None
        direction = "desc" if self.sort.startswith("-") else "asc"
        return json.dumps([{"field": _SORTS[self.sort.removeprefix("-")], "sort": direction}])

    def grid_filters(self) -> str | None:
        """The state in the form that the selector reads."""
        if not self.state:
            return None
        return json.dumps({"items": [{"field": "state", "operator": "equals", "value": self.state}]})


@require_GET
@member_page
@vary_on_headers("HX-Request")
def documents_page(request: MemberRequest) -> HttpResponse:
    """The list; only its rows for an HTMX request."""
    asked = Filters.of(request)
    found = list_documents(
        actor=request.actor,
        skip=asked.skip,
        limit=PAGE_SIZE,
        tag_ids=[asked.tag] if asked.tag else [],
        name_search=asked.q or None,
        sort=asked.grid_sort(),
        filters=asked.grid_filters(),
    )
    filters = Filters(asked.q, asked.state, asked.tag, asked.sort, asked.skip, found.total_count)
    context = {
        "lines": document_lines(actor=request.actor, documents=found.documents),
        "total": found.total_count,
        "is_exact": found.is_exact,
        "filters": filters,
    }
    if request.htmx and not request.htmx.history_restore_request:
        return render(request, "documents/list.html#rows", context)
    return render(request, "documents/list.html", {**context, **upload_context(request)})


def upload_context(request: MemberRequest) -> dict[str, object]:
    """What the upload form and the filters need."""
    return {
        "tags": list_tags(actor=request.actor, limit=200).rows,
        "states": STATE_NAMES,
        "auto_create": request.organization.auto_create_enabled,
        "max_upload": f"{settings.MAX_UPLOAD_BYTES // 1_048_576} MB",
        "max_upload_files": settings.MAX_UPLOAD_FILES,
    }


@require_http_methods(["GET", "POST"])
@member_page
def delete_page(request: MemberRequest, document_id: str) -> HttpResponse | HttpResponseRedirect:
    """Ask, then move to the trash."""
    document = get_document(actor=request.actor, document_id=document_id)
    if request.method == "POST":
        delete_document(actor=request.actor, document_id=document_id)
        messages.info(request, f"Deleted “{document.name}”. It stays in the trash for 30 days.")
        return redirect("documents:list")
    template = "documents/delete.html#question" if request.htmx else "documents/delete.html"
    return render(request, template, {"document": document})
