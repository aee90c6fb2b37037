"""Two web processes behind a round-robin proxy: chat on one, decide on the other, come back to either."""

import asyncio
import socket
import time
from collections.abc import Iterator
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from agent.events import AssistantTextChunk
from agent.models import Turn
from agent.processing import reap
from agent.streams import Numbered, append_now
from core.threads import in_thread
from documents.models import Document
from tags_app.models import Tag
from tests.agent.pair import Listener, Proxy, Server, of_this_test, post, random_cuts, two_servers
from tests.agent.rows import make_thread, make_turn
from tests.agent.staging import make_document
from tests.agent.wire import decision, question
from tests.api import api_of
from tests.conftest import Person, make_person

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]
TURNS, CUTS = 5, 100


@pytest.fixture
def alice(transactional_db: None) -> Person:
    return make_person("alice@example.com")


@pytest.fixture
def servers(alice: Person, tmp_path: Path) -> Iterator[list[Server]]:
    with two_servers(tmp_path / "web.log", of_this_test()) as started:
        yield started


@pytest.fixture
def listener(alice: Person) -> Listener:
    api = api_of(alice)
    return Listener(api.token, f"{api.base}/documents/{make_document(alice.actor).pk.hex}/chat")


def another(listener: Listener) -> Listener:
    return Listener(listener.token, listener.chat)


async def running_turn() -> Turn:
    """The one that somebody runs."""
    for _ in range(400):
        if turn := await in_thread(Turn.objects.filter(epoch__gt=0).first):
            return turn
        await asyncio.sleep(0.05)
    raise AssertionError("nobody runs it")


async def replay(listener: Listener, url: str) -> Listener:
    """The whole turn as a server tells it to somebody new."""
    fresh = another(listener)
    await fresh.read(url, "GET", f"{listener.chat}/turns/{listener.turn_id}/events", headers={})
    return fresh


def test_chat_on_one_decide_on_the_other_follow_on_either(servers: list[Server], listener: Listener) -> None:
    async def play() -> None:
        async with Proxy(servers).running() as proxy:
            await listener.ask(proxy.url, question("Tag it", stream=True))
            waiting = listener.events[-1]["result"]
            assert [call["name"] for call in waiting["tool_calls"]] == ["create_tag"]
            body: Any = {"turn_id": waiting["turn_id"], "approvals": [decision()]}
            streamed = another(listener)
            await streamed.read(proxy.url, "POST", f"{listener.chat}/approve", body=body | {"stream": True}, headers={})
            assert streamed.events[-1]["result"]["text"] == "Done and tagged"
            late = await post(proxy.url, f"{listener.chat}/approve", listener.token, body)
            assert (late["text"], late["decisions"][0]["accepted"]) == ("Done and tagged", False)
            assert set(proxy.used) == {server.port for server in servers}
        told = [await replay(listener, server.url) for server in servers]
        assert told[0].events == told[1].events
        assert told[0].ids == listener.ids + streamed.ids == list(range(1, len(told[0].ids) + 1))

    asyncio.run(play())
    assert Tag.objects.count() == 1


def test_a_hundred_cut_connections_lose_nothing_and_repeat_nothing(servers: list[Server], listener: Listener) -> None:
    async def play() -> None:
        async with Proxy(servers, random_cuts(7)).running() as proxy:
            while proxy.cuts < CUTS:
                talks = [another(listener) for _ in range(TURNS)]
                await asyncio.gather(*(talk.ask(proxy.url, question("talk 100", stream=True)) for talk in talks))
                await asyncio.gather(*(talk.follow(proxy.url) for talk in talks))
                for number, talk in enumerate(talks):
                    whole = await replay(talk, servers[number % 2].url)
                    assert talk.ids == list(range(1, len(whole.ids) + 1))
                    assert talk.events == whole.events
                    said = "".join(event.get("chunk", "") for event in talk.events)
                    assert said.split() == [f"word{number}" for number in range(100)]

    asyncio.run(play())


def test_stop_reaches_a_turn_in_the_other_process(servers: list[Server], listener: Listener) -> None:
    async def play() -> None:
        here, there = (server.url for server in servers)
        listening = asyncio.create_task(listener.ask(here, question("talk 3000", stream=True)))
        turn = await running_turn()
        stopped = await post(there, f"{listener.chat}/cancel", listener.token, {"turn_id": turn.pk.hex})
        assert stopped == {"ok": True, "status": "cancelled"}
        await listening

    asyncio.run(play())
    assert listener.events[-1]["result"]["status"] == "cancelled"


def test_a_killed_process_is_an_interrupted_turn_for_who_comes_back(servers: list[Server], listener: Listener) -> None:
    async def play() -> None:
        here, there = servers
        listening = asyncio.create_task(listener.ask(here.url, question("talk 3000", stream=True)))
        await running_turn()
        await asyncio.sleep(1)
        here.kill()
        await listening
        assert not listener.is_over
        following = asyncio.create_task(listener.follow(there.url))
        await asyncio.sleep(0.5)
        await in_thread(partial(Turn.objects.update, lease_until=timezone.now() - timedelta(seconds=1)))
        await in_thread(reap)
        await following

    asyncio.run(play())
    assert (listener.events[-1]["type"], listener.events[-1]["code"]) == ("error", "interrupted")
    assert listener.ids == list(range(1, len(listener.ids) + 1))


def test_a_reader_who_does_not_read_costs_no_memory_and_loses_nothing(
    servers: list[Server], listener: Listener, alice: Person
) -> None:
    document_id = listener.chat.split("/")[-2]
    thread = make_thread(alice.actor, Document.objects.get(pk=document_id))
    turn = make_turn(thread, alice.actor, status="running", epoch=1, lease_until=timezone.now() + timedelta(hours=1))
    for seq in range(1, 1501):
        append_now(turn.pk, None, Numbered(seq, AssistantTextChunk(chunk="x" * 40_000, round_index=0)))
    before = servers[0].settle()
    request = (
        f"GET {listener.chat}/turns/{turn.pk.hex}/events HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        f"Authorization: Bearer {listener.token}\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", servers[0].port)) as lazy:
        lazy.sendall(request.encode())
        time.sleep(6)
        grown = servers[0].memory() - before
        assert grown < 40_000_000, f"{grown} bytes for a reader of 60 MB who does not read"
        lazy.settimeout(20)
        text = b""
        while text.count(b"id: ") < 1500:
            text += lazy.recv(1_000_000)
    body = text.partition(b"\r\n\r\n")[2]
    numbers = [int(line[4:]) for line in body.split(b"\n") if line.startswith(b"id: ")]
    assert numbers == list(range(1, 1501))
