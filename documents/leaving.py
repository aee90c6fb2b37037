"""What may leave this server for a model: a mark on the document, or on one of its tags, keeps it here.

Looked up just before each request, so that a mark counts from the next one on.
"""

import uuid
from collections.abc import Iterable

from django.db.models import Exists, OuterRef, Q, QuerySet

from documents.models import Document
from llm.sources import Sources

_MARKED = Q(never_send=True) | Q(tags__never_send=True, tags__deleted_at__isnull=True)


def sources_of(*document_ids: uuid.UUID) -> Sources:
    """What a request is made of that tells a model of these documents."""
    return Sources(document_ids, local_only=bool(marked_among(document_ids)))


def marked_among(document_ids: Iterable[uuid.UUID]) -> set[uuid.UUID]:
    """Those that must stay, by their own mark or a tag's."""
    return set(Document.objects.filter(_MARKED, pk__in=list(document_ids)).values_list("pk", flat=True))


def sendable(rows: QuerySet[Document]) -> QuerySet[Document]:
    """Those of `rows` that nothing keeps here: a search over others would tell what is in them by what it finds."""
    return rows.filter(~Exists(Document.objects.filter(_MARKED, pk=OuterRef("pk"))))
