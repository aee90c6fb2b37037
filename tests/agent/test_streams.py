"""Streams of turns: kept once, told to all who follow, whole however they follow; one connection for all."""

import asyncio
import uuid
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

import pytest
from channels.layers import get_channel_layer
from django.conf import settings
from redis import Redis
from redis.asyncio import Redis as AsyncRedis

from agent import following, streams
from agent.events import AssistantTextChunk, ErrorEvent, from_wire
from agent.streams import Numbered, Stored, Streams, append_now, follow, stream_key, thread_group, watch
from core.ids import new_id


def said(seq: int, text: str = "") -> Numbered:
    return Numbered(seq, AssistantTextChunk(chunk=text or f"piece {seq}\n“x”", round_index=0))


def end(seq: int) -> Numbered:
    return Numbered(seq, ErrorEvent(error="over", code="x"))


@pytest.fixture
async def writer() -> AsyncGenerator[Streams]:
    writer = Streams()
    yield writer
    await writer.close()


@pytest.fixture
def turn_id() -> uuid.UUID:
    return new_id()


async def seqs(turn_id: uuid.UUID, **options: Any) -> list[int]:
    """The numbers that a follower hears, to the end of the turn."""
    async with asyncio.timeout(10):
        return [numbered.seq async for numbered in follow(turn_id, seconds=5, **options)]


async def test_what_was_told_before_and_after_joining_comes_once_and_in_order(
    writer: Streams, turn_id: uuid.UUID
) -> None:
    await writer.append(turn_id, None, [said(1), said(2)])
    heard: list[Stored] = []
    async with aclosing(watch(turn_id)) as batches:
        heard += await anext(batches)
        await writer.append(turn_id, None, [said(3, "ä\r\n\n"), said(4)])
        await writer.append(turn_id, None, [said(5)])
        while len(heard) < 5:
            heard += await anext(batches)
    assert [stored.seq for stored in heard] == [1, 2, 3, 4, 5]
    assert heard[2].event == from_wire(heard[2].text) == said(3, "ä\r\n\n").event
    assert {stored.kind for stored in heard} == {"assistant_text_chunk"}


async def test_many_followers_from_different_places_hear_everything_over_few_connections(
    writer: Streams, turn_id: uuid.UUID
) -> None:
    with Redis.from_url(settings.REDIS_URL) as redis:
        before = len(redis.client_list())
        readers = [asyncio.create_task(seqs(turn_id, after=number % 7)) for number in range(60)]
        for seq in range(1, 100):
            await writer.append(turn_id, None, [said(seq)])
        more = len(redis.client_list()) - before
        await writer.append(turn_id, None, [end(100)])
        heard = await asyncio.gather(*readers)
    assert heard == [list(range(number % 7 + 1, 101)) for number in range(60)]
    assert more <= 10, "other tests may have connections too, but sixty of ours would be seen"


async def test_turns_that_write_at_the_same_time_share_requests(
    writer: Streams, monkeypatch: pytest.MonkeyPatch
) -> None:
    requests: list[int] = []
    keep = writer._keep

    async def counted(letters: Any) -> Any:
        requests.append(len(letters))
        return await keep(letters)

    monkeypatch.setattr(writer, "_keep", counted)
    turns = [new_id() for _ in range(50)]
    await asyncio.gather(*[writer.append(turn, None, [said(1), end(2)]) for turn in turns])
    assert sum(requests) == 50
    assert len(requests) <= 3
    assert [await seqs(turn) for turn in turns] == [[1, 2]] * 50


async def test_a_follower_that_is_too_slow_finds_everything_where_it_is_kept(
    writer: Streams, turn_id: uuid.UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(following, "MAX_WAITING", 3)
    heard: list[int] = []
    async with aclosing(watch(turn_id)) as batches:
        await writer.append(turn_id, None, [said(1)])
        heard += [stored.seq for stored in await anext(batches)]
        for seq in range(2, 40):
            await writer.append(turn_id, None, [said(seq)])
        await asyncio.sleep(0.05)
        while len(heard) < 39:
            heard += [stored.seq for stored in await anext(batches)]
    assert heard == list(range(1, 40))


async def test_much_that_is_kept_comes_in_portions_without_waiting(
    writer: Streams, turn_id: uuid.UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams, "_MAX_READ", 10)
    await writer.append(turn_id, None, [*[said(seq) for seq in range(1, 95)], end(95)])
    assert await seqs(turn_id) == list(range(1, 96))


async def test_news_that_never_came_are_looked_up_when_it_is_silent(writer: Streams, turn_id: uuid.UUID) -> None:
    async with aclosing(watch(turn_id, seconds=0.1)) as batches:
        assert await anext(batches) == []
        async with AsyncRedis.from_url(settings.REDIS_URL) as redis:  # kept, and told nobody
            await redis.xadd(stream_key(turn_id), {"e": streams.to_text(said(1).event)}, id="1-0")
        assert [stored.seq for stored in await anext(batches)] == [1]


async def test_an_event_of_somebody_who_was_outrun_is_told_nobody(writer: Streams, turn_id: uuid.UUID) -> None:
    async with aclosing(watch(turn_id)) as batches:
        await writer.append(turn_id, None, [said(1, "ours")])
        assert [stored.event for stored in await anext(batches)] == [said(1, "ours").event]
        await writer.append(turn_id, None, [said(1, "theirs"), said(2, "both")])
        assert [stored.event for stored in await anext(batches)] == [said(2, "both").event]


async def test_a_synchronous_writer_is_heard_too(writer: Streams, turn_id: uuid.UUID) -> None:
    reader = asyncio.create_task(seqs(turn_id))
    await writer.append(turn_id, None, [said(1)])
    await asyncio.to_thread(append_now, turn_id, None, end(2))
    assert await reader == [1, 2]


async def test_a_thread_that_nobody_watches_is_told_nothing_and_one_that_is_watched_everything(
    writer: Streams, turn_id: uuid.UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    thread_id, told = new_id(), []
    layer = get_channel_layer()
    publish = streams.apublish

    async def spy(group: str, payload: Any) -> None:
        told.append(payload["seq"])
        await publish(group, payload)

    monkeypatch.setattr(streams, "apublish", spy)
    await writer.append(turn_id, thread_id, [said(1)])
    assert told == []
    channel = await layer.new_channel()
    await layer.group_add(thread_group(thread_id), channel)
    await writer.append(turn_id, thread_id, [said(2), said(3)])
    assert [(await layer.receive(channel))["seq"] for _ in range(2)] == told == [2, 3]
    await layer.group_discard(thread_group(thread_id), channel)


async def test_a_lost_connection_is_told_and_the_next_follower_gets_a_new_one(
    writer: Streams, turn_id: uuid.UUID
) -> None:
    loop = asyncio.get_running_loop()
    async with following.following(stream_key(turn_id)) as (feed, _):
        following._followings[loop]._break(ConnectionError("gone"))
        with pytest.raises(OSError, match="gone"):
            await feed.take(1)
    assert loop not in following._followings
    await writer.append(turn_id, None, [said(1), end(2)])
    assert await seqs(turn_id) == [1, 2]
    assert loop not in following._followings, "nobody follows: nothing is left open"


async def test_without_redis_a_follower_hears_of_it_at_once(turn_id: uuid.UUID, settings: Any) -> None:
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    with pytest.raises((OSError, streams.RedisError)):
        await anext(watch(turn_id))
    assert asyncio.get_running_loop() not in following._followings
