"""Tell a channel group something, after the transaction that made it true has committed."""

from functools import partial
from typing import Any

import structlog
from asgiref.sync import async_to_sync
from channels.layers import get_channel_layer
from django.db import transaction
from redis.exceptions import RedisError

log = structlog.get_logger(__name__)

Payload = dict[str, Any]


def publish_on_commit(group: str, payload: Payload) -> None:
    """Send `payload` (needs a `type`) to everybody in the group once the current transaction commits.

    What is true stands in the database: when nobody can be told, the work goes on, and who watches finds out later.
    """
    transaction.on_commit(partial(_send, group, payload))


async def apublish(group: str, payload: Payload) -> None:
    """Send at once, from a coroutine."""
    await get_channel_layer().group_send(group, payload)


def _send(group: str, payload: Payload) -> None:
    try:
        async_to_sync(apublish)(group, payload)
    except (RedisError, OSError) as problem:
        log.warning("news.not_sent", news=payload.get("type"), problem=type(problem).__name__)
