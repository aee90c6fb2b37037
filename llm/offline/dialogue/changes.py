"""Changes to a schema: add, remove, rename, retype; with a sentence for each, done or not."""

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from llm.offline.dialogue.changewords import Change
from llm.offline.dialogue.fieldnames import Path, concept_for, find_field
from llm.offline.extract.schema import properties_of
from llm.offline.matching.lexicon import concepts
from llm.offline.propose.naming import free_name, snake
from llm.offline.propose.nodes import Schema, concept_node, field_node


@dataclass(frozen=True, slots=True)
class Changed:
    """The changed response_format, what was done, what could not be done."""

    response_format: dict[str, Any]
    done: tuple[str, ...]
    failed: tuple[str, ...]


def apply_changes(response_format: dict[str, Any], changes: Sequence[Change]) -> Changed:
    """A changed copy; the original stays."""
    changed = copy.deepcopy(response_format)
    schema = inner(changed)
    done: list[str] = []
    failed: list[str] = []
    for change in changes:
        ok, sentence = _ACTS[change.act](schema, change)
        (done if ok else failed).append(sentence)
    return Changed(changed, tuple(done), tuple(failed))


def inner(response_format: dict[str, Any]) -> dict[str, Any]:
    """The schema inside, for changing it in place; an empty object schema when there is none."""
    held = response_format.setdefault("json_schema", {})
    schema = held.setdefault("schema", {}) if isinstance(held, dict) else {}
    if isinstance(schema, dict) and not isinstance(schema.get("properties"), dict):
        schema.update({"type": "object", "properties": {}, "required": [], "additionalProperties": False})
    return schema if isinstance(schema, dict) else {}


def _parent(schema: dict[str, Any], path: Path) -> dict[str, Any]:
    node = schema
    for name in path[:-1]:
        node = node["items"] if name == "[]" else node["properties"][name]
    return node


def _add(schema: dict[str, Any], change: Change) -> tuple[bool, str]:
    name = _name_for(change.name)
    if not name:
        return False, f"I found no usable name in “{change.name}”."
    parent = _rows(schema) if change.column else schema
    if parent is None:
        return False, "The schema has no table to add a column to."
    if name in properties_of(parent):
        return False, f"There is already a field {name}."
    parent["properties"][name] = _new_node(change)
    parent["required"] = list(parent["properties"])
    return True, f"added {name}"


def _name_for(said: str) -> str:
    return snake(said)


def _new_node(change: Change) -> Schema:
    concept = concept_for(change.name, columns=change.column) or concept_for(change.name)
    node = concept_node(concepts()[concept]) if concept else field_node("string", _sentence(change.name))
    if not concept and any(word in change.name.lower() for word in ("date", "datum")):
        node = field_node("string", f"{_sentence(change.name)} (ISO 8601)")
    return _typed(node, change.to) if change.to else node


def _sentence(said: str) -> str:
    plain = said.replace("_", " ").strip()
    return plain[:1].upper() + plain[1:]


def _typed(node: Schema, kind: str) -> Schema:
    about = str(node.get("description") or "").replace(" (ISO 8601)", "")
    if kind == "date":
        return field_node("string", f"{about} (ISO 8601)".strip())
    return field_node(kind, about)


def _rows(schema: dict[str, Any]) -> dict[str, Any] | None:
    for node in properties_of(schema).values():
        if isinstance(node, dict) and node.get("type") == "array" and isinstance(node.get("items"), dict):
            items = node["items"]
            if isinstance(items.get("properties"), dict):
                return dict_view(items)
    return None


def dict_view(node: Any) -> dict[str, Any]:
    """`node` itself, known to be a dict."""
    return node if isinstance(node, dict) else {}


def _remove(schema: dict[str, Any], change: Change) -> tuple[bool, str]:
    path = find_field(change.name, schema)
    if path is None:
        return False, f"I see no field “{change.name}”."
    parent = _parent(schema, path)
    if len(parent["properties"]) == 1:
        return False, f"{path[-1]} is the only field left there, so I kept it."
    del parent["properties"][path[-1]]
    parent["required"] = list(parent["properties"])
    return True, f"removed {path[-1]}"


def _rename(schema: dict[str, Any], change: Change) -> tuple[bool, str]:
    path = find_field(change.name, schema)
    new = snake(change.to)
    if path is None or not new:
        return False, f"I see no field “{change.name}”."
    parent = _parent(schema, path)
    if new in parent["properties"]:
        return False, f"There is already a field {new}."
    parent["properties"] = {(new if name == path[-1] else name): node for name, node in parent["properties"].items()}
    parent["required"] = list(parent["properties"])
    return True, f"renamed {path[-1]} to {free_name(new, ())}"


def _retype(schema: dict[str, Any], change: Change) -> tuple[bool, str]:
    path = find_field(change.name, schema)
    if path is None:
        return False, f"I see no field “{change.name}”."
    parent = _parent(schema, path)
    node = dict_view(parent["properties"][path[-1]])
    if node.get("type") in {"object", "array"}:
        return False, f"{path[-1]} has fields of its own, so I left its type."
    parent["properties"][path[-1]] = _typed(node, change.to)
    return True, f"made {path[-1]} {_article(change.to)}"


def _article(kind: str) -> str:
    names = {"integer": "an integer", "boolean": "a yes/no field", "string": "text", "date": "a date"}
    return names.get(kind, f"a {kind}")


def _require(schema: dict[str, Any], change: Change) -> tuple[bool, str]:
    path = find_field(change.name, schema)
    if path is None:
        return False, f"I see no field “{change.name}”."
    return (
        False,
        f"Every field of a schema here is required already; {path[-1]} stays empty when the document lacks it.",
    )


_ACTS = {"add": _add, "remove": _remove, "rename": _rename, "retype": _retype, "require": _require}
