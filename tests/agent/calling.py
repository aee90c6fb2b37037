"""Call the real tools as the runner does."""

from datetime import UTC, datetime
from typing import Any

from asgiref.sync import async_to_sync, sync_to_async

import agent.tools  # noqa: F401 - fills the toolbox
from agent.toolbox import ToolContext, toolbox
from documents.models import Document
from tests.conftest import Person

Json = dict[str, Any]


def context_for(person: Person, document: Document, **working_state: Any) -> ToolContext:
    return ToolContext(
        actor=person.actor,
        document_id=document.pk.hex,
        thread_id=None,
        turn_id="0" * 32,
        working_state={"schema_revid": None, "prompt_revid": None, **working_state},
        now=datetime.now(UTC),
    )


def call(context: ToolContext, tool: str, **arguments: Any) -> Json:
    """One call; the way back that it recorded stands in `context.undo`."""
    context.undo = None

    async def border(function: Any) -> Json:
        result: Json = await sync_to_async(function)()
        return result

    return async_to_sync(toolbox.run)(tool, arguments, context, border=border)
