"""Reading schemas and their revisions: the only gate to their rows for doors."""

import uuid

from django.db.models import F, Q, QuerySet, Value
from django.db.models.functions import Lower

from core.conditions import Field
from core.ids import parse_id
from core.listing import Fields, Listing, containing, filtered, ordered, page_of
from organizations.actor import Actor
from organizations.gate import get_owned, owned
from schemas_app.errors import SchemaNotFound
from schemas_app.models import Schema, SchemaRevision

FIELDS: Fields = {
    "schema_id": Field("schema_id", "id"),
    "schema_revid": Field("pk", "id"),
    "schema_version": Field("version", "number"),
    "name": Field("schema__name", "text"),
    "created_at": Field("created_at", "time"),
    "created_by": Field("created_by_id", "id"),
}


def get_schema(*, actor: Actor, schema_id: object) -> Schema:
    """The stable thing, by `schema_id`.

    Raises: SchemaNotFound.
    """
    return get_owned(Schema, actor, schema_id, error=SchemaNotFound)


def get_revision(*, actor: Actor, schema_revid: object) -> SchemaRevision:
    """One version, by `schema_revid`.

    Raises: SchemaNotFound.
    """
    revision = _revisions(actor).filter(pk=parse_id(schema_revid, error=SchemaNotFound)).first()
    if revision is None:
        raise SchemaNotFound()
    return revision


def get_version(*, actor: Actor, schema_id: object, version: int | None = None) -> SchemaRevision:
    """A version by its number; the latest one without a number.

    Raises: SchemaNotFound.
    """
    schema = get_schema(actor=actor, schema_id=schema_id)
    wanted = schema.latest_version if version is None else version
    found = _revisions(actor).filter(schema=schema, version=min(max(wanted, 0), 2**31 - 1)).first()
    if found is None:
        raise SchemaNotFound(f"Schema with ID {schema.pk.hex} version {version} not found")
    return found


def list_versions(*, actor: Actor, schema_id: object) -> list[SchemaRevision]:
    """Every version, newest first.

    Raises: SchemaNotFound.
    """
    schema = get_schema(actor=actor, schema_id=schema_id)
    return list(_revisions(actor).filter(schema=schema).order_by("-version"))


def latest_revisions(*, actor: Actor) -> QuerySet[SchemaRevision]:
    """The latest version of each schema."""
    return _revisions(actor).filter(version=F("schema__latest_version"))


def list_schemas(
    *,
    actor: Actor,
    skip: int = 0,
    limit: int = 10,
    name_search: str | None = None,
    sort: str | None = None,
    filters: str | None = None,
) -> Listing[SchemaRevision]:
    """The latest version of each schema, newest first unless `sort` says otherwise.

    Raises: ListQueryInvalid.
    """
    rows = containing(_listed(actor), lookup="schema__name", text=name_search)
    rows = filtered(rows, filters=filters, fields=FIELDS)
    return page_of(ordered(rows, sort=sort, fields=FIELDS), skip=skip, limit=limit)


def schemas_named(*, actor: Actor, name: str) -> QuerySet[Schema]:
    """At most one: names are compared without case, by the database's own rule."""
    return owned(Schema, actor).annotate(folded=Lower("name")).filter(folded=Lower(Value(name)))


def _listed(actor: Actor) -> QuerySet[SchemaRevision]:
    """What is listed: everything for a person; for a run that nobody watches not what waits for a review elsewhere."""
    rows = latest_revisions(actor=actor)
    if actor.run_id is None:
        return rows
    return rows.filter(Q(schema__pending_review=False) | Q(schema__made_by_run=actor.run_id))


def schemas_made_by(*, actor: Actor, run_id: uuid.UUID) -> QuerySet[Schema]:
    """What a propose run made and nobody deleted since."""
    return owned(Schema, actor).filter(made_by_run=run_id).order_by("pk")


def _revisions(actor: Actor) -> QuerySet[SchemaRevision]:
    return owned(SchemaRevision, actor).filter(schema__deleted_at__isnull=True).select_related("schema")
