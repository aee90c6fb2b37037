"""What happens by itself once a document is read: the prompts of its tags run, in a worker, one run for each.

Exactly once for each read: the read's row is locked, its runs are made and it is marked, all in one transaction. A
message that is delivered again, or to two workers at once, finds the mark. Runs themselves are claimed by epoch.
"""

import asyncio
import threading
import uuid
from dataclasses import replace
from functools import partial

import structlog
from django.db import transaction
from django.utils import timezone

from core.errors import DomainError
from core.threads import in_thread
from documents.auto_create import queue_proposal
from documents.extraction import claim_extraction, perform_extraction, queue_extractions
from documents.models import Document, Run
from documents.processing import find_run, lock_latest_read
from organizations.actor import Actor
from prompts_app.running import prompts_to_run

log = structlog.get_logger(__name__)


@transaction.atomic
def queue_prompts(document_id: uuid.UUID) -> list[uuid.UUID]:
    """Make the runs of a document that was just read. Returns: those to work on, the built-in prompt's first."""
    read = lock_latest_read(document_id)
    if read is None or read.phase != Run.Phase.COMPLETE or read.ocr_only or read.prompts_queued_at:
        return []
    actor = _actor_for(read.document)
    if actor is None or read.version_id != read.document.current_version_id:
        return []
    read.prompts_queued_at = timezone.now()
    read.save(update_fields=["prompts_queued_at", "updated_at"])
    tag_ids = [tag.pk for tag in read.document.tags.filter(deleted_at__isnull=True)]
    default = read.document.organization.default_prompt_enabled
    prompts = prompts_to_run(actor=actor, tag_ids=tag_ids, default=default)
    queued = queue_extractions(actor=actor, read=read, prompts=prompts)
    queue_proposal(document_id=document_id)
    return [run.pk for run in queued]


def extract(run_id: uuid.UUID) -> None:
    """Work on a queued run until it ends; for a worker's thread. Does nothing for a run that needs nobody.

    All runs of a process share one event loop, and so the connections to the models. The thread that waits here is
    what bounds how many are asked at once; it holds no database connection.
    """
    asyncio.run_coroutine_threadsafe(_extract(run_id), _home.loop()).result()


async def _extract(run_id: uuid.UUID) -> None:
    actor, epoch = await in_thread(partial(_claim, run_id))
    if actor is None or epoch is None:
        return
    try:
        await perform_extraction(actor=actor, run_id=run_id, epoch=epoch)
    except DomainError as problem:  # it stands on the run
        log.info("extraction.ended", run_id=run_id.hex, code=problem.error_code)


def _claim(run_id: uuid.UUID) -> tuple[Actor | None, int | None]:
    run = find_run(run_id)
    if run is None:
        return None, None
    actor = _actor_for(run.document)
    if actor is not None and run.requested_by_id is not None:
        actor = replace(actor, user_id=run.requested_by_id, name=run.requested_by_name)
    return actor, claim_extraction(actor=actor, run_id=run_id)


def _actor_for(document: Document) -> Actor | None:
    """Who runs the prompts: whoever uploaded the document, with a member's rights, also when they have left since.

    Where the account itself is gone, the organization's first admin answers for it, under the name that is kept.
    None for a document or an organization in the trash.
    """
    organization = document.organization
    if document.deleted_at is not None or organization.deleted_at is not None:
        return None
    user_id = document.uploaded_by_id
    if user_id is None:
        admins = organization.memberships.filter(role="admin").order_by("created_at", "id")
        user_id = admins.values_list("user_id", flat=True).first()
    if user_id is None:
        return None
    return Actor(
        user_id=user_id, organization_id=organization.pk, role="user", via="task", name=document.uploaded_by_name
    )


class _Home:
    """The event loop of this process's extractions, in a thread of its own."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None

    def loop(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                threading.Thread(target=self._loop.run_forever, name="extractions", daemon=True).start()
            return self._loop


_home = _Home()
