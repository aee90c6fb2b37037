"""Editing a proposed call before it runs: its arguments as a form, and the form as arguments again.

Schemas are edited as a table of fields or as JSON; everything else gets an input for each argument that a person can
read. Ids and what the form cannot show stay as the model proposed them.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from django.http import QueryDict

from agent.call_lines import plain_name
from agent.schema_table import TYPES, EditedField, Field, all_fields_of, apply_edits
from agent.toolbox import ArgumentsRefused, Toolbox, toolbox
from core.errors import Invalid
from schemas_app.problems import size_problem
from schemas_app.validation import all_problems, parse_json

Json = dict[str, Any]
Kind = Literal["text", "long", "number", "check", "choice", "json"]
LONG_TEXT = 80


@dataclass(frozen=True, slots=True)
class Input:
    """One argument as an input. `value` is what stands in it."""

    name: str
    label: str
    kind: Kind
    value: str
    options: tuple[str, ...] = ()

    @property
    def rows(self) -> int:
        return min(max(self.value.count("\n") + 2, len(self.value) // 60 + 1, 3), 16)


@dataclass(frozen=True, slots=True)
class EditForm:
    """The form of one call. `arguments` is what it means; `problems` says what has to be mended first."""

    arguments: Json
    inputs: list[Input]
    fields: list[Field] | None = None
    schema_json: str = ""
    problems: list[str] = field(default_factory=list)

    @property
    def types(self) -> tuple[tuple[str, str], ...]:
        return TYPES


def edit_form(name: str, arguments: Json, *, problems: list[str] | None = None) -> EditForm:
    """The form for these arguments."""
    response_format = arguments.get("response_format")
    is_schema = isinstance(response_format, dict)
    return EditForm(
        arguments=arguments,
        inputs=[_input(key, spec, arguments[key]) for key, spec in _shown(name, arguments)],
        fields=all_fields_of(response_format) if is_schema else None,
        schema_json=pretty(response_format) if is_schema else "",
        problems=problems or [],
    )


def read_form(name: str, arguments: Json, data: QueryDict, *, box: Toolbox = toolbox) -> EditForm:
    """What a person made of the arguments; `problems` is empty when it may run."""
    edited, problems = dict(arguments), []
    for key, spec in _shown(name, arguments):
        try:
            edited[key] = _value(data, key, spec, arguments[key])
        except Invalid as problem:
            problems.append(f"{plain_name(key)}: {problem.detail}")
    if isinstance(arguments.get("response_format"), dict):
        try:
            edited["response_format"] = _response_format(arguments["response_format"], data)
            problems += [str(problem) for problem in all_problems(edited["response_format"])]
        except Invalid as problem:
            problems.append(problem.detail)
    if not problems:
        try:
            box.read_arguments(name, json.dumps(edited))
        except ArgumentsRefused as problem:
            problems.append(str(problem))
    return edit_form(name, edited, problems=problems)


def pretty(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


def _shown(name: str, arguments: Json) -> list[tuple[str, Json]]:
    """Arguments that a person can read: no ids, no lists of ids, not the schema (it has its own table)."""
    specs: Mapping[str, Json] = toolbox.get(name).parameters.get("properties", {}) if name in toolbox else {}
    hidden = ("response_format", "schema_version")
    return [
        (key, specs.get(key, {}))
        for key in arguments
        if key not in hidden and not key.endswith(("_id", "_ids", "_revid"))
    ]


def _input(key: str, spec: Json, value: object) -> Input:
    kind = _kind(key, spec, value)
    text = value if isinstance(value, str) else "" if value is None else pretty(value)
    options = tuple(str(option) for option in spec.get("enum", ()))
    return Input(key, plain_name(key), kind, text, options)


def _kind(key: str, spec: Json, value: object) -> Kind:
    if "enum" in spec:
        return "choice"
    if isinstance(value, bool):
        return "check"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, str):
        return "long" if key == "content" or len(value) > LONG_TEXT or "\n" in value else "text"
    return "json"


def _value(data: QueryDict, key: str, spec: Json, was: object) -> Any:
    text = data.get(f"arg-{key}", "")
    match _kind(key, spec, was):
        case "check":
            return bool(text)
        case "number" | "json":
            return _read_json(text)
        case _:
            return text.replace("\r\n", "\n")


def _response_format(was: Json, data: QueryDict) -> Json:
    """The JSON view counts when it was changed, else the table."""
    written = data.get("schema-json", "").replace("\r\n", "\n").strip()
    if written and written != pretty(was):
        parsed = _read_json(written)
        if not isinstance(parsed, dict):
            raise Invalid("The schema is a JSON object.")
        return parsed
    return apply_edits(was, _rows(data)) if "field-name" in data else was


def _read_json(text: str) -> Any:
    """What was typed as JSON, small and clean enough to be shown again. Raises: Invalid."""
    value = parse_json(text)
    problem = size_problem(value)
    if problem is not None:
        raise Invalid(f"This JSON cannot be used: {problem.message}.")
    return value


def _rows(data: QueryDict) -> list[EditedField]:
    columns = [data.getlist(f"field-{name}") for name in ("key", "parent", "name", "type", "description")]
    if len({len(column) for column in columns}) != 1:
        raise Invalid("The table of fields came incomplete. Try again.")
    return [EditedField(*(value.strip() for value in row)) for row in zip(*columns, strict=True)]
