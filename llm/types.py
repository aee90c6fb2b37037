"""What goes to a model client and what comes back. Plain data; no provider's types leak above this floor."""

from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Literal

ChatMessage = dict[str, Any]
"""A message in OpenAI's shape: role, content, and tool_calls / tool_call_id / thinking_blocks where they apply."""


@dataclass(frozen=True, slots=True)
class Delta:
    """A piece of the answer as it streams."""

    kind: Literal["text", "thinking"]
    text: str


@dataclass(frozen=True, slots=True)
class ToolRequest:
    """A tool call that the model asked for. `arguments` is the model's JSON text, not yet checked."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Usage:
    """Units: tokens."""

    prompt_tokens: int = 0
    completion_tokens: int = 0

    @property
    def total_tokens(self) -> int:
        return self.prompt_tokens + self.completion_tokens


@dataclass(frozen=True, slots=True)
class Completion:
    """The whole answer; always the last thing a stream yields.

    `thinking_blocks` are kept exactly as the provider sent them (signatures included) and go back verbatim.
    Units: `cost_usd` in US dollars, None when no price is known.
    """

    text: str = ""
    thinking: str = ""
    thinking_blocks: tuple[dict[str, Any], ...] = ()
    tool_calls: tuple[ToolRequest, ...] = ()
    finish_reason: str = "stop"
    model: str = ""
    usage: Usage = field(default_factory=Usage)
    cost_usd: Decimal | None = None
