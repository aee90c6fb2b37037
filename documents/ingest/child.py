"""The reader: a child process that opens files from strangers. Run as `python -m documents.ingest.child`.

It speaks frames (wire.py) on its standard input and output, has limits on memory and processor time, and may die at
any moment: its parent (sandbox.py) expects that.
"""

import os
import resource
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

from core.errors import DomainError
from documents.errors import UnreadableFile
from documents.ingest import render, wire
from documents.ingest.inspection import inspect
from documents.ingest.layout import arrange
from documents.ingest.limits import Limits
from documents.ingest.textlayer import PdfFile, page_content

Handler = Callable[[wire.Fields], tuple[wire.Fields, bytes]]
DIE_HOOK = "DOCROUTER_TEST_CHILD_DIES_ON"
OCR_PIXELS = 2_000  # the engine's own longest side: more is scaled down by it, less loses small print


class Reader:
    """Answers requests about one open PDF at a time."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._file: PdfFile | None = None
        self._key: tuple[Path, int, int] | None = None

    def inspect(self, fields: wire.Fields) -> tuple[wire.Fields, bytes]:
        return inspect(Path(fields["path"]), fields["kind"], self.limits), b""

    def open(self, fields: wire.Fields) -> tuple[wire.Fields, bytes]:
        return {"pages": len(self._open(fields))}, b""

    def page(self, fields: wire.Fields) -> tuple[wire.Fields, bytes]:
        """Read a page; when its words are in a picture, answer with the picture for OCR instead."""
        file = self._open(fields)
        page = file.read_page(fields["number"])
        if not page.needs_ocr:
            return {"page": wire.page_as_fields(page_content(page, arrange(page.pieces), "text_layer"))}, b""
        wide, high, pixels = render.render_rgb(file.document, page.number, OCR_PIXELS, self.limits)
        return {"raw": wire.raw_as_fields(page), "wide": wide, "high": high}, pixels

    def render(self, fields: wire.Fields) -> tuple[wire.Fields, bytes]:
        file = self._open(fields)
        boxes = fields.get("boxes", [])
        return {}, render.render_webp(file.document, fields["number"], fields["width"], self.limits, boxes)

    def _open(self, fields: wire.Fields) -> PdfFile:
        path = Path(fields["path"])
        status = path.stat()
        key = (path, status.st_mtime_ns, status.st_size)
        if self._file is None or self._key != key:
            if self._file is not None:
                self._file.close()
            self._file, self._key = None, key
            self._file = PdfFile(path)
        return self._file


def serve(handlers: dict[str, Callable[[wire.Fields, bytes], tuple[wire.Fields, bytes]]], limits: Limits) -> None:
    """Answer frames until the parent closes the pipe."""
    source, sink = _take_over_pipes()
    _limit_resources(limits)
    while (frame := wire.read_frame(source)) is not None:
        fields, blob = frame
        _allow_seconds(fields.get("seconds", limits.page_seconds))
        if fields["op"] == os.environ.get(DIE_HOOK):
            os.kill(os.getpid(), signal.SIGSEGV)
        answer, out = _answer(handlers.get(fields["op"], _pong), fields, blob)
        wire.write_frame(sink, answer, out)


def _pong(_fields: wire.Fields, _blob: bytes) -> tuple[wire.Fields, bytes]:
    """Anything else only asks whether the child is up and its models are loaded."""
    return {}, b""


def _answer(
    handler: Callable[[wire.Fields, bytes], tuple[wire.Fields, bytes]], fields: wire.Fields, blob: bytes
) -> tuple[wire.Fields, bytes]:
    try:
        return handler(fields, blob)
    except DomainError as error:
        return wire.error_fields(error), b""
    except MemoryError:
        return {"error": {"code": "memory", "detail": ""}}, b""
    except FileNotFoundError:
        return {"error": {"code": "missing", "detail": ""}}, b""
    except Exception as error:  # noqa: BLE001 - the outermost shell of the child: any parser may raise anything
        return {
            "error": {"code": UnreadableFile.code, "detail": UnreadableFile.detail, "kind": type(error).__name__}
        }, b""


def _take_over_pipes() -> tuple[BinaryIO, BinaryIO]:
    """Keep the pipes for frames: whatever a C library prints goes nowhere."""
    source = os.fdopen(os.dup(0), "rb")
    sink = os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    os.dup2(nowhere, 1)
    return source, sink


def _limit_resources(limits: Limits) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (limits.memory_bytes, limits.memory_bytes))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _allow_seconds(seconds: float) -> None:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (int(usage.ru_utime + usage.ru_stime + seconds) + 1, hard))


def read_limits(arguments: list[str]) -> Limits:
    return Limits.from_json(wire.decode(arguments[0]))


def main() -> None:
    limits = read_limits(sys.argv[1:])
    reader = Reader(limits)
    names = ("inspect", "open", "page", "render")
    handlers: dict[str, Any] = {name: _without_blob(getattr(reader, name)) for name in names}
    serve(handlers, limits)


def _without_blob(handler: Handler) -> Callable[[wire.Fields, bytes], tuple[wire.Fields, bytes]]:
    return lambda fields, _: handler(fields)


if __name__ == "__main__":
    main()
