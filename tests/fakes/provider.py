"""A model provider on loopback: OpenAI's and Anthropic's protocol, scripted answers, faults on demand.

In a test: `with FakeProvider([Step(text="Hi")]) as fake: … fake.openai_base …`; leaving the block fails on
requests that no step expected and on steps that nobody asked for. As a process:
`python -m tests.fakes.provider --port 8099 --script steps.json` (a JSON list of steps; prints "ready PORT").
"""

import argparse
import asyncio
import contextlib
import dataclasses
import json
import pathlib
import sys
import threading
import time
from collections import deque
from collections.abc import Iterable
from types import ModuleType
from typing import Any, Self

from tests.fakes import anthropic_wire, openai_wire
from tests.fakes.steps import Fault, Step, fill_in, step_from_json


@dataclasses.dataclass
class Received:
    """One request as it came. Times are `time.monotonic()`; `gone_at` is when the client hung up on an open answer."""

    path: str
    headers: dict[str, str]
    body: bytes
    at: float
    gone_at: float | None = None
    finished: bool = False

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class FakeProvider:
    """The server, in a thread with an event loop of its own. `received` may be read at any time."""

    def __init__(self, steps: Iterable[Step] = (), *, host: str = "127.0.0.1", port: int = 0) -> None:
        self.received: list[Received] = []
        self.problems: list[str] = []
        self.embedding_fault: Fault | None = None
        self._host, self._port = host, port
        self._plain: deque[Step] = deque()
        self._structured: deque[Step] = deque()
        self._writers: set[asyncio.StreamWriter] = set()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="fake-provider", daemon=True)
        self.add(*steps)

    def add(self, *steps: Step) -> None:
        for step in steps:
            queue = self._structured if step.structured else self._plain
            queue.extend([step] * step.repeat)

    @property
    def port(self) -> int:
        return self._port

    @property
    def url(self) -> str:
        return f"http://{self._host}:{self._port}"

    @property
    def openai_base(self) -> str:
        return f"{self.url}/v1"

    @property
    def anthropic_base(self) -> str:
        return self.url

    def start(self) -> Self:
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._listen(), self._loop).result(timeout=10)
        return self

    def stop(self) -> None:
        asyncio.run_coroutine_threadsafe(self._close(), self._loop).result(timeout=10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(timeout=10)
        self._loop.close()

    def assert_done(self) -> None:
        """Fail on anything unexpected, and on steps that are left."""
        left = len(self._plain) + len(self._structured)
        assert not self.problems, "\n".join(self.problems)
        assert not left, f"{left} scripted step(s) of the fake provider were never asked for"

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.stop()
        if kind is None:
            self.assert_done()

    def wait_asked(self, requests: int = 1, timeout: float = 2.0) -> bool:
        """Wait until so many requests came. Blocks: from async code in a thread."""
        end = time.monotonic() + timeout
        while len(self.received) < requests and time.monotonic() < end:
            time.sleep(0.01)
        return len(self.received) >= requests

    def wait_gone(self, request: int = -1, timeout: float = 1.0) -> bool:
        """Wait until the client has hung up on that request's open answer. Blocks: from async code in a thread."""
        end = time.monotonic() + timeout
        while time.monotonic() < end:
            if self.received and self.received[request].gone_at is not None:
                return True
            time.sleep(0.01)
        return False

    def wait_all_closed(self, timeout: float = 1.0) -> bool:
        """Wait until no client holds a connection, kept alive or not. Blocks."""
        end = time.monotonic() + timeout
        while self._writers and time.monotonic() < end:
            time.sleep(0.01)
        return not self._writers

    async def _listen(self) -> None:
        self._server = await asyncio.start_server(self._serve, self._host, self._port, limit=2**26)
        self._port = self._server.sockets[0].getsockname()[1]

    async def _close(self) -> None:
        self._server.close()
        for writer in list(self._writers):
            writer.transport.abort()
        tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        try:
            while (request := await _read_request(reader)) is not None:
                self.received.append(request)
                if not await self._answer(request, reader, writer):
                    break
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        except asyncio.CancelledError:
            self._loop.call_soon(writer.transport.abort)  # the fake stops; asyncio would log the cancelled task
        finally:
            self._writers.discard(writer)
            writer.close()
            with contextlib.suppress(ConnectionError, asyncio.CancelledError):
                await writer.wait_closed()

    async def _answer(self, request: Received, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        if request.path in openai_wire.EMBEDDING_PATHS:
            return await self._embed(request, writer)
        wire = next((wire for wire in (openai_wire, anthropic_wire) if request.path in wire.PATHS), None)
        if wire is None:
            self.problems.append(f"unexpected path {request.path}")
            return await _send_json(writer, 404, {"error": {"message": "no such path"}})
        body = request.json
        step = self._next_step(wire, body, request)
        if step is None:
            fault = Fault("status", error_type="invalid_request_error", message="the script has no step for this")
            return await _send_json(writer, 400, wire.error_body(fault))
        fault = step.fault
        if fault and fault.kind == "status":
            return await _send_json(writer, fault.status, wire.error_body(fault), fault.retry_after)
        if fault and fault.kind == "hang_up":
            return False
        if fault and fault.kind == "not_a_stream":
            return await _send(writer, 200, b"<html>Welcome to the captive portal</html>", "text/html")
        if not body.get("stream"):
            return await _send_json(writer, 200, wire.whole(step, body))
        return await self._stream(step, wire.frames(step, body), request, reader, writer)

    async def _embed(self, request: Received, writer: asyncio.StreamWriter) -> bool:
        """Needs no step: any text has a vector, unless `embedding_fault` says otherwise."""
        if self.embedding_fault:
            return await _send_json(writer, self.embedding_fault.status, openai_wire.error_body(self.embedding_fault))
        return await _send_json(writer, 200, openai_wire.embedding(request.json))

    def _next_step(self, wire: ModuleType, body: Any, request: Received) -> Step | None:
        structured = wire.wants_structure(body)
        queue = self._structured if structured else self._plain
        if not queue:
            self.problems.append(f"unexpected request {request.path} (structured: {structured}), no step is left")
            return None
        step = queue.popleft()
        wanted = step.expect + (step.expect_signatures if wire is anthropic_wire else ())
        missing = [text for text in wanted if text.encode() not in request.body]
        if missing:
            self.problems.append(f"a request lacks {missing}")
        try:
            return fill_in(step, wire.tool_results(body))
        except (KeyError, TypeError) as error:
            self.problems.append(f"a step needs a tool result that the request does not have: {error!r}")
            return None

    async def _stream(self, step: Step, frames: list[bytes], request: Received, reader: asyncio.StreamReader,
                      writer: asyncio.StreamWriter) -> bool:  # fmt: skip
        watch = asyncio.create_task(_watch_hang_up(reader, request))
        try:
            finished = await _write_frames(step, frames, request, writer)
            if not finished and step.fault and step.fault.kind == "cut":
                writer.transport.abort()
            return finished
        except ConnectionError:
            request.gone_at = request.gone_at or time.monotonic()
            return False
        finally:
            watch.cancel()
            await asyncio.gather(watch, return_exceptions=True)


async def _watch_hang_up(reader: asyncio.StreamReader, request: Received) -> None:
    """No client of ours sends anything while an answer is open: the end of its side means that it has gone."""
    while not reader.at_eof():  # noqa: ASYNC110 — a StreamReader has no event for its end
        await asyncio.sleep(0.01)
    request.gone_at = time.monotonic()


async def _write_frames(step: Step, frames: list[bytes], request: Received, writer: asyncio.StreamWriter) -> bool:
    """Returns: whether the connection can serve another request."""
    fault = step.fault
    if fault and fault.kind == "slow_headers":
        await _wait(fault.seconds, request)
    writer.write(
        b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n"
        b"Cache-Control: no-cache\r\nTransfer-Encoding: chunked\r\n\r\n"
    )
    await writer.drain()
    for index, frame in enumerate(frames):
        if fault and fault.kind == "slow_first" and index == 0:
            await _wait(fault.seconds, request)
        if fault and fault.kind == "slow_between" and index == fault.after:
            await _wait(fault.seconds, request)
        if fault and fault.kind == "cut" and index == fault.after:
            await asyncio.sleep(0.02)  # what was sent reaches the client before the reset does
            return False
        if fault and fault.kind == "end_early" and index == fault.after:
            break
        if request.gone_at is not None:
            return False
        data = b"data: {no json\n\n" if fault and fault.kind == "garbage" and index == fault.after else frame
        writer.write(b"%x\r\n%b\r\n" % (len(data), data))
        await writer.drain()
        if step.delay:
            await _wait(step.delay, request)
    writer.write(b"0\r\n\r\n")
    await writer.drain()
    request.finished = True
    return True


async def _wait(seconds: float, request: Received) -> None:
    end = time.monotonic() + seconds
    while request.gone_at is None and (left := end - time.monotonic()) > 0:  # noqa: ASYNC110 — a pause that ends early
        await asyncio.sleep(min(left, 0.01))


async def _read_request(reader: asyncio.StreamReader) -> Received | None:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines if line)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Received(first.split()[1].partition("?")[0], headers, body, time.monotonic())


async def _send_json(writer: asyncio.StreamWriter, status: int, data: Any, retry_after: str | None = None) -> bool:
    return await _send(writer, status, json.dumps(data).encode(), "application/json", retry_after)


async def _send(
    writer: asyncio.StreamWriter, status: int, data: bytes, kind: str, retry_after: str | None = None
) -> bool:
    extra = f"Retry-After: {retry_after}\r\n" if retry_after is not None else ""
    head = f"HTTP/1.1 {status} Fake\r\nContent-Type: {kind}\r\nContent-Length: {len(data)}\r\n{extra}\r\n"
    writer.write(head.encode() + data)
    await writer.drain()
    return True


def main() -> None:
    """Serve a script file until the process is stopped."""
    parser = argparse.ArgumentParser(description="A scripted model provider on loopback.")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--script", type=pathlib.Path, required=True)
    options = parser.parse_args()
    steps = [step_from_json(step) for step in json.loads(options.script.read_text())]
    fake = FakeProvider(steps, port=options.port).start()
    sys.stdout.write(f"ready {fake.port}\n")
    sys.stdout.flush()
    threading.Event().wait()


if __name__ == "__main__":
    main()
