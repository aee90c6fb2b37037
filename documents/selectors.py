"""Reading documents: the only gate to their rows, pages and pictures for doors."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet, Sum

from core.ids import show_id
from core.listing import bounds
from documents.errors import DocumentNotFound, PageNotFound, RunNotFound, TextNotReady
from documents.events import show_event
from documents.ingest.wire import columns_as_fields, columns_as_frames, columns_as_words
from documents.leaving import sendable
from documents.listing import Place, counted, found, narrowed, page_of_ids, with_metadata, with_tags
from documents.models import Document, DocumentTally, DocumentVersion, Event, EventHead, Page, Run
from documents.page_images import PageImage, cached_image
from llm.content import DocumentContent, PageContent, PageSource
from organizations.actor import Actor
from organizations.gate import get_owned, owned
from tags_app.selectors import get_tags

MAX_EVENTS = 1000
COUNT_LIMIT = 2000


@dataclass(frozen=True, slots=True)
class DocumentList:
    """One page of a list, and how many documents there are in all.

    `total_count` is exact without a search or filter, and up to 2,000 matches with one. Beyond, it is at least 2,000
    and always more than what was skipped and shown while there is more: whoever pages by it sees every document.
    """

    documents: list[Document]
    total_count: int
    skip: int
    is_exact: bool = True


@dataclass(frozen=True, slots=True)
class EventPage:
    """Events after a cursor; `head_seq` is the newest there is."""

    events: list[dict[str, Any]]
    next_after: int
    head_seq: int


def list_documents(
    *,
    actor: Actor,
    skip: int = 0,
    limit: int = 10,
    tag_ids: Sequence[object] = (),
    name_search: str | None = None,
    metadata_search: str | None = None,
    sort: str | None = None,
    filters: str | None = None,
    for_remote_model: bool = False,
) -> DocumentList:
    """List the organization's documents, newest first unless something else is asked for.

    `for_remote_model` leaves out what is marked “never send”. Raises: ListQueryInvalid, InvalidQuery, UnknownTags.
    """
    skip, limit = bounds(skip=skip, limit=limit)
    everything = owned(Document, actor)
    rows = with_tags(
        sendable(everything) if for_remote_model else everything,
        get_tags(actor=actor, tag_ids=tag_ids) if tag_ids else [],
    )
    rows = found(with_metadata(rows, metadata_search), name_search=name_search, filters=filters)
    place = Place(skip, skip + limit + 1, name_search, sort)
    if rows is everything:
        return DocumentList(_documents(page_of_ids(rows, place)[:limit]), tally(actor=actor), skip)
    narrow = narrowed(rows, actor=actor, name_search=name_search, filters=filters)
    number, ids = counted(rows, narrow, place, limit=COUNT_LIMIT)
    reached = skip + len(ids) if ids else 0
    return DocumentList(
        _documents(ids[:limit]), max(number, reached), skip, number < COUNT_LIMIT or 0 < len(ids) <= limit
    )


def _documents(ids: Sequence[uuid.UUID]) -> list[Document]:
    """In the order of their ids, with what lists show of them."""
    page = Document.objects.filter(pk__in=ids).select_related("current_version").prefetch_related("tags")
    kept = {document.pk: document for document in page}
    return [kept[pk] for pk in ids if pk in kept]


def tally(*, actor: Actor) -> int:
    """How many documents the organization has outside the trash."""
    rows = DocumentTally.objects.filter(organization_id=actor.organization_id)
    return int(rows.aggregate(Sum("documents"))["documents__sum"] or 0)


def get_document(*, actor: Actor, document_id: object) -> Document:
    """Raises: DocumentNotFound."""
    return get_owned(Document, actor, document_id, error=DocumentNotFound)


def current_version(*, actor: Actor, document_id: object) -> DocumentVersion:
    """The version that is shown now. Raises: DocumentNotFound."""
    version = get_document(actor=actor, document_id=document_id).current_version
    if version is None:
        raise DocumentNotFound
    return version


def find_duplicate(*, actor: Actor, sha256: str) -> Document | None:
    """The earliest document of the organization with these bytes, if there is one."""
    rows = owned(Document, actor).filter(current_version__sha256=sha256)
    return rows.order_by("created_at", "id").first()


def pages(*, actor: Actor, document_id: object) -> QuerySet[Page]:
    """The pages that were read so far, in order, without their words. Raises: DocumentNotFound."""
    version = current_version(actor=actor, document_id=document_id)
    return Page.objects.filter(version=version).order_by("number").defer("words")


def get_page(*, actor: Actor, document_id: object, number: int) -> Page:
    """One page with its words. Raises: DocumentNotFound, PageNotFound."""
    version = current_version(actor=actor, document_id=document_id)
    page = Page.objects.filter(version=version, number=number).first() if 0 < number < 2**31 else None
    if page is None:
        raise PageNotFound
    return page


def page_text(*, actor: Actor, document_id: object, number: int | None = None) -> str:
    """The text of one page, or of all, pages joined by a newline.

    Raises: DocumentNotFound, PageNotFound, TextNotReady.
    """
    if number is not None:
        return get_page(actor=actor, document_id=document_id, number=number).text
    texts = list(pages(actor=actor, document_id=document_id).values_list("text", flat=True))
    if not texts:
        raise TextNotReady
    return "\n".join(texts)


def document_content(*, actor: Actor, document_id: object) -> DocumentContent:
    """The document as a model may see it: all pages with words and boxes.

    Raises: DocumentNotFound, TextNotReady.
    """
    document = get_document(actor=actor, document_id=document_id)
    rows = Page.objects.filter(version_id=document.current_version_id).order_by("number")
    content = tuple(page_content(row) for row in rows)
    if not content:
        raise TextNotReady
    return DocumentContent(show_id(document.pk), document.name, content)


def page_content(page: Page) -> PageContent:
    """A stored page as plain data."""
    source: PageSource = "ocr" if page.source == "ocr" else "text_layer"
    return PageContent(
        number=page.number,
        width=page.width,
        height=page.height,
        text=page.text,
        words=columns_as_words(page.words),
        source=source,
        rotation=page.rotation,
        frames=columns_as_frames(page.words),
        fields=columns_as_fields(page.words),
    )


def page_image(*, actor: Actor, document_id: object, number: int, width: int = 1200) -> PageImage:
    """A picture of a page. Units: `width` in pixels, rounded up to the next size that is kept.

    Raises: DocumentNotFound, PageNotFound, TextNotReady (no pages yet), ParserBusy, ParserCrashed.
    """
    version = current_version(actor=actor, document_id=document_id)
    if not version.pdf_key or version.page_count is None:
        raise TextNotReady
    if not 1 <= number <= version.page_count:
        raise PageNotFound
    return cached_image(version, number, width)


def get_run(*, actor: Actor, run_id: object) -> Run:
    """Raises: RunNotFound."""
    run = get_owned(Run, actor, run_id, error=RunNotFound)
    get_owned(Document, actor, run.document_id, error=RunNotFound)
    return run


def latest_parse(*, actor: Actor, document_id: object) -> Run | None:
    """The newest parse run of a document: its progress, or why it failed. Raises: DocumentNotFound."""
    document = get_document(actor=actor, document_id=document_id)
    return Run.objects.filter(document=document, kind=Run.Kind.PARSE).order_by("-created_at", "-id").first()


def list_events(*, actor: Actor, document_id: object, after: int = 0, limit: int = MAX_EVENTS) -> EventPage:
    """A document's events with a higher number than `after`. Raises: DocumentNotFound."""
    document = get_document(actor=actor, document_id=document_id)
    after = min(max(after, 0), 2**62)
    head = EventHead.objects.filter(document=document).values_list("last_seq", flat=True).first() or 0
    rows = list(
        Event.objects.filter(document=document, seq__gt=after).order_by("seq")[: min(max(limit, 1), MAX_EVENTS)]
    )
    last = rows[-1].seq if rows else after
    return EventPage([show_event(row) for row in rows], last, max(head, rows[-1].seq if rows else head))
