"""Taking a write of the agent back: kind → function. Only while the object is still as the agent left it."""

from collections.abc import Callable
from typing import Any

from agent.errors import UndoImpossible
from core.errors import NotFound
from core.ids import parse_id
from documents import results
from documents import services as documents
from documents.selectors import get_document
from documents.tagging import delete_tag, tag_ids_of_document
from documents.withdrawal import withdraw_result
from organizations.actor import Actor
from prompts_app import services as prompts
from schemas_app import services as schemas
from schemas_app.selectors import get_schema
from tags_app import services as tags
from tags_app.selectors import get_tag

Json = dict[str, Any]


def undo_write(*, actor: Actor, undo: Json) -> str:
    """Take back what a tool recorded with `record_undo`; returns a sentence on what was done.

    Raises: UndoImpossible, and the errors of the services (the name was taken since, something uses it now, …).
    """
    take_back = _KINDS.get(str(undo.get("kind")))
    if take_back is None:
        raise UndoImpossible("This cannot be undone.")
    return take_back(actor, undo)


def _schema_created(actor: Actor, undo: Json) -> str:
    _require_schema_name(actor, undo)
    prompts.delete_schema(actor=actor, schema_id=undo["schema_id"], expected_version=undo["version"])
    return "The schema was moved to the trash."


def _schema_new_version(actor: Actor, undo: Json) -> str:
    _require_schema_name(actor, undo)
    schemas.revert_schema(
        actor=actor,
        schema_id=undo["schema_id"],
        to_version=undo["previous_version"],
        to_name=undo["previous_name"],
        expected_version=undo["version"],
    )
    return f"A new version equal to version {undo['previous_version']} was saved."


def _schema_renamed(actor: Actor, undo: Json) -> str:
    _require_schema_name(actor, undo)
    schemas.update_schema(
        actor=actor, schema_id=undo["schema_id"], name=undo["previous_name"], expected_version=undo["version"]
    )
    return f"The schema is called “{undo['previous_name']}” again."


def _schema_deleted(actor: Actor, undo: Json) -> str:
    schemas.restore_schema(actor=actor, schema_id=undo["schema_id"])
    return "The schema was restored."


def _prompt_created(actor: Actor, undo: Json) -> str:
    prompts.delete_prompt(actor=actor, prompt_id=undo["prompt_id"], expected_version=undo["version"])
    return "The prompt was moved to the trash."


def _prompt_new_version(actor: Actor, undo: Json) -> str:
    prompts.revert_prompt(
        actor=actor,
        prompt_id=undo["prompt_id"],
        to_version=undo["previous_version"],
        expected_version=undo["version"],
    )
    return f"A new version equal to version {undo['previous_version']} was saved."


def _prompt_deleted(actor: Actor, undo: Json) -> str:
    prompts.restore_prompt(actor=actor, prompt_id=undo["prompt_id"])
    return "The prompt was restored."


def _tag_created(actor: Actor, undo: Json) -> str:
    _require_tag(actor, undo)
    delete_tag(actor=actor, tag_id=undo["tag_id"])
    return "The tag was moved to the trash."


def _tag_updated(actor: Actor, undo: Json) -> str:
    _require_tag(actor, undo)
    tags.update_tag(actor=actor, tag_id=undo["tag_id"], **undo["before"])
    return "The tag is as it was before."


def _tag_deleted(actor: Actor, undo: Json) -> str:
    tags.restore_tag(actor=actor, tag_id=undo["tag_id"])
    return "The tag was restored."


def _document_updated(actor: Actor, undo: Json) -> str:
    document = get_document(actor=actor, document_id=undo["document_id"])
    now = {
        "document_name": document.name,
        "tag_ids": tag_ids_of_document(document=document),
        "metadata": document.metadata,
    }
    changed = {key: value for key, value in undo["before"].items() if value != undo["after"][key]}
    if any(now[key] != undo["after"][key] for key in changed):
        raise UndoImpossible()
    documents.update_document(
        actor=actor,
        document_id=document.pk,
        name=changed.get("document_name"),
        tag_ids=changed.get("tag_ids"),
        metadata=changed.get("metadata"),
    )
    return "The document is as it was before."


def _document_deleted(actor: Actor, undo: Json) -> str:
    documents.restore_document(actor=actor, document_id=parse_id(undo["document_id"], error=NotFound))
    return "The document was restored."


def _extraction_run(actor: Actor, undo: Json) -> str:
    before = withdraw_result(
        actor=actor, document_id=undo["document_id"], extraction_id=undo["extraction_id"]
    )  # fmt: skip
    return "The result before this one is shown again." if before else "The result was taken back."


def _field_set(actor: Actor, undo: Json) -> str:
    """Other fields may have been edited since; this one, what it is part of and what is part of it may not."""
    which = {"document_id": undo["document_id"], "extraction_id": undo["extraction_id"]}
    result = results.get_result(actor=actor, **which)
    path, since = f"{undo['path']}.", max(result.edit_version - undo["edit_version"], 0)
    for edit in results.list_edits(actor=actor, **which)[:since]:
        if path.startswith(f"{edit.path}.") or edit.path.startswith(path):
            raise UndoImpossible("This cannot be undone any more: the value was changed since.")
    results.update_field(
        actor=actor,
        **which,
        edit_version=result.edit_version,
        path=undo["path"],
        value=undo["value"],
    )
    return f"“{undo['path']}” has its earlier value again."


def _require_schema_name(actor: Actor, undo: Json) -> None:
    if get_schema(actor=actor, schema_id=undo["schema_id"]).name != undo["name"]:
        raise UndoImpossible("This cannot be undone any more: the schema was renamed since.")


def _require_tag(actor: Actor, undo: Json) -> None:
    tag = get_tag(actor=actor, tag_id=undo["tag_id"])
    if {"name": tag.name, "color": tag.color, "description": tag.description} != undo["after"]:
        raise UndoImpossible("This cannot be undone any more: the tag was changed since.")


_KINDS: dict[str, Callable[[Actor, Json], str]] = {
    "schema_created": _schema_created,
    "schema_new_version": _schema_new_version,
    "schema_renamed": _schema_renamed,
    "schema_deleted": _schema_deleted,
    "prompt_created": _prompt_created,
    "prompt_new_version": _prompt_new_version,
    "prompt_deleted": _prompt_deleted,
    "tag_created": _tag_created,
    "tag_updated": _tag_updated,
    "tag_deleted": _tag_deleted,
    "document_updated": _document_updated,
    "document_deleted": _document_deleted,
    "extraction_run": _extraction_run,
    "field_set": _field_set,
}
KINDS = frozenset(_KINDS)
