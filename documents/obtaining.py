"""A result for a program that waits for it: one that is there, one that is being made, or a new one.

The work goes on when whoever waits hangs up: the next who asks finds the result.
"""

import asyncio
import uuid
from contextvars import Context
from functools import partial
from time import monotonic

from django.db import transaction

from core.errors import NotFound
from core.threads import in_thread
from documents.errors import ExtractionActive, ExtractionNotFound, TextNotReady
from documents.extraction import begin_extraction, perform_extraction, take_over
from documents.models import Document, Extraction
from documents.results import find_result
from documents.selectors import get_document
from documents.states import lock_state
from organizations.actor import Actor
from prompts_app.default import DEFAULT_PROMPT_ID

LOOK_SECONDS = 0.25
PATIENCE_SECONDS = 120.0
_working: set[asyncio.Task[Extraction]] = set()


class TextMissing(NotFound):
    """What `/v0` says instead of TextNotReady."""

    code = "text_not_ready"
    detail = "OCR required but not run for this document"


async def obtain_result(*, actor: Actor, document_id: object, prompt_revid: str, force: bool) -> Extraction:
    """The result of a prompt revision on a document; with `force` always a new one, the others stay as history.

    When the prompt runs on the document already, a run that waits for a worker is done here, and another is awaited.
    Raises: DocumentNotFound, PromptNotFound, TextMissing, ExtractionActive, ModelError, ExtractionFailed.
    """
    until = monotonic() + PATIENCE_SECONDS
    begin = partial(_result_or_run, actor, document_id, prompt_revid, force)
    while True:
        try:
            begun = await in_thread(begin)
        except TextNotReady as problem:
            raise TextMissing() from problem
        except ExtractionActive:
            if monotonic() > until:
                raise
            await asyncio.sleep(LOOK_SECONDS)
            continue
        return begun if isinstance(begun, Extraction) else await asyncio.shield(_work(actor, *begun))


@transaction.atomic
def _result_or_run(
    actor: Actor, document_id: object, prompt_revid: str, force: bool
) -> Extraction | tuple[uuid.UUID, int]:
    """What is there, or a run to work on with its epoch. While the document is held, no other run can end."""
    document = get_document(actor=actor, document_id=document_id)
    lock_state(document.pk)
    if not force and (there := _there(actor, document, prompt_revid)):
        return there
    prompt = None if prompt_revid == DEFAULT_PROMPT_ID else prompt_revid
    if waiting := take_over(actor=actor, document_id=document.pk, prompt_revid=prompt):
        return waiting
    run = begin_extraction(actor=actor, document_id=document.pk, prompt_revid=prompt)
    return run.pk, run.epoch


def _there(actor: Actor, document: Document, prompt_revid: str) -> Extraction | None:
    try:
        found = find_result(actor=actor, document_id=document.pk, prompt_revid=prompt_revid)
    except ExtractionNotFound:
        return None
    return found if found.version_id == document.current_version_id else None


def _work(actor: Actor, run_id: uuid.UUID, epoch: int) -> "asyncio.Task[Extraction]":
    task = asyncio.get_running_loop().create_task(
        perform_extraction(actor=actor, run_id=run_id, epoch=epoch), context=Context()
    )
    _working.add(task)
    task.add_done_callback(_working.discard)
    return task
