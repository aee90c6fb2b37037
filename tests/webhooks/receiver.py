"""A real HTTP server on loopback that keeps what it is sent and answers what the test says."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass(frozen=True)
class Received:
    """One request."""

    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Receiver:
    """`answers` are used up one after the other, then 200; `delay` is waited before each."""

    url: str = ""
    answers: list[tuple[int, bytes, dict[str, str]]] = field(default_factory=list)
    delay: float = 0.0
    received: list[Received] = field(default_factory=list)
    busy: int = 0
    busiest: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def will_answer(self, status: int, body: bytes = b"", **headers: str) -> None:
        self.answers.append((status, body, headers))

    def take(self, request: Received) -> tuple[int, bytes, dict[str, str]]:
        with self.lock:
            self.received.append(request)
            self.busy += 1
            self.busiest = max(self.busy, self.busiest)
        time.sleep(self.delay)
        with self.lock:
            self.busy -= 1
            return self.answers.pop(0) if self.answers else (200, b"thanks", {})


@contextmanager
def receiving() -> Iterator[Receiver]:
    """Run a receiver on a free port."""
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            status, answer, headers = receiver.take(Received(self.path, dict(self.headers), body))
            self.send_response(status)
            for name, text in headers.items():
                self.send_header(name, text)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.handle_error = lambda *_: None  # type: ignore[method-assign]  # a client that hangs up is part of the tests
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    receiver.url = f"http://127.0.0.1:{server.server_address[1]}/hook"
    try:
        yield receiver
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)
