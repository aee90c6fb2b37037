"""What a run needs of a prompt: text, model, response format. The built-in prompt comes in the same shape."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from llm.seeds import CLIENTS_MODEL
from organizations.actor import Actor
from organizations.gate import require_own_work
from prompts_app.default import (
    DEFAULT_CONTENT,
    DEFAULT_PROMPT_ID,
    DEFAULT_PROMPT_NAME,
    DEFAULT_RESPONSE_FORMAT,
)
from prompts_app.models import PromptRevision
from prompts_app.selectors import get_revision, prompts_for_tags


@dataclass(frozen=True, slots=True)
class PromptToRun:
    """`revision` is None for the built-in prompt; `response_format` is None for a prompt without a schema.

    What goes to the model: `metadata_keys` of a document's metadata, its text `with_text`, its file `with_pdf`.
    """

    revision: PromptRevision | None
    prompt_revid: str
    name: str
    content: str
    model: str
    response_format: dict[str, Any] | None
    metadata_keys: tuple[str, ...] = ()
    with_text: bool = True
    with_pdf: bool = True


def prompt_to_run(*, actor: Actor, prompt_revid: object = None) -> PromptToRun:
    """The prompt revision to run; the built-in one for None and "default".

    Raises: PromptNotFound, NotOwnWork.
    """
    if prompt_revid is None or prompt_revid == DEFAULT_PROMPT_ID:
        require_own_work(actor=actor, made_by_run=None)
        return PromptToRun(
            None, DEFAULT_PROMPT_ID, DEFAULT_PROMPT_NAME, DEFAULT_CONTENT, CLIENTS_MODEL, DEFAULT_RESPONSE_FORMAT
        )
    revision = get_revision(actor=actor, prompt_revid=prompt_revid)
    if revision.pk != actor.reuses:
        require_own_work(actor=actor, made_by_run=revision.prompt.made_by_run)
    return _of_revision(revision)


def prompts_to_run(*, actor: Actor, tag_ids: Sequence[uuid.UUID], default: bool) -> list[PromptToRun]:
    """The latest version of every prompt that has one of these tags; before them the built-in one, where it is on."""
    found = [prompt_to_run(actor=actor)] if default else []
    if tag_ids:
        found += [_of_revision(revision) for revision in prompts_for_tags(actor=actor, tag_ids=tag_ids)]
    return found


def _of_revision(revision: PromptRevision) -> PromptToRun:
    schema = revision.schema_revision
    return PromptToRun(
        revision,
        revision.id.hex,
        revision.prompt.name,
        revision.content,
        revision.model,
        schema.response_format if schema else None,
        tuple(revision.include.get("metadata_keys", ())),
        revision.include.get("ocr_text", True),
        revision.include.get("pdf", True),
    )
