"""Which models can be chosen here, and which are used when nobody chose. Asks the providers in effect, no network."""

from dataclasses import dataclass

from llm import conf, providers, registry
from llm.errors import ModelNotEnabled, UnknownModel
from llm.seeds import CLIENTS_MODEL, FOR_EXTRACTION
from llm.sources import NO_DOCUMENT, Sources, is_remote, require_allowed

OFFLINE_MODEL = registry.OFFLINE_MODEL


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
    """As configured, else the first that CHAT_MODELS names or a provider offers, else the built-in one."""
    configured, _ = conf.default_models()
    return configured if configured and not _is_withheld(configured) else _choices()[0]


def default_extraction_model() -> str:
    """As configured, else the cheap model of the provider that serves chat."""
    _, configured = conf.default_models()
    if configured and not _is_withheld(configured):
        return configured
    chat = default_chat_model()
    provider = registry.provider_of(chat)
    cheap = FOR_EXTRACTION.get(provider, chat)
    state = providers.state_of(provider)
    return cheap if state and state.key and _is_usable(cheap) else chat


@dataclass(frozen=True, slots=True)
class Listing:
    """A model beside its provider, with what the registry knows of it."""

    name: str
    provider: providers.ProviderState
    entry: registry.Entry


def list_models(
    *,
    provider_name: str | None = None,
    provider_enabled: bool | None = None,
    llm_enabled: bool = True,
    chat_agent_only: bool = False,
) -> list[Listing]:
    """Enabled models, or all that could be. Without `provider_enabled`: enabled ones of providers that are enabled.

    `provider_name` is litellm's.
    """
    wanted = provider_enabled if provider_enabled is not None or not llm_enabled else True
    out = []
    for state in providers.states():
        if provider_name not in (None, state.litellm_provider) or wanted not in (None, state.enabled):
            continue
        names = state.models_enabled if llm_enabled else state.models_available
        names = state.models_chat_agent if chat_agent_only else names
        out += [Listing(name, state, registry.described(name)) for name in names]
    return out


def offline_is_default() -> bool:
    """Whether people chat with the rules engine unless they choose: the pages tell them so."""
    return default_chat_model() == OFFLINE_MODEL


def require_chat_model(name: str | None, *, about: Sources = NO_DOCUMENT) -> str:
    """The model to chat with; when none is named the default, or the built-in one for what must not leave this server.

    Raises: ModelNotEnabled, NeverSendToModel.
    """
    if not name:
        return OFFLINE_MODEL if about.local_only else default_chat_model()
    if name not in _choices() and name != default_chat_model():
        raise ModelNotEnabled
    require_allowed(model=name, about=about)
    return name


def require_known_model(name: str) -> str:
    """A model that a prompt may name, whether or not it can be used here. Raises: UnknownModel."""
    entry = registry.find(name)
    if (entry and entry.chats) or _is_usable(name):
        return name
    raise UnknownModel(f"Invalid model: {name[:100]}")


def require_usable_model(name: str) -> str:
    """A model that a call can be sent to from here. Raises: UnknownModel."""
    if not _is_usable(name):
        raise UnknownModel(f"Invalid model: {name[:100]}")
    return name


def require_embedding_model(name: str) -> str:
    """A model that texts can be sent to for their vectors. Raises: UnknownModel."""
    state = providers.state_of(registry.provider_of(name))
    entry = registry.find(name)
    chats = entry is not None and not entry.embeds
    if state is None or chats or state.name == registry.OFFLINE_PROVIDER or not state.offers(name):
        raise UnknownModel(f"Invalid model: {name[:100]}")
    return name


def usable_extraction_model(requested: str, *, about: Sources = NO_DOCUMENT) -> tuple[str, str]:
    """Returns: the model that was asked for and the one that runs: the default where the first cannot be used.

    Where nobody chose, what must not leave this server is read by the built-in model. A remote model that somebody
    chose is returned as it is, and refused when it is asked.
    """
    used = requested if _is_usable(requested) else default_extraction_model()
    was_chosen = used == requested != CLIENTS_MODEL
    return requested, OFFLINE_MODEL if about.local_only and is_remote(used) and not was_chosen else used


def _choices() -> list[str]:
    """For chat: what CHAT_MODELS names unless an administrator took it away, then what each provider offers."""
    names = [name for name in conf.listed_models() if not _is_withheld(name)]
    for state in providers.states():
        if state.enabled:
            names += state.models_chat_agent
    return list(dict.fromkeys(names))


def _is_usable(name: str) -> bool:
    """Whether a call would go somewhere: named by the installation, or of a provider whose key we have."""
    entry = registry.find(name)
    state = providers.state_of(registry.provider_of(name))
    if state and state.is_configured:
        return state.offers(name) and (entry is None or entry.chats)
    if name in _choices() or name in conf.default_models():
        return bool(name)
    return bool(entry and entry.chats and state and state.key)


def _is_withheld(name: str) -> bool:
    """Whether an administrator configured its provider and left this one out."""
    state = providers.state_of(registry.provider_of(name))
    return bool(state and state.is_configured and not state.offers(name))


def _info(name: str) -> ModelInfo:
    entry = registry.find(name)
    provider = registry.provider_of(name)
    display = "Built-in (rules, no language model)" if name == OFFLINE_MODEL else name.removeprefix(f"{provider}/")
    return ModelInfo(name, provider, display, bool(entry and entry.reasons))
