"""Tell a channel group something, after the transaction that made it true has committed."""

from functools import lru_cache, partial
from typing import Any

import structlog
from channels.layers import get_channel_layer
from django.conf import settings
from django.db import transaction
from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry

log = structlog.get_logger(__name__)

Payload = dict[str, Any]

_GROUPS = f"{settings.CHANNEL_LAYERS['default']['CONFIG']['prefix']}__group__"  # type: ignore[index]  # any layer's
"""Before the name of a group, the layer names the group's channel in Redis."""
_SECONDS_TO_ANSWER = 3.0


def publish_on_commit(group: str, payload: Payload) -> None:
    """Send `payload` (needs a `type`) to everybody in the group once the current transaction commits.

    What is true stands in the database: when nobody can be told, the work goes on, and who watches finds out later.
    """
    transaction.on_commit(partial(_send, group, payload))


async def apublish(group: str, payload: Payload) -> None:
    """Send at once, from a coroutine."""
    await get_channel_layer().group_send(group, payload)


def _send(group: str, payload: Payload) -> None:
    """As the layer does it, but on a connection that is kept: a loop and a connection for each news cost ten times."""
    try:
        _redis(settings.REDIS_URL).publish(f"{_GROUPS}{group}", get_channel_layer().serialize(payload))
    except (RedisError, OSError) as problem:
        log.warning("news.not_sent", news=payload.get("type"), problem=type(problem).__name__)


@lru_cache(maxsize=2)
def _redis(url: str) -> Redis:
    retry = Retry(NoBackoff(), 1)  # a connection may be stale after a restart; nobody waits for Redis to come back
    return Redis.from_url(
        url, retry=retry, socket_timeout=_SECONDS_TO_ANSWER, socket_connect_timeout=_SECONDS_TO_ANSWER
    )
