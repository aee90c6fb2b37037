"""Writing schemas: every change is a new immutable revision. Deleting one that prompts may use lives in prompts_app."""

import uuid
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Literal

from django.db import IntegrityError, transaction
from django.utils import timezone

from core.ids import parse_id
from organizations.actor import Actor
from organizations.gate import owned, require_own_work
from organizations.services import record
from schemas_app.errors import NothingToUpdate, SchemaChanged, SchemaNameTaken, SchemaNotFound
from schemas_app.models import Schema, SchemaRevision
from schemas_app.naming import clean_name, names_like
from schemas_app.selectors import get_version, schemas_named
from schemas_app.validation import check_response_format, check_strict

ResponseFormat = dict[str, Any]


@dataclass(frozen=True, slots=True)
class SavedSchema:
    """What a write led to: the revision that is the latest now, the version before, and what happened.

    `previous_name` differs from the schema's name after a rename (or another spelling of it).
    """

    revision: SchemaRevision
    outcome: Literal["created", "new_version", "renamed", "unchanged"]
    previous_version: int
    previous_name: str

    @property
    def new_version(self) -> bool:
        return self.outcome == "new_version"


@transaction.atomic
def create_schema(
    *, actor: Actor, name: str, response_format: object, strict: bool = False, expected_version: int | None = None
) -> SavedSchema:
    """Make a schema; a name that exists (without case) gets a new version and the new spelling.

    A run that nobody watches leaves what others have alone: it takes the name with a number.
    `expected_version` is the latest under this name that the caller knows of, 0 for none.
    Raises: NameInvalid, SchemaInvalid, SchemaChanged when `expected_version` is not the latest any more.
    """
    name = clean_name(name)
    body = _body(response_format, strict=strict)
    wanted, (schema, name) = name, lock_schema_to_write(actor=actor, name=name)
    require_version(schema, expected_version if name == wanted else None)
    before = (schema.latest_version, schema.name)
    schema.name = name
    if actor.run_id is None:  # who takes the name of something that waits for a review makes it theirs
        schema.made_by_run, schema.pending_review = None, False
    revision = _add_revision(actor, schema, body)
    return SavedSchema(revision, "new_version" if before[0] else "created", *before)


@transaction.atomic
def update_schema(
    *,
    actor: Actor,
    schema_id: object,
    name: str | None = None,
    response_format: object = None,
    strict: bool = False,
    skip_identical: bool = False,
    expected_version: int | None = None,
) -> SavedSchema:
    """Rename in place when only the name differs; anything else makes a new revision.

    `skip_identical`: a body equal to the latest one changes nothing (the wire contract makes a revision of it).
    Raises: SchemaNotFound, NothingToUpdate, NameInvalid, SchemaInvalid, SchemaNameTaken, SchemaChanged when
    `expected_version` is not the latest any more.
    """
    if name is None and response_format is None:
        raise NothingToUpdate()
    new_name = None if name is None else clean_name(name)
    body = None if response_format is None else _body(response_format, strict=strict)
    schema = lock_schema(actor=actor, schema_id=schema_id)
    require_own_work(actor=actor, made_by_run=schema.made_by_run)
    require_version(schema, expected_version)
    before = (schema.latest_version, schema.name)
    latest = get_version(actor=actor, schema_id=schema.pk)
    schema.name = latest.schema.name = new_name or schema.name
    renamed, same = schema.name != before[1], body is None or _same(body, latest.response_format)
    if same and (renamed or body is None or skip_identical):
        if renamed:
            _save(schema)
            record(actor=actor, action="schema.renamed", target=("schema", schema.pk))
        return SavedSchema(latest, "renamed" if renamed else "unchanged", *before)
    return SavedSchema(_add_revision(actor, schema, body or latest.response_format), "new_version", *before)


@transaction.atomic
def revert_schema(
    *, actor: Actor, schema_id: object, to_version: int, to_name: str, expected_version: int
) -> SavedSchema:
    """Add a revision equal to an earlier one, under its earlier name.

    Raises: SchemaNotFound, SchemaNameTaken, SchemaChanged.
    """
    schema = lock_schema(actor=actor, schema_id=schema_id)
    require_version(schema, expected_version)
    before = (schema.latest_version, schema.name)
    schema.name = clean_name(to_name)
    earlier = get_version(actor=actor, schema_id=schema.pk, version=to_version)
    return SavedSchema(_add_revision(actor, schema, earlier.response_format), "new_version", *before)


@transaction.atomic
def trash_schema(*, actor: Actor, schema_id: object) -> Schema:
    """Move a schema to the trash. The caller has made sure that nothing uses it, under `lock_schema`.

    Raises: SchemaNotFound.
    """
    schema = lock_schema(actor=actor, schema_id=schema_id)
    require_own_work(actor=actor, made_by_run=schema.made_by_run)
    schema.deleted_at = timezone.now()
    schema.save(update_fields=["deleted_at"])
    record(actor=actor, action="schema.deleted", target=("schema", schema.pk))
    return schema


@transaction.atomic
def restore_schema(*, actor: Actor, schema_id: object, renamed: bool = False) -> Schema:
    """Take a schema out of the trash; `renamed`, under a name like its own where that was taken since.

    Raises: SchemaNotFound when it is not there, SchemaNameTaken.
    """
    schema = lock_trashed_schema(actor=actor, schema_id=schema_id)
    schema.deleted_at = None
    if renamed:
        likely = names_like(schema.name)
        schema.name = next(name for name in likely if not schemas_named(actor=actor, name=name).exists())
    _save(schema)
    record(actor=actor, action="schema.restored", target=("schema", schema.pk))
    return schema


def require_version(schema: Schema, expected: int | None) -> None:
    """Raises: SchemaChanged when another version than the expected one is the latest."""
    if expected not in (None, schema.latest_version):
        latest = schema.latest_version
        raise SchemaChanged(f"Version {latest} was saved in the meantime; nothing was changed.", latest_version=latest)


def lock_schema(*, actor: Actor, schema_id: object) -> Schema:
    """Hold the schema's row: versions, deletes and new prompts that pin it wait for one another.

    Raises: SchemaNotFound.
    """
    rows = owned(Schema, actor).select_for_update()
    schema = rows.filter(pk=parse_id(schema_id, error=SchemaNotFound)).first()
    if schema is None:
        raise SchemaNotFound()
    return schema


def lock_named_schema(*, actor: Actor, name: str) -> Schema:
    """The schema with this name, held; a new one with version 0 when there is none. Two at once get the same one."""
    while True:
        schema = schemas_named(actor=actor, name=name).select_for_update().first()
        if schema is not None:
            return schema
        try:
            with transaction.atomic():
                return Schema.objects.create(
                    organization_id=actor.organization_id,
                    name=name,
                    created_by_id=actor.user_id,
                    made_by_run=actor.run_id,
                    pending_review=actor.run_id is not None,
                )
        except IntegrityError:
            continue


def lock_schema_to_write(*, actor: Actor, name: str) -> tuple[Schema, str]:
    """The schema that gets this name, held, and the name that it gets."""
    for candidate in names_like(name):
        schema = lock_named_schema(actor=actor, name=candidate)
        if actor.run_id in (None, schema.made_by_run):
            return schema, candidate
    raise AssertionError("names do not end")


@transaction.atomic
def end_review(*, actor: Actor, schema_ids: Collection[uuid.UUID]) -> int:
    """Make schemas that waited for a review ordinary ones. Returns: how many."""
    rows = owned(Schema, actor).filter(pk__in=schema_ids, pending_review=True)
    return rows.update(pending_review=False, updated_at=timezone.now())


def lock_trashed_schema(*, actor: Actor, schema_id: object) -> Schema:
    """Raises: SchemaNotFound."""
    rows = Schema.objects.filter(organization_id=actor.organization_id, deleted_at__isnull=False)
    schema = rows.filter(pk=parse_id(schema_id, error=SchemaNotFound)).select_for_update().first()
    if schema is None:
        raise SchemaNotFound()
    return schema


def _add_revision(actor: Actor, schema: Schema, body: ResponseFormat) -> SchemaRevision:
    schema.latest_version += 1
    _save(schema)
    revision = SchemaRevision.objects.create(
        organization_id=actor.organization_id,
        schema=schema,
        version=schema.latest_version,
        response_format=body,
        created_by_id=actor.user_id,
    )
    action = "schema.created" if revision.version == 1 else "schema.version_added"
    record(actor=actor, action=action, target=("schema", schema.pk), data={"version": revision.version})
    return revision


def _save(schema: Schema) -> None:
    try:
        with transaction.atomic():
            schema.save()
    except IntegrityError as problem:
        raise SchemaNameTaken(f"A schema named '{schema.name}' already exists", fields={"name": "taken"}) from problem


def _body(response_format: object, *, strict: bool) -> ResponseFormat:
    return check_strict(response_format) if strict else check_response_format(response_format)


def _same(one: object, other: object) -> bool:
    """Equal as JSON: Python alone would take 1 for True."""
    return _typed(one) == _typed(other)


def _typed(value: object) -> object:
    if isinstance(value, dict):
        return {key: _typed(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_typed(item) for item in value]
    return (type(value) is bool, value)
