"""Publications: a result frozen as it is now, numbered for each document, for everybody who has its address.

The values, their places and their quotes are copied; pages are shown only when the publisher says so. What was
published never changes, whatever becomes of the result; it can only be withdrawn.
"""

import re
import secrets
from typing import Any

from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from core.ids import parse_id
from documents.errors import ExtractionNotFound
from documents.events import append_event
from documents.models import Extraction, Page, Publication
from documents.results import current_result, find_result
from documents.selectors import get_document
from documents.services import lock_document
from documents.sharing.errors import NothingPublished, PublicationNotFound, PublicationWithdrawn
from organizations.actor import Actor
from organizations.gate import owned
from organizations.services import record

MOST_PUBLICATIONS = 200
_SLUG = re.compile(r"[A-Za-z0-9_-]{43}")


@transaction.atomic
def publish(
    *,
    actor: Actor,
    document_id: object,
    prompt_revid: str | None = None,
    run_id: str | None = None,
    with_pages: bool = False,
) -> Publication:
    """Freeze the newest result, or that of a prompt revision or of a run.

    Raises: DocumentNotFound, ExtractionNotFound.
    """
    document = lock_document(actor=actor, document_id=document_id)
    result = _result(actor, document_id, prompt_revid, run_id)
    numbered = Publication.objects.filter(document=document).aggregate(last=Max("number"))
    publication = Publication.objects.create(
        organization_id=actor.organization_id,
        document=document,
        version_id=result.version_id,
        extraction=result,
        number=(numbered["last"] or 0) + 1,
        slug=secrets.token_urlsafe(32),
        payload=_frozen(document.name, result, with_pages=with_pages),
        with_pages=with_pages,
        created_by_id=actor.user_id,
        created_by_name=actor.name,
    )
    data = {"publication_id": publication.pk.hex, "version": publication.number}
    record(actor=actor, action="document.published", target=("document", document.pk), data=data)
    append_event(document_id=document.pk, type="document.published", actor=actor, data=data)
    return publication


@transaction.atomic
def unpublish(*, actor: Actor, document_id: object, publication_id: object = None) -> list[Publication]:
    """Withdraw one publication, or all of the document that are not withdrawn yet.

    Raises: DocumentNotFound, PublicationNotFound, NothingPublished.
    """
    document = lock_document(actor=actor, document_id=document_id)
    rows = owned(Publication, actor).filter(document=document)
    if publication_id is not None:
        rows = rows.filter(pk=parse_id(publication_id, error=PublicationNotFound))
        if not rows.exists():
            raise PublicationNotFound
    withdrawn = list(rows.filter(withdrawn_at__isnull=True).order_by("number"))
    if not withdrawn:
        raise NothingPublished
    now = timezone.now()
    Publication.objects.filter(pk__in=[row.pk for row in withdrawn]).update(withdrawn_at=now)
    for row in withdrawn:
        row.withdrawn_at = now
        data = {"publication_id": row.pk.hex, "version": row.number}
        record(actor=actor, action="document.unpublished", target=("document", document.pk), data=data)
        append_event(document_id=document.pk, type="document.unpublished", actor=actor, data=data)
    return withdrawn


def list_publications(*, actor: Actor, document_id: object) -> list[Publication]:
    """The newest 200 of a document, without what they show. Raises: DocumentNotFound."""
    document = get_document(actor=actor, document_id=document_id)
    rows = owned(Publication, actor).filter(document=document).defer("payload")
    return list(rows.order_by("-number")[:MOST_PUBLICATIONS])


def find_publication(*, slug: str) -> Publication:
    """For everybody. Raises: PublicationNotFound, PublicationWithdrawn."""
    rows = Publication.objects.select_related("version").filter(
        slug=slug if _SLUG.fullmatch(slug) else "", document__deleted_at=None, organization__deleted_at=None
    )
    publication = rows.first()
    if publication is None:
        raise PublicationNotFound
    if publication.withdrawn_at is not None:
        raise PublicationWithdrawn
    return publication


def _result(actor: Actor, document_id: object, prompt_revid: str | None, run_id: str | None) -> Extraction:
    if run_id is not None:
        document = get_document(actor=actor, document_id=document_id)
        rows = owned(Extraction, actor).filter(document=document, run_id=parse_id(run_id, error=ExtractionNotFound))
        if prompt_revid is not None:
            of_prompt = find_result(actor=actor, document_id=document_id, prompt_revid=prompt_revid)
            rows = rows.filter(prompt_revision_id=of_prompt.prompt_revision_id)
        found = rows.filter(withdrawn_at__isnull=True).order_by("-created_at", "-id").first()
        if found is None:
            raise ExtractionNotFound("This run has no result to publish.")
        return found
    if prompt_revid is not None:
        return find_result(actor=actor, document_id=document_id, prompt_revid=prompt_revid)
    return current_result(actor=actor, document_id=document_id)


def _frozen(name: str, result: Extraction, *, with_pages: bool) -> dict[str, Any]:
    """All that is shown, as plain data."""
    sizes = Page.objects.filter(version_id=result.version_id).order_by("number").values("number", "width", "height")
    return {
        "name": name,
        "data": result.updated_llm_result,
        "grounding": result.grounding,
        "isVerified": result.is_verified,
        "documentVersion": result.version.number,
        "pages": list(sizes) if with_pages else [],
    }
