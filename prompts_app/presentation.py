"""A prompt revision as plain data: the shape that tools, mentions and the API show."""

from typing import Any

from core.ids import show_id
from prompts_app.models import PromptRevision


def show_prompt(revision: PromptRevision) -> dict[str, Any]:
    """Shape: the Prompt of the wire contract. Reads tags and schema that the selectors have fetched already."""
    pinned = revision.schema_revision
    return {
        "prompt_revid": show_id(revision.pk),
        "prompt_id": show_id(revision.prompt_id),
        "prompt_version": revision.version,
        "name": revision.prompt.name,
        "content": revision.content,
        "schema_id": show_id(pinned.schema_id) if pinned else None,
        "schema_version": pinned.version if pinned else None,
        "tag_ids": [show_id(tag.pk) for tag in revision.tags.all() if tag.deleted_at is None],
        "model": revision.model,
        "kb_id": None,
        "peer_match_keys": revision.peer_match_keys,
        "include": revision.include,
        "created_at": revision.created_at.isoformat().replace("+00:00", "Z"),
        "created_by": show_id(revision.created_by_id) if revision.created_by_id else None,
    }
