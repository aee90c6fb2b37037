"""What an answer cost, by litellm's price list."""

from decimal import Decimal
from typing import Any

from llm import registry
from llm.types import Usage

_SMALLEST = Decimal("1e-8")  # US dollars; a single token of the cheapest model costs more


def cost_usd(litellm: Any, *, model: str, usage: Any) -> Decimal | None:
    """Units: US dollars; None when the model has no price. The offline model costs nothing."""
    provider = registry.provider_of(model)
    if provider == registry.OFFLINE_PROVIDER:
        return Decimal(0)
    entry = registry.find(model)
    if entry is None or usage is None:
        return None
    prompt, completion = litellm.cost_per_token(
        model=entry.name.removeprefix(f"{provider}/"),
        custom_llm_provider=provider,
        prompt_tokens=usage.prompt_tokens or 0,
        completion_tokens=usage.completion_tokens or 0,
        usage_object=usage,
    )
    return Decimal(prompt + completion).quantize(_SMALLEST)


def embedding_cost_usd(*, model: str, usage: Usage) -> Decimal | None:
    """Units: US dollars; None when the model has no price."""
    entry = registry.find(model)
    if entry is None or not entry.input_cost:
        return None
    return (Decimal(str(entry.input_cost)) * usage.prompt_tokens).quantize(_SMALLEST)
