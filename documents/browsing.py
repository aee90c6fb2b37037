"""Documents and runs from newest to oldest, page by page after a cursor: lists that programs walk through."""

import uuid
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import BooleanField, Case, OuterRef, Q, QuerySet, Subquery, Value, When

from core.ids import parse_id
from documents.errors import DocumentNotFound, RunNotFound
from documents.models import Document, Run
from documents.selectors import get_document
from organizations.actor import Actor
from organizations.gate import get_owned, owned


@dataclass(frozen=True, slots=True)
class BrowsedDocument:
    """A document with what works on it, or else its newest run, and when it or a run of it last changed."""

    document: Document
    active_run_id: uuid.UUID | None
    updated_at: datetime


def browse_documents(*, actor: Actor, after: object = None, limit: int = 50) -> tuple[list[BrowsedDocument], bool]:
    """Documents older than `after`, and whether there are more.

    `after` may be in the trash meanwhile. Raises: DocumentNotFound for an `after` that never was.
    """
    rows = _with_runs(owned(Document, actor), actor).order_by("-created_at", "-id")
    if after is not None:
        rows = rows.filter(_older_than(_cursor(actor, after)))
    found = list(rows[: limit + 1])
    return [_as_browsed(document) for document in found[:limit]], len(found) > limit


def browse_document(*, actor: Actor, document_id: object) -> BrowsedDocument:
    """One of them. Raises: DocumentNotFound."""
    pk = parse_id(document_id, error=DocumentNotFound)
    document = _with_runs(owned(Document, actor), actor).filter(pk=pk).first()
    if document is None:
        raise DocumentNotFound
    return _as_browsed(document)


def get_run_of(*, actor: Actor, document_id: object, run_id: object) -> Run:
    """A run of this document. Raises: DocumentNotFound, RunNotFound."""
    document = get_document(actor=actor, document_id=document_id)
    run = get_owned(Run, actor, run_id, error=RunNotFound)
    if run.document_id != document.pk:
        raise RunNotFound
    return run


def browse_runs(*, actor: Actor, document_id: object, after: object = None, limit: int = 100) -> tuple[list[Run], bool]:
    """A document's runs older than `after`, and whether there are more. Raises: DocumentNotFound, RunNotFound."""
    document = get_document(actor=actor, document_id=document_id)
    rows = owned(Run, actor).filter(document=document).order_by("-created_at", "-id")
    if after is not None:
        rows = rows.filter(_older_than(get_run_of(actor=actor, document_id=document_id, run_id=after)))
    found = list(rows[: limit + 1])
    return found[:limit], len(found) > limit


def _cursor(actor: Actor, after: object) -> Document:
    rows = Document._default_manager.filter(organization_id=actor.organization_id)
    last = rows.filter(pk=parse_id(after, error=DocumentNotFound)).only("created_at").first()
    if last is None:
        raise DocumentNotFound
    return last


def _with_runs(rows: QuerySet[Document], actor: Actor) -> QuerySet[Any]:
    of_document = owned(Run, actor).filter(document=OuterRef("pk"))
    has_ended = Case(When(phase__in=Run.ENDED, then=Value(True)), default=Value(False), output_field=BooleanField())
    return (
        rows.select_related("current_version")
        .prefetch_related("tags")
        .annotate(
            active_run_id=Subquery(of_document.order_by(has_ended, "-created_at", "-id").values("id")[:1]),
            run_updated_at=Subquery(of_document.order_by("-updated_at").values("updated_at")[:1]),
        )
    )


def _as_browsed(document: Any) -> BrowsedDocument:
    moments = [moment for moment in (document.updated_at, document.run_updated_at) if moment is not None]
    return BrowsedDocument(document, document.active_run_id, max(moments))


def _older_than(last: Document | Run) -> Q:
    """Rows that come after one, newest first."""
    return Q(created_at__lte=last.created_at) & (Q(created_at__lt=last.created_at) | Q(id__lt=last.pk))
