"""What webhooks are told of the agent: that it waits for a person. Names of tools; no arguments, no words."""

from collections.abc import Sequence
from typing import Any

from agent.events import CallShown
from agent.models import Turn
from core.ids import show_id
from documents.announcing import document_facts
from webhooks.services import announce


def announce_waiting(turn: Turn, pending: Sequence[CallShown]) -> None:
    """Call it in the transaction in which the turn begins to wait."""

    def facts() -> dict[str, Any]:
        return {
            "document": document_facts(turn.document),
            "turn": {
                "turn_id": show_id(turn.pk),
                "thread_id": show_id(turn.thread_id) if turn.thread_id else None,
                "expires_at": turn.expires_at.isoformat().replace("+00:00", "Z") if turn.expires_at else None,
            },
            "calls": [{"call_id": call.id, "name": call.name} for call in pending],
        }

    announce(organization_id=turn.organization_id, event="approval.waiting", data=facts)
