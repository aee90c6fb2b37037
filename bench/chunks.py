"""Chunks of a model's answer through one web process, from a fake provider to the clients: `python -m bench.chunks`.

Everything is real: daphne, the JSON API with `stream: true`, PostgreSQL, each event stored in Valkey and read back as
server-sent events. The provider, bare litellm and the clients (raw sockets, here) are processes of their own. Two
questions: how many chunks a second one process carries when the provider is as fast as it is read, beside bare
litellm that throws them away; and what chats wait for when many of them stream slowly. Each chunk carries the time at
which the provider sent it, so what is printed is what we add.
"""

import argparse
import asyncio
import contextlib
import importlib
import json
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from bench.emitter import STAMP_DIGITS
from tests.live import Site, running

STAMP = re.compile(rb"(\d{%d}) " % STAMP_DIGITS)
CHUNK = b'"type":"assistant_text_chunk"}\n'
QUESTION = "What is in this document?"
MODEL = "gpt-4o-mini"
TICKS = os.sysconf("SC_CLK_TCK")
SEED = """
import json
from organizations.services import create_token
from tests.agent.staging import make_document
from tests.conftest import make_person
person = make_person("bench@example.com")
document = make_document(person.actor)
_, token = create_token(user=person.user, name="bench", organization=person.organization)
print(json.dumps([f"/v0/orgs/{person.organization.id.hex}/documents/{document.pk.hex}/chat", token]))
"""


class Added(NamedTuple):
    """How much later than the provider sent it a chunk came. Units: seconds; `at` on the monotonic clock."""

    at: float
    seconds: float


@dataclass
class Chat:
    """What one client saw. Units: seconds; `first` from the question to the first event."""

    first: float = 0.0
    added: list[Added] = field(default_factory=list)
    events: int = 0


class Load(NamedTuple):
    """Units: seconds; `busy` of processor time in the process that is measured."""

    chats: list[Chat]
    wall: float
    busy: float

    @property
    def chunks(self) -> int:
        return sum(len(chat.added) for chat in self.chats)


class Door:
    """The chat route of the site, and its web process as the system sees it."""

    def __init__(self, site: Site, emitter: str) -> None:
        path, self._token = json.loads(site.manage("shell", "-v", "0", "-c", SEED).splitlines()[-1])
        self._path, self._port, self._emitter = path, site.port, emitter
        self.process = Path("/proc") / str(site.processes["web"].pid)

    async def load(self, chats: int, *, chunks: int, seconds: float, apart: float = 0.0) -> Load:
        """Open so many chats, so far apart, and read them to their end."""
        _pace(self._emitter, chunks, seconds)
        started, busy = time.monotonic(), self.busy()
        async with asyncio.timeout(300):
            seen = await asyncio.gather(*[self._chat(number * apart) for number in range(chats)])
        load = Load(list(seen), time.monotonic() - started, self.busy() - busy)
        assert load.chunks == chats * chunks, f"{load.chunks} of {chats * chunks} chunks came"
        return load

    async def _chat(self, wait: float) -> Chat:
        await asyncio.sleep(wait)
        body = json.dumps({"messages": [{"role": "user", "content": QUESTION}], "model": MODEL, "stream": True})
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port, limit=2**26)
        head = f"POST {self._path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {self._token}\r\n"
        head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        asked, chat = time.monotonic(), Chat()
        writer.write((head + body).encode())
        while line := await reader.readline():
            if not line.startswith(b"data: "):
                continue
            now = time.monotonic()
            chat.events += 1
            chat.first = chat.first or now - asked
            if line.endswith(CHUNK):
                chat.added += [Added(now, now - int(stamp) / 1e9) for stamp in STAMP.findall(line)]
            elif (kind := json.loads(line[6:])["type"]) in ("done", "error"):
                assert kind == "done", line
                break
        assert chat.events, "the chat was refused"
        writer.close()
        return chat

    def busy(self) -> float:
        """Units: seconds of processor time so far, of all threads."""
        values = (self.process / "stat").read_text().rpartition(")")[2].split()
        return (int(values[11]) + int(values[12])) / TICKS

    def memory(self) -> int:
        """Units: KiB that are resident."""
        return int((self.process / "status").read_text().partition("VmRSS:")[2].split()[0])


@contextlib.contextmanager
def emitting() -> Iterator[str]:
    """The provider. Yields: its address."""
    with subprocess.Popen([sys.executable, "-m", "bench.emitter"], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        try:
            yield f"http://127.0.0.1:{process.stdout.readline().strip()}"
        finally:
            process.terminate()


def _pace(emitter: str, chunks: int, seconds: float) -> None:
    body = json.dumps({"chunks": chunks, "seconds": seconds}).encode()
    with urllib.request.urlopen(urllib.request.Request(f"{emitter}/pace", body, method="POST")):
        pass


def bare_litellm(emitter: str, chats: int, chunks: int) -> tuple[float, float]:
    """As many answers at once, read by litellm alone in a process of its own. Units: seconds on the clock, computing"""
    _pace(emitter, chunks, 0)
    command = [sys.executable, "-m", "bench.chunks", "--bare", emitter, "--chats", str(chats), "--chunks", str(chunks)]
    answer = subprocess.run(command, capture_output=True, text=True, check=True)
    wall, busy = json.loads(answer.stdout.splitlines()[-1])
    return wall, busy


async def _bare(emitter: str, chats: int, chunks: int) -> None:
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    litellm: Any = importlib.import_module("litellm")
    litellm.suppress_debug_info = True

    async def read() -> int:
        stream = await litellm.acompletion(
            model=f"openai/{MODEL}", messages=[{"role": "user", "content": QUESTION}], stream=True, max_retries=0,
            stream_options={"include_usage": True}, api_base=f"{emitter}/v1", api_key="bench",
        )  # fmt: skip
        return sum([1 async for chunk in stream if chunk.choices and chunk.choices[0].delta.content])

    await read()
    started, busy = time.monotonic(), time.process_time()
    assert sum(await asyncio.gather(*[read() for _ in range(chats)])) == chats * chunks
    print(json.dumps([time.monotonic() - started, time.process_time() - busy]))


def _percentiles(values: Sequence[float]) -> str:
    cuts = statistics.quantiles(values, n=100, method="inclusive")
    return f"p50 {cuts[49] * 1000:6.1f} ms   p95 {cuts[94] * 1000:6.1f} ms   max {max(values) * 1000:6.1f} ms"


async def highest(door: Door, emitter: str, chats: int, chunks: int) -> None:
    """Print what one process carries at most, beside bare litellm, best of three each in turn."""
    await door.load(chats, chunks=20, seconds=0)
    ours, bare = [], []
    for _ in range(3):
        bare.append(await asyncio.to_thread(bare_litellm, emitter, chats, chunks))
        ours.append(await door.load(chats, chunks=chunks, seconds=0))
    total = chats * chunks
    best, (wall, busy) = min(ours, key=lambda load: load.wall), min(bare)
    print(f"As fast as it goes, {chats} answers at once of {chunks} chunks each, one write each; best of three:")
    print(f"  bare litellm, thrown away     {total / wall:8.0f} chunks/s   {busy / total * 1e6:7.1f} µs CPU a chunk")
    print(f"  one web process, end to end   {total / best.wall:8.0f} chunks/s   {best.busy / total * 1e6:7.1f} µs CPU "
          f"a chunk   {sum(chat.events for chat in best.chats)} events")  # fmt: skip
    print(f"  that is {wall / best.wall * 100:.0f} % of bare litellm (goal: 70 %)")


async def many(door: Door, chats: int, rate: float, seconds: float, apart: float) -> None:
    """Print what so many open chats wait for while all of them together stream `rate` chunks a second.

    They open one after another; what is added to a chunk counts from when all are open until the first is over.
    """
    before, opened = door.memory(), time.monotonic() + chats * apart + 1
    chunks = round(rate * (seconds + chats * apart) / chats)
    running = asyncio.create_task(door.load(chats, chunks=chunks, seconds=chats / rate, apart=apart))
    peak = before
    await asyncio.sleep(chats * apart + 1)
    begun = time.monotonic(), door.busy()
    while not running.done() and time.monotonic() < opened + seconds - 2:
        await asyncio.sleep(0.25)
        peak = max(peak, door.memory())
    wall, busy = time.monotonic() - begun[0], door.busy() - begun[1]
    load = await running
    steady = [item.seconds for chat in load.chats for item in chat.added if opened <= item.at <= opened + wall]
    print(f"{chats} chats, opened {apart * 1000:.0f} ms apart, together {rate:.0f} chunks/s, for {seconds:.0f} s:")
    print(f"  from a question to its first event   {_percentiles([chat.first for chat in load.chats])}")
    print(f"  added to a chunk, all chats open     {_percentiles(steady)}   {len(steady) / wall:.0f} chunks/s")
    print(f"  {busy / wall * 100:.0f} % of a core, {busy / len(steady) * 1e6:.0f} µs CPU a chunk; "
          f"{(peak - before) / chats:.0f} KiB a chat at the peak ({peak / 1024:.0f} MiB in all)")  # fmt: skip


async def starts(door: Door, chats: int) -> None:
    """Print what a chat with one chunk costs from the question to its end, one after another."""
    loads = [await door.load(1, chunks=1, seconds=0) for _ in range(chats)]
    busy, firsts = sum(load.busy for load in loads), [load.chats[0].first for load in loads]
    print(f"{chats} chats of one chunk, one after another:")
    print(f"  from a question to its first event   {_percentiles(firsts)}")
    print(f"  {busy / chats * 1000:.1f} ms CPU of the web process a chat, from the question to its end")


async def _measure(site: Site, emitter: str, options: argparse.Namespace) -> None:
    door = Door(site, emitter)
    await door.load(20, chunks=20, seconds=0)
    if options.starts:
        await starts(door, options.starts)
    for rate in options.rates:
        await many(door, options.open, rate, options.seconds, options.apart)
    if options.chats:
        await highest(door, emitter, options.chats, options.chunks)


def main() -> None:
    """Print chunks per second, added latency and memory."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bare", help=argparse.SUPPRESS)
    parser.add_argument("--chats", type=int, default=20, help="answers at once, as fast as they go; 0: leave it out")
    parser.add_argument("--chunks", type=int, default=1000, help="chunks of each")
    parser.add_argument("--starts", type=int, default=100, help="chats whose cost is counted one by one; 0: none")
    parser.add_argument("--open", type=int, default=200, help="chats that are open at once and stream slowly")
    parser.add_argument("--rates", type=float, nargs="*", default=[400, 2000], help="chunks/s of all of those together")
    parser.add_argument("--apart", type=float, default=0.2, help="seconds between the openings of those")
    parser.add_argument("--seconds", type=float, default=15, help="how long those stream")
    options = parser.parse_args()
    if options.bare:
        asyncio.run(_bare(options.bare, options.chats, options.chunks))
        return
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # whatever ends us, what we started ends too
    with emitting() as emitter, tempfile.TemporaryDirectory() as folder:
        knobs = {"OPENAI_API_KEY": "bench", "OPENAI_API_BASE": f"{emitter}/v1", "RATE_LIMIT_SCALE": "0"}
        with running(Path(folder), "chunks", **knobs, LOG_LEVEL="WARNING") as (site, _):
            site.stop("ingest")
            site.stop("llm")
            asyncio.run(_measure(site, emitter, options))


if __name__ == "__main__":
    main()
