"""A response waits while its reader has enough, goes on when there is room, and gives up on who takes nothing."""

import asyncio
from functools import partial
from typing import Any

import pytest
from twisted.web.http import Request

from docrouter import backpressure
from docrouter.backpressure import paced

START = {"type": "http.response.start", "status": 200, "headers": []}
PART = {"type": "http.response.body", "body": b"x", "more_body": True}
END = {"type": "http.response.body"}


class Channel:
    """Twisted's side of a connection."""

    def __init__(self) -> None:
        self.transport = None
        self.producer: Any = None
        self.aborted = False

    def getPeer(self) -> None:
        pass

    getHost = getPeer  # noqa: N815 - twisted's name

    def registerProducer(self, producer: Any, streaming: bool) -> None:
        self.producer = producer

    def unregisterProducer(self) -> None:
        self.producer = None

    def forceAbortClient(self) -> None:
        self.aborted = True


class Line:
    """A request, what was written to it, and how far the application is."""

    def __init__(self) -> None:
        self.channel = Channel()
        self.request = Request(self.channel)  # type: ignore[arg-type]  # stands in for one
        self.sent: list[Any] = []

    async def handle_reply(self, _request: Any, message: Any) -> None:
        self.sent.append(message)

    async def answer(self) -> None:
        """As daphne calls the application."""

        async def application(_scope: Any, _receive: Any, send: Any) -> None:
            for message in (START, PART, PART, END):
                await send(message)

        await paced(application)({}, None, partial(self.handle_reply, self.request))  # type: ignore[arg-type]  # unused


async def test_a_full_connection_makes_the_response_wait() -> None:
    line = Line()
    task = asyncio.create_task(line.answer())
    await asyncio.sleep(0)
    assert line.sent == [START, PART, PART, END], "nothing waits while there is room"
    await task
    assert line.channel.producer is None


async def test_it_goes_on_when_there_is_room(monkeypatch: pytest.MonkeyPatch) -> None:
    line = Line()
    whole = line.handle_reply

    async def full(request: Any, message: Any) -> None:
        await whole(request, message)
        if message is PART and len(line.sent) == 2:
            line.channel.producer.pauseProducing()

    monkeypatch.setattr(line, "handle_reply", full)
    task = asyncio.create_task(line.answer())
    await asyncio.sleep(0.05)
    assert line.sent == [START, PART]
    line.channel.producer.resumeProducing()
    await task
    assert line.sent == [START, PART, PART, END]


async def test_who_takes_nothing_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    line = Line()
    monkeypatch.setattr(backpressure, "STALLED_SECONDS", 0.01)

    async def full(_request: Any, message: Any) -> None:
        if message is PART:
            line.channel.producer.pauseProducing()

    monkeypatch.setattr(line, "handle_reply", full)
    await line.answer()
    assert line.channel.aborted


async def test_another_server_is_left_alone() -> None:
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def application(_scope: Any, _receive: Any, given: Any) -> None:
        assert given is send
        await given(START)

    await paced(application)({}, None, send)  # type: ignore[arg-type]  # unused
    assert sent == [START]
