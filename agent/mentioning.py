"""What a person may mention with @: schemas, prompts, tags and documents by name, a few of each."""

from dataclasses import dataclass
from typing import Any

from documents.selectors import list_documents
from organizations.actor import Actor
from prompts_app.selectors import list_prompts
from schemas_app.selectors import list_schemas
from tags_app.selectors import list_tags

EACH = 5


@dataclass(frozen=True, slots=True)
class Suggestion:
    type: str
    id: str
    name: str
    note: str


def suggestions(*, actor: Actor, text: str) -> list[Suggestion]:
    """The newest things whose name contains the text."""
    search: dict[str, Any] = {"actor": actor, "limit": EACH, "name_search": text or None}
    found = [
        Suggestion("schema", row.pk.hex, f"{row.schema.name} v{row.version}", "Schema")
        for row in list_schemas(**search).rows
    ]
    found += [
        Suggestion("prompt", row.pk.hex, f"{row.prompt.name} v{row.version}", "Prompt")
        for row in list_prompts(**search).rows
    ]
    found += [Suggestion("tag", row.pk.hex, row.name, "Tag") for row in list_tags(**search).rows]
    found += [Suggestion("document", row.pk.hex, row.name, "Document") for row in list_documents(**search).documents]
    return found
