"""What a round of the agent costs beside a bare litellm stream: `python -m bench.agent_round`.

The same answers come from a fake provider in another process; bare litellm, our client, the agent's loop and whole
turns by the real runner (each event stored and streamed, with PostgreSQL and Valkey) take turns in one run, so that a
busy machine slows all of them. A round is one model call with one read-only tool call, asked with all real tools.
"""

# ruff: noqa: E402 - Django has to be set up before its models are imported

import argparse
import asyncio
import contextlib
import json
import logging
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"

import django

django.setup()

import structlog
from django.conf import settings
from django.db import connection, connections

import agent.tools  # noqa: F401 - fills the toolbox
from agent import runner
from agent.events import CallShown, Done
from agent.loop import run_turn
from agent.messages import Call, ChatMessage, Round, Transcript
from agent.services import create_thread, start_turn
from agent.setup import TurnSetup
from agent.toolbox import toolbox
from core.threads import in_thread
from llm import client, runtime
from llm.sources import NO_DOCUMENT
from llm.types import Completion, Delta
from tests.agent.staging import make_document
from tests.conftest import make_person

Json = dict[str, Any]

ROUNDS = 10  # in a turn: the loop's own limit
PIECE = 5  # characters of text in a chunk
MODEL = "gpt-4o-mini"
QUESTION = "What is in this document?"
BARE = "bare litellm"
WHOLE = "whole turn: runner, PostgreSQL, Valkey"
READ: Json = {"name": "get_ocr_text", "arguments": {"page_num": 1}}

Way = Callable[[str], Awaitable[None]]


class Memory:
    """A keeper without a database: what is measured is the loop."""

    async def answered(self, answer: Round, completion: Completion | None) -> None:
        """Nothing to keep."""

    async def run(self, call: Call) -> Json:
        return {"text": f"page {call.effective_arguments.get('page_num')}"}

    async def settled(self, call: Call) -> None:
        """Nothing to keep."""

    async def waits(self, pending: Sequence[CallShown]) -> datetime:
        return datetime.now(UTC) + timedelta(days=1)


async def bare_litellm(base: str) -> None:
    """As few lines as a stream can be read in."""
    litellm = await runtime.litellm()
    messages: list[Json] = [{"role": "user", "content": QUESTION}]
    for _ in range(ROUNDS):
        stream = await litellm.acompletion(
            model=f"openai/{MODEL}", messages=messages, tools=toolbox.definitions(), stream=True,
            stream_options={"include_usage": True}, api_base=base, api_key="bench", max_retries=0,
        )  # fmt: skip
        text = ""
        calls: list[str] = []
        async for chunk in stream:
            delta = chunk.choices[0].delta
            text += delta.content or ""
            calls += [call.id for call in delta.tool_calls or () if call.id]
        answer: Json = {"role": "assistant", "content": text}
        if calls:
            function = {"name": READ["name"], "arguments": json.dumps(READ["arguments"])}
            answer["tool_calls"] = [{"id": call, "type": "function", "function": function} for call in calls]
        messages += [answer, *[{"role": "tool", "tool_call_id": call, "content": "{}"} for call in calls]]


async def our_client(_: str) -> None:
    messages: list[Json] = [{"role": "user", "content": QUESTION}]
    for _round in range(ROUNDS):
        async for item in client.stream(model=MODEL, messages=messages, about=NO_DOCUMENT, tools=toolbox.definitions()):
            if isinstance(item, Completion):
                messages += _as_messages(item)


async def agent_loop(_: str) -> None:
    def ask(messages: list[ChatMessage]) -> AsyncGenerator[Delta | Completion, None]:
        return client.stream(model=MODEL, messages=messages, about=NO_DOCUMENT, tools=toolbox.definitions())

    async def never(_name: str, _arguments: Json) -> bool:
        return False

    setup = TurnSetup(
        turn_id="bench", thread_id=None, model=MODEL, ask=ask, toolbox=toolbox, keeper=Memory(), may_run=never
    )
    async for event in run_turn(Transcript(question=QUESTION), setup):
        if isinstance(event, Done):
            assert len(event.result.executed_rounds) == ROUNDS - 1, event.result


def _as_messages(item: Completion) -> list[Json]:
    calls = [
        {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
        for call in item.tool_calls
    ]
    answer = {"role": "assistant", "content": item.text} | ({"tool_calls": calls} if calls else {})
    return [answer, *[{"role": "tool", "tool_call_id": call.id, "content": "{}"} for call in item.tool_calls]]


def whole_turn() -> Way:
    """Turns as the page starts them, each in a thread of its own: rows, events, news."""
    person = make_person("bench@example.com")
    document = make_document(person.actor)

    async def run(_: str) -> None:
        thread = await in_thread(lambda: create_thread(actor=person.actor, document_id=document.pk))
        turn = await in_thread(
            lambda: start_turn(
                actor=person.actor, document_id=document.pk, thread_id=thread.pk, text=QUESTION, model=MODEL,
                launch=False,
            )
        )  # fmt: skip
        await runner.run(turn.pk)
        await in_thread(turn.refresh_from_db)
        assert len(turn.outcome["executed_rounds"]) == ROUNDS - 1, turn.outcome

    return run


@contextlib.contextmanager
def fresh_database() -> Iterator[None]:
    """A database of its own with our tables, dropped at the end."""
    connection.creation.create_test_db(verbosity=0, autoclobber=True, serialize=False)
    try:
        yield
    finally:
        runner.drain(1)
        connections.close_all()
        connection.creation.destroy_test_db(settings.DATABASES["default"]["NAME"], verbosity=0)


class Cost(NamedTuple):
    """Units: milliseconds a round, on the clock and on the processor (of this process, all threads)."""

    wall: float
    busy: float


@contextlib.contextmanager
def fake_provider(*, turns: int, chunks: int) -> Iterator[str]:
    """The fake in a process of its own. Yields: the base address of its OpenAI protocol."""
    text = "word " * chunks
    turn = [{"text": text, "piece": PIECE, "calls": [READ], "repeat": ROUNDS - 1}, {"text": text, "piece": PIECE}]
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "script.json"
        script.write_text(json.dumps(turn * turns))
        command = [sys.executable, "-m", "tests.fakes.provider", "--script", str(script)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout
            yield f"http://127.0.0.1:{process.stdout.readline().removeprefix('ready ').strip()}/v1"
            process.terminate()


async def measure(base: str, ways: dict[str, Way], turns: int) -> dict[str, list[Cost]]:
    """What a round of each turn took, by way."""
    seen: dict[str, list[Cost]] = {name: [] for name in ways}
    for number in range(turns + 1):
        for name, way in ways.items():
            started, computed = time.perf_counter(), time.process_time()
            await way(base)
            if number:  # the first turn of each warms up
                wall, busy = time.perf_counter() - started, time.process_time() - computed
                seen[name].append(Cost(wall * 1000 / ROUNDS, busy * 1000 / ROUNDS))
    return seen


def report(seen: dict[str, list[Cost]], chunks: int) -> None:
    turns = len(seen[BARE])
    middle = {
        name: Cost(statistics.median(cost.wall for cost in costs), statistics.median(cost.busy for cost in costs))
        for name, costs in seen.items()
    }
    bare, whole = middle[BARE], middle[WHOLE]
    print(f"A round of {chunks} text chunks and one tool call, median of {turns} turns of {ROUNDS} rounds:")
    print(f"{'':<42}{'ms a round':>12}{'× bare':>8}{'of it CPU':>11}{'× bare':>8}{'chunks/s':>10}")
    for name, cost in middle.items():
        shares = f"{cost.wall / bare.wall:>8.2f}{cost.busy:>11.1f}{cost.busy / bare.busy:>8.2f}"
        print(f"{name:<42}{cost.wall:>12.1f}{shares}{chunks / cost.wall * 1000:>10.0f}")
    print(
        f"A round that is kept and told takes {whole.wall - bare.wall:.0f} ms more than the bare stream alone, "
        f"{whole.busy - bare.busy:.0f} ms of them computing in this process."
    )


def main() -> None:
    """Print milliseconds per round, the ratio to bare litellm, and chunks per second."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=3, help="measured turns of each way, 10 rounds each")
    parser.add_argument("--chunks", type=int, default=40, help="text chunks in a round")
    options = parser.parse_args()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    runtime.warm()
    settings.MODEL_PROVIDER_KEYS = {"openai": "bench"}
    ways: dict[str, Way] = {BARE: bare_litellm, "llm.client": our_client, "agent.loop, nothing stored": agent_loop}
    calls = (options.turns + 1) * (len(ways) + 1)
    with fresh_database(), fake_provider(turns=calls, chunks=options.chunks) as base:
        settings.MODEL_API_BASES = {"openai": base}
        ways[WHOLE] = whole_turn()
        report(asyncio.run(measure(base, ways, options.turns)), options.chunks)


if __name__ == "__main__":
    main()
