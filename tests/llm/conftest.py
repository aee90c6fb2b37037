"""What the tests of the model client share: the fake provider and a short way to ask."""

from collections.abc import Callable
from typing import Any

import pytest

from llm import client, reading
from llm.sources import NO_DOCUMENT
from llm.types import Completion, Delta
from tests.fakes.fixtures import fake_provider, warm_litellm

__all__ = ["fake_provider", "warm_litellm"]

OPENAI = "gpt-4o-mini"
ANTHROPIC = "claude-sonnet-4-5"
QUESTION = [{"role": "user", "content": "What is in it?"}]


def tool(name: str) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "description": name, "parameters": {
        "type": "object", "properties": {"a": {"type": "integer"}}, "additionalProperties": False}}}  # fmt: skip


async def ask(model: str = OPENAI, **kwargs: Any) -> tuple[list[Delta], Completion]:
    """Everything that a stream yields: the deltas, and the completion that must be last."""
    items = [
        item async for item in client.stream(**{"model": model, "messages": QUESTION, "about": NO_DOCUMENT, **kwargs})
    ]
    *deltas, completion = items
    assert isinstance(completion, Completion)
    assert all(isinstance(delta, Delta) for delta in deltas)
    return deltas, completion


@pytest.fixture(params=[OPENAI, ANTHROPIC])
def either_model(request: pytest.FixtureRequest) -> str:
    """A model of each protocol in turn."""
    return str(request.param)


@pytest.fixture
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Retries without waiting."""
    monkeypatch.setattr(client, "_FIRST_PAUSE", 0.0)
    return lambda: None


@pytest.fixture(params=["direct", "wrapped"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Each way to read an answer in turn: the response itself, or through litellm's wrapper."""
    if request.param == "wrapped":
        monkeypatch.setattr(reading, "DIRECT", frozenset())
    return str(request.param)
