"""The daily purge: only the roof knows in which order the floors let go of what they kept.

What a row needs goes after the row: documents before prompts, prompts before schemas, an organization last.
"""

from datetime import datetime, timedelta

import structlog
from django.conf import settings
from django.utils import timezone

from agent.purging import forget_what_was_sent, purge_threads
from core.purging import in_trash, purge_rows, purging
from documents.purging import purge_documents, purge_documents_of, sweep_files
from organizations.models import Organization
from prompts_app.models import Prompt
from schemas_app.models import Schema
from tags_app.models import Tag

log = structlog.get_logger(__name__)

FILES_STAY = timedelta(days=1)
_KINDS = (Prompt, Schema, Tag)


def purge(*, now: datetime | None = None) -> dict[str, int]:
    """Delete what was in the trash, or closed, for longer than settings.TRASH_DAYS. Safe to run twice at once.

    Returns: how many of what.
    """
    now = now or timezone.now()
    before = now - timedelta(days=settings.TRASH_DAYS)
    counts = {"document": purge_documents(before=before), "thread": purge_threads(before=before)}
    for kind in _KINDS:
        counts[kind.__name__.lower()] = purge_rows(in_trash(kind._default_manager.all(), before=before))
    counts["organization"] = sum(_purge_organization(row) for row in _closed(before))
    counts["sent"] = forget_what_was_sent(before=now - timedelta(days=settings.SENT_DAYS))
    counts["file"] = sweep_files(before=now - FILES_STAY)
    log.info("purge.finished", **{name: count for name, count in counts.items() if count})
    return counts


def _closed(before: datetime) -> list[Organization]:
    return list(Organization.objects.filter(deleted_at__lt=before).order_by("pk"))


def _purge_organization(organization: Organization) -> int:
    """Returns: 1, or 0 when something of it is held at this moment: then it is taken another day."""
    purge_documents_of(organization_id=organization.pk)
    for kind in _KINDS:
        purge_rows(kind._default_manager.filter(organization=organization))
    if any(kind._default_manager.filter(organization=organization).exists() for kind in _KINDS):
        return 0
    with purging():
        return int(bool(Organization.objects.filter(pk=organization.pk).delete()[0]))
