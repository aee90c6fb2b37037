"""Two real web processes behind a proxy that gives each connection to the other one, and cuts connections at will."""

import asyncio
import itertools
import os
import random
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from django.conf import settings
from django.db import connection

from tests.agent.wire import read_frames

START = "import django; django.setup(); from tests.agent.talker import main; main()"
ROOT = Path(__file__).resolve().parents[2]
START_SECONDS = 90
Json = dict[str, Any]


@dataclass
class Server:
    """A web process on a port."""

    port: int
    process: "subprocess.Popen[bytes]"

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def memory(self) -> int:
        """Units: bytes resident."""
        status = Path(f"/proc/{self.process.pid}/statm").read_text().split()
        return int(status[1]) * os.sysconf("SC_PAGE_SIZE")

    def settle(self) -> int:
        """Wait until what is imported after the start is there. Units: bytes resident."""
        deadline, seen = time.monotonic() + START_SECONDS, [self.memory()]
        while time.monotonic() < deadline:
            time.sleep(0.5)
            seen.append(self.memory())
            if len(seen) > 8 and max(seen[-8:]) - min(seen[-8:]) < 1_000_000:
                break
        return seen[-1]


def of_this_test() -> dict[str, str]:
    """The environment of a process that works on the test's database and Redis."""
    database = connection.settings_dict
    at = f"{database['HOST']}:{database['PORT']}/{database['NAME']}"
    return {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "tests.settings",
        "DATABASE_URL": f"postgresql://{database['USER']}:{database['PASSWORD']}@{at}",
        "REDIS_URL": settings.REDIS_URL,
        "PYTHONWARNINGS": "ignore",
        "RATE_LIMIT_SCALE": "0",
    }


@contextmanager
def two_servers(log: Path, environment: dict[str, str]) -> Iterator[list[Server]]:
    """Two web processes with a scripted model; afterwards none is left."""
    servers: list[Server] = []
    try:
        for _ in range(2):
            servers.append(_start(log, environment))
        for server in servers:
            _wait(server, log)
        yield servers
    finally:
        for server in servers:
            server.process.kill()
            server.process.wait()


def _start(log: Path, environment: dict[str, str]) -> Server:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with log.open("ab") as output:
        command = [sys.executable, "-c", START, str(port)]
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=output, stderr=output)
    return Server(port, process)


def _wait(server: Server, log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(f"{server.url}/healthz", timeout=5):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    raise AssertionError(log.read_text(errors="replace")[-3000:])


@dataclass
class Proxy:
    """Each connection goes to the next server. `budget` says after how many bytes of answer it is cut; None: never."""

    servers: list[Server]
    budget: Callable[[], int | None] = lambda: None
    port: int = 0
    cuts: int = 0
    used: list[int] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @asynccontextmanager
    async def running(self) -> AsyncIterator["Proxy"]:
        turns = itertools.cycle(self.servers)

        serving: set[asyncio.Task[None]] = set()

        def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.create_task(self._serve(next(turns), reader, writer))
            serving.add(task)
            task.add_done_callback(serving.discard)

        listener = await asyncio.start_server(accept, "127.0.0.1", 0)
        self.port = listener.sockets[0].getsockname()[1]
        try:
            yield self
        finally:
            listener.close()
            for task in serving:
                task.cancel()
            await asyncio.gather(*serving, return_exceptions=True)
            await asyncio.sleep(0)  # transports close in the next round of the loop

    async def _serve(self, server: Server, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.used.append(server.port)
        try:
            from_server, to_server = await asyncio.open_connection("127.0.0.1", server.port)
        except OSError:
            writer.transport.abort()
            return
        asking = asyncio.create_task(_pass_on(reader, to_server, None))
        try:
            was_cut = await _pass_on(from_server, writer, self.budget())
            self.cuts += was_cut
            if not was_cut:
                writer.close()
        finally:
            asking.cancel()
            if not writer.is_closing():
                writer.transport.abort()
            to_server.transport.abort()


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, budget: int | None) -> bool:
    """Whether it was cut."""
    try:
        while part := await reader.read(4096):
            if budget is not None and len(part) >= budget:
                writer.write(part[:budget])
                await writer.drain()
                return True
            budget = None if budget is None else budget - len(part)
            writer.write(part)
            await writer.drain()
    except OSError:
        pass
    return False


def random_cuts(seed: int) -> Callable[[], int | None]:
    """Somewhere in the first frames, often in the middle of one; one connection in four is left alone."""
    chance = random.Random(seed)
    return lambda: chance.randint(1200, 2600) if chance.random() < 0.75 else None


@dataclass
class Listener:
    """A client that keeps the id of the last whole frame and comes back with it until the turn ends."""

    token: str
    chat: str
    ids: list[int] = field(default_factory=list)
    events: list[Json] = field(default_factory=list)
    waits: list[float] = field(default_factory=list)
    """From each coming back to the first event. Units: seconds."""

    @property
    def is_over(self) -> bool:
        return bool(self.events) and self.events[-1]["type"] in ("done", "error")

    @property
    def turn_id(self) -> str:
        turn_id: str = self.events[0]["turn_id"]
        return turn_id

    async def ask(self, url: str, body: Json) -> None:
        """Begin, whatever happens to the connection: the key makes it one turn."""
        while not self.events:
            await self.read(url, "POST", self.chat, body=body, headers={"Idempotency-Key": f"key {id(self)}"})

    async def follow(self, url: str) -> None:
        """Come back until the end."""
        while not self.is_over:
            headers = {"Last-Event-ID": str(self.ids[-1])}
            await self.read(url, "GET", f"{self.chat}/turns/{self.turn_id}/events", headers=headers)

    async def read(self, url: str, method: str, path: str, *, body: Any = None, headers: dict[str, str]) -> None:
        text, begun = "", time.monotonic()
        sent = {"Authorization": f"Bearer {self.token}", **headers}
        try:
            async with (
                httpx.AsyncClient(trust_env=False, timeout=60) as client,
                client.stream(method, f"{url}{path}", json=body, headers=sent) as answer,
            ):
                assert answer.status_code == 200, await answer.aread()
                async for part in answer.aiter_text():
                    if method == "GET" and "id: " in part and "id: " not in text:
                        self.waits.append(time.monotonic() - begun)
                    text += part
        except httpx.HTTPError:
            await asyncio.sleep(0)
        whole = text[: text.rindex("\n\n") + 2] if "\n\n" in text else ""
        ids, events, _ = read_frames(whole)
        self.ids += ids
        self.events += events


async def post(url: str, path: str, token: str, body: Json) -> Json:
    """A JSON call that has to go well."""
    async with httpx.AsyncClient(trust_env=False, timeout=60) as client:
        answer = await client.post(f"{url}{path}", json=body, headers={"Authorization": f"Bearer {token}"})
    assert answer.status_code == 200, answer.text
    result: Json = answer.json()
    return result
