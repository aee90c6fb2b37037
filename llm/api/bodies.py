"""Models, providers and plain model calls as the wire has them: the fields of all published clients at once."""

import time
import uuid
from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from core.api.bodies import HIGHEST, Answer, Body
from core.errors import Invalid
from llm.catalog import Listing
from llm.embeddings import Embedding
from llm.providers import ProviderState
from llm.types import Completion, Usage

Names = Annotated[list[str], Field(max_length=2000)]
_MILLION = 1_000_000


class QueryContradicts(Invalid):
    """Two wishes that no model fulfils both."""

    code = "query_contradicts"
    status = 422
    detail = "Use only one of ocr_only or chat_agent_only"


class ModelsQuery(Body):
    """Without `provider_enabled`: enabled models of enabled providers, or all models of all."""

    provider_name: str | None = None
    provider_enabled: bool | None = None
    llm_enabled: bool = True
    chat_agent_only: bool = False
    ocr_only: bool = False


class OrganizationModelsQuery(Body):
    chat_only: bool = False
    exclude_embeddings: bool = False


class ChatModelAnswer(Answer):
    """A model in the words of three generations of clients. Units: tokens, US dollars; 0 where nobody knows."""

    id: str
    name: str
    provider: str
    description: str
    max_tokens: int
    cost_per_1m_input_tokens: float
    cost_per_1m_output_tokens: float
    litellm_model: str
    litellm_provider: str
    max_input_tokens: int
    max_output_tokens: int
    input_cost_per_token: float
    output_cost_per_token: float
    provider_name: str
    provider_display_name: str

    @classmethod
    def of(cls, model: Listing) -> "ChatModelAnswer":
        """The model as an answer."""
        entry, provider = model.entry, model.provider
        return cls(
            id=model.name,
            name=model.name,
            provider=provider.litellm_provider,
            description=f"{model.name.removeprefix(f'{provider.litellm_provider}/')} by {provider.display_name}",
            max_tokens=entry.max_output_tokens,
            cost_per_1m_input_tokens=round(entry.input_cost * _MILLION, 6),
            cost_per_1m_output_tokens=round(entry.output_cost * _MILLION, 6),
            litellm_model=model.name,
            litellm_provider=provider.litellm_provider,
            max_input_tokens=entry.max_input_tokens,
            max_output_tokens=entry.max_output_tokens,
            input_cost_per_token=entry.input_cost,
            output_cost_per_token=entry.output_cost,
            provider_name=provider.name,
            provider_display_name=provider.display_name,
        )


class EmbeddingModelAnswer(Answer):
    """Units: tokens, US dollars per token; 0 where nobody knows."""

    litellm_model: str
    litellm_provider: str
    max_input_tokens: int
    dimensions: int
    input_cost_per_token: float
    input_cost_per_token_batches: float

    @classmethod
    def of(cls, model: Listing) -> "EmbeddingModelAnswer":
        """The model as an answer."""
        entry = model.entry
        return cls(
            litellm_model=model.name,
            litellm_provider=model.provider.litellm_provider,
            max_input_tokens=entry.max_input_tokens,
            dimensions=entry.dimensions,
            input_cost_per_token=entry.input_cost,
            input_cost_per_token_batches=entry.batch_input_cost,
        )


class ModelsAnswer(Answer):
    """`models` is `chat_models` under the name that published clients read."""

    models: list[ChatModelAnswer]
    chat_models: list[ChatModelAnswer]
    embedding_models: list[EmbeddingModelAnswer]


class ModelNamesAnswer(Answer):
    models: list[str]


class ProviderBody(Body):
    """What is null or left out stays as it is. An empty `token` clears the key, an empty `api_base` the address."""

    litellm_models_enabled: Names | None = None
    litellm_models_chat_agent: Names | None = None
    enabled: bool | None = None
    token: Annotated[str | None, Field(repr=False)] = None
    api_base: str | None = None


class ProviderAnswer(Answer):
    """`token` is masked: nobody reads a key again."""

    name: str
    display_name: str
    litellm_provider: str
    litellm_models_available: list[str]
    litellm_models_enabled: list[str]
    litellm_models_chat_agent: list[str]
    enabled: bool
    token: str | None
    token_created_at: datetime | None
    api_base: str | None

    @classmethod
    def of(cls, state: ProviderState) -> "ProviderAnswer":
        """The provider in effect as an answer."""
        return cls(
            name=state.name,
            display_name=state.display_name,
            litellm_provider=state.litellm_provider,
            litellm_models_available=list(state.models_available),
            litellm_models_enabled=list(state.models_enabled),
            litellm_models_chat_agent=list(state.models_chat_agent),
            enabled=state.enabled,
            token=state.masked_key,
            token_created_at=state.key_created_at,
            api_base=state.api_base or None,
        )


class ProvidersAnswer(Answer):
    providers: list[ProviderAnswer]


class SaidBody(Body):
    """One message of a plain conversation."""

    role: Literal["system", "user", "assistant"]
    content: str


class CompletionBody(Body):
    """A plain conversation with a model. Without `temperature`: 0.7, but the model's own where it reasons."""

    model: str
    messages: Annotated[list[SaidBody], Field(min_length=1, max_length=1000)]
    max_tokens: Annotated[int | None, Field(ge=1, le=HIGHEST)] = None
    temperature: Annotated[float, Field(ge=0, le=2)] = 0.7
    stream: bool = False


class CompletionMessageAnswer(Answer):
    role: str
    content: str


class CompletionChoiceAnswer(Answer):
    index: int
    message: CompletionMessageAnswer
    finish_reason: str


class TokenUsageAnswer(Answer):
    """Units: tokens."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int

    @classmethod
    def of(cls, usage: Usage) -> "TokenUsageAnswer":
        """The usage as an answer."""
        return cls(
            prompt_tokens=usage.prompt_tokens,
            completion_tokens=usage.completion_tokens,
            total_tokens=usage.total_tokens,
        )


class CompletionAnswer(Answer):
    """As OpenAI says it."""

    id: str
    object: Literal["chat.completion"] = "chat.completion"
    created: int
    model: str
    choices: list[CompletionChoiceAnswer]
    usage: TokenUsageAnswer

    @classmethod
    def of(cls, model: str, completion: Completion) -> "CompletionAnswer":
        """The completion as an answer."""
        message = CompletionMessageAnswer(role="assistant", content=completion.text)
        return cls(
            id=f"chatcmpl-{uuid.uuid4().hex}",
            created=int(time.time()),
            model=model,
            choices=[CompletionChoiceAnswer(index=0, message=message, finish_reason=completion.finish_reason)],
            usage=TokenUsageAnswer.of(completion.usage),
        )


class EmbeddingBody(Body):
    model: str
    input: Annotated[str, Field(min_length=1, max_length=100_000)]


class EmbeddingAnswer(Answer):
    model: str
    dimensions: int
    embedding: list[float]
    usage: TokenUsageAnswer

    @classmethod
    def of(cls, model: str, embedding: Embedding) -> "EmbeddingAnswer":
        """The vector as an answer."""
        vector = list(embedding.vector)
        return cls(model=model, dimensions=len(vector), embedding=vector, usage=TokenUsageAnswer.of(embedding.usage))
