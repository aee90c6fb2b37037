"""Pictures of pages: drawn on demand by a child process, kept on disk within a size, safe to delete."""

import contextlib
import hashlib
import os
import random
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from core.ids import show_id
from documents import files
from documents.ingest import sandbox
from documents.models import DocumentVersion
from documents.readers import web_readers

Boxes = Sequence[Sequence[float]]
WIDTHS = (160, 320, 640, 960, 1280, 1600, 2200, 3000)
_SWEEP_EVERY = 50  # on average: sweeping reads the whole folder
_RENDERER = 1  # raise it when pictures come out differently: names and ETags change with it


@dataclass(frozen=True, slots=True)
class PageImage:
    """A WebP picture. `etag` changes when the picture does."""

    data: bytes
    etag: str
    content_type: str = "image/webp"


def image_etag(version: DocumentVersion, number: int, width: int) -> str:
    """What identifies a picture, without drawing it."""
    return f'"{version.sha256[:32]}-{number}-{kept_width(width)}-{_RENDERER}"'


def kept_width(width: int) -> int:
    """The next of the few widths that are kept."""
    return next((kept for kept in WIDTHS if kept >= width), WIDTHS[-1])


def cached_image(version: DocumentVersion, number: int, width: int, *, boxes: Boxes = ()) -> PageImage:
    """The picture of a page, from disk or drawn now. Units: `boxes` that are painted black are fractions of the page.

    Raises: ParserBusy, ParserCrashed, UnreadableFile.
    """
    width = kept_width(width)
    painted = f"-{hashlib.sha256(repr(boxes).encode()).hexdigest()[:32]}" if boxes else ""
    name = f"{number}-{width}-{_RENDERER}{painted}.webp"
    path = _folder() / show_id(version.organization_id) / show_id(version.pk) / name
    etag = f'{image_etag(version, number, width)[:-1]}{painted}"'
    with contextlib.suppress(OSError):
        data = path.read_bytes()
        os.utime(path)
        return PageImage(data, etag)
    with files.local_copy(version.pdf_key) as pdf, web_readers().lease() as child:
        data = sandbox.render_page(child, pdf, number, width, boxes=boxes)
    with contextlib.suppress(OSError):
        _keep(path, data)
    return PageImage(data, etag)


def _folder() -> Path:
    return Path(settings.RENDER_CACHE_DIR)


def _keep(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(dir=path.parent, suffix=".part")
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
    Path(name).replace(path)
    if random.randrange(_SWEEP_EVERY) == 0:  # noqa: S311 - nothing depends on this being unpredictable
        sweep_cache(settings.RENDER_CACHE_BYTES)


def sweep_cache(most: int) -> int:
    """Delete the pictures that were not asked for the longest, down to nine tenths of `most`. Units: bytes."""
    entries = []
    for path in _folder().rglob("*.webp"):
        with contextlib.suppress(OSError):
            status = path.stat()
            entries.append((status.st_mtime, status.st_size, path))
    size = sum(entry[1] for entry in entries)
    removed = 0
    if size <= most:
        return removed
    for _, bytes_of_it, path in sorted(entries):
        if size - removed <= 0.9 * most:
            break
        with contextlib.suppress(OSError):
            path.unlink()
            removed += bytes_of_it
    return removed
