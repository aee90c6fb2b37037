"""Tell a channel group something, after the transaction that made it true has committed."""

from functools import partial
from typing import Any

from asgiref.sync import async_to_sync
from channels.layers import get_channel_layer
from django.db import transaction

Payload = dict[str, Any]


def publish_on_commit(group: str, payload: Payload) -> None:
    """Send `payload` (needs a `type`) to everybody in the group once the current transaction commits."""
    transaction.on_commit(partial(_send, group, payload))


async def apublish(group: str, payload: Payload) -> None:
    """Send at once, from a coroutine."""
    await get_channel_layer().group_send(group, payload)


def _send(group: str, payload: Payload) -> None:
    async_to_sync(apublish)(group, payload)
