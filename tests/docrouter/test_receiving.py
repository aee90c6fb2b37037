"""Bodies that come in through daphne: forms are not read into memory, endless ones are cut off."""

import asyncio
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from daphne import http_protocol
from twisted.internet.error import ConnectionDone
from twisted.internet.testing import StringTransport
from twisted.python.failure import Failure
from twisted.web import http

from docrouter import receiving

FORM = b'--B\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n' + b"x" * 5000 + b"\r\n--B--\r\n"


@pytest.fixture
def channel(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A connection to daphne; `queue` gets what the application would."""
    monkeypatch.setattr(http_protocol, "WebRequest", http_protocol.WebRequest)
    monkeypatch.setattr(receiving, "LARGEST_BODY", 10_000)
    receiving.bound_bodies()
    queue: asyncio.Queue[Any] = asyncio.Queue()
    server = SimpleNamespace(
        proxy_forwarded_address_header=None,
        root_path="",
        request_buffer_size=1000,
        create_application=lambda *_: queue,
        protocol_connected=lambda *_: None,
        protocol_disconnected=lambda *_: None,
    )
    made = http_protocol.HTTPFactory(server).buildProtocol(("127.0.0.1", 1))
    made.timeOut = None
    made.makeConnection(StringTransport())
    yield SimpleNamespace(send=made.dataReceived, transport=made._channel.transport, queue=queue)
    made.connectionLost(Failure(ConnectionDone()))


def body_of(queue: "asyncio.Queue[Any]") -> bytes:
    return b"".join(queue.get_nowait()["body"] for _ in range(queue.qsize()))


def test_a_form_reaches_the_application_unread(channel: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "_getMultiPartArgs", lambda *_: pytest.fail("the server looked into the form"))
    head = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=B\r\nContent-Length: %d\r\n\r\n"
    channel.send(head % len(FORM) + FORM)
    assert body_of(channel.queue) == FORM


def test_a_body_that_promises_to_be_too_long_is_refused_before_it_comes(channel: Any) -> None:
    channel.send(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10001\r\n\r\n")
    assert channel.transport.value().startswith(b"HTTP/1.1 413 ")
    assert channel.transport.disconnecting


def test_a_body_without_a_length_is_cut_off_where_it_is_too_long(channel: Any) -> None:
    channel.send(b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
    for _ in range(20):
        channel.send(b"3e8\r\n" + b"x" * 1000 + b"\r\n")
    assert channel.transport.value().count(b"HTTP/1.1 413 ") == 1
    assert channel.transport.disconnecting
    assert channel.queue.empty()
