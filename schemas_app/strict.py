"""The strict rules: what a provider's structured output needs, and what the agent and the editor insist on."""

from collections.abc import Iterator
from typing import Any

from schemas_app.problems import Problem, join
from schemas_app.references import resolve

FIELD_TYPES = ("string", "integer", "number", "boolean", "array", "object")
WARNED = (
    "enum", "const", "pattern", "format", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf",
    "minLength", "maxLength", "minItems", "maxItems", "uniqueItems",
)  # fmt: skip


def strict_problems(inner: dict[str, Any], *, strict: object) -> Iterator[Problem]:
    """Where the schema inside `json_schema` breaks a strict rule; it is valid Draft 7 already."""
    if strict is not True:
        yield Problem("json_schema.strict", "set it to true")
    if inner.get("type") != "object":
        yield Problem("type", 'the schema itself must be an object: set "type" to "object"')
        return
    if inner.get("properties") == {}:
        yield Problem("properties", "add at least one field")
    yield from _object(inner, "", inner, ())


def strict_warnings(inner: dict[str, Any]) -> Iterator[Problem]:
    """Keywords that are allowed and that not every provider enforces."""
    waiting: list[tuple[Any, str]] = [(inner, "")]
    while waiting:
        node, path = waiting.pop()
        if not isinstance(node, dict):
            continue
        for keyword in WARNED:
            if keyword in node:
                yield Problem(join(path, keyword), "not every model keeps to it; say it in the description too")
        for name, field in _properties(node).items():
            waiting.append((field, join(path, "properties", name)))
        waiting.append((node.get("items"), join(path, "items")))


def _field(node: Any, path: str, root: dict[str, Any], through: tuple[str, ...]) -> Iterator[Problem]:
    if not isinstance(node, dict):
        yield Problem(path, "describe it with an object that has a type")
        return
    pointer = node.get("$ref")
    if isinstance(pointer, str):
        if pointer in through:
            yield Problem(path, "refers to itself; spell out the levels that you need")
        else:
            yield from _field(resolve(root, pointer), path, root, (*through, pointer))
        return
    kind = node.get("type")
    if kind not in FIELD_TYPES:
        yield Problem(join(path, "type"), f"use one of {', '.join(FIELD_TYPES)}")
    elif kind == "object":
        yield from _object(node, path, root, through)
    elif kind == "array":
        if "items" not in node:
            yield Problem(path, "add items: what one entry of the list looks like")
        elif isinstance(node["items"], list):
            yield Problem(join(path, "items"), "use one object for all entries, not a list")
        else:
            yield from _field(node["items"], join(path, "items"), root, through)


def _object(node: dict[str, Any], path: str, root: dict[str, Any], through: tuple[str, ...]) -> Iterator[Problem]:
    if "properties" not in node:
        yield Problem(join(path, "properties"), "add it: the fields of this object")
    fields = _properties(node)
    required = node.get("required")
    if required is None:
        yield Problem(join(path, "required"), "add it: a list of every field of this object")
    else:
        for name in fields:
            if name not in required:
                yield Problem(join(path, "properties", name), "add it to required")
        for name in required:
            if name not in fields:
                yield Problem(join(path, "required", name), "remove it from required, or add it to properties")
    if node.get("additionalProperties") is not False:
        yield Problem(join(path, "additionalProperties"), "set it to false")
    for name, field in fields.items():
        if not name.strip():
            yield Problem(join(path, "properties"), "give every field a name")
        yield from _field(field, join(path, "properties", name), root, through)


def _properties(node: dict[str, Any]) -> dict[str, Any]:
    fields = node.get("properties")
    return fields if isinstance(fields, dict) else {}
