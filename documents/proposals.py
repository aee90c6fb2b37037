"""Reading what the agent proposed by itself: how it stands with a document, and what waits for a decision."""

import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.db.models import QuerySet

from documents.models import AutoCreate, Document
from documents.selectors import get_document
from organizations.actor import Actor
from organizations.gate import owned

_MORE = (
    "document",
    "extraction__prompt_revision__prompt",
    "schema_revision__schema",
    "prompt_revision__prompt",
    "prompt_revision__schema_revision__schema",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AutoCreateFacts:
    """How it stands with the newest attempt, as both APIs tell it. `done_at` is when it was proposed or had failed.

    `decided_by` and `decided_at` are there once somebody has accepted or rejected it.
    """

    status: str = "none"
    schema_revid: uuid.UUID | None = None
    prompt_revid: uuid.UUID | None = None
    done_at: datetime | None = None
    thread_id: uuid.UUID | None = None
    reused_schema: bool = False
    error_code: str = ""
    error_message: str = ""
    retryable: bool = False
    decided_by: str = ""
    decided_at: datetime | None = None


def auto_create_facts(*, actor: Actor, documents: Iterable[Document]) -> dict[uuid.UUID, AutoCreateFacts]:
    """By document, in one query; documents that nobody asked it for have the default."""
    pks = {document.pk: document.auto_create_status != "none" for document in documents}
    wanted = [pk for pk, is_wanted in pks.items() if is_wanted]
    rows = owned(AutoCreate, actor).filter(document_id__in=wanted)
    newest = rows.order_by("document_id", "-created_at", "-id").distinct("document_id") if wanted else ()
    found = {row.document_id: facts_of(row) for row in newest}
    return {pk: found.get(pk, AutoCreateFacts()) for pk in pks}


def facts_of(attempt: AutoCreate) -> AutoCreateFacts:
    """One attempt as the APIs tell it."""
    failed_at = attempt.updated_at if attempt.status == AutoCreate.Status.FAILED else None
    return AutoCreateFacts(
        status=attempt.status,
        schema_revid=attempt.schema_revision_id,
        prompt_revid=attempt.prompt_revision_id if attempt.proposed_at else None,
        done_at=attempt.proposed_at or failed_at,
        thread_id=attempt.thread_id,
        reused_schema=attempt.reused_schema,
        error_code=attempt.error_code,
        error_message=attempt.error_message,
        retryable=attempt.retryable,
        decided_by=attempt.decided_by_name,
        decided_at=attempt.decided_at,
    )


def newest_attempt(*, actor: Actor, document_id: object) -> AutoCreate | None:
    """The attempt that stands, with what it proposes; None where nobody asked for one. Raises: DocumentNotFound."""
    document = get_document(actor=actor, document_id=document_id)
    if document.auto_create_status == "none":
        return None
    rows = owned(AutoCreate, actor).filter(document=document).select_related(*_MORE)
    return rows.order_by("-created_at", "-id").first()


def waiting_proposals(*, actor: Actor) -> QuerySet[AutoCreate]:
    """What waits for a decision in the organization, oldest first. Every member may decide it."""
    rows = owned(AutoCreate, actor).filter(status=AutoCreate.Status.PROPOSED, document__deleted_at__isnull=True)
    return rows.select_related(*_MORE).order_by("proposed_at", "id")
