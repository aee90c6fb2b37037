"""Which earlier turns a model is still told: whole turns, newest kept, oldest dropped first."""

from collections.abc import Sequence

from agent.messages import ChatMessage, to_json

CHARS_PER_TOKEN = 4


def estimate_tokens(messages: Sequence[ChatMessage]) -> int:
    """A rough count that needs no tokenizer. Units: tokens."""
    return sum(len(to_json(message)) for message in messages) // CHARS_PER_TOKEN


def split_turns(messages: Sequence[ChatMessage]) -> list[list[ChatMessage]]:
    """A flat history as turns: each begins with what the user said."""
    turns: list[list[ChatMessage]] = []
    for message in messages:
        if message["role"] == "user" or not turns:
            turns.append([])
        turns[-1].append(message)
    return turns


def recent_turns(turns: Sequence[Sequence[ChatMessage]], *, max_messages: int, max_tokens: int) -> list[ChatMessage]:
    """The newest turns that fit, as one list in order.

    The newest one is shortened to its question and last answer when it alone is too long, since a follow-up
    nearly always speaks of it.
    """
    kept: list[Sequence[ChatMessage]] = []
    messages_left, tokens_left = max_messages, max_tokens
    for turn in reversed(turns):
        candidate = turn
        if not kept and not _fits(candidate, messages_left, tokens_left):
            candidate = _gist(turn)
        if not _fits(candidate, messages_left, tokens_left):
            break
        kept.append(candidate)
        messages_left -= len(candidate)
        tokens_left -= estimate_tokens(candidate)
    return [message for turn in reversed(kept) for message in turn]


def _fits(turn: Sequence[ChatMessage], messages: int, tokens: int) -> bool:
    return len(turn) <= messages and estimate_tokens(turn) <= tokens


def _gist(turn: Sequence[ChatMessage]) -> list[ChatMessage]:
    question = [message for message in turn if message["role"] == "user"][:1]
    answers = [message for message in turn if message["role"] == "assistant" and message.get("content")]
    last = answers[-1:] if answers else []
    return [*question, *({"role": "assistant", "content": message["content"]} for message in last)]
