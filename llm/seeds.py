"""The providers that can be configured, and what a key alone enables of each. CHAT_MODELS names others."""

from dataclasses import dataclass

from llm import registry

CLIENTS_MODEL = "gpt-4o-mini"
"""What a prompt names when nobody chose: the published clients' default. It runs only where it can (llm.catalog)."""
# Extraction asks one question per document: the cheap model of each provider does it.
FOR_EXTRACTION = {"anthropic": "claude-haiku-4-5", "openai": "gpt-4o-mini"}


@dataclass(frozen=True, slots=True)
class Seed:
    """`name` is litellm's name too. `chats`: models that use tools well, best value first; `embeds`: the usual ones."""

    name: str
    display_name: str
    chats: tuple[str, ...] = ()
    embeds: tuple[str, ...] = ()

    @property
    def known_chats(self) -> tuple[str, ...]:
        """Those that the registry in use knows."""
        return tuple(name for name in self.chats if registry.find(name))

    @property
    def known_embeds(self) -> tuple[str, ...]:
        return tuple(name for name in self.embeds if registry.find(name))


BUILT_IN = Seed(registry.OFFLINE_PROVIDER, "Built-in", (registry.OFFLINE_MODEL,))

# In the order in which their first models become the default.
SEEDS: dict[str, Seed] = {
    seed.name: seed
    for seed in (
        Seed(
            "anthropic",
            "Anthropic",
            ("claude-sonnet-4-6", "claude-opus-4-6", "claude-sonnet-4-5", "claude-haiku-4-5", "claude-opus-4-5"),
        ),
        Seed(
            "openai",
            "OpenAI",
            ("gpt-4o-mini", "gpt-5.2", "gpt-4o", "gpt-4.1", "gpt-4.1-mini", "gpt-5-mini"),
            ("text-embedding-3-small", "text-embedding-3-large"),
        ),
        Seed(
            "gemini",
            "Google AI Studio",
            (
                "gemini/gemini-3.5-flash",
                "gemini/gemini-3.1-pro-preview",
                "gemini/gemini-3.1-flash-lite",
                "gemini/gemini-2.5-flash",
                "gemini/gemini-2.5-flash-lite",
            ),
            ("gemini/gemini-embedding-001",),
        ),
        Seed(
            "mistral",
            "Mistral",
            ("mistral/mistral-medium-latest", "mistral/mistral-small-latest"),
            ("mistral/mistral-embed",),
        ),
        Seed("groq", "Groq", ("groq/llama-3.3-70b-versatile",)),
        Seed("xai", "xAI", ("xai/grok-4",)),
        Seed("openrouter", "OpenRouter"),
        Seed("azure", "Azure OpenAI"),
        Seed("azure_ai", "Azure AI"),
        Seed("bedrock", "AWS Bedrock"),
        Seed("vertex_ai", "Google Vertex AI"),
    )
}
