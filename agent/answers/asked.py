"""A question, what an answer is made from, and what comes of it. Plain data."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any

from llm.content import DocumentContent
from llm.types import ChatMessage, Completion, Usage

Json = dict[str, Any]
TRIES = 2
"""Of a structured answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What somebody wants to know. `before` is the conversation so far, roles user and assistant only.

    `model` is "" for the default; `run_id` pins the text that the answer is taken from; `response_format` asks for
    JSON of a schema instead of prose.
    """

    text: str
    before: tuple[ChatMessage, ...] = ()
    model: str = ""
    response_format: Mapping[str, Any] | None = None
    run_id: str | None = None
    max_tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """The text that answers come from: `content` has the pages that a model is shown, of `page_count` in all."""

    content: DocumentContent
    page_count: int
    version_id: uuid.UUID
    run_id: uuid.UUID | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """All that is needed to ask the model, read in one go.

    `share_id` is the link that it was asked through, with what is `booked` there until the answer's cost is known.
    Units: US dollars; from `cost_cap` on no further call.
    """

    response_id: uuid.UUID
    created_at: datetime
    source: Source
    asked: Asked
    document_id: uuid.UUID
    model: str
    cost_cap: Decimal
    share_id: uuid.UUID | None = None
    booked: Decimal = Decimal(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """A passage that was found on its page. `quote` has the page's own words; `at` is where in the answer it stands.

    Units: boxes are fractions of the page, origin top left. `path` names the value of a structured answer.
    """

    page: int
    quote: str
    boxes: tuple[tuple[float, float, float, float], ...]
    at: int = 0
    path: str = ""

    def as_json(self) -> Json:
        """As it is kept."""
        kept = {"page": self.page, "quote": self.quote, "boxes": [list(box) for box in self.boxes], "at": self.at}
        return kept | ({"path": self.path} if self.path else {})


@dataclass(slots=True)
class Draft:
    """An answer as it grows: what was said, which citations held, and what it cost so far."""

    text: str = ""
    citations: list[Citation] = field(default_factory=list)
    dropped: int = 0
    usage: Usage = field(default_factory=Usage)
    cost_usd: Decimal | None = None

    def spend(self, completion: Completion) -> None:
        """Count a call to the model."""
        used = completion.usage
        self.usage = Usage(
            self.usage.prompt_tokens + used.prompt_tokens, self.usage.completion_tokens + used.completion_tokens
        )
        if completion.cost_usd is not None:
            self.cost_usd = (self.cost_usd or Decimal(0)) + completion.cost_usd
