"""Every type of event of a document's log, with what it carries: ids, counts and states, never document text.

Writers give names as Python has them; the log, like `/v1`, has them in camelCase.
"""

from typing import Any

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel


class Facts(BaseModel):
    """What an event carries; nothing that is not named here."""

    model_config = ConfigDict(
        alias_generator=to_camel, validate_by_name=True, validate_by_alias=True, serialize_by_alias=True, extra="forbid"
    )


class Nothing(Facts):
    """The type says all."""


class Bytes(Facts):
    """New bytes. `duplicate_of`: an earlier document with the same ones."""

    version: int
    bytes: int
    duplicate_of: str | None = None


class Changed(Facts):
    """What of a document was changed: name, metadata, tags, never_send."""

    changed: list[str]


class Problem(Facts):
    code: str
    message: str
    retryable: bool


class RunFacts(Facts):
    """How a run stands, and with it the document: `state` as `/v0` has it, `phase` as `/v1` has it."""

    kind: str
    attempt: int | None = None
    pages: int | None = None
    pages_done: int | None = None
    code: str | None = None
    error: Problem | None = None
    state: str | None = None
    phase: str | None = None


class PageFacts(Facts):
    """A page that was read: the how-many-th of how many, how many words, and where they are from."""

    page: int
    pages: int | None
    words: int
    source: str


class ExtractionStart(Facts):
    prompt_revid: str
    attempt: int | None = None


class ExtractionDone(Facts):
    """`grounding`: how many values were found, were not, and so on."""

    extraction_id: str
    grounding: dict[str, int]


class ExtractionFailed(Facts):
    """`code` is "cancelled" when somebody stopped it."""

    code: str
    retryable: bool


class ExtractionFacts(Facts):
    """`path`: the one field that was edited, else `edits`: how many were; `current`: what stands after a withdrawal."""

    extraction_id: str
    edit_version: int | None = None
    path: str | None = None
    edits: int | None = None
    current: str | None = None


class AutoCreateFacts(Facts):
    """How the agent's own proposal stands; ids of what it consists of; who decided."""

    status: str
    attempt: int | None = None
    schema_revid: str | None = None
    prompt_revid: str | None = None
    code: str | None = None
    retryable: bool | None = None
    by: str | None = None


class TurnFacts(Facts):
    """A question to the agent. `waiting`: how many calls wait for a person; `code`: why it ended before its end."""

    thread_id: str | None = None
    waiting: int | None = None
    code: str | None = None


class Decision(Facts):
    """What a person said about one call: approved, edited or rejected."""

    call_id: str
    decision: str


class Decisions(Facts):
    """`pending`: how many calls still wait."""

    thread_id: str | None = None
    decisions: list[Decision]
    pending: int


class Undone(Facts):
    """A write of the agent that a person took back."""

    thread_id: str | None = None
    call_id: str


class ShareFacts(Facts):
    share_id: str
    role: str | None = None


class ShareQuestion(Facts):
    share_id: str
    response_id: str


class PublicationFacts(Facts):
    publication_id: str
    version: int | None = None


EVENT_TYPES: dict[str, type[Facts]] = {
    "document.uploaded": Bytes,
    "document.version_added": Bytes,
    "document.updated": Changed,
    "document.deleted": Nothing,
    "document.restored": Nothing,
    **{f"run.{what}": RunFacts for what in ("queued", "started", "retried", "completed", "failed", "cancelled")},
    "page.parsed": PageFacts,
    "extraction.queued": ExtractionStart,
    "extraction.started": ExtractionStart,
    "extraction.completed": ExtractionDone,
    "extraction.failed": ExtractionFailed,
    **{f"extraction.{what}": ExtractionFacts for what in ("edited", "verified", "unverified", "withdrawn")},
    **{
        f"document.auto_create.{what}": AutoCreateFacts
        for what in ("requested", "started", "proposed", "failed", "accepted", "rejected")
    },
    **{
        f"turn.{what}": TurnFacts
        for what in ("started", "waiting", "done", "failed", "cancelled", "interrupted", "expired")
    },
    "turn.decided": Decisions,
    "turn.undone": Undone,
    **{f"share.{what}": ShareFacts for what in ("created", "opened", "revoked")},
    "share.asked": ShareQuestion,
    "document.published": PublicationFacts,
    "document.unpublished": PublicationFacts,
}


def checked_data(type_: str, data: dict[str, Any]) -> dict[str, Any]:
    """The data of an event as it is kept. Raises: ValueError for a type, or for data, that is not listed here."""
    model = EVENT_TYPES.get(type_)
    if model is None:
        raise ValueError(f"no such type of event: {type_}")
    return model.model_validate(data).model_dump(exclude_unset=True)
