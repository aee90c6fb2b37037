"""What litellm's registry knows about a model, read from its data file without importing litellm."""

import functools
import importlib.util
import json
import pathlib
from dataclasses import dataclass

OFFLINE_PROVIDER = "docrouter"
OFFLINE_MODEL = "docrouter/offline"
REGISTRY_FILE = "model_prices_and_context_window_backup.json"

_NAMES = {"text-completion-openai": "openai", "vertex_ai-language-models": "vertex_ai"}


@dataclass(frozen=True, slots=True)
class Entry:
    """A model as the registry has it. `provider` is litellm's name for it."""

    name: str
    provider: str
    reasons: bool
    chats: bool


@functools.lru_cache(maxsize=1)
def entries() -> dict[str, Entry]:
    """Every model of the registry by name. Takes some 50 ms the first time."""
    package = importlib.util.find_spec("litellm")
    if package is None or not package.submodule_search_locations:
        return {}
    data = json.loads((pathlib.Path(package.submodule_search_locations[0]) / REGISTRY_FILE).read_bytes())
    return {
        name: Entry(
            name=name,
            provider=_provider(values.get("litellm_provider", "")),
            reasons=bool(values.get("supports_reasoning")),
            chats=values.get("mode") in ("chat", "responses"),
        )
        for name, values in data.items()
        if name != "sample_spec"
    }


def find(name: str) -> Entry | None:
    """The registry's entry for a model, with or without its provider in front."""
    known = entries()
    if name in known:
        return known[name]
    provider, _, rest = name.partition("/")
    entry = known.get(rest)
    return entry if entry and entry.provider == provider else None


def provider_of(name: str) -> str:
    """Which provider serves a model: as the registry says, else what stands in front of the name, else OpenAI."""
    if name.startswith(f"{OFFLINE_PROVIDER}/"):
        return OFFLINE_PROVIDER
    entry = find(name)
    if entry:
        return entry.provider
    prefix, slash, _ = name.partition("/")
    return prefix if slash else "openai"


def _provider(name: str) -> str:
    return _NAMES.get(name, name.removesuffix("-chat-models").removesuffix("-language-models"))
