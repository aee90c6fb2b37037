"""Texts into vectors, by litellm. Only for models that an administrator's provider offers for it."""

import asyncio
from dataclasses import dataclass
from decimal import Decimal

from llm import conf, connections, providers, registry, runtime
from llm.assembling import read_usage
from llm.errors import ModelReplyMalformed
from llm.failures import translate
from llm.pricing import embedding_cost_usd
from llm.requests import access
from llm.sources import Sources
from llm.types import Usage


@dataclass(frozen=True, slots=True)
class Embedding:
    """Units: `cost_usd` in US dollars, None when the model has no price."""

    vector: tuple[float, ...]
    usage: Usage
    cost_usd: Decimal | None = None


async def embed(*, model: str, text: str, about: Sources) -> Embedding:
    """The vector of one text; `about` says whose it is. Raises: ModelError."""
    litellm = await runtime.litellm()
    await providers.freshen()
    options = access(model, about=about) | await connections.options(litellm, registry.provider_of(model))
    options.pop("client", None)  # made for answers that stream
    try:
        async with asyncio.timeout(conf.timeouts().first):
            answer = await litellm.aembedding(model=model, input=[text], max_retries=0, **options)
        vector = tuple(float(part) for part in answer.data[0]["embedding"])
    except (LookupError, TypeError, ValueError) as problem:
        raise ModelReplyMalformed from problem
    except Exception as problem:  # litellm and what lies below raise whatever they like
        raise translate(problem, begun=False, partial=None) from problem
    usage = read_usage(answer.usage)
    return Embedding(vector, usage, embedding_cost_usd(model=model, usage=usage))
