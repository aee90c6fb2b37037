"""What is published goes out after the commit, and not at all when there is none."""

import pytest
from asgiref.sync import async_to_sync, sync_to_async
from channels.layers import get_channel_layer
from django.db import transaction

from core.publish import publish_on_commit

pytestmark = pytest.mark.django_db(transaction=True)


def heard(group: str, act: object) -> list[str]:
    """Payload types that a listener of the group gets while `act` runs, up to a closing mark."""

    async def listen() -> list[str]:
        layer = get_channel_layer()
        channel = await layer.new_channel()
        await layer.group_add(group, channel)
        try:
            await act()  # type: ignore[operator]
            await layer.group_send(group, {"type": "end"})
            types: list[str] = []
            while (message := await layer.receive(channel))["type"] != "end":
                types.append(message["type"])
            return types
        finally:
            await layer.group_discard(group, channel)
            await layer.flush()

    return async_to_sync(listen)()


def test_a_committed_transaction_is_heard_of_and_a_broken_one_is_not() -> None:
    def write(fails: bool) -> None:
        with transaction.atomic():
            publish_on_commit("core.test", {"type": "broken" if fails else "news"})
            if fails:
                raise LookupError

    async def act() -> None:
        await sync_to_async(write)(False)
        with pytest.raises(LookupError):
            await sync_to_async(write)(True)

    assert heard("core.test", act) == ["news"]


def test_work_goes_on_when_nobody_can_be_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise ConnectionError

    done: list[str] = []
    monkeypatch.setattr("core.publish._redis", refuse)
    with transaction.atomic():
        publish_on_commit("core.test", {"type": "news"})
        transaction.on_commit(lambda: done.append("next"))
    assert done == ["next"]
