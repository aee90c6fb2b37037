"""What was read of a document, for programs: only once all of it is read. Pages come in batches, so that a long
document is never in memory as a whole."""

from collections.abc import Iterator
from dataclasses import dataclass

from django.db.models import QuerySet

from documents.errors import DocumentNotFound, ReadingNotFound, ReadingNotOffered
from documents.ingest.sniff import MIME_TYPES, Kind
from documents.models import Document, DocumentVersion, Page, Run
from documents.selectors import get_document
from organizations.actor import Actor
from organizations.gate import owned

WITHOUT_OCR: tuple[Kind, ...] = ("csv", "xls", "xlsx", "txt", "md")
_TYPES_WITHOUT = frozenset(MIME_TYPES[kind] for kind in WITHOUT_OCR)
_UNREAD = (Document.State.UPLOADED, Document.State.OCR_PROCESSING, Document.State.OCR_FAILED)
_BATCH = 50


@dataclass(frozen=True, slots=True)
class Reading:
    """A document whose pages are all read."""

    actor: Actor
    document: Document
    version: DocumentVersion

    @property
    def pages(self) -> QuerySet[Page]:
        return owned(Page, self.actor).filter(version=self.version).order_by("number")

    @property
    def is_short(self) -> bool:
        """Whether what is made of it can be sent as a whole."""
        return (self.version.page_count or 0) <= _BATCH

    def batches(self) -> Iterator[list[Page]]:
        """The pages with their words, in order; one query for each fifty."""
        last = 0
        while batch := list(self.pages.filter(number__gt=last)[:_BATCH]):
            yield batch
            last = batch[-1].number
            if len(batch) < _BATCH:
                return

    def each_page(self) -> Iterator[Page]:
        """The pages with their words, in order."""
        for batch in self.batches():
            yield from batch


def can_be_read(version: DocumentVersion) -> bool:
    """Say whether the wire offers OCR for this kind of file: tables and plain text have no need of it."""
    return version.mime_type not in _TYPES_WITHOUT


def get_reading(*, actor: Actor, document_id: object, missing: str = "") -> Reading:
    """Raises: DocumentNotFound, ReadingNotOffered, ReadingNotFound (saying `missing`) until all of it is read."""
    document = get_document(actor=actor, document_id=document_id)
    version = document.current_version
    if version is None:
        raise DocumentNotFound
    if not can_be_read(version):
        raise ReadingNotOffered
    if document.state in _UNREAD:
        raise ReadingNotFound(missing)
    return Reading(actor, document, version)


def text_of(*, actor: Actor, document_id: object, page_number: int | None = None) -> str:
    """The text of a page, or of all of them, joined by a newline.

    Raises: DocumentNotFound, ReadingNotOffered, ReadingNotFound.
    """
    missing = "OCR text not found"
    pages = get_reading(actor=actor, document_id=document_id, missing=missing).pages
    if page_number is not None:
        pages = pages.filter(number=page_number) if 0 < page_number < 2**31 else pages.none()
    texts = list(pages.values_list("text", flat=True))
    if not texts:
        raise ReadingNotFound(missing)
    return "\n".join(texts)


@dataclass(frozen=True, slots=True)
class ReadingFacts:
    """`source`: "text_layer", "ocr", "mixed", or None when there are no pages; `ended_at` as ISO text."""

    page_count: int
    ended_at: str
    source: str | None


def facts_of(*, actor: Actor, document_id: object) -> ReadingFacts:
    """Raises: DocumentNotFound, ReadingNotOffered, ReadingNotFound."""
    missing = "OCR metadata not found"
    reading = get_reading(actor=actor, document_id=document_id, missing=missing)
    sources = list(reading.pages.order_by().values_list("source", flat=True))
    reads = owned(Run, actor).filter(version=reading.version, kind=Run.Kind.PARSE, phase=Run.Phase.COMPLETE)
    ended = reads.order_by("-created_at", "-id").values_list("completed_at", "updated_at").first()
    if ended is None:
        raise ReadingNotFound(missing)
    kinds = set(sources)
    source = "mixed" if len(kinds) > 1 else next(iter(kinds), None)
    return ReadingFacts(len(sources), (ended[0] or ended[1]).isoformat().replace("+00:00", "Z"), source)
