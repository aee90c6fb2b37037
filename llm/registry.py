"""What litellm's registry knows about a model, read from its data file without importing litellm."""

import functools
import importlib.util
import json
import pathlib
from dataclasses import dataclass
from typing import Any

OFFLINE_PROVIDER = "docrouter"
OFFLINE_MODEL = "docrouter/offline"
REGISTRY_FILE = "model_prices_and_context_window_backup.json"

_NAMES = {"text-completion-openai": "openai", "bedrock_converse": "bedrock"}


@dataclass(frozen=True, slots=True)
class Entry:
    """A model as the registry has it. `provider` is litellm's name for it.

    Units: tokens, US dollars per token, 0 where the registry does not say; `dimensions` of an embedding.
    """

    name: str
    provider: str
    reasons: bool
    chats: bool
    embeds: bool
    ocr: bool
    max_input_tokens: int
    max_output_tokens: int
    input_cost: float
    output_cost: float
    batch_input_cost: float
    dimensions: int


@functools.lru_cache(maxsize=1)
def entries() -> dict[str, Entry]:
    """Every model of the registry by name. Takes some 50 ms the first time."""
    package = importlib.util.find_spec("litellm")
    if package is None or not package.submodule_search_locations:
        return {}
    data = json.loads((pathlib.Path(package.submodule_search_locations[0]) / REGISTRY_FILE).read_bytes())
    return {name: _entry(name, values) for name, values in data.items() if name != "sample_spec"}


@functools.lru_cache(maxsize=64)
def models_of(provider: str) -> tuple[str, ...]:
    """What can be enabled of a provider: its models that chat, embed or read pages, by name."""
    return tuple(
        sorted(
            name
            for name, entry in entries().items()
            if entry.provider == provider and (entry.chats or entry.embeds or entry.ocr)
        )
    )


def find(name: str) -> Entry | None:
    """The registry's entry for a model, with or without its provider in front."""
    known = entries()
    if name in known:
        return known[name]
    provider, _, rest = name.partition("/")
    entry = known.get(rest)
    return entry if entry and entry.provider == provider else None


def described(name: str) -> Entry:
    """What is known of a model; a nameless nothing of figures for one that only this installation knows."""
    return find(name) or Entry(name, provider_of(name), False, True, False, False, 0, 0, 0.0, 0.0, 0.0, 0)


def provider_of(name: str) -> str:
    """Which provider serves a model: as the registry says, else what stands in front of the name, else OpenAI."""
    if name.startswith(f"{OFFLINE_PROVIDER}/"):
        return OFFLINE_PROVIDER
    entry = find(name)
    if entry:
        return entry.provider
    prefix, slash, _ = name.partition("/")
    return prefix if slash else "openai"


def _entry(name: str, values: dict[str, Any]) -> Entry:
    mode = values.get("mode")
    return Entry(
        name=name,
        provider=_provider(values.get("litellm_provider", "")),
        reasons=bool(values.get("supports_reasoning")),
        chats=mode in ("chat", "responses"),
        embeds=mode == "embedding",
        ocr=mode == "ocr",
        max_input_tokens=values.get("max_input_tokens") or values.get("max_tokens") or 0,
        max_output_tokens=values.get("max_output_tokens") or values.get("max_tokens") or 0,
        input_cost=values.get("input_cost_per_token") or 0.0,
        output_cost=values.get("output_cost_per_token") or 0.0,
        batch_input_cost=values.get("input_cost_per_token_batches") or 0.0,
        dimensions=int(values.get("output_vector_size") or 0),
    )


def _provider(name: str) -> str:
    if name.startswith("vertex_ai-"):  # the registry has one for each maker whose models Google serves
        return "vertex_ai"
    return _NAMES.get(name, name.removesuffix("-chat-models"))
