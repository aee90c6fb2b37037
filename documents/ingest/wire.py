"""Frames between a worker and its child processes: a JSON object and a piece of bytes."""

import json
import struct
from typing import Any, BinaryIO

from core.errors import DomainError
from documents.ingest.pieces import Piece, RawPage
from llm.content import FieldName, Frame, PageContent, Word

_HEADER = struct.Struct(">II")
MAX_JSON = 64 * 1024 * 1024
MAX_BLOB = 512 * 1024 * 1024

Fields = dict[str, Any]


def pack(fields: Fields, blob: bytes = b"") -> bytes:
    """Make the head of a frame; the blob follows it."""
    body = json.dumps(fields, ensure_ascii=False).encode("utf-8", "replace")
    return _HEADER.pack(len(body), len(blob)) + body


def header_size() -> int:
    return _HEADER.size


def unpack_header(data: bytes) -> tuple[int, int]:
    """Raises: ValueError, when the other side talks nonsense."""
    body, blob = _HEADER.unpack(data)
    if body > MAX_JSON or blob > MAX_BLOB:
        raise ValueError("frame too large")
    return body, blob


def read_frame(stream: BinaryIO) -> tuple[Fields, bytes] | None:
    """Read one frame; None at the end of the stream."""
    header = stream.read(_HEADER.size)
    if len(header) < _HEADER.size:
        return None
    body, blob = unpack_header(header)
    return json.loads(stream.read(body)), stream.read(blob) if blob else b""


def write_frame(stream: BinaryIO, fields: Fields, blob: bytes = b"") -> None:
    stream.write(pack(fields, blob))
    if blob:
        stream.write(blob)
    stream.flush()


def error_fields(error: DomainError) -> Fields:
    return {"error": {"code": error.error_code, "detail": error.detail}}


def words_as_columns(words: tuple[Word, ...]) -> Fields:
    """Words as columns of equal length: what is stored with a page and what travels."""
    return {
        "text": [word.text for word in words],
        "x0": [word.x0 for word in words],
        "y0": [word.y0 for word in words],
        "x1": [word.x1 for word in words],
        "y1": [word.y1 for word in words],
        "confidence": [word.confidence for word in words],
        "line": [word.line for word in words],
        "origin": [word.origin for word in words],
    }


def page_columns(page: PageContent) -> Fields:
    """What is stored of a page's words: their columns, the frames around them, and the names of form fields."""
    frames, fields = [list(frame) for frame in page.frames], [list(field) for field in page.fields]
    return {**words_as_columns(page.words), "frames": frames, "fields": fields}


def columns_as_frames(columns: Fields) -> tuple[Frame, ...]:
    """The frames that were stored with a page; none for pages that were read before there were any."""
    return tuple((x0, y0, x1, y1) for x0, y0, x1, y1 in columns.get("frames", ()))


def columns_as_fields(columns: Fields) -> tuple[FieldName, ...]:
    """The names of form fields that were stored with a page."""
    return tuple((x0, y0, x1, y1, name) for x0, y0, x1, y1, name in columns.get("fields", ()))


def columns_as_words(columns: Fields) -> tuple[Word, ...]:
    if not columns:
        return ()
    names = ("text", "x0", "y0", "x1", "y1", "confidence", "line", "origin")
    return tuple(Word(*values) for values in zip(*(columns[name] for name in names), strict=True))


def page_as_fields(page: PageContent) -> Fields:
    return {
        "number": page.number,
        "width": page.width,
        "height": page.height,
        "rotation": page.rotation,
        "source": page.source,
        "text": page.text,
        "words": page_columns(page),
    }


def fields_as_page(fields: Fields) -> PageContent:
    return PageContent(
        number=fields["number"],
        width=fields["width"],
        height=fields["height"],
        text=fields["text"],
        words=columns_as_words(fields["words"]),
        source=fields["source"],
        rotation=fields["rotation"],
        frames=columns_as_frames(fields["words"]),
        fields=columns_as_fields(fields["words"]),
    )


def raw_as_fields(page: RawPage) -> Fields:
    """A page that still needs OCR, with the words that its text layer has."""
    return {
        "number": page.number,
        "width": page.width,
        "height": page.height,
        "rotation": page.rotation,
        "pieces": [[piece.text, piece.x0, piece.y0, piece.x1, piece.y1, 1.0, piece.origin] for piece in page.pieces],
    }


def fields_as_raw(fields: Fields) -> RawPage:
    pieces = [Piece(*values) for values in fields["pieces"]]
    return RawPage(fields["number"], fields["width"], fields["height"], fields["rotation"], pieces, needs_ocr=True)


def encode(fields: Fields) -> str:
    """Fields as one command line argument."""
    return json.dumps(fields, separators=(",", ":"))


def decode(text: str) -> Fields:
    fields: Fields = json.loads(text)
    return fields
