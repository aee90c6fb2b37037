"""A folder of documents with an `index.json`, read as the product reads them: by the same child processes."""

import hashlib
import json
import pickle
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from documents.ingest import sandbox
from documents.ingest.limits import Limits
from documents.ingest.sniff import sniff_path
from llm.content import DocumentContent, PageContent

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Case:
    """A document with its truth. Units: `seconds` of reading it; `pdf` is what its page images are made from."""

    name: str
    kind: str
    layout: str
    language: str
    fields: Json
    places: dict[str, list[list[float]]]
    """Where each value was drawn (path → [page, x0, y0, x1, y1]…), for made documents."""
    content: DocumentContent
    pdf: Path
    seconds: float


def read_folder(folder: Path, *, cache: Path | None = None, only: str = "") -> Iterator[Case]:
    """The documents of a folder, in the order of its index. With `cache`, what was read before is kept there."""
    work = Path(cache or tempfile.mkdtemp(prefix="docrouter-accuracy-"))
    work.mkdir(parents=True, exist_ok=True)
    limits = Limits()
    engines = sandbox.ocr_pool(limits)
    try:
        for entry in json.loads((folder / "index.json").read_text(encoding="utf-8"))["documents"]:
            if only in entry["id"]:
                yield _case(folder / entry["file"], entry, work, limits, engines)
    finally:
        engines.close()


def _case(path: Path, entry: Json, work: Path, limits: Limits, engines: sandbox.ChildPool) -> Case:
    key = hashlib.sha256(path.read_bytes()).hexdigest()[:16]
    kept, pdf = work / f"{key}.pickle", work / f"{key}.pdf"
    if not kept.exists() or not pdf.exists() or not _is_current(kept):
        started = time.perf_counter()
        pages = _read(path, pdf, limits, engines)
        kept.write_bytes(pickle.dumps((pages, time.perf_counter() - started)))
    pages, seconds = pickle.loads(kept.read_bytes())  # noqa: S301 - written by us, a moment ago
    return Case(
        name=entry["id"],
        kind=entry["type"],
        layout=entry["layout"],
        language=entry["language"],
        fields=entry["fields"],
        places=entry.get("places", {}),
        content=DocumentContent(key, entry["file"], tuple(pages)),
        pdf=pdf,
        seconds=seconds,
    )


def _is_current(kept: Path) -> bool:
    """Whether what is kept has all that pages have now."""
    pages, _ = pickle.loads(kept.read_bytes())  # noqa: S301 - written by us, earlier
    return all(hasattr(page, name.name) for page in pages for name in fields(PageContent))


def _read(path: Path, pdf: Path, limits: Limits, engines: sandbox.ChildPool) -> list[PageContent]:
    kind = sniff_path(path, path.name).kind
    if kind == "pdf":
        pdf.write_bytes(path.read_bytes())
    else:
        with closing(sandbox.converter(limits)) as converter:
            sandbox.convert(converter, path, kind, pdf)
    with closing(sandbox.reader(limits)) as reader:
        count = sandbox.count_pages(reader, pdf)
        return [sandbox.read_page(reader, engines, pdf, number) for number in range(1, count + 1)]


def page_image(case: Case, number: int, *, width: int = 900) -> bytes:
    """A picture of a page, as WebP."""
    with closing(sandbox.reader(Limits())) as reader:
        return sandbox.render_page(reader, case.pdf, number, width)
