"""The parent's side: child processes that read files for us, with limits; their death is an error, not ours.

Children are fresh interpreters on pipes: never a fork of a process with threads, never a child of `multiprocessing`,
which a Celery worker may not have.
"""

import contextlib
import os
import queue
import select
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO

from core.errors import DomainError
from documents import errors
from documents.ingest import wire
from documents.ingest.limits import Limits
from documents.ingest.sniff import Kind
from llm.content import PageContent

_ROOT = Path(__file__).resolve().parents[2]
_START_SECONDS = 60.0
_CLOCK_PER_SECOND = 3.0
_PIPE_CHUNK = 1 << 20
_KNOWN = {
    kind.code: kind
    for kind in (
        errors.EncryptedFile,
        errors.TooManyPages,
        errors.TooManyPixels,
        errors.UnreadableFile,
        errors.UnsupportedFile,
        errors.EmptyFile,
    )
}
_TOO_LONG = "Reading this file took too long and was stopped."
_TOO_MUCH = "Reading this file needs too much memory."
_DIED = "Reading this file made the reader crash."


class Child:
    """One child process. One request at a time; anything unexpected kills it."""

    def __init__(self, module: str, limits: Limits) -> None:
        self.limits = limits
        self.requests = 0
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", module, wire.encode(limits.as_json())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=_ROOT,
            env=_environment(),
            close_fds=True,
        )
        for stream in (self._stdin, self._stdout):
            os.set_blocking(stream.fileno(), False)

    @property
    def _stdin(self) -> IO[bytes]:
        assert self._process.stdin is not None  # noqa: S101 - Popen was told to make the pipe
        return self._process.stdin

    @property
    def _stdout(self) -> IO[bytes]:
        assert self._process.stdout is not None  # noqa: S101 - Popen was told to make the pipe
        return self._process.stdout

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def request(self, fields: wire.Fields, blob: bytes = b"", *, seconds: float) -> tuple[wire.Fields, bytes]:
        """Ask and wait for the answer.

        Units: `seconds` of the child's processor time; on a busy machine it may take three times as long by the clock.

        Raises: ParserCrashed, when the child dies, hangs or runs out of memory; the domain errors of reading.
        """
        started = 0.0 if self.requests else _START_SECONDS
        deadline = time.monotonic() + _CLOCK_PER_SECOND * seconds + started
        self.requests += 1
        try:
            self._send(wire.pack({**fields, "seconds": seconds}, blob), deadline)
            self._send(blob, deadline)
            body, size = wire.unpack_header(self._receive(wire.header_size(), deadline))
            answer, out = wire.decode(self._receive(body, deadline).decode()), self._receive(size, deadline)
        except (OSError, EOFError, ValueError) as problem:
            raise errors.ParserCrashed(self._bury(problem)) from problem
        _raise_error(answer)
        return answer, out

    def _send(self, data: bytes, deadline: float) -> None:
        view = memoryview(data)
        while view:
            _, writable, _ = select.select([], [self._stdin], [], max(0.0, deadline - time.monotonic()))
            if not writable:
                raise TimeoutError
            view = view[os.write(self._stdin.fileno(), view[:_PIPE_CHUNK]) :]

    def _receive(self, size: int, deadline: float) -> bytes:
        parts: list[bytes] = []
        while size:
            readable, _, _ = select.select([self._stdout], [], [], max(0.0, deadline - time.monotonic()))
            if not readable:
                raise TimeoutError
            part = os.read(self._stdout.fileno(), min(size, _PIPE_CHUNK))
            if not part:
                raise EOFError
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def _bury(self, problem: Exception) -> str:
        """Make sure that it is gone; say why in a sentence."""
        timed_out = isinstance(problem, TimeoutError)
        if timed_out:
            self._process.kill()
        try:
            code = self._process.wait(5)
        except subprocess.TimeoutExpired:
            self.close()
            code = 0
        if timed_out or code == -24:  # SIGXCPU
            return _TOO_LONG
        return f"{_DIED[:-1]} (signal {-code})." if code < 0 else _DIED

    def close(self) -> None:
        """End it now; closing twice is fine."""
        self._process.kill()
        self._process.wait()
        for stream in (self._stdin, self._stdout):
            with contextlib.suppress(OSError):
                stream.close()


def _environment() -> dict[str, str]:
    """Nothing of ours: no database address, no keys. One thread per library."""
    kept = ("PATH", "HOME", "TMPDIR", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "VIRTUAL_ENV")
    environment = {name: os.environ[name] for name in kept if name in os.environ}
    environment.update({name: value for name, value in os.environ.items() if name.startswith("DOCROUTER_TEST_")})
    threads = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OPENCV_FOR_THREADS_NUM")
    environment.update(dict.fromkeys(threads, "1"))
    return {**environment, "PYTHONPATH": str(_ROOT), "PYTHONDONTWRITEBYTECODE": "", "MALLOC_ARENA_MAX": "2"}


def _raise_error(answer: wire.Fields) -> None:
    problem = answer.get("error")
    if problem is None:
        return
    if problem["code"] == "missing":
        raise FileNotFoundError
    if problem["code"] == "memory":
        raise errors.ParserCrashed(_TOO_MUCH)
    known: type[DomainError] = _KNOWN.get(problem["code"], errors.UnreadableFile)
    raise known(problem["detail"] or None)


class ChildPool:
    """A few children of one kind, started when first needed and replaced after so many requests or a death."""

    def __init__(self, module: str, limits: Limits, *, size: int = 1, max_requests: int = 500) -> None:
        self.module, self.limits, self.size, self.max_requests = module, limits, size, max_requests
        self._places: queue.Queue[Child | None] = queue.Queue()
        self._owner = 0
        self._lock = threading.Lock()

    @contextlib.contextmanager
    def lease(self, *, patience: float = 30.0) -> Iterator[Child]:
        """Have one child for yourself. Raises: ParserBusy, when all are in use for longer than `patience` seconds."""
        self._fill()
        try:
            child = self._places.get(timeout=patience)
        except queue.Empty:
            raise errors.ParserBusy(retry_after=5) from None
        kept: Child | None = None
        try:
            if child is None or not child.is_alive:
                child = Child(self.module, self.limits)
            yield child
            kept = child if child.is_alive and child.requests < self.max_requests else None
        finally:
            if child is not None and kept is None:
                child.close()
            self._places.put(kept)

    def _fill(self) -> None:
        """Children belong to the process that started them: a fork begins with empty places."""
        with self._lock:
            if self._owner != os.getpid():
                self._owner = os.getpid()
                self._places = queue.Queue()
                for _ in range(self.size):
                    self._places.put(None)

    def close(self) -> None:
        """End all idle children."""
        if self._owner != os.getpid():
            return
        for _ in range(self.size):
            with contextlib.suppress(queue.Empty):
                child = self._places.get_nowait()
                if child is not None:
                    child.close()
                self._places.put(None)


_READER, _OCR, _CONVERTER = (f"documents.ingest.{name}" for name in ("child", "ocr_child", "convert_child"))


def reader(limits: Limits) -> Child:
    """A child process of your own that reads files; close it."""
    return Child(_READER, limits)


def converter(limits: Limits) -> Child:
    """A child process of your own that makes PDFs of other formats; close it."""
    return Child(_CONVERTER, limits)


def reader_pool(limits: Limits, *, size: int = 1, max_requests: int = 500) -> ChildPool:
    return ChildPool(_READER, limits, size=size, max_requests=max_requests)


def ocr_pool(limits: Limits, *, size: int = 1) -> ChildPool:
    return ChildPool(_OCR, limits, size=size, max_requests=200)


def inspect(child: Child, path: Path, kind: Kind) -> int | None:
    """Count the pages; None when the file does not say without being read. Raises: TooManyPages, TooManyPixels."""
    answer, _ = child.request({"op": "inspect", "path": str(path), "kind": kind}, seconds=child.limits.page_seconds)
    pages: int | None = answer["pages"]
    return pages


def convert(child: Child, path: Path, kind: Kind, target: Path) -> list[str]:
    """Make a PDF of another format; returns notes on what it does not show."""
    answer, _ = child.request(
        {"op": "convert", "path": str(path), "kind": kind, "target": str(target)},
        seconds=child.limits.document_seconds,
    )
    return list(answer["notes"])


def count_pages(child: Child, path: Path) -> int:
    """Raises: EncryptedFile, UnreadableFile."""
    answer, _ = child.request({"op": "open", "path": str(path)}, seconds=child.limits.page_seconds)
    return int(answer["pages"])


def read_page(child: Child, ocr: ChildPool, path: Path, number: int) -> PageContent:
    """Read one page, by OCR when its words are in a picture. Units: `number` is 1-based."""
    seconds = child.limits.page_seconds
    answer, pixels = child.request({"op": "page", "path": str(path), "number": number}, seconds=seconds)
    if "page" not in answer:
        with ocr.lease(patience=child.limits.document_seconds) as engine:
            answer, _ = engine.request({**answer, "op": "ocr"}, pixels, seconds=seconds)
    return wire.fields_as_page(answer["page"])


def render_page(child: Child, path: Path, number: int, width: int, *, boxes: Sequence[Sequence[float]] = ()) -> bytes:
    """Draw a page as WebP. Units: `width` in pixels; `boxes` that are painted black are fractions of the page."""
    painted = [list(box) for box in boxes]
    fields = {"op": "render", "path": str(path), "number": number, "width": width, "boxes": painted}
    return child.request(fields, seconds=child.limits.page_seconds)[1]
