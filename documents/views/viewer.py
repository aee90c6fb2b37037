"""What the viewer asks for: pictures of pages, their words, hits of a search, the text, the original file."""

from asgiref.sync import sync_to_async
from django.http import HttpResponse, HttpResponseBase, HttpResponseNotModified, JsonResponse
from django.shortcuts import render
from django.utils.cache import patch_cache_control
from django.views.decorators.http import require_GET, require_safe

from documents.finding import MOST_HITS, find_places
from documents.page_images import image_etag
from documents.selectors import current_version, get_document, get_page, page_image, pages
from documents.serving import file_answer, original_of
from organizations.doors import MemberRequest, member_page

_WORD_COLUMNS = ("text", "x0", "y0", "x1", "y1", "line")
_DAY = 24 * 3600


@require_safe
@member_page
def page_picture(request: MemberRequest, document_id: str, number: int) -> HttpResponse:
    """A WebP picture of a page, at one of a few widths; 304 when the browser has it."""
    asked = request.GET.get("w", "960")
    width = min(int(asked), 4000) if asked.isdecimal() and len(asked) < 6 else 960
    version = current_version(actor=request.actor, document_id=document_id)
    response: HttpResponse
    if request.headers.get("If-None-Match") == (etag := image_etag(version, number, width)):
        response = HttpResponseNotModified()
    else:
        picture = page_image(actor=request.actor, document_id=document_id, number=number, width=width)
        response, etag = HttpResponse(picture.data, content_type=picture.content_type), picture.etag
    response["ETag"] = etag
    patch_cache_control(response, private=True, max_age=_DAY)
    return response


@require_GET
@member_page
def page_words(request: MemberRequest, document_id: str, number: int) -> HttpResponse:
    """The words of a page with their boxes, column by column."""
    page = get_page(actor=request.actor, document_id=document_id, number=number)
    etag = f'"{page.pk.hex}"'
    response: HttpResponse
    if request.headers.get("If-None-Match") == etag:
        response = HttpResponseNotModified()
    else:
        response = JsonResponse({name: page.words.get(name, []) for name in _WORD_COLUMNS})
    response["ETag"] = etag
    patch_cache_control(response, private=True, max_age=0)
    return response


@require_GET
@member_page
def find(request: MemberRequest, document_id: str) -> JsonResponse:
    """Places where a text stands."""
    text = request.GET.get("q", "")[:200]
    rows = pages(actor=request.actor, document_id=document_id).defer(None).iterator(chunk_size=20)
    places = find_places(pages=rows, text=text)
    shown = [{"boxes": [{"page": place.page, "box": box} for box in place.boxes]} for place in places]
    return JsonResponse({"hits": shown, "more": len(places) == MOST_HITS})


@require_GET
@member_page
def text_panel(request: MemberRequest, document_id: str) -> HttpResponse:
    """The text of all pages as it was read."""
    document = get_document(actor=request.actor, document_id=document_id)
    rows = pages(actor=request.actor, document_id=document_id)
    return render(request, "documents/text.html", {"document": document, "pages": rows})


@require_safe
@member_page
async def original_file(request: MemberRequest, document_id: str) -> HttpResponseBase:
    """The uploaded bytes. Never run by a browser as a page of ours: no sniffing, sandboxed, foreign types download."""
    version = await sync_to_async(current_version)(actor=request.actor, document_id=document_id)
    inline = "download" not in request.GET
    return await sync_to_async(file_answer)(request, original_of(version), inline=inline)
