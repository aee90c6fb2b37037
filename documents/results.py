"""Results of extraction: reading them, editing a field, marking them verified. History is rows, never overwritten."""

import json
import uuid
from collections.abc import Iterator, Sequence
from copy import deepcopy
from itertools import islice
from typing import Any

from django.db import transaction
from django.db.models import Q, QuerySet

from core.ids import parse_id
from documents.answers import sound_values
from documents.errors import ExtractionNotFound, ExtractionStale, FieldInvalid
from documents.events import append_event
from documents.grounding import ground
from documents.models import Document, Extraction, ExtractionEdit
from documents.selectors import document_content, get_document
from organizations.actor import Actor
from organizations.gate import owned
from organizations.services import record
from prompts_app.default import DEFAULT_PROMPT_ID, DEFAULT_RESPONSE_FORMAT
from prompts_app.models import PromptRevision
from schemas_app.validation import validate_data

MOST_EDITS = 500
"""A correction that changes more values than this is kept as one edit for each name on the top."""
_LONGEST_PATH = 500

CURRENT = Q(superseded_by__isnull=True, withdrawn_at__isnull=True)
"""Which results stand now; the others are history."""


def list_results(*, actor: Actor, document_id: object) -> QuerySet[Extraction]:
    """Results of a document that nothing supersedes, newest first; one for each prompt revision."""
    document = get_document(actor=actor, document_id=document_id)
    return _current(document).order_by("-created_at", "-id")


def result_history(*, actor: Actor, document_id: object, extraction_id: object) -> QuerySet[Extraction]:
    """Every result of the same prompt (any version) on the document, newest first."""
    result = get_result(actor=actor, document_id=document_id, extraction_id=extraction_id)
    return results_like(result).select_related("prompt_revision__prompt").order_by("-created_at", "-id")


def results_like(result: Extraction) -> QuerySet[Extraction]:
    """Every result of the same prompt, any version, on the same document."""
    rows = Extraction.objects.filter(document_id=result.document_id)
    if result.prompt_revision is None:
        return rows.filter(prompt_revision__isnull=True)
    return rows.filter(prompt_revision__prompt_id=result.prompt_revision.prompt_id)


def get_result(*, actor: Actor, document_id: object, extraction_id: object) -> Extraction:
    """Raises: DocumentNotFound, ExtractionNotFound."""
    document = get_document(actor=actor, document_id=document_id)
    result = (
        Extraction.objects.filter(document=document, pk=parse_id(extraction_id, error=ExtractionNotFound))
        .select_related("prompt_revision__prompt", "prompt_revision__schema_revision__schema")
        .first()
    )
    if result is None:
        raise ExtractionNotFound()
    return result


def current_result(
    *, actor: Actor, document_id: object, prompt_revid: str | None = None, any_version: bool = True
) -> Extraction:
    """The result of a prompt revision on a document; without one, the newest result of any prompt.

    `any_version` falls back to the newest result of another revision of the same prompt.
    Raises: DocumentNotFound, ExtractionNotFound.
    """
    rows = list_results(actor=actor, document_id=document_id)
    found = _by_prompt(rows, prompt_revid, any_version=any_version)
    if found is None:
        raise ExtractionNotFound()
    return found


def current_result_of(*, document: Document, prompt_revid: str | None = None) -> Extraction:
    """The same for a document that the caller has read, quick when it has no results. Raises: ExtractionNotFound."""
    if not Extraction.objects.filter(CURRENT, document=document).exists():
        raise ExtractionNotFound()
    found = _by_prompt(_current(document).order_by("-created_at", "-id"), prompt_revid, any_version=True)
    if found is None:
        raise ExtractionNotFound()
    return found


def find_result(
    *,
    actor: Actor,
    document_id: object,
    prompt_revid: str | None = None,
    prompt_id: str | None = None,
    any_version: bool = False,
) -> Extraction:
    """The newest result of exactly this prompt revision, also one that a later version has replaced since.

    With `any_version`, or by the prompt alone, the highest version that has a result is good too; some clients send
    a prompt's id as `prompt_revid`.
    Raises: DocumentNotFound, ExtractionNotFound.
    """
    document = get_document(actor=actor, document_id=document_id)
    rows = _standing(actor, document)
    if DEFAULT_PROMPT_ID in (prompt_revid, prompt_id):
        found = rows.filter(prompt_revision__isnull=True).first()
    elif prompt_revid:
        revision_id = parse_id(prompt_revid, error=ExtractionNotFound)
        found = rows.filter(prompt_revision_id=revision_id).first()
        if found is None:
            wanted = Q(prompt_revision__prompt_id=revision_id)
            if any_version:
                same = owned(PromptRevision, actor).filter(pk=revision_id).values("prompt_id")
                wanted |= Q(prompt_revision__prompt_id__in=same)
            of_prompt = rows.filter(wanted)
            found = of_prompt.order_by("-prompt_revision__version", "-created_at", "-id").first()
    else:
        of_prompt = rows.filter(prompt_revision__prompt_id=parse_id(prompt_id, error=ExtractionNotFound))
        found = of_prompt.order_by("-prompt_revision__version", "-created_at", "-id").first()
    if found is None:
        raise ExtractionNotFound()
    return found


def newest_results(*, actor: Actor, document_id: object) -> list[Extraction]:
    """The newest result of each prompt revision that was run on a document, oldest first.

    Raises: DocumentNotFound.
    """
    document = get_document(actor=actor, document_id=document_id)
    newest: dict[uuid.UUID | None, Extraction] = {}
    for row in _standing(actor, document):
        newest.setdefault(row.prompt_revision_id, row)
    return list(newest.values())[::-1]


def _standing(actor: Actor, document: Document) -> QuerySet[Extraction]:
    """What was not taken back or deleted, newest first."""
    rows = owned(Extraction, actor).filter(document=document, withdrawn_at__isnull=True)
    related = ("prompt_revision__prompt", "prompt_revision__schema_revision__schema")
    return rows.select_related(*related).order_by("-created_at", "-id")


def _by_prompt(rows: QuerySet[Extraction], prompt_revid: str | None, *, any_version: bool) -> Extraction | None:
    if not prompt_revid:
        return rows.first()
    if prompt_revid == DEFAULT_PROMPT_ID:
        return rows.filter(prompt_revision__isnull=True).first()
    revision_id = parse_id(prompt_revid, error=ExtractionNotFound)
    exact = rows.filter(prompt_revision_id=revision_id).first()
    if exact is None and any_version:
        return rows.filter(prompt_revision__prompt__revisions__id=revision_id).first()
    return exact


def _current(document: Document) -> QuerySet[Extraction]:
    return Extraction.objects.filter(CURRENT, document=document).select_related(
        "prompt_revision__prompt", "prompt_revision__schema_revision__schema"
    )


def response_format_of(result: Extraction) -> dict[str, Any] | None:
    """The response format that the result was made with, None for a prompt without a schema."""
    revision = result.prompt_revision
    if revision is None:
        return DEFAULT_RESPONSE_FORMAT
    if revision.schema_revision is None:
        return None
    response_format: dict[str, Any] = revision.schema_revision.response_format
    return response_format


def lock_result(result_id: uuid.UUID) -> Extraction:
    """The row, locked until the transaction ends."""
    return Extraction.objects.select_for_update().get(pk=result_id)


def lock_results_like(result: Extraction) -> None:
    """Hold what `results_like` finds: which of them is the current one changes in one transaction at a time."""
    list(results_like(result).order_by("pk").select_for_update(of=("self",)).values_list("pk"))


@transaction.atomic
def update_field(
    *,
    actor: Actor,
    document_id: object,
    path: str,
    value: Any,
    prompt_revid: str | None = None,
    extraction_id: object = None,
    edit_version: int | None = None,
) -> Extraction:
    """Set one leaf of a result ("lines.0.total"). The edit is a row of its own; a verified mark is cleared.

    `edit_version` is the version that the person looked at; another one now means somebody was quicker.
    Raises: ExtractionNotFound, ExtractionStale, FieldInvalid.
    """
    if extraction_id is not None:
        found = get_result(actor=actor, document_id=document_id, extraction_id=extraction_id)
    else:
        found = current_result(actor=actor, document_id=document_id, prompt_revid=prompt_revid)
    result = lock_result(found.id)
    if edit_version is not None and edit_version != result.edit_version:
        raise ExtractionStale(edit_version=result.edit_version)
    if result.superseded_by_id or result.withdrawn_at:
        raise ExtractionStale("This result was replaced in the meantime. Nothing was saved: look at the new one first.")
    before = result.updated_llm_result
    data = deepcopy(before)
    previous = _set_path(data, path, value, _top_level_names(response_format_of(found)))
    _refuse_new_errors(response_format_of(found), before, data, path)
    if previous == value and type(previous) is type(value):
        return result
    _save_edits(actor, result, data, [(path, previous, value)], verified=False)
    return get_result(actor=actor, document_id=document_id, extraction_id=result.id)


@transaction.atomic
def replace_values(
    *, actor: Actor, document_id: object, prompt_revid: str, values: dict[str, Any], verified: bool
) -> Extraction:
    """Take a whole result as it was corrected elsewhere; every value that differs becomes an edit of its own.

    The names on the top must be those of the model's answer. What breaks the schema is kept, and said beside it.
    Raises: DocumentNotFound, ExtractionNotFound, FieldInvalid.
    """
    found = find_result(actor=actor, document_id=document_id, prompt_revid=prompt_revid)
    result = lock_result(found.id)
    original, updated = list(result.llm_result), list(values)
    if set(original) != set(updated):
        raise FieldInvalid(
            "Updated result signature does not match original. "
            f"Original keys: {original}, Updated keys: {str(updated[:200])[:5000]}"
        )
    data = sound_values({name: values[name] for name in original})
    edits = list(islice(differences(result.updated_llm_result, data), MOST_EDITS + 1))
    if len(edits) > MOST_EDITS:
        before = result.updated_llm_result
        edits = [(name, before.get(name), data[name]) for name in data if not _same(before.get(name), data[name])]
    _save_edits(actor, result, data, edits, verified=verified)
    return find_result(actor=actor, document_id=document_id, prompt_revid=prompt_revid)


def differences(before: Any, after: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Where two values differ: path ("lines.0.total"), from, to. Lists of another length differ as a whole."""
    steps: Sequence[Any] | None = None
    if isinstance(before, dict) and isinstance(after, dict) and before.keys() == after.keys():
        steps = list(after)
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        steps = range(len(after))
    if steps is None or len(path) > _LONGEST_PATH - 100:
        if not _same(before, after):
            yield path, before, after
        return
    for step in steps:
        yield from differences(before[step], after[step], f"{path}.{step}" if path else str(step))


def _same(before: Any, after: Any) -> bool:
    """Equal as JSON: true is not 1, and 1 is not 1.0."""
    return json.dumps(before, sort_keys=True) == json.dumps(after, sort_keys=True)


def _save_edits(
    actor: Actor, result: Extraction, data: Any, edits: Sequence[tuple[str, Any, Any]], *, verified: bool
) -> None:
    content = document_content(actor=actor, document_id=result.document_id)
    result.updated_llm_result = data
    result.is_edited = True
    result.is_verified = verified
    result.edit_version += 1
    result.grounding = {key: place.as_json() for key, place in ground(data=data, pages=content.pages).items()}
    response_format = response_format_of(result)
    result.validation_errors = validate_data(response_format, data) if response_format else []
    result.save(
        update_fields=[
            "updated_llm_result",
            "is_edited",
            "is_verified",
            "edit_version",
            "grounding",
            "validation_errors",
            "updated_at",
        ]
    )
    ExtractionEdit.objects.bulk_create(
        ExtractionEdit(
            organization_id=actor.organization_id,
            extraction=result,
            user_id=actor.user_id,
            actor_name=actor.name,
            via=actor.via,
            path=path[:_LONGEST_PATH],
            value_from=before,
            value_to=after,
        )
        for path, before, after in edits
    )
    about: dict[str, Any] = {"path": edits[0][0][:200]} if len(edits) == 1 else {"edits": len(edits)}
    record(actor=actor, action="extraction.edited", target=("extraction", result.id), data=about)
    append_event(
        document_id=result.document_id,
        type="extraction.edited",
        actor=actor,
        data={"extraction_id": result.id.hex, "edit_version": result.edit_version, **about},
    )


@transaction.atomic
def set_verified(*, actor: Actor, document_id: object, extraction_id: object, verified: bool = True) -> Extraction:
    """Mark a whole result as checked by a person, or take the mark back."""
    found = get_result(actor=actor, document_id=document_id, extraction_id=extraction_id)
    result = lock_result(found.id)
    if result.is_verified != verified:
        result.is_verified = verified
        result.save(update_fields=["is_verified", "updated_at"])
        action = "extraction.verified" if verified else "extraction.unverified"
        record(actor=actor, action=action, target=("extraction", result.id))
        append_event(
            document_id=result.document_id, type=action, actor=actor, data={"extraction_id": result.id.hex}
        )  # fmt: skip
    return get_result(actor=actor, document_id=document_id, extraction_id=extraction_id)


def list_edits(*, actor: Actor, document_id: object, extraction_id: object) -> QuerySet[ExtractionEdit]:
    """Who changed what, newest first."""
    result = get_result(actor=actor, document_id=document_id, extraction_id=extraction_id)
    return result.edits.order_by("-created_at", "-id")


def _top_level_names(response_format: dict[str, Any] | None) -> set[str]:
    if response_format is None:
        return set()
    schema = response_format.get("json_schema", {}).get("schema", {})
    return set(schema.get("properties", {}))


def _set_path(data: Any, path: str, value: Any, known_names: set[str]) -> Any:
    """Set the leaf in place and return what stood there. Errors name the part of the path that is wrong."""
    parts = path.split(".")
    if not path or len(parts) > 30:
        raise FieldInvalid("Name the field to change, such as total or lines.0.total.", fields={"path": path[:200]})
    parent = data
    for position, part in enumerate(parts[:-1]):
        parent = _child(parent, part, ".".join(parts[: position + 1]))
    last = parts[-1]
    if isinstance(parent, list):
        previous = _child(parent, last, path)
        parent[int(last)] = value
        return previous
    if not isinstance(parent, dict):
        raise FieldInvalid(f"{'.'.join(parts[:-1])} has no fields.", fields={"path": path})
    if last not in parent and not (parent is data and last in known_names):
        raise FieldInvalid(f"There is no field {path} in this result.", fields={"path": path})
    previous = parent.get(last)
    parent[last] = value
    return previous


def _child(parent: Any, part: str, so_far: str) -> Any:
    if isinstance(parent, list):
        if not part.isdecimal() or len(part) > 9 or int(part) >= len(parent):
            raise FieldInvalid(f"{so_far}: the list has {len(parent)} rows, counted from 0.", fields={"path": so_far})
        return parent[int(part)]
    if isinstance(parent, dict) and part in parent:
        return parent[part]
    raise FieldInvalid(f"There is no field {so_far} in this result.", fields={"path": so_far})


def _refuse_new_errors(response_format: dict[str, Any] | None, before: Any, after: Any, path: str) -> None:
    """An edit may not break the schema where it was kept; what the model broke elsewhere stays visible."""
    if response_format is None:
        return
    known = {json.dumps(error, sort_keys=True) for error in validate_data(response_format, before)}
    for error in validate_data(response_format, after):
        if json.dumps(error, sort_keys=True) not in known:
            raise FieldInvalid(f"{error['path'] or path}: {error['message']}", fields={"path": path})
