"""Where deliveries may go: no private network by any spelling, no second look at a name, no way past the time."""

import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any

import pytest
from pytest_django import Settings

from tests.webhooks.making import make_certificate
from tests.webhooks.receiver import Receiver
from webhooks import guard, wire
from webhooks.addresses import read_url
from webhooks.wire import Outcome

REFUSED = "The address is in a private or reserved network, which webhooks may not reach."
PUBLIC = ["8.8.8.8", "93.184.216.34", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"]
PRIVATE = [
    *("127.0.0.1", "127.8.8.8", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1"),
    "0.0.0.0",  # noqa: S104 - to be refused
    *("0.1.2.3", "192.0.0.1", "192.0.2.1", "198.18.0.1", "198.51.100.1", "203.0.113.1", "224.0.0.1", "240.0.0.1"),
    *("255.255.255.255", "192.88.99.1", "::", "::1", "fe80::1", "fc00::1", "fd12::1", "fec0::1", "ff02::1", "100::1"),
    *("2001:db8::1", "2001::1", "2002:7f00:1::", "2002:808:808::", "::ffff:127.0.0.1", "::ffff:10.0.0.1"),
    *("64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::1", "::127.0.0.1", "fe80::1%1", "5f00::1"),
]
Answer = list[tuple[Any, ...]]


@pytest.fixture
def nothing_allowed(settings: Settings) -> None:
    settings.WEBHOOK_ALLOWED_NETWORKS = []


def answers(*addresses: str) -> Answer:
    """What a resolver says."""
    return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 80)) for address in addresses]


def send(url: str) -> Outcome:
    return wire.post(read_url(url), headers={}, body=b"{}")


@pytest.mark.parametrize("address", PUBLIC)
def test_public_addresses_are_permitted(nothing_allowed: None, address: str) -> None:
    assert guard.is_permitted(ip_address(address))


@pytest.mark.parametrize("address", PRIVATE)
def test_private_and_reserved_addresses_are_not(nothing_allowed: None, address: str) -> None:
    assert not guard.is_permitted(ip_address(address))


def test_an_operator_may_name_networks_or_allow_private_ones(settings: Settings) -> None:
    settings.WEBHOOK_ALLOWED_NETWORKS = [ip_network("10.1.0.0/16"), ip_network("fd12::/16")]
    named = ("10.1.2.3", "::ffff:10.1.2.3", "fd12::1")
    assert [guard.is_permitted(ip_address(text)) for text in (*named, "10.2.0.1", "127.0.0.1")] == [True] * 3 + [
        False
    ] * 2
    settings.WEBHOOK_ALLOWED_NETWORKS, settings.WEBHOOK_ALLOW_PRIVATE = [], True
    private = ("10.2.0.1", "127.0.0.1", "::1", "fd12::1")
    never = ("169.254.169.254", "224.0.0.1", "::", "fe80::1")
    assert [guard.is_permitted(ip_address(text)) for text in (*private, *never)] == [True] * 4 + [False] * 4


@pytest.mark.parametrize(
    "host", ["localhost", "2130706433", "0x7f000001", "0177.0.0.1", "127.1", "ip6-localhost", "localhost."]
)
def test_no_spelling_of_this_machine_is_connected_to(nothing_allowed: None, receiver: Receiver, host: str) -> None:
    outcome = send(receiver.url.replace("127.0.0.1", host))
    assert outcome.error in (REFUSED, "The server's name was not found.")
    assert not outcome.has_arrived
    assert receiver.received == []
    if host == "localhost":
        assert (outcome.error, outcome.may_pass) == (REFUSED, False)


def test_a_name_with_one_private_address_among_public_ones_is_refused(
    nothing_allowed: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guard.socket, "getaddrinfo", lambda *_, **__: answers("93.184.216.34", "10.0.0.1"))
    assert send("http://example.com/").error == REFUSED


def test_a_name_that_answers_differently_the_second_time_is_not_asked_twice(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    """Rebinding: 127.0.0.2 stands for the public address that is looked at, 127.0.0.1 for the private one behind it."""
    settings.WEBHOOK_ALLOWED_NETWORKS = [ip_network("127.0.0.2/32")]
    asked: list[str] = []
    connected: list[Any] = []
    real = socket.getaddrinfo

    def resolver(host: str, *rest: Any, **more: Any) -> Any:
        if host != "rebinding.example":
            return real(host, *rest, **more)
        asked.append(host)
        return answers("127.0.0.2" if len(asked) == 1 else "127.0.0.1")

    def connect(place: tuple[str, int], *_: Any, **__: Any) -> socket.socket:
        connected.append(place[0])
        raise ConnectionRefusedError

    monkeypatch.setattr(socket, "getaddrinfo", resolver)
    monkeypatch.setattr(socket, "create_connection", connect)
    url = receiver.url.replace("127.0.0.1", "rebinding.example")
    assert send(url).error == "The server could not be reached."
    assert (connected, asked) == (["127.0.0.2"], ["rebinding.example"])
    assert (send(url).error, connected) == (REFUSED, ["127.0.0.2"])  # the next attempt looks anew
    assert receiver.received == []


def test_the_name_stands_in_the_host_header_and_no_proxy_is_asked(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    assert send(receiver.url.replace("127.0.0.1", "localhost")).has_arrived
    assert receiver.received[0].headers["Host"].startswith("localhost:")


def test_the_next_address_of_a_name_is_tried_when_one_is_away(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = socket.getaddrinfo
    both = answers("127.0.0.9", "127.0.0.1")
    monkeypatch.setattr(
        socket, "getaddrinfo", lambda host, *r, **m: both if host == "a.example" else real(host, *r, **m)
    )
    assert send(receiver.url.replace("127.0.0.1", "a.example")).has_arrived


def test_a_port_that_is_not_allowed_is_refused(settings: Settings) -> None:
    settings.WEBHOOK_PORTS = [443]
    assert read_url("https://example.com/").port == 443
    with pytest.raises(Exception, match="port"):
        read_url("https://example.com:8443/")


# --- servers that mean ill ------------------------------------------------------------------------------------------


@pytest.fixture
def serve() -> Iterator[Callable[..., str]]:
    """Start a server whose answer to a connection is a function of the socket. Returns its address."""
    stop = threading.Event()
    listeners: list[socket.socket] = []

    def start(answer: Callable[[Any, threading.Event], None], context: ssl.SSLContext | None = None) -> str:
        listener = socket.create_server(("127.0.0.1", 0))
        listeners.append(listener)

        def run() -> None:
            try:
                connection, _ = listener.accept()
                with context.wrap_socket(connection, server_side=True) if context else connection as stream:
                    request = b""
                    while not request.endswith(b"{}"):
                        request += stream.recv(65536)
                    answer(stream, stop)
            except OSError:
                return

        threading.Thread(target=run, daemon=True).start()
        return f"{'https' if context else 'http'}://127.0.0.1:{listener.getsockname()[1]}/"

    yield start
    stop.set()
    for listener in listeners:
        listener.close()


def drip(stream: Any, stop: threading.Event) -> None:
    """Headers without an end, a byte at a time: no single read takes long."""
    stream.sendall(b"HTTP/1.1 200 OK\r\nX-Slow: ")
    while not stop.wait(0.02):
        stream.sendall(b"x")


def flood(stream: Any, stop: threading.Event) -> None:
    stream.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    while not stop.is_set():
        stream.sendall(b"10000\r\n" + b"y" * 65536 + b"\r\n")


def babble(stream: Any, _stop: threading.Event) -> None:
    stream.sendall(b"SSH-2.0-OpenSSH_9.6\r\n")


def answer_fine(stream: Any, _stop: threading.Event) -> None:
    stream.sendall(b"HTTP/1.1 204 No Content\r\n\r\n")


def test_a_server_that_drips_is_left_when_the_time_is_over(serve: Callable[..., str], settings: Settings) -> None:
    settings.WEBHOOK_SECONDS = 0.3
    begun = time.monotonic()
    outcome = send(serve(drip))
    assert (outcome.error, outcome.may_pass) == ("The server took too long.", True)
    assert time.monotonic() - begun < 2


def test_of_an_answer_without_end_4_kb_are_kept(serve: Callable[..., str]) -> None:
    outcome = send(serve(flood))
    assert (outcome.status_code, len(outcome.answer)) == (200, 4096)


def test_what_is_no_http_is_an_error(serve: Callable[..., str]) -> None:
    outcome = send(serve(babble))
    assert (outcome.status_code, outcome.error) == (None, "The connection broke, or the answer was no HTTP.")


def test_a_certificate_that_nobody_signed_is_refused(
    serve: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    certificate, key = make_certificate(tmp_path, "hooks.example")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    names: list[str | None] = []
    context.sni_callback = lambda _socket, name, _context: names.append(name)
    outcome = send(serve(answer_fine, context))
    assert outcome.error == "The server's certificate was not accepted."
    monkeypatch.setattr(wire, "_certificates", lambda: ssl.create_default_context(cafile=str(certificate)))
    real, here = socket.getaddrinfo, answers("127.0.0.1")
    monkeypatch.setattr(
        socket, "getaddrinfo", lambda host, *r, **m: here if host == "hooks.example" else real(host, *r, **m)
    )
    assert send(serve(answer_fine, context).replace("127.0.0.1", "hooks.example")).has_arrived
    assert names[-1] == "hooks.example"
