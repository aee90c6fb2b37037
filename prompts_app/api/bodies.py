"""Prompts as the wire has them."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated

from pydantic import Field

from core.api.bodies import Answer, Body, GridQuery
from core.errors import Invalid
from core.listing import Listing
from llm.seeds import CLIENTS_MODEL
from prompts_app.config import PromptConfig
from prompts_app.default import show_default_prompt
from prompts_app.models import PromptRevision
from prompts_app.presentation import show_prompt

_BUILT_IN_SINCE = datetime(2026, 1, 1, tzinfo=UTC)


class KnowledgeBaseMissing(Invalid):
    code = "knowledge_base_not_found"


class Include(Body):
    """What of a document goes to the model beside the prompt's text."""

    ocr_text: bool = True
    metadata_keys: list[str] = []
    pdf: bool = True


class PromptBody(Body):
    """A whole prompt: what is left out is the default, never the value before. No version: the schema's latest."""

    name: str
    content: str
    schema_id: str | None = None
    schema_version: int | None = None
    tag_ids: list[str] = []
    model: str = CLIENTS_MODEL
    kb_id: str | None = None
    peer_match_keys: list[str] = []
    include: Include | None = None

    def config(self) -> PromptConfig:
        """As the services take it. Raises: KnowledgeBaseMissing."""
        if self.kb_id:
            raise KnowledgeBaseMissing(f"Knowledge base {self.kb_id[:64]} not found or not accessible")
        given = self.model_dump(exclude={"kb_id", "include"})
        return PromptConfig(**given, include=None if self.include is None else self.include.model_dump())


class PromptsQuery(GridQuery):
    """Which prompts, in which order."""

    tag_ids: Annotated[str | None, Field(description="Ids separated by commas: prompts that have all of them")] = None
    document_id: Annotated[str | None, Field(description="Prompts that share a tag with this document")] = None

    def tags(self) -> list[str]:
        return [part.strip() for part in (self.tag_ids or "").split(",") if part.strip()]


class PromptAnswer(Answer):
    """One version. `prompt_id` is the same for all versions, `prompt_revid` is this one's.

    `pending_review`: the agent made it by itself, and nobody has accepted it yet: it runs on no other document.
    """

    prompt_revid: str
    prompt_id: str
    prompt_version: int
    name: str
    content: str
    schema_id: str | None
    schema_version: int | None
    tag_ids: list[str]
    model: str
    kb_id: str | None
    peer_match_keys: list[str]
    include: Include
    created_at: datetime
    created_by: str
    pending_review: bool = False

    @classmethod
    def of(cls, revision: PromptRevision) -> "PromptAnswer":
        """The row as an answer; its prompt, schema and tags are best fetched already."""
        shown = show_prompt(revision)
        return cls(
            **{
                **shown,
                "created_at": revision.created_at,
                "created_by": shown["created_by"] or "",
                "pending_review": revision.prompt.pending_review,
            }
        )

    @classmethod
    def built_in(cls) -> "PromptAnswer":
        """The prompt that has no row."""
        return cls(**{**show_default_prompt(), "created_at": _BUILT_IN_SINCE, "created_by": ""})


class PromptsAnswer(Answer):
    prompts: list[PromptAnswer]
    total_count: int
    skip: int

    @classmethod
    def of(cls, found: Listing[PromptRevision]) -> "PromptsAnswer":
        return cls(
            prompts=[PromptAnswer.of(revision) for revision in found.rows],
            total_count=found.total_count,
            skip=found.skip,
        )

    @classmethod
    def of_all(cls, shown: Sequence[PromptAnswer], *, skip: int, limit: int) -> "PromptsAnswer":
        """A page of a list that is whole already."""
        return cls(prompts=list(shown[skip : skip + limit]), total_count=len(shown), skip=skip)
