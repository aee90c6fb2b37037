"""Taking back what an extraction found: the result before it stands again, and both rows stay as history."""

from django.db import transaction
from django.utils import timezone

from documents.errors import ExtractionNotFound, WithdrawalRefused
from documents.events import append_event
from documents.models import Extraction
from documents.results import find_result, get_result, lock_result, lock_results_like, results_like
from documents.states import lock_state, refresh_state
from organizations.actor import Actor
from organizations.services import record


def withdraw_result(*, actor: Actor, document_id: object, extraction_id: object) -> Extraction | None:
    """Withdraw a result that nobody has built on, and make the one that it replaced current again.

    Returns: the result that stands now, None when there was none before.
    Raises: DocumentNotFound, ExtractionNotFound, WithdrawalRefused.
    """
    return withdraw(actor=actor, found=get_result(actor=actor, document_id=document_id, extraction_id=extraction_id))


@transaction.atomic
def withdraw(*, actor: Actor, found: Extraction) -> Extraction | None:
    """The same for a result at hand, also where its document is in the trash. Raises: WithdrawalRefused."""
    lock_state(found.document_id)
    lock_results_like(found)
    result = lock_result(found.pk)
    _refuse_what_moved_on(result)
    result.withdrawn_at = timezone.now()
    result.save(update_fields=["withdrawn_at", "updated_at"])
    replaced = results_like(found).filter(superseded_by=result, withdrawn_at__isnull=True)
    before = replaced.order_by("-created_at", "-id").first()
    if before is not None:
        before.superseded_by = None
        before.save(update_fields=["superseded_by", "updated_at"])
    refresh_state(document_id=result.document_id)
    record(actor=actor, action="extraction.withdrawn", target=("extraction", result.pk))
    data = {"extraction_id": result.pk.hex, "current": before.pk.hex if before else None}
    append_event(document_id=result.document_id, type="extraction.withdrawn", actor=actor, data=data)
    return before


@transaction.atomic
def delete_results(*, actor: Actor, document_id: object, prompt_revid: str) -> int:
    """Take back every result of a prompt revision on a document, edited and verified ones too.

    Rows and edits stay where nothing shows them. A result of another version of the prompt stands again.
    Returns: how many. Raises: DocumentNotFound, ExtractionNotFound.
    """
    found = find_result(actor=actor, document_id=document_id, prompt_revid=prompt_revid)
    lock_state(found.document_id)
    lock_results_like(found)
    standing = results_like(found).filter(withdrawn_at__isnull=True)
    gone = standing.filter(prompt_revision_id=found.prompt_revision_id).update(withdrawn_at=timezone.now())
    if not gone:
        raise ExtractionNotFound
    before = standing.order_by("-created_at", "-id").first()
    if before is not None and before.superseded_by_id is not None:
        before.superseded_by = None
        before.save(update_fields=["superseded_by", "updated_at"])
    refresh_state(document_id=found.document_id)
    record(actor=actor, action="extraction.deleted", target=("extraction", found.pk), data={"results": gone})
    data = {"extraction_id": found.pk.hex, "current": before.pk.hex if before else None}
    append_event(document_id=found.document_id, type="extraction.withdrawn", actor=actor, data=data)
    return gone


def _refuse_what_moved_on(result: Extraction) -> None:
    """Raises: WithdrawalRefused, saying what happened to the result since."""
    happened = {
        "it was taken back already": result.withdrawn_at is not None,
        "the extraction was run again since": result.superseded_by_id is not None,
        "its values were edited since": result.is_edited,
        "it was marked as checked since": result.is_verified,
    }
    for what, is_so in happened.items():
        if is_so:
            raise WithdrawalRefused(f"This extraction cannot be taken back: {what}.")
