"""What an answer may cost at most: a link books that before the model is asked, and gets back what was not spent."""

import json
from decimal import Decimal

from django.conf import settings

from agent.answers.asked import TRIES, Asked, Source
from agent.answers.asking import build_messages
from llm import registry

_BYTES_PER_TOKEN = 2
"""Fewer than texts have in any of our languages."""
_COMPLAINT_TOKENS = 500
_STEP = Decimal("1e-8")


def most_tokens(asked: Asked) -> int:
    """How long an answer may be."""
    return min(asked.max_tokens or settings.ANSWER_MAX_TOKENS, int(settings.ANSWER_MAX_TOKENS))


def highest_cost(asked: Asked, source: Source, *, model: str) -> Decimal:
    """With the second try of a structured answer. Units: US dollars; 0 for a model without a price."""
    tries = TRIES if asked.response_format is not None else 1
    sent = json.dumps([build_messages(asked, source), asked.response_format], ensure_ascii=False)
    tokens = len(sent.encode()) // _BYTES_PER_TOKEN * tries + (most_tokens(asked) + _COMPLAINT_TOKENS) * (tries - 1)
    price = registry.described(model)
    return Decimal(tokens * price.input_cost + tries * most_tokens(asked) * price.output_cost).quantize(_STEP)
