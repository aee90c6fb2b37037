"""A result for a program that waits for it: one that is there, one that is being made, or a new one.

The work goes on when whoever waits hangs up: the next who asks finds the result.
"""

import asyncio
from contextvars import Context
from functools import partial
from time import monotonic

from core.errors import NotFound
from core.threads import in_thread
from documents.errors import ExtractionActive, ExtractionNotFound, TextNotReady
from documents.extraction import begin_extraction, perform_extraction, take_over
from documents.models import Extraction
from documents.results import find_result
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
    while True:
        if not force and (there := await in_thread(partial(_there, actor, document_id, prompt_revid))):
            return there
        try:
            task = await _work(actor, document_id, None if prompt_revid == DEFAULT_PROMPT_ID else prompt_revid)
        except ExtractionActive:
            if monotonic() > until:
                raise
            await asyncio.sleep(LOOK_SECONDS)
            continue
        return await asyncio.shield(task)


def _there(actor: Actor, document_id: object, prompt_revid: str) -> Extraction | None:
    try:
        found = find_result(actor=actor, document_id=document_id, prompt_revid=prompt_revid)
    except ExtractionNotFound:
        return None
    return found if found.version_id == found.document.current_version_id else None


async def _work(actor: Actor, document_id: object, prompt_revid: str | None) -> "asyncio.Task[Extraction]":
    try:
        run = await in_thread(
            partial(begin_extraction, actor=actor, document_id=document_id, prompt_revid=prompt_revid)
        )  # fmt: skip
        run_id, epoch = run.pk, run.epoch
    except TextNotReady as problem:
        raise TextMissing() from problem
    except ExtractionActive:
        taken = await in_thread(partial(take_over, actor=actor, document_id=document_id, prompt_revid=prompt_revid))
        if taken is None:
            raise
        run_id, epoch = taken
    task = asyncio.get_running_loop().create_task(
        perform_extraction(actor=actor, run_id=run_id, epoch=epoch), context=Context()
    )
    _working.add(task)
    task.add_done_callback(_working.discard)
    return task
