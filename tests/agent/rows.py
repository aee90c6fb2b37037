"""Turns as rows, without a runner: what a page shows of them."""

import json
from datetime import timedelta
from typing import Any

from django.utils import timezone

from agent.models import Message, Thread, ToolCall, Turn
from agent.toolbox import arguments_hash, toolbox
from documents.models import Document
from organizations.actor import Actor

Json = dict[str, Any]


def schema_format(**properties: Json) -> Json:
    """A strict response format with these fields."""
    inner = {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
    return {"type": "json_schema", "json_schema": {"name": "document", "strict": True, "schema": inner}}


INVOICE = schema_format(
    number={"type": "string", "description": "Invoice number"},
    total={"type": "number", "description": "Total"},
)


def make_thread(actor: Actor, document: Document, **more: Any) -> Thread:
    return Thread.objects.create(
        organization_id=actor.organization_id, document=document, author_id=actor.user_id, **more
    )


def make_turn(
    thread: Thread, actor: Actor, *, question: str = "Set it up", status: str = "waiting", **more: Any
) -> Turn:
    turn = Turn.objects.create(
        organization_id=actor.organization_id,
        document_id=thread.document_id,
        thread=thread,
        author_id=thread.author_id,
        actor_name=actor.name,
        model="docrouter/offline",
        status=status,
        expires_at=timezone.now() + timedelta(days=7) if status == "waiting" else None,
        **more,
    )
    add_message(turn, "user", question)
    return turn


def add_message(turn: Turn, role: str, content: str, **more: Any) -> Message:
    position = turn.messages.count()
    return Message.objects.create(
        organization_id=turn.organization_id,
        turn=turn,
        position=position,
        role=role,
        content=content,
        round_index=max(position - 1, 0),
        **more,
    )


def add_call(message: Message, name: str, arguments: Json, **more: Any) -> ToolCall:
    """A waiting call, unless `status` says otherwise."""
    tool = toolbox.get(name) if name in toolbox else None
    values: Json = {
        "call_id": f"call-{message.position}-{message.tool_calls.count()}",
        "arguments_text": json.dumps(arguments),
        "arguments_hash": arguments_hash(name, arguments),
        "summary": tool.describe(arguments) if tool else name,
        "writes": tool.writes if tool else False,
        **more,
    }
    return ToolCall.objects.create(
        organization_id=message.organization_id,
        turn=message.turn,
        message=message,
        position=message.tool_calls.count(),
        name=name,
        arguments=arguments,
        **values,
    )


def waiting_turn(actor: Actor, document: Document, *calls: tuple[str, Json], **more: Any) -> Turn:
    """A turn with one round whose calls wait for a person."""
    turn = make_turn(make_thread(actor, document), actor, **more)
    message = add_message(turn, "assistant", "Please look at this.")
    for name, arguments in calls or (("create_tag", {"name": "Paid", "color": "#17734a"}),):
        add_call(message, name, arguments)
    return turn
