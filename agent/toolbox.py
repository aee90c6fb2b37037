"""The toolbox: a typed function becomes a tool with a name, a JSON schema, a read/write class and a summary.

The one registry is `toolbox` in this module. The modules of `agent.tools` fill it:

    from agent.toolbox import ToolContext, toolbox

    @toolbox.tool(writes=True, summary=lambda arguments: f"Create tag *{arguments['name']}*")
    def create_tag(ctx: ToolContext, name: Annotated[str, Field(min_length=1)], color: str = GREY) -> dict[str, Any]:
        \"\"\"Create a tag in this organization.\"\"\"

The docstring is what the model reads. Tools may be `def` (run in a thread, may use the database) or `async def`
(run on the loop, must not block; they are cancelled when a person presses Stop). The context is the first
parameter and not in the schema. A DomainError becomes an error result; anything else is a bug and ends the turn.
"""

import hashlib
import inspect
import json
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, MutableMapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any, NoReturn, TypeVar, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from agent.messages import clean_json, clean_text, to_json
from core.errors import DomainError, Invalid
from organizations.actor import Actor

Json = dict[str, Any]
Summary = str | Callable[[Json], str]
Sees = Callable[["ToolContext", Json], Json]
"""Reads the versions of what a write would change, by a key that the tool finds again."""
Border = Callable[[Callable[[], Json]], Awaitable[Json]]
"""Runs a synchronous tool somewhere it may block: the runner gives a thread, tests call it."""

F = TypeVar("F", bound=Callable[..., Any])
MAX_ARGUMENT_CHARS = 400_000


@dataclass(slots=True, kw_only=True)
class ToolContext:
    """Who calls, where, and what the thread works on.

    `working_state` has the keys `schema_revid` and `prompt_revid` (hex or None); tools set them as they go.
    `undo` is what `record_undo` left, kept beside the call so that a person can take the write back.
    `seen` is what the tool's `sees` found when the call was proposed: what moved since is not overwritten.
    `is_remote`: what tools answer goes to a model outside this server.
    """

    actor: Actor
    document_id: str
    thread_id: str | None
    turn_id: str
    working_state: MutableMapping[str, Any]
    now: datetime
    headless: bool = False
    is_remote: bool = False
    undo: Json | None = field(default=None)
    seen: Mapping[str, Any] = field(default_factory=dict)

    def record_undo(self, kind: str, **data: Any) -> None:
        """Say how this write is taken back: a kind of `agent.tools.undo` and what it needs (JSON values)."""
        self.undo = {"kind": kind, **data}


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """One registered tool. `more` tells a model how to get the rest of a result that was cut."""

    name: str
    description: str
    parameters: Json
    writes: bool
    is_async: bool
    more: str
    summary: Summary
    function: Callable[..., Any]
    arguments_model: type[BaseModel]
    sees: Sees | None = None

    def check(self, arguments: Json) -> None:
        """Raises: ArgumentsRefused."""
        self._validated(arguments)

    def values(self, arguments: Json) -> Json:
        """The arguments as the function takes them. Raises: ArgumentsRefused."""
        model = self._validated(arguments)
        fields = type(model).model_fields
        return {str(fields[name].alias): getattr(model, name) for name in model.model_fields_set}

    def describe(self, arguments: Json) -> str:
        """A sentence for a person about what this call would do. A summary that stumbles falls back to the name."""
        fallback = self.name.replace("_", " ").capitalize()
        try:
            text = self.summary(arguments) if callable(self.summary) else self.summary.format(**arguments)
        except (KeyError, IndexError, ValueError, TypeError, AttributeError):
            return fallback
        return " ".join(text.split())[:500] or fallback

    def look(self, context: ToolContext, arguments: Json) -> Json:
        """The versions that this call would change. What is not there now is not expected to be there later."""
        if self.sees is None:
            return {}
        try:
            return self.sees(context, arguments)
        except DomainError:
            return {}

    def _validated(self, arguments: Json) -> BaseModel:
        try:
            return self.arguments_model.model_validate_json(json.dumps(arguments), strict=True)
        except ValidationError as problem:
            raise ArgumentsRefused(_explain(problem)) from problem


class ArgumentsRefused(Invalid):
    """The arguments of a call cannot succeed; the text says why, for a model and for a person."""

    code = "invalid_arguments"


class UnknownTool(ArgumentsRefused):
    """The model asked for a tool that it was not offered."""

    code = "unknown_tool"


class Toolbox:
    """Tools by name, in the order in which they were registered."""

    def __init__(self) -> None:
        self._tools: dict[str, Tool] = {}

    def tool(
        self, *, writes: bool, summary: Summary = "", more: str = "", sees: Sees | None = None
    ) -> Callable[[F], F]:
        """Register the function under its own name. Raises: TypeError at import when it is not a proper tool."""

        def register(function: F) -> F:
            name = function.__name__
            description = inspect.getdoc(function)
            if not description or name in self._tools:
                raise TypeError(f"Tool {name} needs a docstring and a name of its own.")
            model = _arguments_model(function)
            self._tools[name] = Tool(
                name=name,
                description=description,
                parameters=_parameters(model),
                writes=writes,
                is_async=inspect.iscoroutinefunction(function),
                more=more,
                summary=summary,
                function=function,
                arguments_model=model,
                sees=sees,
            )
            return function

        return register

    def __contains__(self, name: object) -> bool:
        return name in self._tools

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())

    def get(self, name: str) -> Tool:
        """Raises: UnknownTool."""
        if name not in self._tools:
            raise UnknownTool(f"Unknown tool: {clean_text(name)[:100]}")
        return self._tools[name]

    @property
    def read_names(self) -> tuple[str, ...]:
        return tuple(tool.name for tool in self._tools.values() if not tool.writes)

    @property
    def write_names(self) -> tuple[str, ...]:
        return tuple(tool.name for tool in self._tools.values() if tool.writes)

    def only(self, names: Iterable[str]) -> "Toolbox":
        """A smaller toolbox, for turns that may do less."""
        smaller = Toolbox()
        wanted = set(names)
        smaller._tools = {name: tool for name, tool in self._tools.items() if name in wanted}
        return smaller

    def definitions(self) -> list[Json]:
        """What a model is offered, in OpenAI's shape."""
        return [
            {
                "type": "function",
                "function": {"name": tool.name, "description": tool.description, "parameters": tool.parameters},
            }
            for tool in self._tools.values()
        ]

    def hints(self) -> dict[str, str]:
        """How to get the rest of a cut result, by tool name."""
        return {tool.name: tool.more for tool in self._tools.values() if tool.more}

    def read_arguments(self, name: str, text: str) -> Json:
        """The model's JSON text as checked arguments.

        Raises: ArgumentsRefused (UnknownTool among them).
        """
        tool = self.get(name)
        arguments = parse_arguments(text)
        tool.check(arguments)
        return arguments

    async def run(self, name: str, arguments: Json, context: ToolContext, *, border: Border) -> Json:
        """Run one call; the result is a JSON object. The arguments are checked again: they may have been stored.

        A rule of the product that says no becomes an error result that a model can act on.
        """
        try:
            tool = self.get(name)
            values = tool.values(arguments)
            if tool.is_async:
                result = await tool.function(context, **values)
            else:
                result = await border(lambda: tool.function(context, **values))
        except DomainError as problem:
            return refusal(problem)
        cleaned: Json = clean_json(result)
        to_json(cleaned)  # a result that is not JSON is a bug of the tool, found here and not in the store
        return cleaned


toolbox = Toolbox()


def error_result(error: str, code: str, *, fields: dict[str, str] | None = None) -> Json:
    """What a model gets when a call did not do its work."""
    return {"error": error, "code": code} | ({"fields": fields} if fields else {})


def refusal(problem: DomainError) -> Json:
    """The error result of a call to which a rule said no, with what the rule has to say about how things are now."""
    more: Json = clean_json(problem.extra)
    return more | error_result(problem.detail, problem.error_code, fields=problem.fields)


def canonical(arguments: Json) -> str:
    """One text for equal arguments, whatever the order of their keys."""
    return json.dumps(arguments, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def arguments_hash(name: str, arguments: Json) -> str:
    """SHA-256 that binds a decision to the tool and the arguments that were shown."""
    return hashlib.sha256(f"{name}\n{canonical(arguments)}".encode()).hexdigest()


def parse_arguments(text: str) -> Json:
    """A JSON object from a model's text; no text means no arguments.

    Raises: ArgumentsRefused.
    """
    if len(text) > MAX_ARGUMENT_CHARS:
        raise ArgumentsRefused(f"Invalid JSON arguments: more than {MAX_ARGUMENT_CHARS} characters")
    try:
        value = json.loads(text or "{}", parse_constant=_not_json)
        to_json(value)  # finds numbers that are too big for JSON readers
        clean = clean_json(value) == value
    except RecursionError:
        raise ArgumentsRefused("Invalid JSON arguments: nested too deeply") from None
    except ValueError as problem:
        raise ArgumentsRefused(f"Invalid JSON arguments: {problem}") from problem
    if not isinstance(value, dict):
        raise ArgumentsRefused("Invalid JSON arguments: an object is needed")
    if not clean:
        raise ArgumentsRefused("Invalid JSON arguments: text with NUL or broken characters")
    return value


def _not_json(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


def _arguments_model(function: Callable[..., Any]) -> type[BaseModel]:
    """The parameters after the context, as a pydantic model. Aliases carry the names, so that any name is allowed."""
    hints = get_type_hints(function, include_extras=True)
    fields: dict[str, Any] = {}
    for parameter in list(inspect.signature(function).parameters.values())[1:]:
        if parameter.name not in hints:
            raise TypeError(f"{function.__name__}({parameter.name}) has no type.")
        default = ... if parameter.default is parameter.empty else parameter.default
        fields[f"p{len(fields)}"] = (Annotated[hints[parameter.name], Field(alias=parameter.name)], default)
    return create_model(f"{function.__name__}_arguments", __config__=ConfigDict(extra="forbid"), **fields)


def _parameters(model: type[BaseModel]) -> Json:
    schema: Json = _tidy(model.model_json_schema(by_alias=True))
    schema.setdefault("properties", {})
    return schema


def _tidy(node: Any) -> Any:
    """Without the titles and null branches that pydantic adds: less to read for a model, accepted by more providers."""
    if isinstance(node, list):
        return [_tidy(item) for item in node]
    if not isinstance(node, dict):
        return node
    tidy = {key: _tidy(value) for key, value in node.items() if not (key == "title" and isinstance(value, str))}
    for key in ("properties", "$defs"):
        if isinstance(node.get(key), dict):
            tidy[key] = {name: _tidy(value) for name, value in node[key].items()}
    branches = [branch for branch in tidy.get("anyOf", []) if branch != {"type": "null"}]
    if len(branches) == 1:
        del tidy["anyOf"]
        tidy = {**branches[0], **tidy}
    if tidy.get("default", ...) is None:
        del tidy["default"]
    return tidy


def _explain(problem: ValidationError) -> str:
    parts = []
    for error in problem.errors(include_url=False, include_input=False)[:5]:
        place = ".".join(str(step) for step in error["loc"])
        parts.append(f"{place}: {error['msg']}" if place else error["msg"])
    return "Invalid arguments: " + "; ".join(parts)
