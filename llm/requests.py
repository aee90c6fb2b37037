"""What goes out: the arguments of a litellm call, fitted to what the model and its provider take."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from llm import conf, errors, providers, registry
from llm.sources import Sources, require_allowed
from llm.types import ChatMessage

_NO_KEY = "no-key"  # servers of one's own want none; client libraries insist on something


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One call as our callers ask for it."""

    model: str
    messages: Sequence[ChatMessage]
    about: Sources
    tools: Sequence[dict[str, Any]] = ()
    response_format: dict[str, Any] | None = None
    temperature: float | None = None
    max_tokens: int | None = None

    @property
    def tool_names(self) -> list[str]:
        return [tool.get("function", tool).get("name", "") for tool in self.tools]

    @property
    def used_call_ids(self) -> list[str]:
        return [call["id"] for message in self.messages for call in message.get("tool_calls") or ()]


def arguments(litellm: Any, request: ModelRequest) -> dict[str, Any]:
    """Keyword arguments for `litellm.acompletion`. Raises: NeverSendToModel, ModelSwitchedOff."""
    admitted = access(request.model, about=request.about)  # before litellm may ask the provider what it can
    provider = registry.provider_of(request.model)
    supported = _supported(litellm, request.model, provider)
    thinks = _thinks(request, supported)
    call: dict[str, Any] = {
        "model": request.model,
        "messages": [_outgoing(message, keep_thinking=thinks) for message in request.messages],
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_retries": 0,
        "num_retries": 0,
    }
    call |= admitted
    if request.tools:
        call["tools"] = list(request.tools)
    if request.response_format and "response_format" in supported:
        call["response_format"] = request.response_format
    if thinks:
        call["thinking"] = {"type": "enabled", "budget_tokens": conf.thinking_tokens()}
    elif request.temperature is not None and "temperature" in supported:
        call["temperature"] = request.temperature
    if request.max_tokens is not None:
        call["max_tokens"] = request.max_tokens + (conf.thinking_tokens() if thinks else 0)
    return call


def access(model: str, *, about: Sources) -> dict[str, Any]:
    """Key and address. Without a leading provider litellm might guess another one than we did.

    The one gate to the outside: who wants a key says whose text is sent with it.
    Raises: NeverSendToModel; ModelSwitchedOff, also in the middle of a turn that began before.
    """
    require_allowed(model=model, about=about)
    provider = registry.provider_of(model)
    if provider == registry.OFFLINE_PROVIDER:
        return {}
    state = providers.state_of(provider)
    if state and state.is_configured and not state.offers(model):
        raise errors.ModelSwitchedOff
    out: dict[str, Any] = {"api_key": (state.key if state else conf.provider_keys().get(provider)) or _NO_KEY}
    if base := state.api_base if state else conf.api_bases().get(provider):
        out["api_base"] = base
    if not model.startswith(f"{provider}/"):
        out["custom_llm_provider"] = provider
    return out


def _supported(litellm: Any, model: str, provider: str) -> frozenset[str]:
    if provider == registry.OFFLINE_PROVIDER:
        return frozenset(("tools", "response_format"))
    name = model.removeprefix(f"{provider}/")
    return frozenset(litellm.get_supported_openai_params(model=name, custom_llm_provider=provider) or ())


def _thinks(request: ModelRequest, supported: Iterable[str]) -> bool:
    """Whether to ask for thinking: not for structured answers, not with a temperature (no model has both), and not
    after calls whose thinking we do not have."""
    entry = registry.find(request.model)
    if not (entry and entry.reasons and "thinking" in supported) or request.response_format:
        return False
    if request.temperature is not None:
        return False
    last = next((message for message in reversed(request.messages) if message.get("role") == "assistant"), None)
    return not (last and last.get("tool_calls") and not last.get("thinking_blocks"))


def _outgoing(message: Mapping[str, Any], *, keep_thinking: bool) -> dict[str, Any]:
    """A copy for litellm, which writes into what it gets. Signed thinking goes only where it is understood."""
    out = {key: value for key, value in message.items() if key != "thinking_blocks"}
    if keep_thinking and message.get("thinking_blocks"):
        out["thinking_blocks"] = [dict(block) for block in message["thinking_blocks"]]
    return out
