"""What the log of a document tells of its turns: they began, wait, were decided about, ended. Ids and counts only."""

import uuid
from collections.abc import Mapping
from typing import Any

from agent.models import Turn
from core.ids import show_id
from documents.events import append_event
from organizations.actor import Actor


def log_turn(turn: Turn, what: str, *, actor: Actor | None = None, **facts: Any) -> None:
    """Call it last, in the transaction that makes it true."""
    log_turn_of(
        what,
        document_id=turn.document_id,
        turn_id=turn.pk,
        thread_id=show_id(turn.thread_id) if turn.thread_id else None,
        actor=actor,
        facts=facts,
    )


def log_turn_of(
    what: str,
    *,
    document_id: uuid.UUID,
    turn_id: uuid.UUID,
    thread_id: str | None,
    actor: Actor | None = None,
    facts: Mapping[str, Any] | None = None,
) -> None:
    """The same for a turn whose row is not at hand."""
    data = {"thread_id": thread_id, **{key: value for key, value in (facts or {}).items() if value is not None}}
    append_event(document_id=document_id, type=f"turn.{what}", actor=actor, turn_id=turn_id, data=data)
