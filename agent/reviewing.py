"""Rejecting a proposal that somebody works on: one outcome, and both are told.

The rejection comes first and takes the ground away; then the turns of the proposal's conversation are stopped, as by
its Stop button. What a turn tried to write in between found nothing to write on.
"""

import uuid

from agent.models import Turn
from agent.services import cancel_turn
from core.errors import DomainError
from documents import reviewing
from documents.reviewing import Outcome
from organizations.actor import Actor


def reject(*, actor: Actor, document_id: object) -> Outcome:
    """Reject the proposal and stop what runs or waits in its conversation.

    Raises: DocumentNotFound, NothingProposed.
    """
    outcome = reviewing.reject(actor=actor, document_id=document_id)
    thread_id = outcome.attempt.thread_id
    if outcome.counted and thread_id is not None:
        _stop_turns(actor, outcome.attempt.document_id, thread_id)
    return outcome


def _stop_turns(actor: Actor, document_id: uuid.UUID, thread_id: uuid.UUID) -> None:
    turns = Turn.objects.filter(thread_id=thread_id, status__in=Turn.OPEN)
    for turn_id in turns.values_list("pk", flat=True):
        try:
            cancel_turn(actor=actor, document_id=document_id, turn_id=turn_id)
        except DomainError:  # somebody made the conversation private meanwhile: its own turn finds nothing to change
            continue
