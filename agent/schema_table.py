"""A schema as a table of fields, both ways: what a card shows, and what an edited table means as a schema.

Two levels are shown and edited: the fields, and the columns of a table (or the parts of a group). What lies deeper,
and whatever the table cannot say (references, alternatives, limits), is kept as it was.
"""

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

Json = dict[str, Any]
Change = Literal["", "added", "removed", "changed"]

TYPES: tuple[tuple[str, str], ...] = (
    ("string", "text"),
    ("date", "date"),
    ("number", "number"),
    ("integer", "whole number"),
    ("boolean", "yes or no"),
    ("list", "list of texts"),
    ("table", "table"),
    ("group", "group"),
)
_NEW_NODES: dict[str, Json] = {
    "string": {"type": "string"},
    "date": {"type": "string", "format": "date"},
    "number": {"type": "number"},
    "integer": {"type": "integer"},
    "boolean": {"type": "boolean"},
    "list": {"type": "array", "items": {"type": "string"}},
    "table": {"type": "array", "items": {"type": "object", "properties": {}}},
    "group": {"type": "object", "properties": {}},
}


@dataclass(frozen=True, slots=True)
class Field:
    """One row of the table. `key` is the path of names ("lines.total"), `code` one of `TYPES` or "other"."""

    key: str
    name: str
    code: str
    label: str
    description: str
    parent: str = ""
    change: Change = ""
    was: str = ""

    @property
    def shown_name(self) -> str:
        return f"{self.name}[]" if self.code in ("table", "list") else self.name


@dataclass(frozen=True, slots=True)
class EditedField:
    """One row as a person left it. `key` is empty for a row that was added."""

    key: str
    parent: str
    name: str
    code: str
    description: str


def inner_schema(response_format: object) -> Json:
    """The JSON Schema inside a response format; empty when there is none."""
    outer = response_format.get("json_schema") if isinstance(response_format, dict) else None
    inner = outer.get("schema") if isinstance(outer, dict) else None
    return inner if isinstance(inner, dict) else {}


def fields_of(response_format: object) -> list[Field]:
    """The fields of the first level, in the schema's order."""
    return list(_fields(inner_schema(response_format), ""))


def all_fields_of(response_format: object) -> list[Field]:
    """Fields and, below each table or group, its columns: the rows of the editor."""
    rows: list[Field] = []
    for key, node in _properties(inner_schema(response_format)):
        rows.append(_field(key, node, ""))
        rows += _fields(_members(node), key)
    return rows


def compare(before: object, after: object) -> list[Field]:
    """The first level of `after` with what changed against `before`; removed fields come last."""
    old = dict(_properties(inner_schema(before)))
    new = dict(_properties(inner_schema(after)))
    rows = [_compared(key, node, old.get(key)) for key, node in new.items()]
    gone = [_marked(_field(key, node, ""), "removed", "") for key, node in old.items() if key not in new]
    return rows + gone


def apply_edits(response_format: Json, rows: Sequence[EditedField]) -> Json:
    """The schema that the edited table means. Rows without a name are gone; every field is required."""
    edited = copy.deepcopy(response_format)
    inner = inner_schema(edited)
    originals = dict(_walk(inner_schema(response_format), ""))
    properties: Json = {}
    for row in (row for row in rows if not row.parent and row.name):
        node = _node(row, originals)
        members = _members(node)
        if row.code in ("table", "group"):
            children = [child for child in rows if child.parent and child.parent == (row.key or row.name)]
            _set_properties(members, {child.name: _node(child, originals) for child in children if child.name})
        properties[row.name] = node
    _set_properties(inner, properties)
    return edited


def type_code(node: Json) -> str:
    """Which of `TYPES` a node is, "other" when the table has no word for it."""
    kind = node.get("type")
    if kind == "array":
        items = node.get("items")
        item_kind = items.get("type") if isinstance(items, dict) else None
        return {"object": "table", "string": "list"}.get(str(item_kind), "other")
    if kind == "object":
        return "group"
    if kind == "string":
        return "date" if node.get("format") == "date" else "other" if "enum" in node else "string"
    return str(kind) if kind in ("number", "integer", "boolean") else "other"


def type_label(node: Json) -> str:
    """The type in a word or two."""
    code = type_code(node)
    if code == "table":
        return _count(len(_members(node).get("properties", {})), "column")
    if code == "group":
        return _count(len(node.get("properties", {})), "part")
    if code == "list":
        return "list of string"
    if code != "other":
        return code
    options = node.get("enum")
    if isinstance(options, list):
        return "one of " + ", ".join(str(option) for option in options[:6])
    kind = node.get("type")
    return " or ".join(map(str, kind)) if isinstance(kind, list) else str(kind or "any")


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _properties(schema: Json) -> Iterator[tuple[str, Json]]:
    properties = schema.get("properties")
    if isinstance(properties, dict):
        yield from ((str(key), node if isinstance(node, dict) else {}) for key, node in properties.items())


def _members(node: Json) -> Json:
    """The object schema whose properties are the columns of a table or the parts of a group."""
    target = node.get("items") if node.get("type") == "array" else node
    return target if isinstance(target, dict) and target.get("type") == "object" else {}


def _walk(schema: Json, parent: str) -> Iterator[tuple[str, Json]]:
    for key, node in _properties(schema):
        path = f"{parent}.{key}" if parent else key
        yield path, node
        if not parent:
            yield from _walk(_members(node), path)


def _fields(schema: Json, parent: str) -> Iterator[Field]:
    for key, node in _properties(schema):
        yield _field(key, node, parent)


def _field(name: str, node: Json, parent: str) -> Field:
    key = f"{parent}.{name}" if parent else name
    description = node.get("description")
    return Field(
        key=key,
        name=name,
        code=type_code(node),
        label=type_label(node),
        description=description if isinstance(description, str) else "",
        parent=parent,
    )


def _marked(field: Field, change: Change, was: str) -> Field:
    return Field(field.key, field.name, field.code, field.label, field.description, field.parent, change, was)


def _compared(key: str, node: Json, old: Json | None) -> Field:
    field = _field(key, node, "")
    if old is None:
        return _marked(field, "added", "")
    if old == node:
        return field
    old_label = type_label(old)
    return _marked(field, "changed", old_label if old_label != field.label else "")


def _node(row: EditedField, originals: dict[str, Json]) -> Json:
    original = originals.get(row.key)
    keep = original is not None and (row.code in ("other", "") or type_code(original) == row.code)
    node = copy.deepcopy(original if keep and original is not None else _NEW_NODES.get(row.code, {"type": "string"}))
    if row.description:
        node["description"] = row.description
    else:
        node.pop("description", None)
    return node


def _set_properties(schema: Json, properties: Json) -> None:
    schema["type"] = "object"
    schema["properties"] = properties
    schema["required"] = list(properties)
    schema["additionalProperties"] = False
