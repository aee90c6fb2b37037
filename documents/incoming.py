"""Files on their way in: what is checked before a document, or a new version of one, is made of them."""

import contextlib
import tempfile
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import IO

from django.conf import settings

from core.errors import Invalid
from documents import files
from documents.errors import FileTooLarge, ParserCrashed, UnsupportedFile
from documents.ingest import sandbox
from documents.ingest.names import clean_name
from documents.ingest.sniff import ACCEPTED_EXTENSIONS, FileType, sniff_path
from documents.readers import web_readers
from organizations.actor import Actor
from tags_app.selectors import get_tags

TEXT_KINDS = ("txt", "md", "csv")
MAX_METADATA_PAIRS, MAX_METADATA_CHARS = 100, 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class UploadedFile:
    """A file to become a document: its bytes, a path of this machine where they are, or what writes them to a file."""

    name: str
    data: bytes | None = None
    path: Path | None = None
    write: Callable[[IO[bytes]], object] | None = None
    tag_ids: Sequence[object] = ()
    metadata: Mapping[str, str] = field(default_factory=dict)
    never_send: bool = False


@dataclass(frozen=True, slots=True)
class CheckedFile:
    """A file that passed every check and may be stored."""

    name: str
    path: Path
    size: int
    sha256: str
    type: FileType
    page_count: int | None
    tag_ids: Sequence[uuid.UUID]
    metadata: dict[str, str]
    never_send: bool


@contextlib.contextmanager
def on_disk(file: UploadedFile) -> Iterator[Path]:
    """The bytes as a local file, for hashing and for the child process that looks at them."""
    if file.path is not None:
        yield file.path
        return
    data = file.data or b""
    _check_size(len(data), clean_name(file.name))
    with tempfile.NamedTemporaryFile(prefix="docrouter-upload-") as spooled:
        if file.write is not None:
            file.write(spooled)
        spooled.write(data)
        spooled.flush()
        yield Path(spooled.name)


def check(*, actor: Actor, file: UploadedFile, path: Path) -> CheckedFile:
    """Look at a file without keeping it.

    Raises: FileTooLarge, EmptyFile, UnsupportedFile, TooManyPages, TooManyPixels, UnknownTags, Invalid.
    """
    name = clean_name(file.name)
    size = path.stat().st_size
    _check_size(size, name)
    kind = sniff_path(path, name)
    _check_ending(kind, name)
    return CheckedFile(
        name=name,
        path=path,
        size=size,
        sha256=files.sha256_of(path),
        type=kind,
        page_count=_look_inside(path, kind),
        tag_ids=[tag.pk for tag in get_tags(actor=actor, tag_ids=file.tag_ids)],
        metadata=checked_metadata(file.metadata),
        never_send=file.never_send,
    )


def _check_size(size: int, name: str) -> None:
    if size > settings.MAX_UPLOAD_BYTES:
        raise FileTooLarge(f"{name} is larger than {settings.MAX_UPLOAD_BYTES // 1_048_576} MB.")


def _check_ending(kind: FileType, name: str) -> None:
    """Text is told by its name only: one that stands for something else is not taken for text."""
    ending = PurePath(name).suffix.lower()
    if kind.kind in TEXT_KINDS and ending and ending[1:] not in ACCEPTED_EXTENSIONS:
        raise UnsupportedFile(f"Unsupported file extension {ending}: {name}")


def _look_inside(path: Path, kind: FileType) -> int | None:
    """Pages and pixels are checked before a file is accepted; one that crashes the reader fails its run instead."""
    if kind.kind != "pdf" and not kind.is_image:
        return None
    try:
        with web_readers().lease() as child:
            return sandbox.inspect(child, path, kind.kind)
    except ParserCrashed:
        return None


def checked_metadata(metadata: Mapping[str, str]) -> dict[str, str]:
    """Raises: Invalid."""
    pairs = dict(metadata)
    if len(pairs) > MAX_METADATA_PAIRS:
        raise Invalid(f"At most {MAX_METADATA_PAIRS} metadata entries.", fields={"metadata": "too many"})
    for key, value in pairs.items():
        if not isinstance(key, str) or not isinstance(value, str):
            raise Invalid("Metadata maps text to text.", fields={"metadata": "text to text"})
        if "\0" in key + value or len(key) + len(value) > MAX_METADATA_CHARS:
            raise Invalid("A metadata entry is too long or has a NUL.", fields={"metadata": "too long"})
    return pairs
