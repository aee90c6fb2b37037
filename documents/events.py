"""The append-only log of a document: sequence numbers without gaps, in the order of commits."""

import uuid
from collections.abc import Sequence
from typing import Any

from core.ids import show_id
from core.publish import publish_on_commit
from documents.announcing import announce_event
from documents.event_types import checked_data
from documents.models import Event, EventHead, Run
from organizations.actor import Actor


def append_event(
    *,
    document_id: uuid.UUID,
    type: str,
    actor: Actor | None = None,
    data: dict[str, Any] | None = None,
    run: Run | None = None,
    turn_id: uuid.UUID | None = None,
) -> Event:
    """Write one event in the caller's transaction and tell everybody who watches the document after its commit.

    Call it last: from here to the commit other writers of this document's log wait. `data` is what the type carries.
    Raises: TransactionManagementError outside of a transaction, ValueError for what `event_types` does not list.
    """
    entries = [(type, data or {})]
    return append_events(document_id=document_id, entries=entries, actor=actor, run=run, turn_id=turn_id)[0]


def append_events(
    *,
    document_id: uuid.UUID,
    entries: Sequence[tuple[str, dict[str, Any]]],
    actor: Actor | None = None,
    run: Run | None = None,
    turn_id: uuid.UUID | None = None,
) -> list[Event]:
    """Write several events (type, data) at once; those who watch are told of the last one only."""
    head = lock_event_head(document_id)
    first = head.last_seq + 1
    head.last_seq += len(entries)
    head.save(update_fields=["last_seq"])
    events = Event.objects.bulk_create(
        Event(
            organization_id=head.document.organization_id,
            document_id=document_id,
            seq=seq,
            type=type_,
            run_id=run.pk if run else None,
            turn_id=turn_id,
            actor=_show_actor(actor),
            data=checked_data(type_, data),
        )
        for seq, (type_, data) in enumerate(entries, start=first)
    )
    for type_, data in entries:
        announce_event(document=head.document, type=type_, data=data, run=run)
    news = {"type": "document.event", "event": show_event(events[-1])}
    publish_on_commit(document_group(document_id), news)
    publish_on_commit(documents_group(head.document.organization_id), news)
    return events


def lock_event_head(document_id: uuid.UUID) -> EventHead:
    """The head row of a document's log, locked until the transaction ends."""
    heads = EventHead.objects.select_for_update(of=("self",)).select_related("document")
    head = heads.filter(pk=document_id).first()
    if head is None:
        EventHead.objects.bulk_create([EventHead(document_id=document_id)], ignore_conflicts=True)
        head = heads.get(pk=document_id)
    return head


def document_group(document_id: uuid.UUID) -> str:
    """The channel group of those who watch a document."""
    return f"document.{show_id(document_id)}"


def documents_group(organization_id: uuid.UUID) -> str:
    """The channel group of those who watch all documents of an organization."""
    return f"organization.{show_id(organization_id)}.documents"


def show_event(event: Event) -> dict[str, Any]:
    """An event as plain data. Units: `at` in milliseconds since the epoch."""
    return {
        "seq": event.seq,
        "type": event.type,
        "documentId": show_id(event.document_id),
        "runId": show_id(event.run_id) if event.run_id else None,
        "turnId": show_id(event.turn_id) if event.turn_id else None,
        "actor": event.actor,
        "data": event.data,
        "at": round(event.created_at.timestamp() * 1000),
    }


def _show_actor(actor: Actor | None) -> dict[str, str] | None:
    if actor is None:
        return None
    return {"userId": show_id(actor.user_id), "name": actor.name, "via": actor.via}
