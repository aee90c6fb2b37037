"""Which models are offered, used and known, by settings alone."""

import subprocess
import sys
from typing import Any

import pytest

from llm import catalog
from llm.errors import ModelNotEnabled, UnknownModel


@pytest.fixture(autouse=True)
def bare(settings: Any) -> Any:
    settings.MODEL_PROVIDER_KEYS, settings.MODEL_API_BASES, settings.CHAT_MODELS = {}, {}, []
    settings.DEFAULT_CHAT_MODEL = settings.DEFAULT_EXTRACTION_MODEL = ""
    return settings


def _names() -> list[str]:
    return [model.name for model in catalog.chat_models()]


def test_without_any_key_the_built_in_model_does_everything() -> None:
    assert _names() == [catalog.OFFLINE_MODEL]
    assert catalog.default_chat_model() == catalog.default_extraction_model() == catalog.OFFLINE_MODEL
    assert catalog.offline_is_default()
    assert catalog.require_chat_model(None) == catalog.OFFLINE_MODEL


def test_a_key_enables_the_models_of_its_provider(bare: Any) -> None:
    bare.MODEL_PROVIDER_KEYS = {"anthropic": "sk-ant"}
    assert catalog.default_chat_model().startswith("claude-")
    assert catalog.OFFLINE_MODEL in _names()
    assert not any(name.startswith("gpt") for name in _names())
    assert catalog.chat_models()[0].supports_thinking
    assert not catalog.offline_is_default()
    assert catalog.default_extraction_model() == "claude-haiku-4-5"


def test_a_model_that_nobody_enabled_is_refused(bare: Any) -> None:
    with pytest.raises(ModelNotEnabled) as caught:
        catalog.require_chat_model("gpt-4o")
    assert caught.value.error_code == "model_not_enabled"
    bare.MODEL_PROVIDER_KEYS = {"openai": "sk"}
    assert catalog.require_chat_model("gpt-4o") == "gpt-4o"


def test_a_listed_model_needs_no_registry(bare: Any) -> None:
    bare.CHAT_MODELS = ["openai/qwen2.5-coder", ""]
    assert catalog.require_chat_model("openai/qwen2.5-coder") == "openai/qwen2.5-coder"
    assert catalog.default_chat_model() == "openai/qwen2.5-coder"
    assert catalog.chat_models()[0].display_name == "qwen2.5-coder"


def test_configured_defaults_win(bare: Any) -> None:
    bare.MODEL_PROVIDER_KEYS = {"openai": "sk"}
    bare.DEFAULT_CHAT_MODEL, bare.DEFAULT_EXTRACTION_MODEL = catalog.OFFLINE_MODEL, "gpt-4.1"
    assert catalog.default_chat_model() == catalog.OFFLINE_MODEL
    assert catalog.default_extraction_model() == "gpt-4.1"
    assert _names().count(catalog.OFFLINE_MODEL) == 1


def test_a_prompt_may_name_a_model_that_cannot_run_here_and_another_runs(bare: Any) -> None:
    assert catalog.require_known_model("gpt-4o-mini") == "gpt-4o-mini"
    assert catalog.usable_extraction_model("gpt-4o-mini") == ("gpt-4o-mini", catalog.OFFLINE_MODEL)
    bare.MODEL_PROVIDER_KEYS = {"openai": "sk"}
    assert catalog.usable_extraction_model("gpt-4o-mini") == ("gpt-4o-mini", "gpt-4o-mini")
    assert catalog.usable_extraction_model("openai/gpt-4o-mini") == ("openai/gpt-4o-mini",) * 2


@pytest.mark.parametrize("name", ["gpt-99-imaginary", "", "anthropic/gpt-4o", "text-embedding-3-small"])
def test_a_name_that_nobody_knows_is_invalid(name: str) -> None:
    with pytest.raises(UnknownModel, match=r"^Invalid model: "):
        catalog.require_known_model(name)


def test_the_catalog_asks_the_registry_without_importing_litellm() -> None:
    code = (
        "import sys; from llm import registry; assert registry.find('gpt-4o-mini'); "
        "assert 'litellm' not in sys.modules and 'django' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=30)
