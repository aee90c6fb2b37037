"""Which models can be chosen here, and which are used when nobody chose. From settings, without network or database."""

from dataclasses import dataclass

from llm import conf, registry
from llm.errors import ModelNotEnabled, UnknownModel

OFFLINE_MODEL = registry.OFFLINE_MODEL

# What a provider's key alone enables: models that use tools well, best value first. CHAT_MODELS names others.
_OFFERED: dict[str, tuple[str, ...]] = {
    "anthropic": ("claude-sonnet-4-5", "claude-haiku-4-5", "claude-opus-4-5"),
    "openai": ("gpt-4o-mini", "gpt-4o", "gpt-4.1", "gpt-4.1-mini", "gpt-5-mini"),
    "gemini": ("gemini/gemini-2.5-flash", "gemini/gemini-2.5-flash-lite"),
    "mistral": ("mistral/mistral-medium-latest", "mistral/mistral-small-latest"),
    "groq": ("groq/llama-3.3-70b-versatile",),
    "xai": ("xai/grok-4",),
}
# Extraction asks one question per document: the cheap model of each provider does it.
_FOR_EXTRACTION = {"anthropic": "claude-haiku-4-5", "openai": "gpt-4o-mini"}


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """A model as lists show it."""

    name: str
    provider: str
    display_name: str
    supports_thinking: bool

    @property
    def is_offline(self) -> bool:
        return self.name == OFFLINE_MODEL


def chat_models() -> list[ModelInfo]:
    """The models that may be chosen for chat: the default, CHAT_MODELS, those that a key enables, the built-in one."""
    return [_info(name) for name in dict.fromkeys([default_chat_model(), *_choices()])]


def default_chat_model() -> str:
    """As configured, else the first that CHAT_MODELS names or a key enables, else the built-in one."""
    configured, _ = conf.default_models()
    return configured or _choices()[0]


def default_extraction_model() -> str:
    """As configured, else the cheap model of the provider that serves chat."""
    _, configured = conf.default_models()
    if configured:
        return configured
    chat = default_chat_model()
    provider = registry.provider_of(chat)
    return _FOR_EXTRACTION.get(provider, chat) if provider in conf.provider_keys() else chat


def offline_is_default() -> bool:
    """Whether people chat with the rules engine unless they choose: the pages tell them so."""
    return default_chat_model() == OFFLINE_MODEL


def require_chat_model(name: str | None) -> str:
    """The model to chat with; the default when none is named. Raises: ModelNotEnabled."""
    if not name:
        return default_chat_model()
    if name not in {model.name for model in chat_models()}:
        raise ModelNotEnabled
    return name


def require_known_model(name: str) -> str:
    """A model that a prompt may name, whether or not it can be used here. Raises: UnknownModel."""
    entry = registry.find(name)
    if (entry and entry.chats) or _is_usable(name):
        return name
    raise UnknownModel(f"Invalid model: {name[:100]}")


def usable_extraction_model(requested: str) -> tuple[str, str]:
    """Returns: the model that was asked for and the one that runs: the default where the first cannot be used."""
    return requested, requested if _is_usable(requested) else default_extraction_model()


def _choices() -> list[str]:
    names = list(conf.listed_models())
    for provider, offered in _OFFERED.items():
        if provider in conf.provider_keys():
            names += [name for name in offered if registry.find(name)]
    return [*names, OFFLINE_MODEL]


def _is_usable(name: str) -> bool:
    """Whether a call would go somewhere: named by the installation, or of a provider whose key we have."""
    if name in _choices() or name in conf.default_models():
        return bool(name)
    entry = registry.find(name)
    return bool(entry and entry.chats and entry.provider in conf.provider_keys())


def _info(name: str) -> ModelInfo:
    entry = registry.find(name)
    provider = registry.provider_of(name)
    display = "Built-in (rules, no language model)" if name == OFFLINE_MODEL else name.removeprefix(f"{provider}/")
    return ModelInfo(name, provider, display, bool(entry and entry.reasons))
