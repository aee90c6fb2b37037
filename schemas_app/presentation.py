"""A schema revision as plain data, and its fields as rows for a table."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from core.ids import show_id
from schemas_app.models import SchemaRevision


@dataclass(frozen=True, slots=True)
class FieldRow:
    """One field of a schema for a person's eyes. `depth` indents the fields of objects and lists."""

    name: str
    type: str
    description: str
    depth: int
    path: str


def show_schema(revision: SchemaRevision) -> dict[str, Any]:
    """Shape: schema_revid, schema_id, schema_version, name, response_format, created_at, created_by."""
    return {
        "schema_revid": show_id(revision.pk),
        "schema_id": show_id(revision.schema_id),
        "schema_version": revision.version,
        "name": revision.schema.name,
        "response_format": revision.response_format,
        "created_at": revision.created_at.isoformat().replace("+00:00", "Z"),
        "created_by": show_id(revision.created_by_id) if revision.created_by_id else None,
    }


def field_rows(response_format: object) -> list[FieldRow]:
    """The fields in order, nested ones after their parent; whatever is not a field is left out."""
    envelope = response_format.get("json_schema") if isinstance(response_format, dict) else None
    inner = envelope.get("schema") if isinstance(envelope, dict) else None
    return list(_rows(inner, "", 0))


def _rows(node: Any, path: str, depth: int) -> Iterator[FieldRow]:
    fields = node.get("properties") if isinstance(node, dict) else None
    for name, field in fields.items() if isinstance(fields, dict) and depth < 10 else ():
        if not isinstance(field, dict):
            continue
        here = f"{path}.{name}" if path else name
        yield FieldRow(name, _type(field), str(field.get("description") or ""), depth, here)
        yield from _rows(field.get("items") if field.get("type") == "array" else field, here, depth + 1)


def _type(field: dict[str, Any]) -> str:
    items = field.get("items")
    if field.get("type") == "array" and isinstance(items, dict):
        return f"list of {items.get('type', 'anything')}s"
    return str(field.get("type", "anything"))
