"""Fixtures for tests that talk to a model: load with `pytest_plugins` or import into a conftest."""

from collections.abc import Iterator

import pytest
from pytest_django import Settings

from llm import runtime
from tests.fakes.provider import FakeProvider

OPENAI_KEY = "sk-openai-of-the-tests"
ANTHROPIC_KEY = "sk-ant-of-the-tests"


@pytest.fixture(scope="session")
def warm_litellm() -> None:
    """litellm, imported once in a test process: it takes seconds."""
    runtime.warm()


@pytest.fixture
def fake_provider(settings: Settings, warm_litellm: None) -> Iterator[FakeProvider]:
    """A fake provider that OpenAI's and Anthropic's models go to. Fails on steps left and on requests unforeseen."""
    with FakeProvider() as fake:
        settings.MODEL_PROVIDER_KEYS = {"openai": OPENAI_KEY, "anthropic": ANTHROPIC_KEY}
        settings.MODEL_API_BASES = {"openai": fake.openai_base, "anthropic": fake.anthropic_base}
        yield fake
    fake.assert_done()
