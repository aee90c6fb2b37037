"""Being told that there is something to read: at once, without keeping what was told."""

import asyncio

import pytest
from asgiref.sync import async_to_sync
from channels.layers import get_channel_layer

from core.publish import apublish
from core.wakeups import Wakeups, wakeups_of


def test_however_much_comes_only_its_kinds_are_kept() -> None:
    async def listen() -> set[str]:
        wakeups = Wakeups()
        for number in range(10_000):
            wakeups.put(f"kind.{number % 2}")
        assert len(wakeups._kinds) == 2
        taken = await wakeups.take(5)
        assert await wakeups.take(0.01) == set()
        return taken

    assert asyncio.run(listen()) == {"kind.0", "kind.1"}


@pytest.mark.parametrize("groups", [["core.one"], ["core.one", "core.two"]])
def test_news_of_each_group_wakes_and_nothing_is_left_behind(groups: list[str]) -> None:
    async def listen() -> None:
        async with wakeups_of(groups) as wakeups:
            for group in groups:
                await apublish(group, {"type": "some.news", "much": "x" * 10_000})
                assert await wakeups.take(5) == {"some.news"}
        layer = get_channel_layer()._get_layer()
        assert (layer.channels, layer.groups) == ({}, {})
        await get_channel_layer().flush()

    async_to_sync(listen)()
