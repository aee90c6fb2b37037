"""An extraction while its model is awaited: its lease is renewed, and it ends at once when somebody stops it."""

import asyncio
import uuid
from collections.abc import Coroutine
from datetime import datetime, timedelta
from functools import partial
from time import monotonic
from typing import Any, TypeVar

import structlog
from django.conf import settings
from django.db import DatabaseError
from django.utils import timezone

from core.threads import in_thread
from documents.errors import ExtractionStopped
from documents.models import Run

log = structlog.get_logger(__name__)

T = TypeVar("T")
LOOK_SECONDS = 0.4


async def unless_stopped(run_id: uuid.UUID, epoch: int, answer: Coroutine[Any, Any, T]) -> T:
    """Await the model's answer; hang up within half a second when the run was stopped, in whatever process.

    Raises: ExtractionStopped, and what the model raises.
    """
    asked, watch = asyncio.ensure_future(answer), asyncio.ensure_future(_until_stopped(run_id, epoch))
    try:
        await asyncio.wait((asked, watch), return_when=asyncio.FIRST_COMPLETED)
        if asked.done():
            return asked.result()
        watch.result()
        raise ExtractionStopped()
    finally:
        asked.cancel()
        watch.cancel()
        await asyncio.gather(asked, watch, return_exceptions=True)


def lease() -> datetime:
    """Until when a run that is renewed now is held."""
    return timezone.now() + timedelta(seconds=settings.RUN_LEASE_SECONDS)


async def _until_stopped(run_id: uuid.UUID, epoch: int) -> None:
    """Look at the row while the claim holds, and renew it now and then; return when it was stopped or taken away."""
    renewed = monotonic()

    def look(renew: bool) -> bool:
        rows = Run.objects.filter(pk=run_id, epoch=epoch, cancel_requested=False).exclude(phase__in=Run.ENDED)
        return bool(rows.update(lease_until=lease())) if renew else rows.exists()

    held = True
    while held:
        await asyncio.sleep(LOOK_SECONDS)
        due = monotonic() - renewed >= settings.RUN_LEASE_SECONDS / 3
        try:
            held = await in_thread(partial(look, due))
        except DatabaseError as problem:
            log.warning("extraction.not_renewed", run_id=run_id.hex, problem=type(problem).__name__)
            continue
        renewed = monotonic() if due else renewed
