"""Tools for schemas: what fields an extraction has."""

from typing import Annotated, Any

from pydantic import Field

from agent.toolbox import ToolContext, toolbox
from agent.tools import seen
from agent.tools.arguments import (
    Filters,
    Json,
    Limit,
    NameSearch,
    ResponseFormat,
    Skip,
    Sort,
    field_count,
    quoted,
)
from core.ids import show_id
from prompts_app.services import delete_schema as delete_unused_schema
from schemas_app import selectors, services, validation
from schemas_app.errors import SchemaInvalid
from schemas_app.presentation import show_schema

SchemaId = Annotated[str, Field(description="The schema_id (not the schema_revid).")]
SchemaRevid = Annotated[str, Field(description="The schema_revid: one version of a schema.")]
Name = Annotated[str, Field(min_length=1, max_length=200, description="What people call it, such as Invoice.")]


@toolbox.tool(writes=False, summary="Look at a schema")
def get_schema(ctx: ToolContext, schema_revid: SchemaRevid) -> Json:
    """Read one version of a schema with its whole response_format."""
    return show_schema(selectors.get_revision(actor=ctx.actor, schema_revid=schema_revid))


@toolbox.tool(writes=False, summary="Look through schemas", more="Use skip and a smaller limit, or get_schema for one.")
def list_schemas(
    ctx: ToolContext,
    skip: Skip = 0,
    limit: Limit = 10,
    name_search: NameSearch = None,
    sort: Sort = None,
    filters: Filters = None,
) -> Json:
    """List the organization's schemas, each with its latest version, newest first."""
    found = selectors.list_schemas(
        actor=ctx.actor, skip=skip, limit=limit, name_search=name_search, sort=sort, filters=filters
    )
    return {"schemas": [show_schema(row) for row in found.rows], "total_count": found.total_count, "skip": found.skip}


@toolbox.tool(writes=False, summary="Check a schema")
def validate_schema(
    ctx: ToolContext,  # noqa: ARG001 - every tool takes it
    schema: Annotated[dict[str, Any] | str, Field(description="The whole response_format, as an object or JSON text.")],
) -> Json:
    """Check a response_format against every rule. Must pass before create_schema or update_schema."""
    try:
        body = validation.check_strict(validation.parse_json(schema) if isinstance(schema, str) else schema)
    except SchemaInvalid as problem:
        return {"valid": False, "error": problem.detail}
    warnings = [str(warning) for warning in validation.warnings(body)]
    return {"valid": True, "warnings": warnings} if warnings else {"valid": True}


@toolbox.tool(writes=False, summary="Check values against a schema")
def validate_against_schema(
    ctx: ToolContext,
    schema_revid: SchemaRevid,
    data: Annotated[dict[str, Any], Field(description="The values, as an extraction has them.")],
) -> Json:
    """Check values against one version of a schema."""
    revision = selectors.get_revision(actor=ctx.actor, schema_revid=schema_revid)
    errors = validation.validate_data(revision.response_format, data)
    return {"valid": False, "errors": errors} if errors else {"valid": True}


@toolbox.tool(
    writes=True,
    summary=lambda arguments: (
        f"Create schema {quoted(arguments['name'])} with {field_count(arguments['response_format'])}"
    ),
    sees=seen.schema_name,
)
def create_schema(ctx: ToolContext, name: Name, response_format: ResponseFormat) -> Json:
    """Create a schema. A name that exists gets a new version: look at list_schemas first."""
    saved = services.create_schema(
        actor=ctx.actor,
        name=name,
        response_format=response_format,
        strict=True,
        expected_version=seen.name_seen(ctx, "schema", name),
    )
    result = _saved(ctx, saved)
    if saved.new_version:
        version = saved.revision.version
        result |= {"new_version": True, "warning": f"A schema with this name exists: this is its version {version}."}
    return result


def _change_summary(arguments: Json) -> str:
    parts = [f"rename it {quoted(arguments['name'])}"] if arguments.get("name") is not None else []
    if arguments.get("response_format") is not None:
        parts.append(f"save a new version with {field_count(arguments['response_format'])}")
    return f"Change a schema: {' and '.join(parts) or 'nothing'}"


@toolbox.tool(writes=True, summary=_change_summary, sees=seen.schema)
def update_schema(
    ctx: ToolContext, schema_id: SchemaId, name: Name | None = None, response_format: ResponseFormat | None = None
) -> Json:
    """Save a new version of a schema, or rename it. Prompts keep the version that they use until they are updated."""
    saved = services.update_schema(
        actor=ctx.actor,
        schema_id=schema_id,
        name=name,
        response_format=response_format,
        strict=True,
        skip_identical=True,
        expected_version=seen.version_seen(ctx, "schema", schema_id),
    )
    return _saved(ctx, saved) | ({"message": "No changes"} if saved.outcome == "unchanged" else {})


@toolbox.tool(writes=True, summary="Delete a schema", sees=seen.schema)
def delete_schema(ctx: ToolContext, schema_id: SchemaId) -> Json:
    """Delete a schema that no prompt uses. It stays in the trash for 30 days."""
    expected = seen.version_seen(ctx, "schema", schema_id)
    schema = delete_unused_schema(actor=ctx.actor, schema_id=schema_id, expected_version=expected)
    ctx.record_undo("schema_deleted", schema_id=show_id(schema.pk))
    return {"message": "Schema deleted successfully"}


def _saved(ctx: ToolContext, saved: services.SavedSchema) -> Json:
    """The result of a write, with the working state set and the way back recorded."""
    revision, schema = saved.revision, saved.revision.schema
    ctx.working_state["schema_revid"] = show_id(revision.pk)
    if saved.outcome != "unchanged":
        ctx.record_undo(
            f"schema_{saved.outcome}",
            schema_id=show_id(schema.pk),
            version=revision.version,
            name=schema.name,
            previous_version=saved.previous_version,
            previous_name=saved.previous_name,
        )
    return {"schema_revid": show_id(revision.pk), "schema_id": show_id(schema.pk), "name": schema.name}
