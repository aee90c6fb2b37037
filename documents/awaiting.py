"""An extraction while its model is awaited: its lease is renewed, and it ends at once when somebody stops it."""

import asyncio
from collections.abc import Callable, Coroutine
from functools import partial
from time import monotonic
from typing import Any, TypeVar

import structlog
from django.conf import settings
from django.db import DatabaseError

from core.threads import in_thread
from documents.errors import ExtractionFailed, ExtractionStopped

log = structlog.get_logger(__name__)

T = TypeVar("T")
LOOK_SECONDS = 0.4
LONGEST_SECONDS = 900.0


async def unless_stopped(is_held: Callable[[bool], bool], answer: Coroutine[Any, Any, T]) -> T:
    """Await the model's answer; hang up within half a second when the run was stopped, in whatever process.

    `is_held` looks whether the run still is ours and nobody wants it stopped, and renews the lease when it is told to.
    Raises: ExtractionStopped, ExtractionFailed when it takes too long, and what the model raises.
    """
    asked, watch = asyncio.ensure_future(answer), asyncio.ensure_future(_until_stopped(is_held))
    try:
        ended, _ = await asyncio.wait(
            (asked, watch), return_when=asyncio.FIRST_COMPLETED, timeout=LONGEST_SECONDS
        )  # fmt: skip
        if asked.done():
            return asked.result()
        if not ended:
            raise ExtractionFailed(f"The model did not end its answer within {LONGEST_SECONDS / 60:.0f} minutes.")
        watch.result()
        raise ExtractionStopped()
    finally:
        asked.cancel()
        watch.cancel()
        await asyncio.gather(asked, watch, return_exceptions=True)


async def _until_stopped(is_held: Callable[[bool], bool]) -> None:
    """Return when the run was stopped or taken away."""
    renewed = monotonic()
    held = True
    while held:
        await asyncio.sleep(LOOK_SECONDS)
        due = monotonic() - renewed >= settings.RUN_LEASE_SECONDS / 3
        try:
            held = await in_thread(partial(is_held, due))
        except DatabaseError as problem:
            log.warning("extraction.not_renewed", problem=type(problem).__name__)
            continue
        renewed = monotonic() if due else renewed
