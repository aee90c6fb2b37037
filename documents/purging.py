"""Documents leave the trash for good, with their files; files that no row names are swept."""

import uuid
from collections.abc import Iterator
from datetime import datetime
from functools import partial

import structlog
from django.core.files.storage import default_storage
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from core.purging import in_trash, purge_rows
from documents import files
from documents.models import Document, DocumentVersion
from prompts_app.models import Prompt
from schemas_app.models import Schema

log = structlog.get_logger(__name__)

_ROOT = "org"


def purge_documents(*, before: datetime) -> int:
    """Delete what has been in the trash since before a moment, with everything about it. Returns: how many."""
    return _purge(in_trash(Document.objects.all(), before=before))


def purge_documents_of(*, organization_id: uuid.UUID) -> int:
    """Delete all documents of a closed organization, in the trash or not. Returns: how many."""
    return _purge(Document.objects.filter(organization_id=organization_id, organization__deleted_at__isnull=False))


def sweep_files(*, before: datetime) -> int:
    """Remove stored files that no version names, unless they are so new that their row may still be on its way.

    Returns: how many.
    """
    count = 0
    for folder in _folders():
        keys = [f"{folder}/{name}" for name in default_storage.listdir(folder)[1]]
        named = DocumentVersion.objects.filter(Q(file_key__in=keys) | Q(pdf_key__in=keys))
        kept = {key for pair in named.values_list("file_key", "pdf_key") for key in pair}
        for key in keys:
            if key not in kept and default_storage.get_modified_time(key) < before:
                files.discard(key)
                count += 1
    if count:
        log.info("files.swept", files=count)
    return count


def _purge(rows: QuerySet[Document]) -> int:
    return purge_rows(rows, also=_let_go)


def _let_go(document: Document) -> None:
    """First the rows, then the bytes: a crash in between leaves files without a row, which the sweep finds.

    What was proposed for the document and never accepted goes to the trash: nobody can decide about it any more.
    """
    for kind in (Prompt, Schema):
        proposed = kind.objects.filter(organization_id=document.organization_id, pending_review=True, deleted_at=None)
        proposed.filter(made_by_run__in=document.runs.values("pk")).update(deleted_at=timezone.now())
    for pair in document.versions.values_list("file_key", "pdf_key"):
        for key in filter(None, set(pair)):
            transaction.on_commit(partial(files.discard, key))


def _folders() -> Iterator[str]:
    """Every folder that files of a version are in: org/<id>/doc/<id>/v<n>."""
    for organization in _inside(_ROOT):
        for document in _inside(f"{organization}/doc"):
            yield from _inside(document)


def _inside(folder: str) -> list[str]:
    try:
        return [f"{folder}/{name}" for name in default_storage.listdir(folder)[0]]
    except FileNotFoundError:
        return []
