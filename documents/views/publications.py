"""A published result for everybody: its page, and pictures of its pages where they are shown."""

from functools import partial

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from documents.errors import PageNotFound
from documents.models import Publication
from documents.page_images import cached_image
from documents.publishing import find_publication
from documents.sharing.doors import asked_width, nodes_of, public_page
from documents.sharing.guarding import published
from documents.sharing.shown import SharedFields


@require_safe
@public_page
def publication(request: HttpRequest, slug: str) -> HttpResponseBase:
    """The page."""
    row = find_publication(slug=slug)
    return published(request, row, "page", partial(render, request, "share/publication.html", _context(row)))


@require_safe
@public_page
def published_page(request: HttpRequest, slug: str, number: int) -> HttpResponseBase:
    """The picture of a page, when pages were published."""
    row = find_publication(slug=slug)
    if not row.with_pages or number not in [page["number"] for page in row.payload["pages"]]:
        raise PageNotFound
    width = asked_width(request)

    def make() -> HttpResponse:
        image = cached_image(row.version, number, width)
        return HttpResponse(image.data, content_type=image.content_type)

    return published(request, row, f"{number}-{width}", make)


def _context(row: Publication) -> dict[str, object]:
    payload = row.payload
    sheets = [
        {**page, "image": reverse("share:published_page", args=[row.slug, page["number"]])} for page in payload["pages"]
    ]
    return {
        "publication": row,
        "name": payload["name"],
        "nodes": nodes_of(SharedFields(payload["data"], payload["grounding"])),
        "sheets": sheets,
        "json_url": reverse("v0:v1_publication", args=[row.slug]),
    }
