"""Where the bytes of documents are kept: keys, and ways in and out of Django's default storage."""

import contextlib
import hashlib
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

from django.core.files.base import File
from django.core.files.storage import default_storage

from core.ids import show_id
from documents.errors import FileMissing
from documents.models import DocumentVersion

_CHUNK = 1 << 20


def original_key(version: DocumentVersion) -> str:
    """The key of a version's own bytes."""
    return f"{_folder(version)}/{version.sha256}"


def rendition_key(version: DocumentVersion) -> str:
    """The key of the PDF that we made of a version."""
    return f"{_folder(version)}/{version.sha256}.pdf"


def _folder(version: DocumentVersion) -> str:
    organization, document = show_id(version.organization_id), show_id(version.document_id)
    return f"org/{organization}/doc/{document}/v{version.number}"


def keep(key: str, path: Path) -> None:
    """Store the bytes of a local file under a key; what was there is replaced."""
    with contextlib.suppress(FileNotFoundError):
        if default_storage.exists(key):
            default_storage.delete(key)
    with path.open("rb") as file:
        saved = default_storage.save(key, File(file))
    if saved != key:
        default_storage.delete(saved)
        raise FileExistsError(key)


def discard(key: str) -> None:
    """Remove bytes that no row will name."""
    with contextlib.suppress(OSError):
        default_storage.delete(key)


def open_key(key: str) -> BinaryIO:
    """Open stored bytes for reading. Raises: FileMissing."""
    try:
        return cast("BinaryIO", default_storage.open(key, "rb"))
    except FileNotFoundError as problem:
        raise FileMissing from problem


@contextlib.contextmanager
def local_copy(key: str) -> Iterator[Path]:
    """Have stored bytes as a file of this machine: the stored file itself, or a copy that is removed afterwards.

    Raises: FileMissing.
    """
    path = _path_here(key)
    if path is not None:
        if not path.is_file():
            raise FileMissing
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="docrouter-") as folder:
        path = Path(folder) / "file"
        with open_key(key) as source, path.open("wb") as target:
            while chunk := source.read(_CHUNK):
                target.write(chunk)
        yield path


def _path_here(key: str) -> Path | None:
    """Where the bytes are on this machine; None for a storage elsewhere."""
    try:
        return Path(default_storage.path(key))
    except NotImplementedError:
        return None


def sha256_of(path: Path) -> str:
    """The fingerprint of a file."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()
