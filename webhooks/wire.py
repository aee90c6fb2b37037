"""One POST to a stranger's server: a checked address, a time for everything, a bounded answer, nothing followed.

httpcore alone, below any client: it reads no proxies and no passwords from the environment, and follows no redirects.
"""

import socket
import ssl
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from functools import lru_cache
from time import monotonic, time
from typing import Any

import httpcore
from django.conf import settings

from webhooks import guard
from webhooks.addresses import Place
from webhooks.errors import AddressRefused

MAX_ANSWER = 4096
MAX_ADDRESSES = 3
_TRY_AGAIN = (408, 429)
_BUSY = (429, 503)
LONGEST_RETRY_AFTER = 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of an attempt. `answer` is a stranger's text; `refused`: there was no point in trying.

    Units: `retry_after` in seconds, as a server that is busy asks for; 0.0 for none.
    """

    status_code: int | None = None
    error: str = ""
    answer: str = ""
    duration_ms: int = 0
    refused: bool = False
    retry_after: float = 0.0

    @property
    def has_arrived(self) -> bool:
        return self.status_code is not None and 200 <= self.status_code < 300

    @property
    def may_pass(self) -> bool:
        """Whether a later attempt may fare better."""
        if self.status_code is None:
            return not self.refused
        return self.status_code >= 500 or self.status_code in _TRY_AGAIN


def post(place: Place, *, headers: Mapping[str, str], body: bytes) -> Outcome:
    """Send `body`. Whatever the network does is an outcome."""
    begun = monotonic()
    try:
        status_code, answer, retry_after = _exchange(place, headers, body, begun + settings.WEBHOOK_SECONDS)
    except AddressRefused as problem:
        return Outcome(error=str(problem), refused=True, duration_ms=_since(begun))
    except (httpcore.TimeoutException, TimeoutError):
        return Outcome(error="The server took too long.", duration_ms=_since(begun))
    except httpcore.ConnectError as problem:
        return Outcome(error=_connect_error(problem), duration_ms=_since(begun))
    except socket.gaierror:
        return Outcome(error="The server's name was not found.", duration_ms=_since(begun))
    except (httpcore.NetworkError, httpcore.ProtocolError, OSError):
        return Outcome(error="The connection broke, or the answer was no HTTP.", duration_ms=_since(begun))
    return Outcome(
        status_code=status_code,
        error=_refusal(status_code),
        answer=_plain(answer),
        duration_ms=_since(begun),
        retry_after=_seconds(retry_after) if status_code in _BUSY else 0.0,
    )


def _exchange(place: Place, headers: Mapping[str, str], body: bytes, deadline: float) -> tuple[int, bytes, bytes]:
    """Returns: status code, beginning of the answer, its Retry-After."""
    url = httpcore.URL(scheme=place.scheme, host=place.host, port=place.port, target=place.path)
    sent = [("Host", place.host_header), *headers.items(), ("Content-Length", str(len(body)))]
    waits = settings.WEBHOOK_SECONDS
    timeouts = {"connect": settings.WEBHOOK_CONNECT_SECONDS, "read": waits, "write": waits, "pool": waits}
    backend = _CheckedBackend(deadline)
    context = _certificates() if place.scheme == "https" else None
    with (
        httpcore.ConnectionPool(network_backend=backend, ssl_context=context) as pool,
        pool.stream("POST", url, headers=sent, content=body, extensions={"timeout": timeouts}) as response,
    ):
        retry_after = next((value for name, value in response.headers if name.lower() == b"retry-after"), b"")
        return response.status, _beginning(response.iter_stream()), retry_after


def _beginning(chunks: Iterable[bytes]) -> bytes:
    """At most MAX_ANSWER bytes; the rest is never read. An answer that breaks off has been an answer."""
    kept = b""
    try:
        for chunk in chunks:
            kept += chunk
            if len(kept) >= MAX_ANSWER:
                break
    except (httpcore.NetworkError, httpcore.ProtocolError, httpcore.TimeoutException, OSError):
        pass
    return kept[:MAX_ANSWER]


class _CheckedBackend(httpcore.NetworkBackend):
    """Connects to the very addresses that the guard has looked at; the name goes only into TLS and the Host header."""

    def __init__(self, deadline: float) -> None:
        self._deadline = deadline

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Any = None,
    ) -> httpcore.NetworkStream:
        places = guard.targets(host, port)[:MAX_ADDRESSES]
        for number, address in enumerate(places, 1):
            try:
                wait = _left(self._deadline, timeout)
                stream = httpcore.SyncBackend().connect_tcp(address, port, timeout=wait)
            except (httpcore.ConnectError, httpcore.ConnectTimeout):
                if number == len(places):
                    raise
            else:
                return _TimedStream(stream, self._deadline)
        raise httpcore.ConnectError("no address")


class _TimedStream(httpcore.NetworkStream):
    """A stream that ends at a moment, however slowly the other side drips."""

    def __init__(self, stream: httpcore.NetworkStream, deadline: float) -> None:
        self._stream = stream
        self._deadline = deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, _left(self._deadline, timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, _left(self._deadline, timeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        stream = self._stream.start_tls(ssl_context, server_hostname, _left(self._deadline, timeout))
        return _TimedStream(stream, self._deadline)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


@lru_cache(maxsize=1)
def _certificates() -> ssl.SSLContext:
    return httpcore.default_ssl_context()


def _left(deadline: float, timeout: float | None) -> float:
    left = deadline - monotonic()
    if left <= 0:
        raise httpcore.ReadTimeout("the time for this attempt is over")
    return left if timeout is None else min(timeout, left)


def _seconds(retry_after: bytes) -> float:
    """How long a server asks us to wait: seconds or a date, at most LONGEST_RETRY_AFTER. What is neither is 0."""
    text = retry_after.decode("ascii", errors="replace").strip()[:64]
    try:
        wait = float(text) if text.isdecimal() else parsedate_to_datetime(text).timestamp() - time()
    except (ValueError, OverflowError):
        return 0.0
    return min(max(wait, 0.0), LONGEST_RETRY_AFTER)


def _since(begun: float) -> int:
    return round((monotonic() - begun) * 1000)


def _connect_error(problem: BaseException) -> str:
    cause = problem.__cause__ or problem.__context__
    if isinstance(cause, ssl.SSLError):
        return "The server's certificate was not accepted."
    return "The server could not be reached."


def _refusal(status_code: int) -> str:
    if 300 <= status_code < 400:
        return "The server sent us elsewhere; redirects are not followed."
    return "" if 200 <= status_code < 300 else f"The server answered {status_code}."


def _plain(answer: bytes) -> str:
    """Text that can be stored and shown; never more than data."""
    text = answer.decode("utf-8", errors="replace")
    return "".join(letter if letter.isprintable() or letter in "\n\t" else "\ufffd" for letter in text)
