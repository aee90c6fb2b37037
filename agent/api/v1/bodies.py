"""A question as the wire has it: ours in camelCase, and what OpenAI's clients send."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import Field

from agent.answers.asked import Asked
from agent.errors import InputInvalid, NotSupported
from core.api.bodies import Body
from core.api.v1 import V1Body
from llm.types import ChatMessage
from schemas_app.validation import check_response_format

MAX_CHARS = 100_000
MAX_ITEMS = 200
_TEXT_PARTS = ("input_text", "output_text", "text")
Json = dict[str, Any]


class PartBody(Body):
    """A part of a message; only text can be asked here."""

    type: str = "input_text"
    text: str = ""


class ItemBody(Body):
    """One message of a conversation. Roles system and developer come from the program that asks: they are told to the
    model as what was said before, never with the weight of our own instructions."""

    type: str = "message"
    role: Literal["user", "assistant", "system", "developer"]
    content: str | Annotated[list[PartBody], Field(max_length=MAX_ITEMS)]


class TextBody(Body):
    """OpenAI's place for the form of an answer."""

    format: dict[str, Any] | None = None


class ResponseBody(V1Body):
    """`input`: a question, or a conversation whose last message of the user is the question.

    `responseFormat` asks for JSON of a schema; OpenAI's `text.format` says the same. `runId` pins the text: the answer
    comes from the version of the document that this run worked on. Names in snake_case are OpenAI's.
    """

    input: str | Annotated[list[ItemBody], Field(max_length=MAX_ITEMS)]
    model: Annotated[str | None, Field(max_length=200)] = None
    response_format: dict[str, Any] | None = None
    run_id: str | None = None
    stream: bool = False
    instructions: Annotated[str | None, Field(max_length=MAX_CHARS)] = None
    text: TextBody | None = None
    metadata: Annotated[dict[str, str] | None, Field(max_length=16)] = None
    max_output_tokens: Annotated[int | None, Field(alias="max_output_tokens", ge=1, le=2**31 - 1)] = None
    previous_response_id: Annotated[str | None, Field(alias="previous_response_id")] = None
    conversation: Any = None
    background: bool | None = None
    tools: list[Any] | None = None


class ResponseQuery(V1Body):
    """What OpenAI's client may ask for; what was kept is shown whole."""

    stream: bool = False


class ShareQuery(V1Body):
    """The token of a link, or the ticket of a view, where they cannot be sent as headers."""

    token: str = ""
    ticket: str = ""


def asked_of(body: ResponseBody) -> Asked:
    """The question. Raises: InputInvalid, NotSupported, SchemaInvalid."""
    _refuse_what_we_cannot(body)
    items = [("user", body.input)] if isinstance(body.input, str) else [_said(item) for item in body.input]
    if sum(len(text) for _, text in items) > MAX_CHARS:
        raise InputInvalid(f"A question and what comes before it have at most {MAX_CHARS:,} characters.")
    position = next((at for at in range(len(items) - 1, -1, -1) if items[at][0] == "user" and items[at][1].strip()), -1)
    if position < 0:
        raise InputInvalid("There is no question: a message of the user with text.")
    return Asked(
        text=items[position][1].strip(),
        before=_before(body.instructions, items[:position]),
        model=(body.model or "").strip(),
        response_format=_format(body),
        run_id=body.run_id,
        max_tokens=body.max_output_tokens,
    )


def _refuse_what_we_cannot(body: ResponseBody) -> None:
    """Better no answer than one to another question."""
    refused = {
        "tools": body.tools,
        "previous_response_id": body.previous_response_id,
        "conversation": body.conversation,
        "background": body.background,
    }
    if name := next((name for name, value in refused.items() if value), None):
        raise NotSupported(
            f"{name} is not possible here. Send the conversation as input.", fields={name: "leave it out"}
        )


def _said(item: ItemBody) -> tuple[str, str]:
    if item.type != "message":
        raise InputInvalid("Only messages can be sent as input.")
    if isinstance(item.content, str):
        return item.role, item.content
    if any(part.type not in _TEXT_PARTS for part in item.content):
        raise InputInvalid("Only text can be sent as input: the document is known here.")
    return item.role, "\n".join(part.text for part in item.content)


def _before(instructions: str | None, items: Sequence[tuple[str, str]]) -> tuple[ChatMessage, ...]:
    said = [("user", instructions)] if instructions else []
    said += [(role if role == "assistant" else "user", text) for role, text in items]
    return tuple({"role": role, "content": text} for role, text in said if text.strip())


def _format(body: ResponseBody) -> Json | None:
    """The response format in our shape: {"type": "json_schema", "json_schema": {name, schema, strict}}."""
    given = body.response_format or (body.text.format if body.text else None)
    if not given or given.get("type") == "text":
        return None
    if given.get("type") == "json_schema" and "json_schema" not in given:
        given = {"type": "json_schema", "json_schema": {key: value for key, value in given.items() if key != "type"}}
    inner = given.get("json_schema")
    if isinstance(inner, dict) and "name" not in inner:
        given = {**given, "json_schema": {"name": "answer", **inner}}
    return check_response_format(given)
