"""Extractions that a page started: they go on in this process when the page is closed or loaded again."""

import asyncio
import contextvars
import uuid

import structlog

from core.errors import DomainError
from documents.extraction import perform_extraction
from organizations.actor import Actor

log = structlog.get_logger(__name__)
_running: set[asyncio.Task[None]] = set()


def launch_extraction(*, actor: Actor, run_id: uuid.UUID) -> None:
    """Work on a run in the event loop. If this process dies, the run's lease ends it as interrupted."""
    task = asyncio.create_task(_perform(actor, run_id), context=contextvars.Context())
    _running.add(task)
    task.add_done_callback(_running.discard)


async def running_extractions() -> None:
    """Wait until everything that was launched here has ended."""
    await asyncio.gather(*_running)


async def _perform(actor: Actor, run_id: uuid.UUID) -> None:
    try:
        await perform_extraction(actor=actor, run_id=run_id)
    except DomainError as problem:
        log.info("extraction.launch_ended", run_id=run_id.hex, code=problem.error_code)
