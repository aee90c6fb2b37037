"""A scripted model for turns without a person: it says what it is told to, whatever it is offered."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Sequence
from typing import Any

import pytest

from agent import driving
from llm.types import Completion, Delta
from tests.agent.rows import INVOICE
from tests.agent.scripted import asks, says

Json = dict[str, Any]
Answer = Completion | Exception | Callable[[Sequence[Json]], Completion]


class Script:
    """In the place of `llm.client`. What each call was given stands in `offered` and `sent`."""

    def __init__(self, *answers: Answer, hangs: bool = False) -> None:
        self.answers, self.hangs = answers, hangs
        self.offered: list[list[str]] = []
        self.sent: list[Sequence[Json]] = []

    async def stream(
        self, *, messages: Sequence[Json], tools: Sequence[Json], **_others: Any
    ) -> AsyncGenerator[Delta | Completion, None]:
        place = len(self.sent)
        self.sent.append(messages)
        self.offered.append([tool["function"]["name"] for tool in tools])
        if place >= len(self.answers):
            assert self.hangs, "the script has ended"
            await asyncio.sleep(60)
        answer = self.answers[place]
        if isinstance(answer, Exception):
            raise answer
        yield answer if isinstance(answer, Completion) else answer(messages)


def on_stage(monkeypatch: pytest.MonkeyPatch, *answers: Answer, hangs: bool = False) -> Script:
    """Let every turn of this process follow a script."""
    script = Script(*answers, hangs=hangs)
    monkeypatch.setattr(driving, "client", script)
    return script


def results(messages: Sequence[Json]) -> list[Json]:
    """What the tools answered so far."""
    return [json.loads(message["content"]) for message in messages if message["role"] == "tool"]


def calls(name: str, *arguments: Json) -> Completion:
    """An answer that calls a tool once for each."""
    return asks(*((f"{name}{at}", name, json.dumps(one)) for at, one in enumerate(arguments or ({},))))


def makes_schema(name: str = "Receipt") -> Completion:
    return calls("create_schema", {"name": name, "response_format": INVOICE})


def makes_prompt(messages: Sequence[Json]) -> Completion:
    """A prompt for the schema that was made just before."""
    schema_id = next(result["schema_id"] for result in reversed(results(messages)) if "schema_id" in result)
    return calls("create_prompt", {"name": "Receipt", "content": "Read the receipt.", "schema_id": schema_id})


def extracts(times: int = 1) -> Completion:
    return calls("run_extraction", *({} for _ in range(times)))


SETS_UP: tuple[Answer, ...] = (makes_schema(), makes_prompt, extracts())
__all__ = [
    "SETS_UP", "Script", "asks", "calls", "extracts", "makes_prompt", "makes_schema", "on_stage", "results", "says",
]  # fmt: skip
