"""What strangers send: refused or survived, always with a sentence, and the parent lives."""

import contextlib
import io
import os
import time
import zipfile
from pathlib import Path

import pytest

from core.errors import DomainError
from documents.errors import (
    EmptyFile,
    EncryptedFile,
    ParserCrashed,
    TooManyPages,
    TooManyPixels,
    UnreadableFile,
    UnsupportedFile,
)
from documents.ingest import sandbox
from documents.ingest.limits import Limits
from documents.ingest.names import clean_name
from documents.ingest.sniff import Kind, sniff_bytes
from tests.data import make


def on_disk(tmp_path: Path, data: bytes) -> Path:
    path = tmp_path / f"file{len(data)}"
    path.write_bytes(data)
    return path


@pytest.mark.parametrize(
    ("name", "data", "kind"),
    [
        ("a.pdf", make.pdf(), "pdf"),
        ("wrong.png", make.pdf(), "pdf"),
        ("wrong.pdf", make.picture(), "png"),
        ("a.jpg", make.picture("JPEG"), "jpeg"),
        ("a.tif", make.picture("TIFF"), "tiff"),
        ("a.gif", make.picture("GIF"), "gif"),
        ("a.webp", make.picture("WEBP"), "webp"),
        ("a.bmp", make.picture("BMP"), "bmp"),
        ("a.txt", "Größe".encode(), "txt"),
        ("a.txt", "Größe".encode("utf-16"), "txt"),
        ("a.md", b"# Title", "md"),
        ("a.CSV", b"a;b", "csv"),
        ("no extension", b"just text", "txt"),
    ],
)
def test_the_bytes_decide_what_a_file_is(name: str, data: bytes, kind: Kind) -> None:
    assert sniff_bytes(data, name).kind == kind


@pytest.mark.parametrize(
    ("name", "data", "error", "says"),
    [
        ("a.pdf", b"", EmptyFile, "empty"),
        ("a.exe", b"MZ\x90\x00\x03", UnsupportedFile, "Unsupported file extension .exe"),
        ("a.pdf", b"\x00\x01\x02garbage", UnsupportedFile, "of no kind that we can read"),
        ("renamed.docx", b"PK\x03\x04 not really an archive", UnsupportedFile, "damaged"),
        ("old.doc", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600, UnsupportedFile, "LibreOffice"),
    ],
)
def test_what_cannot_be_read_is_refused_with_a_sentence(
    name: str, data: bytes, error: type[DomainError], says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("documents.ingest.sniff.has_office", lambda: False)
    with pytest.raises(error, match=says):
        sniff_bytes(data, name)


def test_an_archive_with_another_name_is_not_a_document() -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("readme.txt", "hello")
    with pytest.raises(UnsupportedFile, match="archive"):
        sniff_bytes(buffer.getvalue(), "invoice.docx")


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("../../etc/passwd", "passwd"),
        ("C:\\Users\\x\\invoice.pdf", "invoice.pdf"),
        ("invoice\u202efdp.exe", "invoicefdp.exe"),
        ("nul\0byte.pdf", "nulbyte.pdf"),
        ("new\nline.pdf", "new line.pdf"),
        ("", "document"),
        ("..", "document"),
        ("/", "document"),
        ("Rechnung März.pdf", "Rechnung März.pdf"),
    ],
)
def test_names_are_reduced_to_what_is_harmless(name: str, shown: str) -> None:
    assert clean_name(name) == shown


def test_a_long_name_keeps_its_extension() -> None:
    cleaned = clean_name("x" * 300 + ".pdf")
    assert (len(cleaned), cleaned[-5:]) == (200, "x.pdf")


def test_locked_and_truncated_files_say_so(tmp_path: Path, readers: sandbox.ChildPool) -> None:
    with readers.lease() as child:
        with pytest.raises(EncryptedFile, match="password"):
            sandbox.count_pages(child, on_disk(tmp_path, make.encrypted()))
        with pytest.raises(UnreadableFile, match="damaged"):
            sandbox.count_pages(child, on_disk(tmp_path, make.pdf()[:300]))
        assert sandbox.count_pages(child, on_disk(tmp_path, make.pdf())) == 1


def test_pictures_of_gigantic_size_are_refused_by_their_header(tmp_path: Path, readers: sandbox.ChildPool) -> None:
    path = on_disk(tmp_path, make.gigantic_png())
    with readers.lease() as child, pytest.raises(TooManyPixels, match="50,000 × 50,000"):
        sandbox.inspect(child, path, "png")
    with contextlib.closing(sandbox.converter(Limits())) as child, pytest.raises(TooManyPixels):
        sandbox.convert(child, path, "png", tmp_path / "out.pdf")


def test_files_with_too_many_pages_are_refused(tmp_path: Path) -> None:
    pool = sandbox.reader_pool(Limits(pages=2))
    with pool.lease() as child, pytest.raises(TooManyPages, match="3 pages; at most 2"):
        sandbox.inspect(child, on_disk(tmp_path, make.numbered_pdf(3)), "pdf")
    pool.close()


def test_a_page_of_kilometres_is_drawn_within_the_limits(tmp_path: Path, readers: sandbox.ChildPool) -> None:
    path = on_disk(tmp_path, make.huge_page())
    with readers.lease() as child:
        assert len(sandbox.render_page(child, path, 1, 100_000)) < 5_000_000
        assert child.is_alive


def test_a_stream_that_nests_without_end_is_survived(tmp_path: Path, readers: sandbox.ChildPool) -> None:
    path = on_disk(tmp_path, make.nested())
    with readers.lease() as child, contextlib.suppress(ParserCrashed, UnreadableFile):
        child.request({"op": "page", "path": str(path), "number": 1}, seconds=20)
    with readers.lease() as child:
        assert sandbox.count_pages(child, on_disk(tmp_path, make.pdf())) == 1


@pytest.mark.slow
def test_a_stream_that_inflates_to_gigabytes_ends_the_child_at_most(tmp_path: Path) -> None:
    path = on_disk(tmp_path, make.inflating())
    pool = sandbox.reader_pool(Limits(memory_bytes=1 << 30, page_seconds=30))
    with pool.lease() as child, contextlib.suppress(ParserCrashed, UnreadableFile):
        answer, _ = child.request({"op": "page", "path": str(path), "number": 1}, seconds=30)
        assert answer["page"]["text"] == ""
    with pool.lease() as child:
        assert sandbox.count_pages(child, on_disk(tmp_path, make.pdf())) == 1
    pool.close()


def test_a_child_that_dies_is_an_error_and_the_next_one_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = on_disk(tmp_path, make.pdf())
    pool = sandbox.reader_pool(Limits())
    monkeypatch.setenv("DOCROUTER_TEST_CHILD_DIES_ON", "page")
    with pool.lease() as child:
        assert sandbox.count_pages(child, path) == 1
        with pytest.raises(ParserCrashed, match="crash"):
            child.request({"op": "page", "path": str(path), "number": 1}, seconds=10)
        assert not child.is_alive
    monkeypatch.delenv("DOCROUTER_TEST_CHILD_DIES_ON")
    with pool.lease() as child:
        assert "page" in child.request({"op": "page", "path": str(path), "number": 1}, seconds=10)[0]
    pool.close()


def test_a_child_that_hangs_is_stopped(tmp_path: Path) -> None:
    path = on_disk(tmp_path, make.pdf())
    child = sandbox.reader(Limits())
    sandbox.count_pages(child, path)
    os.kill(child.pid, 19)
    started = time.monotonic()

    with pytest.raises(ParserCrashed, match="too long"):
        child.request({"op": "page", "path": str(path), "number": 1}, seconds=0.3)

    assert time.monotonic() - started < 5
    assert not child.is_alive
    child.close()
