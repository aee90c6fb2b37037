"""What a round of the agent costs beside a bare litellm stream: `python -m bench.agent_round`.

The same answers come from a fake provider in another process; bare litellm, our client and the agent's loop take turns
in one run, so that a busy machine slows all three. A round is one model call with one read-only tool call.
"""

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
from typing import Any

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "docrouter.settings")

import structlog
from django.conf import settings

from agent.events import CallShown, Done
from agent.loop import run_turn
from agent.messages import Call, ChatMessage, Round, Transcript
from agent.setup import TurnSetup
from agent.toolbox import Toolbox, ToolContext
from llm import client, runtime
from llm.types import Completion, Delta

ROUNDS = 10  # in a turn: the loop's own limit
PIECE = 5  # characters of text in a chunk
MODEL = "gpt-4o-mini"
QUESTION = "What is in this document?"

Json = dict[str, Any]
tools = Toolbox()


@tools.tool(writes=False)
async def read_page(ctx: ToolContext, page_num: int = 1) -> Json:  # noqa: ARG001 — the context is part of the shape
    """Read the text of a page."""
    return {"text": f"page {page_num}"}


class Memory:
    """A keeper without a database: what is measured is the loop."""

    async def answered(self, answer: Round, completion: Completion | None) -> None:
        """Nothing to keep."""

    async def run(self, call: Call) -> Json:
        return {"text": f"page {call.effective_arguments.get('page_num')}"}

    async def settled(self, call: Call) -> None:
        """Nothing to keep."""

    async def waits(self, pending: Sequence[CallShown]) -> datetime:  # noqa: ARG002 — the keeper's shape
        return datetime.now(UTC) + timedelta(days=1)


async def bare_litellm(base: str) -> None:
    """As few lines as a stream can be read in."""
    litellm = await runtime.litellm()
    messages: list[Json] = [{"role": "user", "content": QUESTION}]
    for _ in range(ROUNDS):
        stream = await litellm.acompletion(
            model=f"openai/{MODEL}", messages=messages, tools=tools.definitions(), stream=True,
            stream_options={"include_usage": True}, api_base=base, api_key="bench", max_retries=0,
        )  # fmt: skip
        text, calls = "", []
        async for chunk in stream:
            delta = chunk.choices[0].delta
            text += delta.content or ""
            calls += [call.id for call in delta.tool_calls or () if call.id]
        answer: Json = {"role": "assistant", "content": text}
        if calls:
            function = {"name": "read_page", "arguments": '{"page_num": 1}'}
            answer["tool_calls"] = [{"id": call, "type": "function", "function": function} for call in calls]
        messages += [answer, *[{"role": "tool", "tool_call_id": call, "content": "{}"} for call in calls]]


async def our_client(_: str) -> None:
    messages: list[Json] = [{"role": "user", "content": QUESTION}]
    for _ in range(ROUNDS):
        async for item in client.stream(model=MODEL, messages=messages, tools=tools.definitions()):
            if isinstance(item, Completion):
                messages += _as_messages(item)


async def agent_loop(_: str) -> None:
    def ask(messages: list[ChatMessage]) -> AsyncGenerator[Delta | Completion, None]:
        return client.stream(model=MODEL, messages=messages, tools=tools.definitions())

    async def never(_name: str, _arguments: Json) -> bool:
        return False

    setup = TurnSetup(
        turn_id="bench", thread_id=None, model=MODEL, ask=ask, toolbox=tools, keeper=Memory(), may_run=never
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


WAYS: dict[str, Callable[[str], Awaitable[None]]] = {
    "bare litellm": bare_litellm,
    "llm.client": our_client,
    "agent.loop": agent_loop,
}


@contextlib.contextmanager
def fake_provider(*, turns: int, chunks: int) -> Iterator[str]:
    """The fake in a process of its own. Yields: the base address of its OpenAI protocol."""
    text = "word " * chunks
    call = {"name": "read_page", "arguments": {"page_num": 1}}
    turn = [{"text": text, "piece": PIECE, "calls": [call], "repeat": ROUNDS - 1}, {"text": text, "piece": PIECE}]
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "script.json"
        script.write_text(json.dumps(turn * turns))
        command = [sys.executable, "-m", "tests.fakes.provider", "--script", str(script)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout
            yield f"http://127.0.0.1:{process.stdout.readline().removeprefix('ready ').strip()}/v1"
            process.terminate()


async def measure(base: str, turns: int) -> dict[str, list[float]]:
    """Returns: milliseconds per round of each turn, by way."""
    seen: dict[str, list[float]] = {name: [] for name in WAYS}
    for number in range(turns + 1):
        for name, way in WAYS.items():
            started = time.perf_counter()
            await way(base)
            if number:  # the first turn of each warms up
                seen[name].append((time.perf_counter() - started) * 1000 / ROUNDS)
    return seen


def main() -> None:
    """Print milliseconds per round, the ratio to bare litellm, and chunks per second."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=10, help="measured turns of each way, 10 rounds each")
    parser.add_argument("--chunks", type=int, default=40, help="text chunks in a round")
    options = parser.parse_args()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    runtime.warm()
    with fake_provider(turns=(options.turns + 1) * len(WAYS), chunks=options.chunks) as base:
        settings.MODEL_API_BASES = {"openai": base}
        seen = asyncio.run(measure(base, options.turns))
    bare = statistics.median(seen["bare litellm"])
    print(f"A round of {options.chunks} text chunks and one tool call, median of {options.turns} turns:")
    for name, rounds in seen.items():
        ms = statistics.median(rounds)
        print(
            f"  {name:<13}{ms:7.1f} ms a round   {ms / bare:4.2f} × bare   {options.chunks / ms * 1000:6.0f} chunks/s"
        )


if __name__ == "__main__":
    main()
