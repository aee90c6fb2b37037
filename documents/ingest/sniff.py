"""What a file is, by its bytes. The name is only asked where bytes cannot tell (text kinds, old office files)."""

import shutil
import struct
import zipfile
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path, PurePath
from typing import BinaryIO, Literal

from documents.errors import EmptyFile, UnsupportedFile

Kind = Literal[
    "pdf", "png", "jpeg", "tiff", "gif", "webp", "bmp", "txt", "md", "csv", "docx", "xlsx", "doc", "xls"
]  # fmt: skip

MIME_TYPES: dict[Kind, str] = {
    "pdf": "application/pdf",
    "png": "image/png",
    "jpeg": "image/jpeg",
    "tiff": "image/tiff",
    "gif": "image/gif",
    "webp": "image/webp",
    "bmp": "image/bmp",
    "txt": "text/plain",
    "md": "text/markdown",
    "csv": "text/csv",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "doc": "application/msword",
    "xls": "application/vnd.ms-excel",
}
IMAGE_KINDS: frozenset[Kind] = frozenset(["png", "jpeg", "tiff", "gif", "webp", "bmp"])
ACCEPTED_EXTENSIONS = (
    "pdf", "docx", "doc", "csv", "xls", "xlsx", "txt", "md", "jpg", "jpeg", "png", "gif", "webp", "bmp", "tiff", "tif",
)  # fmt: skip

_HEAD = 4096
_PDF_WITHIN = 1024
_MAX_ZIP_ENTRIES = 10_000
_MAGIC: tuple[tuple[bytes, Kind], ...] = (
    (b"\x89PNG\r\n\x1a\n", "png"),
    (b"\xff\xd8\xff", "jpeg"),
    (b"II*\x00", "tiff"),
    (b"MM\x00*", "tiff"),
    (b"GIF87a", "gif"),
    (b"GIF89a", "gif"),
)
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_TEXT_CONTROLS = frozenset(b"\t\n\v\f\r\x1b\x1a")


@dataclass(frozen=True, slots=True)
class FileType:
    """What a file is, and as which MIME type it is served."""

    kind: Kind

    @property
    def mime(self) -> str:
        return MIME_TYPES[self.kind]

    @property
    def is_image(self) -> bool:
        return self.kind in IMAGE_KINDS


def has_office() -> bool:
    """Say whether LibreOffice is installed: only then old office files can be read."""
    return shutil.which("soffice") is not None


def sniff(file: BinaryIO, name: str) -> FileType:
    """Tell the type of an open file; a wrong extension does not matter, the bytes do.

    Raises: EmptyFile, UnsupportedFile.
    """
    file.seek(0)
    head = file.read(_HEAD)
    if not head:
        raise EmptyFile(f"The file is empty: {name}")
    kind = _binary_kind(head, file, name) or _text_kind(head, name)
    if kind is None:
        raise UnsupportedFile(_unsupported(name))
    return FileType(kind)


def sniff_bytes(data: bytes, name: str) -> FileType:
    """Raises: EmptyFile, UnsupportedFile."""
    return sniff(BytesIO(data), name)


def _binary_kind(head: bytes, file: BinaryIO, name: str) -> Kind | None:
    if b"%PDF-" in head[:_PDF_WITHIN]:
        return "pdf"
    for magic, kind in _MAGIC:
        if head.startswith(magic):
            return kind
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "webp"
    if head[:2] == b"BM" and len(head) > 26 and struct.unpack_from("<I", head, 14)[0] in (12, 40, 52, 56, 64, 108, 124):
        return "bmp"
    if head[:4] == b"PK\x03\x04":
        return _zip_kind(file, name)
    return _old_office_kind(name) if head.startswith(_OLE) else None


def _zip_kind(file: BinaryIO, name: str) -> Kind:
    names = _zip_names(file, name)
    if "word/document.xml" in names:
        return "docx"
    if "xl/workbook.xml" in names:
        return "xlsx"
    raise UnsupportedFile(f"This is an archive, not a document. Unpack it and upload the files in it: {name}")


def _zip_names(file: BinaryIO, name: str) -> set[str]:
    """The entries of an archive, from its directory; nothing is unpacked."""
    file.seek(0, 2)
    size = file.tell()
    file.seek(max(0, size - 65_557))
    tail = file.read()
    end = tail.rfind(b"PK\x05\x06")
    if end < 0 or len(tail) < end + 12:
        raise UnsupportedFile(f"This archive is damaged: {name}")
    if struct.unpack_from("<H", tail, end + 10)[0] > _MAX_ZIP_ENTRIES:
        raise UnsupportedFile(f"This archive has too many entries: {name}")
    file.seek(0)
    try:
        with zipfile.ZipFile(file) as archive:
            return set(archive.namelist()[:_MAX_ZIP_ENTRIES])
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError) as error:
        raise UnsupportedFile(f"This archive is damaged: {name}") from error


def _old_office_kind(name: str) -> Kind:
    kind: Kind = "xls" if PurePath(name).suffix.lower() in (".xls", ".xlt") else "doc"
    if not has_office():
        raise UnsupportedFile(
            f"Old office files need LibreOffice, which is not installed here. Save it as {kind}x or PDF: {name}"
        )
    return kind


def _text_kind(head: bytes, name: str) -> Kind | None:
    if not _is_text(head):
        return None
    suffix = PurePath(name).suffix.lower()
    if suffix in (".md", ".markdown"):
        return "md"
    return "csv" if suffix == ".csv" else "txt"


def _is_text(head: bytes) -> bool:
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return True
    controls = sum(1 for byte in head if byte < 32 and byte not in _TEXT_CONTROLS)
    return controls == 0


def _unsupported(name: str) -> str:
    suffix = PurePath(name).suffix.lower()
    if suffix and suffix[1:] not in ACCEPTED_EXTENSIONS:
        return f"Unsupported file extension {suffix}: {name}"
    return f"The content of this file is of no kind that we can read: {name}"


def sniff_path(path: Path, name: str) -> FileType:
    """Raises: EmptyFile, UnsupportedFile."""
    with path.open("rb") as file:
        return sniff(file, name)
