"""Bytes of documents on their way out: ranges, names that stay in their header, nothing a browser would run as ours."""

import re
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import PurePath
from typing import BinaryIO
from urllib.parse import quote

from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseNotModified, StreamingHttpResponse
from django.utils.cache import patch_cache_control

from core.api.errors import problem_answer
from core.threads import in_thread
from documents import files
from documents.errors import PdfNotReady, RangeNotThere
from documents.models import DocumentVersion

PDF = "application/pdf"
SHOWN_INLINE = {PDF, "image/png", "image/jpeg", "image/webp", "image/gif"}
SANDBOX = "sandbox; default-src 'none'; style-src 'unsafe-inline'"
CHUNK = 3 << 16  # a multiple of three, so that base64 of it needs no padding
_SMALL = 1 << 20
_RANGE = re.compile(r"bytes=([0-9]{0,18})-([0-9]{0,18})")
_PLAIN = re.compile(r"[^A-Za-z0-9 ._()-]")


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file of a document: where it is kept, and as what it is sent. `etag` changes with the bytes."""

    key: str
    name: str
    mime_type: str
    etag: str


def original_of(version: DocumentVersion) -> StoredFile:
    """The bytes as they were uploaded."""
    return StoredFile(version.file_key, version.file_name, version.mime_type, f'"{version.sha256}"')


def pdf_of(version: DocumentVersion) -> StoredFile:
    """The PDF: the upload itself, or what was made of it. Raises: PdfNotReady."""
    if version.pdf_key == version.file_key:
        return original_of(version)
    if not version.pdf_key:
        raise PdfNotReady
    name = f"{PurePath(version.file_name).stem}.pdf"
    return StoredFile(version.pdf_key, name, PDF, f'"{version.sha256}-pdf"')


def file_answer(request: HttpRequest, stored: StoredFile, *, inline: bool = False) -> HttpResponseBase:
    """The file, a range of it, 304 when the client has it, or 416 in JSON. Sandboxed and never sniffed.

    Raises: FileMissing.
    """
    file = files.open_key(stored.key)
    size = file.seek(0, 2)
    asked = _asked_range(request, stored, size)
    response: HttpResponseBase
    if request.headers.get("If-None-Match") == stored.etag:
        file.close()
        response = HttpResponseNotModified()
    elif asked is not None and asked[0] > asked[1]:
        file.close()
        response = problem_answer(RangeNotThere())
        response["Content-Range"] = f"bytes */{size}"
    else:
        first, last = asked or (0, size - 1)
        response = StreamingHttpResponse(FileBytes(file, first, last + 1), content_type=stored.mime_type)
        response["Content-Length"] = str(last - first + 1)
        if asked is not None:
            response.status_code = 206
            response["Content-Range"] = f"bytes {first}-{last}/{size}"
    response["ETag"] = stored.etag
    response["Accept-Ranges"] = "bytes"
    patch_cache_control(response, private=True, max_age=0)
    if response.status_code == RangeNotThere.status:
        return response
    return guarded(response, name=stored.name, inline=inline and stored.mime_type in SHOWN_INLINE)


def guarded(response: HttpResponseBase, *, name: str, inline: bool = False) -> HttpResponseBase:
    """Name what is sent, and keep a browser from running it as a page of ours."""
    plain = _PLAIN.sub("_", name)
    way = "inline" if inline else "attachment"
    response["Content-Disposition"] = f"{way}; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"
    response["Content-Security-Policy"] = SANDBOX
    response["X-Content-Type-Options"] = "nosniff"
    return response


def pieces_answer(pieces: Iterator[bytes], *, content_type: str, small: bool) -> HttpResponseBase:
    """Pieces one after the other as they are made; as a whole when they are known to be few."""
    if small:
        return HttpResponse(b"".join(pieces), content_type=content_type)
    return StreamingHttpResponse(Pieces(pieces), content_type=content_type)


def is_small(size: int) -> bool:
    """Whether an answer of so many bytes is sent as a whole."""
    return size <= _SMALL


def _asked_range(request: HttpRequest, stored: StoredFile, size: int) -> tuple[int, int] | None:
    if request.headers.get("If-Range", stored.etag) != stored.etag:
        return None
    return _range_of(request.headers.get("Range", ""), size)


def _range_of(header: str, size: int) -> tuple[int, int] | None:
    """First and last byte of a single range; an empty one (first > last) cannot be served."""
    matched = _RANGE.fullmatch(header)
    if matched is None or matched[0] == "bytes=-":
        return None
    if not matched[1]:
        return max(0, size - int(matched[2])), size - 1
    return int(matched[1]), min(int(matched[2]), size - 1) if matched[2] else size - 1


class Pieces:
    """Pieces that a generator makes in a thread, so that the event loop waits neither for a disk nor for work."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while (piece := await in_thread(partial(next, self._pieces, None))) is not None:
            yield piece


class FileBytes:
    """Bytes first..end-1, read in a thread so that the event loop never waits for a disk.

    Django closes it with the response, also when nobody has read from it.
    """

    def __init__(self, file: BinaryIO, first: int, end: int) -> None:
        self._file, self._first, self._end = file, first, end

    async def __aiter__(self) -> AsyncIterator[bytes]:
        at = self._first
        with self._file as file:
            await in_thread(partial(file.seek, at))
            while at < self._end and (chunk := await in_thread(partial(file.read, min(CHUNK, self._end - at)))):
                at += len(chunk)
                yield chunk

    def close(self) -> None:
        self._file.close()
