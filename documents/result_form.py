"""A result as a form that follows its schema: groups, tables and fields, each with what is known about its value."""

import json
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from documents.errors import FieldInvalid
from documents.models import Extraction, ExtractionEdit

Shape = Literal["field", "group", "table", "list"]
Control = Literal["text", "long", "number", "choice"]
_LONG = 60


@dataclass(frozen=True, slots=True)
class Node:
    """One part of the form. A field has a value; a group has parts; a table has columns and rows of parts."""

    shape: Shape
    path: str
    name: str
    description: str = ""
    control: Control = "text"
    value: str = ""
    choices: tuple[tuple[str, str], ...] = ()
    state: str = ""
    note: str = ""
    highlight: str = ""
    error: str = ""
    is_cell: bool = False
    columns: tuple[str, ...] = ()
    parts: tuple["Node", ...] = ()
    rows: tuple[tuple["Node", ...], ...] = ()

    @property
    def element_id(self) -> str:
        return "f-" + "".join(char if char.isalnum() else "-" for char in self.path) + f"-{_short(self.path)}"

    @property
    def add_label(self) -> str:
        return f"Add a row to {self.name}"


def _short(path: str) -> str:
    """Two paths that look the same as an element's id still differ."""
    return uuid.uuid5(uuid.NAMESPACE_OID, path).hex[:6]


@dataclass(frozen=True, slots=True)
class _Facts:
    """What is known of values, by path."""

    grounding: Mapping[str, Mapping[str, Any]]
    errors: Mapping[str, str]
    edits: Mapping[str, ExtractionEdit] = field(default_factory=dict)


def build_form(result: Extraction, schema: Mapping[str, Any], edits: list[ExtractionEdit]) -> tuple[Node, ...]:
    """The form of a result. `schema` is the inner JSON schema ({} for a prompt without one); `edits` newest first."""
    latest: dict[str, ExtractionEdit] = {}
    for edit in edits:
        latest.setdefault(edit.path, edit)
    errors = {str(problem.get("path", "")): str(problem.get("message", "")) for problem in result.validation_errors}
    facts = _Facts(result.grounding, errors, latest)
    return _parts(result.updated_llm_result, schema, "", facts)


def find_node(nodes: tuple[Node, ...], path: str) -> Node | None:
    """The field at a path, wherever it is nested."""
    for node in nodes:
        if node.path == path:
            return node
        inner = find_node(node.parts, path)
        for row in node.rows:
            inner = inner or find_node(row, path)
        if inner is not None:
            return inner
    return None


def _parts(data: Any, schema: Mapping[str, Any], path: str, facts: _Facts) -> tuple[Node, ...]:
    known = _properties(schema)
    values = data if isinstance(data, dict) else {}
    names = [*known, *(name for name in values if name not in known)]
    return tuple(
        _node(values.get(name), known.get(name, {}), f"{path}.{name}" if path else name, name, facts) for name in names
    )


def _node(value: Any, schema: Mapping[str, Any], path: str, name: str, facts: _Facts) -> Node:
    description = str(schema.get("description") or "")
    if isinstance(value, dict) or (value is None and _properties(schema)):
        return Node("group", path, name, description, parts=_parts(value, schema, path, facts))
    if isinstance(value, list):
        return _many(value, schema, path, name, facts)
    return _leaf(value, schema, path, name, facts)


def _many(values: list[Any], schema: Mapping[str, Any], path: str, name: str, facts: _Facts) -> Node:
    items = _mapping(schema.get("items"))
    description = str(schema.get("description") or "")
    note = _note(facts, path)
    flat = all(isinstance(row, dict) and not any(isinstance(v, dict | list) for v in row.values()) for row in values)
    if flat and (values or _properties(items)):
        columns = tuple(dict.fromkeys([*_properties(items), *(key for row in values for key in row)]))
        rows = tuple(
            tuple(
                _leaf(row.get(key), _properties(items).get(key, {}), f"{path}.{at}.{key}", key, facts, is_cell=True)
                for key in columns
            )
            for at, row in enumerate(values)
        )
        return Node("table", path, name, description, columns=columns, rows=rows, note=note)
    parts = tuple(_node(row, items, f"{path}.{at}", str(at + 1), facts) for at, row in enumerate(values))
    return Node("list", path, name, description, parts=parts, note=note)


def _leaf(value: Any, schema: Mapping[str, Any], path: str, name: str, facts: _Facts, *, is_cell: bool = False) -> Node:
    place = _mapping(facts.grounding.get(path))
    state = "edited" if path in facts.edits else str(place.get("state", ""))
    boxes = [{"page": place.get("page"), "box": box} for box in place.get("boxes", ())]
    text = show_value(value)
    return Node(
        "field",
        path,
        name,
        str(schema.get("description") or ""),
        control=_control(value, schema, text),
        value=text,
        choices=_choices(value, schema),
        state=state,
        note=_note(facts, path),
        highlight=json.dumps({"boxes": boxes, "label": name}) if boxes else "",
        error=facts.errors.get(path, ""),
        is_cell=is_cell,
    )


def _note(facts: _Facts, path: str) -> str:
    place = _mapping(facts.grounding.get(path))
    where = f"page {place['page']}" if place.get("page") else ""
    if where and place.get("source") == "form":
        where += ", form field"
    edit = facts.edits.get(path)
    if edit is not None:
        return f"edited by {edit.actor_name}" + (f" · {where}" if where else "")
    state = place.get("state")
    if state == "ambiguous":
        return f"{where}, several places"
    return {"found": where, "not_found": "not found on the page", "absent": "not in the document"}.get(str(state), "")


def _control(value: Any, schema: Mapping[str, Any], text: str) -> Control:
    if _choices(value, schema):
        return "choice"
    if _types(schema) & {"number", "integer"} or (not schema and _is_number(value)):
        return "number"
    return "long" if len(text) > _LONG or "\n" in text else "text"


def _choices(value: Any, schema: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    allowed = schema.get("enum")
    if isinstance(allowed, list) and all(isinstance(one, str) for one in allowed):
        shown = allowed if value in allowed else [value if isinstance(value, str) else "", *allowed]
        return tuple((one, one or "–") for one in dict.fromkeys(shown))
    if "boolean" in _types(schema) or isinstance(value, bool):
        unknown = (("", "–"),) if value is None else ()
        return (*unknown, ("true", "yes"), ("false", "no"))
    return ()


def show_value(value: Any) -> str:
    """A value as it stands in its field."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def read_value(text: str, *, schema: Mapping[str, Any], previous: Any) -> Any:
    """What a person typed, as the type that the schema wants (or that the value had).

    Raises: FieldInvalid.
    """
    types = _types(schema)
    text = text.replace("\r\n", "\n").strip()
    if not text and "null" in types:
        return None
    if types & {"number", "integer"} or (not types and _is_number(previous)):
        return _number(text, whole="integer" in types and "number" not in types)
    if "boolean" in types or (not types and isinstance(previous, bool)):
        if text not in ("true", "false"):
            raise FieldInvalid("This field is yes or no.")
        return text == "true"
    return text


def _number(text: str, *, whole: bool) -> int | float:
    plain = text.replace("\u00a0", "").replace(" ", "").replace("'", "")
    try:
        number = float(plain or "0")
    except ValueError as problem:
        raise FieldInvalid("This field is a number, such as 1250.50.") from problem
    if number != number or number in (float("inf"), float("-inf")):
        raise FieldInvalid("This field is a number, such as 1250.50.")
    if whole and not number.is_integer():
        raise FieldInvalid("This field is a whole number.")
    return int(number) if number.is_integer() else number


def schema_at(schema: Mapping[str, Any], path: str) -> Mapping[str, Any]:
    """The part of a JSON schema that describes a path; {} when it describes nothing."""
    for part in path.split("."):
        known = _properties(schema)
        schema = known[part] if part in known else _mapping(schema.get("items")) if part.isdecimal() else {}
    return schema


def value_at(data: Any, path: str) -> Any:
    """The value at a path, None when there is none."""
    for part in path.split("."):
        if isinstance(data, list) and part.isdecimal() and len(part) < 10 and int(part) < len(data):
            data = data[int(part)]
        elif isinstance(data, dict):
            data = data.get(part)
        else:
            return None
    return data


def empty_value(schema: Mapping[str, Any]) -> Any:
    """What stands in a field of a new row: the schema's empty value."""
    properties, types = _properties(schema), _types(schema)
    if properties:
        return {name: empty_value(inner) for name, inner in properties.items()}
    if types & {"number", "integer"}:
        return 0
    if "boolean" in types:
        return False
    return [] if "array" in types else ""


def _types(schema: Mapping[str, Any]) -> set[str]:
    kind = schema.get("type")
    return {kind} if isinstance(kind, str) else set(kind) if isinstance(kind, list) else set()


def _properties(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    return {name: _mapping(inner) for name, inner in _mapping(schema.get("properties")).items()}


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
