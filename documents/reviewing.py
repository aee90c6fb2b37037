"""What people decide about a proposal: accept, accept and tag, reject, try again. Of any number of presses one counts.

The document's state is locked first, then the attempt: whoever comes second finds the outcome of the first and is told
who decided. A proposal that somebody works on in the chat is rejected at once all the same; the agent's door stops the
turn afterwards (`agent.reviewing`), and what it still tries to write finds nothing to write on.
"""

from dataclasses import dataclass
from functools import partial

from django.db import transaction
from django.utils import timezone

from documents import tasks
from documents.auto_create import request, tell
from documents.clearing import clear_made
from documents.errors import CountChanged, ExtractionNotFound, NothingProposed
from documents.events import append_event
from documents.models import AutoCreate, Document
from documents.processing import lock_run
from documents.results import current_result
from documents.reusing import take_back_reused
from documents.selectors import get_document
from documents.services import reparse
from documents.spreading import TagPreview, preview_tag
from documents.states import lock_state, refresh_state
from organizations.actor import Actor
from organizations.services import record
from prompts_app.errors import PromptNotFound
from prompts_app.selectors import get_version, prompts_made_by
from prompts_app.services import end_review as end_review_of_prompts
from prompts_app.services import revise_prompt
from schemas_app.selectors import schemas_made_by
from schemas_app.services import end_review as end_review_of_schemas
from tags_app.services import lock_tags

Status = AutoCreate.Status
_DECIDED = (Status.ACCEPTED, Status.REJECTED)


@dataclass(frozen=True, slots=True)
class Outcome:
    """How it stands after a press; `counted` is whether this very press decided it.

    `kept` names what a rejection left, because somebody else uses it by now.
    """

    attempt: AutoCreate
    counted: bool
    kept: tuple[str, ...] = ()


@transaction.atomic
def accept(*, actor: Actor, document_id: object) -> Outcome:
    """Make schema and prompt ordinary ones. Raises: DocumentNotFound, NothingProposed."""
    attempt = lock_newest(actor=actor, document_id=document_id)
    if attempt.status in _DECIDED:
        return Outcome(attempt, counted=False)
    _require_proposed(attempt)
    _accept(actor, attempt)
    return Outcome(attempt, counted=True)


@transaction.atomic
def accept_and_tag(*, actor: Actor, document_id: object, tag_id: object, count: int | None) -> Outcome:
    """Accept, tag document and prompt, and run the prompt on the tag's other documents.

    `count` is how many documents the person was told of. For a proposal that somebody accepted already, the rest is
    done all the same; a rejected one stays rejected.
    Raises: DocumentNotFound, NothingProposed, UnknownTags, CountChanged when there are other documents by now.
    """
    attempt = lock_newest(actor=actor, document_id=document_id)
    if attempt.status == Status.REJECTED:
        return Outcome(attempt, counted=False)
    if attempt.status != Status.ACCEPTED:
        _require_proposed(attempt)
    preview = preview_tag(actor=actor, attempt=attempt, tag_id=tag_id)
    if preview.count != count:
        raise CountChanged(documents=preview.count)
    counted = attempt.status == Status.PROPOSED
    if counted:
        _accept(actor, attempt)
    _tag(actor, attempt, preview)
    return Outcome(attempt, counted=counted)


@transaction.atomic
def reject(*, actor: Actor, document_id: object) -> Outcome:
    """Take schema, prompt and extraction of this proposal away: only those, only where nobody else uses them.

    Raises: DocumentNotFound, NothingProposed.
    """
    attempt = lock_newest(actor=actor, document_id=document_id)
    if attempt.status in _DECIDED:
        return Outcome(attempt, counted=False)
    _require_proposed(attempt)
    kept: list[str] = []
    if attempt.run_id is not None:
        run = lock_run(attempt.run_id)
        kept = clear_made(actor=actor, run=run) + take_back_reused(actor=actor, run=run, attempt=attempt)
    _decide(actor, attempt, Status.REJECTED)
    return Outcome(attempt, counted=True, kept=tuple(kept))


@transaction.atomic
def try_again(*, actor: Actor, document_id: object) -> AutoCreate:
    """A new attempt after one that failed or was rejected; reading comes first where that had failed.

    While one is open it stays the one: pressing twice starts nothing twice. Raises: DocumentNotFound, NothingProposed.
    """
    attempt = lock_newest(actor=actor, document_id=document_id)
    if attempt.status in AutoCreate.OPEN:
        return attempt
    if attempt.status == Status.ACCEPTED:
        raise NothingProposed("The proposal for this document was accepted: there is nothing to try again.")
    document = get_document(actor=actor, document_id=document_id)
    if document.state == Document.State.OCR_FAILED:
        reparse(actor=actor, document_id=document_id)
    return request(actor=actor, document=document)


def lock_newest(*, actor: Actor, document_id: object) -> AutoCreate:
    """The attempt that stands, locked until the transaction ends. Raises: DocumentNotFound, NothingProposed."""
    document = get_document(actor=actor, document_id=document_id)
    lock_state(document.pk)
    rows = AutoCreate.objects.select_for_update().filter(document=document)
    attempt = rows.order_by("-created_at", "-id").first()
    if attempt is None:
        raise NothingProposed
    return attempt


def _require_proposed(attempt: AutoCreate) -> None:
    if attempt.status != Status.PROPOSED:
        raise NothingProposed


def _accept(actor: Actor, attempt: AutoCreate) -> None:
    if attempt.run_id is not None:
        schemas = schemas_made_by(actor=actor, run_id=attempt.run_id).values_list("pk", flat=True)
        prompts = prompts_made_by(actor=actor, run_id=attempt.run_id).values_list("pk", flat=True)
        end_review_of_schemas(actor=actor, schema_ids=list(schemas))
        end_review_of_prompts(actor=actor, prompt_ids=list(prompts))
    _take_refinements(actor, attempt)
    _decide(actor, attempt, Status.ACCEPTED)


def _take_refinements(actor: Actor, attempt: AutoCreate) -> None:
    """What is accepted is how it stands now: somebody may have refined it in the chat."""
    if attempt.prompt_revision is None:
        return
    try:
        latest = get_version(actor=actor, prompt_id=attempt.prompt_revision.prompt_id)
        found = current_result(actor=actor, document_id=attempt.document_id, prompt_revid=latest.pk.hex)
    except (PromptNotFound, ExtractionNotFound):
        return
    attempt.prompt_revision, attempt.schema_revision, attempt.extraction = latest, latest.schema_revision, found


def _decide(actor: Actor, attempt: AutoCreate, status: AutoCreate.Status) -> None:
    attempt.status, attempt.decided_at = status, timezone.now()
    attempt.decided_by_id, attempt.decided_by_name = actor.user_id, actor.name
    attempt.save()
    refresh_state(document_id=attempt.document_id)
    record(actor=actor, action=f"auto_create.{status.value}", target=("document", attempt.document_id))
    tell(attempt, status.value, actor=actor, more={"by": actor.name})


def _tag(actor: Actor, attempt: AutoCreate, preview: TagPreview) -> None:
    """Put the tag on the document and, with a new version, on the prompt; the others follow in a worker."""
    (tag,) = lock_tags(actor=actor, tag_ids=[preview.tag.pk])
    attempt.document.tags.add(tag)
    record(actor=actor, action="document.updated", target=("document", attempt.document_id), data={"changed": ["tags"]})
    append_event(document_id=attempt.document_id, type="document.updated", actor=actor, data={"changed": ["tags"]})
    if preview.prompt is None:
        return
    tag_ids = [one.pk.hex for one in preview.prompt.tags.all() if one.deleted_at is None]
    revision = preview.prompt
    if tag.pk.hex not in tag_ids:
        prompt_id = revision.prompt_id
        revision = revise_prompt(actor=actor, prompt_id=prompt_id, tag_ids=[*tag_ids, tag.pk.hex]).revision
    if preview.count:
        who = {"user_id": actor.user_id.hex, "organization_id": actor.organization_id.hex, "name": actor.name}
        transaction.on_commit(partial(_spread, revision.pk.hex, tag.pk.hex, who))


def _spread(prompt_revid: str, tag_id: str, who: dict[str, str]) -> None:
    """By a worker; here when nobody takes the message, as no table remembers it."""
    if not tasks.send(tasks.spread, prompt_revid, tag_id, who):
        tasks.spread(prompt_revid, tag_id, who)
