"""The pools of child processes that read files, and the limits that settings give them."""

import atexit
from functools import cache

from django.conf import settings

from documents.ingest.limits import Limits
from documents.ingest.sandbox import ChildPool, ocr_pool, reader_pool

_REQUESTS_OF_A_READER = 200


def current_limits() -> Limits:
    """The limits of reading one file, from settings."""
    return Limits(
        upload_bytes=settings.MAX_UPLOAD_BYTES,
        pages=settings.MAX_PAGES,
        pixels=settings.MAX_IMAGE_PIXELS,
        page_seconds=settings.PARSE_SECONDS_PER_PAGE,
        document_seconds=settings.PARSE_SECONDS_PER_DOCUMENT,
        memory_bytes=settings.PARSE_MEMORY_BYTES,
    )


@cache
def web_readers() -> ChildPool:
    """For the web process: looks at uploads, draws pages."""
    return _kept(reader_pool(current_limits(), size=settings.RENDER_PROCESSES, max_requests=_REQUESTS_OF_A_READER))


@cache
def worker_ocr() -> ChildPool:
    """For a worker process: one OCR engine that keeps its models loaded across documents."""
    return _kept(ocr_pool(current_limits(), size=1))


def _kept(pool: ChildPool) -> ChildPool:
    atexit.register(pool.close)
    return pool
