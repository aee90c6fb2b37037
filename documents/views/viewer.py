"""What the viewer asks for: pictures of pages, their words, hits of a search, the text, the original file."""

import asyncio
import re
from collections.abc import AsyncIterator
from typing import BinaryIO
from urllib.parse import quote

from asgiref.sync import sync_to_async
from django.http import HttpResponse, HttpResponseBase, HttpResponseNotModified, JsonResponse, StreamingHttpResponse
from django.shortcuts import render
from django.utils.cache import patch_cache_control
from django.views.decorators.http import require_GET, require_safe

from documents import files
from documents.finding import MOST_HITS, find_places
from documents.page_images import image_etag
from documents.selectors import current_version, get_document, get_page, page_image, pages
from organizations.doors import MemberRequest, member_page

SHOWN_INLINE = {"application/pdf", "image/png", "image/jpeg", "image/webp", "image/gif"}
_RANGE = re.compile(r"bytes=([0-9]{0,18})-([0-9]{0,18})")
_CHUNK = 1 << 18
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
    size, first, last = version.size_bytes, 0, version.size_bytes - 1
    asked = _range_of(request.headers.get("Range", ""), size)
    if asked is not None:
        first, last = asked
        if first > last:
            return HttpResponse(status=416, headers={"Content-Range": f"bytes */{size}"})
    file = await sync_to_async(files.open_key)(version.file_key)
    response = StreamingHttpResponse(FileBytes(file, first, last + 1), content_type=version.mime_type)
    response["Content-Length"] = str(last - first + 1)
    response["Accept-Ranges"] = "bytes"
    if asked is not None:
        response.status_code = 206
        response["Content-Range"] = f"bytes {first}-{last}/{size}"
    inline = version.mime_type in SHOWN_INLINE and "download" not in request.GET
    way = "inline" if inline else "attachment"
    response["Content-Disposition"] = f"{way}; filename*=UTF-8''{quote(version.file_name, safe='')}"
    response["Content-Security-Policy"] = "sandbox; default-src 'none'; style-src 'unsafe-inline'"
    response["X-Content-Type-Options"] = "nosniff"
    patch_cache_control(response, private=True, max_age=0)
    return response


def _range_of(header: str, size: int) -> tuple[int, int] | None:
    """First and last byte of a single range; an empty one (first > last) cannot be served."""
    matched = _RANGE.fullmatch(header)
    if matched is None or matched[0] == "bytes=-":
        return None
    if not matched[1]:
        return max(0, size - int(matched[2])), size - 1
    return int(matched[1]), min(int(matched[2]), size - 1) if matched[2] else size - 1


class FileBytes:
    """Bytes first..end-1, read in a thread so that the event loop never waits for a disk.

    Django closes it with the response, also when nobody has read from it.
    """

    def __init__(self, file: BinaryIO, first: int, end: int) -> None:
        self._file, self._first, self._end = file, first, end

    async def __aiter__(self) -> AsyncIterator[bytes]:
        at = self._first
        with self._file as file:
            await asyncio.to_thread(file.seek, at)
            while at < self._end and (chunk := await asyncio.to_thread(file.read, min(_CHUNK, self._end - at))):
                at += len(chunk)
                yield chunk

    def close(self) -> None:
        self._file.close()
