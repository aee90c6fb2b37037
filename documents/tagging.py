"""Where tags meet documents: deleting a tag looks at what carries it, a document's tags say which prompts apply."""

import uuid
from datetime import datetime
from typing import Any

from django.db import transaction

from core.ids import show_id
from documents.models import Document
from documents.selectors import get_document
from organizations.actor import Actor
from organizations.gate import owned
from prompts_app.selectors import latest_revisions
from tags_app.errors import TagInUse
from tags_app.models import Tag
from tags_app.services import lock_tag, require_unchanged, trash_tag


@transaction.atomic
def delete_tag(*, actor: Actor, tag_id: object, unchanged_since: datetime | None = None) -> Tag:
    """Move a tag to the trash unless a document or the latest revision of a prompt has it.

    One that is marked “never send” is kept by documents in the trash as well: they must not come back without its mark.
    Raises: TagNotFound, TagInUse, TagChanged.
    """
    tag = lock_tag(actor=actor, tag_id=tag_id)
    require_unchanged(tag=tag, updated_at=unchanged_since)
    kept_here = tag.documents.filter(deleted_at__isnull=False) if tag.never_send else tag.documents.none()
    for what, rows in (
        ("documents", owned(Document, actor).filter(tags=tag)),
        ("documents in the trash, which its mark keeps on this server", kept_here),
        ("prompts", latest_revisions(actor=actor).filter(tags=tag)),
    ):
        if rows.exists():
            raise TagInUse(f"Cannot delete tag '{tag.name}' because it is assigned to one or more {what}")
    return trash_tag(actor=actor, tag_id=tag.pk)


def tag_ids_of_document(*, document: Document) -> list[str]:
    """Ids of the document's tags that are not in the trash, oldest tag first."""
    return [show_id(tag.pk) for tag in sorted(document.tags.all(), key=lambda tag: tag.pk) if tag.deleted_at is None]


def tag_filter_of_document(*, actor: Actor, document_id: object) -> list[uuid.UUID] | None:
    """The tags of which a prompt needs one to apply to the document; None (any prompt) when it has no tags.

    Raises: DocumentNotFound.
    """
    document = get_document(actor=actor, document_id=document_id)
    return [tag.pk for tag in document.tags.all() if tag.deleted_at is None] or None


def show_document(document: Document) -> dict[str, Any]:
    """A document in a list. Reads the tags that the selector has fetched already."""
    return {
        "id": show_id(document.pk),
        "document_name": document.name,
        "upload_date": document.created_at.isoformat().replace("+00:00", "Z"),
        "uploaded_by": document.uploaded_by_name,
        "state": document.state,
        "tag_ids": tag_ids_of_document(document=document),
        "metadata": document.metadata,
    }
