"""JSON schemas as they come: references, alternatives, type lists, empty values. Never raises on a schema."""

from collections.abc import Mapping
from typing import Any

MAX_DEPTH = 24
TYPES = ("object", "array", "string", "number", "integer", "boolean", "null")
Node = Mapping[str, Any]


def inner_schema(response_format: Any) -> Node:
    """The schema inside a response_format, or the schema itself when it stands alone."""
    node = response_format
    for key in ("json_schema", "schema"):
        if isinstance(node, Mapping) and isinstance(node.get(key), Mapping):
            node = node[key]
    return node if isinstance(node, Mapping) else {}


def resolve(node: Any, root: Node) -> Node:
    """`node` with its reference followed and the first usable alternative taken."""
    for _ in range(16):
        if not isinstance(node, Mapping):
            return {}
        if isinstance(node.get("$ref"), str):
            node = _target(node["$ref"], root)
        elif not _has_type(node) and (choice := _choice(node, root)) is not None:
            node = {**{key: value for key, value in node.items() if key in {"description", "title"}}, **choice}
        else:
            return node
    return {}


def _has_type(node: Node) -> bool:
    return bool(set(node) & {"type", "properties", "items", "enum", "const"})


def _choice(node: Node, root: Node) -> dict[str, Any] | None:
    all_of = node.get("allOf")
    if isinstance(all_of, list):
        merged: dict[str, Any] = {}
        for part in all_of:
            found = (
                _target(part["$ref"], root) if isinstance(part, Mapping) and isinstance(part.get("$ref"), str) else part
            )
            if isinstance(found, Mapping):
                both = {**_mapping(merged.get("properties")), **_mapping(found.get("properties"))}
                merged.update(found)
                if both:
                    merged["properties"] = both
        return merged or None
    for key in ("anyOf", "oneOf"):
        options = node.get(key)
        if isinstance(options, list):
            usable = [option for option in options if isinstance(option, Mapping) and option.get("type") != "null"]
            if usable:
                return dict(usable[0])
    return None


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _target(reference: str, root: Node) -> Any:
    node: Any = root
    if not reference.startswith("#"):
        return {}
    for part in reference[1:].strip("/").split("/"):
        if part:
            node = _mapping(node).get(part.replace("~1", "/").replace("~0", "~"), {})
    return node


def type_of(node: Node) -> str:
    """The one type that we fill: the first of a list that is not null, or what the keywords say; string at last."""
    given = node.get("type")
    names = given if isinstance(given, list) else [given]
    usable = [name for name in names if name in TYPES]
    preferred = [name for name in usable if name != "null"] or usable
    if preferred:
        return str(preferred[0])
    if isinstance(node.get("properties"), Mapping):
        return "object"
    if "items" in node:
        return "array"
    options = node.get("enum", [node["const"]] if "const" in node else None)
    return _type_of_values(options) if isinstance(options, list) else "string"


def _type_of_values(values: list[Any]) -> str:
    if values and all(isinstance(value, bool) for value in values):
        return "boolean"
    if values and all(isinstance(value, int) for value in values):
        return "integer"
    if values and all(isinstance(value, (int, float)) for value in values):
        return "number"
    return "string"


def properties_of(node: Node) -> dict[str, Any]:
    """The properties of an object node, names as text."""
    return {str(name): child for name, child in _mapping(node.get("properties")).items()}


def items_of(node: Node) -> Any:
    """The schema of an array's items (the first one of a tuple)."""
    items = node.get("items", {})
    if isinstance(items, list):
        return items[0] if items else {}
    return items


def empty_value(node: Any, root: Node, depth: int = 0) -> Any:
    """What stands for "not in the document": "", 0, false, [], an object of these; null only where nothing else may."""
    node = resolve(node, root)
    kind = type_of(node)
    if kind == "object":
        if depth >= MAX_DEPTH:
            return {}
        return {name: empty_value(child, root, depth + 1) for name, child in properties_of(node).items()}
    options = node.get("enum")
    if isinstance(options, list) and None in options and "" not in options:
        return None
    return {"array": [], "number": 0, "integer": 0, "boolean": False, "null": None}.get(kind, "")
