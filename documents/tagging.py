"""Where tags meet what uses them: deleting a tag looks at documents and prompts, so it lives up here."""

from django.db import transaction

from core.ids import show_id
from documents.models import Document
from organizations.actor import Actor
from organizations.gate import owned
from prompts_app.selectors import latest_revisions
from tags_app.errors import TagInUse
from tags_app.models import Tag
from tags_app.services import lock_tag, trash_tag


@transaction.atomic
def delete_tag(*, actor: Actor, tag_id: object) -> Tag:
    """Move a tag to the trash unless a document or the latest revision of a prompt has it.

    Raises: TagNotFound, TagInUse.
    """
    tag = lock_tag(actor=actor, tag_id=tag_id)
    for what, rows in (
        ("documents", owned(Document, actor).filter(tags=tag)),
        ("prompts", latest_revisions(actor=actor).filter(tags=tag)),
    ):
        if rows.exists():
            raise TagInUse(f"Cannot delete tag '{tag.name}' because it is assigned to one or more {what}")
    return trash_tag(actor=actor, tag_id=tag.pk)


def tag_ids_of_document(*, document: Document) -> list[str]:
    """Ids of the document's tags that are not in the trash, oldest tag first."""
    keys = document.tags.filter(deleted_at__isnull=True).order_by("pk").values_list("pk", flat=True)
    return [show_id(key) for key in keys]
