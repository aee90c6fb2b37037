"""Stopping a turn from outside: whatever it waits for at the moment ends at once, nothing half-done is left behind."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

T = TypeVar("T")


class Stopped(Exception):
    """The turn was asked to end."""


class Stop:
    """One turn's stop button. Press and wait happen on the same event loop."""

    def __init__(self) -> None:
        self.requested = False
        self._waiting: set[asyncio.Task[Any]] = set()

    def request(self) -> None:
        """Press it: what is guarded ends with Stopped. Pressing twice changes nothing."""
        if self.requested:
            return
        self.requested = True
        for task in self._waiting:
            task.cancel()

    def check(self) -> None:
        """Raises: Stopped."""
        if self.requested:
            raise Stopped

    async def guard(self, wait: Callable[[], Awaitable[T]]) -> T:
        """Wait for something that may be cut off (a model, never a write in a thread).

        Raises: Stopped.
        """
        self.check()
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("A guard needs a task.")
        self._waiting.add(task)
        try:
            return await wait()
        except asyncio.CancelledError:
            # Ours only when nobody else cancelled the task too: then the cancellation is theirs and goes on.
            if self.requested and task.uncancel() == 0:
                raise Stopped from None
            raise
        finally:
            self._waiting.discard(task)
