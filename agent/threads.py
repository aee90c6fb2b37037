"""Where database work of turns happens: a bounded pool of threads that hold a connection only while they use it."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from asgiref.sync import sync_to_async
from django.db import connections

T = TypeVar("T")

MAX_THREADS = 8  # below DATABASE_POOL_SIZE, so that turns never starve the pages of connections

_pool = ThreadPoolExecutor(max_workers=MAX_THREADS, thread_name_prefix="turns")


async def in_thread(function: Callable[[], T]) -> T:
    """Run synchronous work beside the loop; its connection goes back to the pool before this returns.

    Never thread-sensitive: a turn outlives the request that started it, and turns must not queue on one thread.
    """
    result: T = await sync_to_async(_returning_connections, thread_sensitive=False, executor=_pool)(function)
    return result


def _returning_connections(function: Callable[[], T]) -> T:
    try:
        return function()
    finally:
        connections.close_all()
