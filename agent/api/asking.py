"""A chat request as a turn: which message is the question, what comes before it, where the thread goes on."""

from collections.abc import Sequence

from agent.api.bodies import ChatBody, MessageBody
from agent.api.errors import QuestionMissing
from agent.models import Turn
from agent.selectors import replaced_turn
from agent.services import start_turn
from organizations.actor import Actor


def ask(body: ChatBody, *, actor: Actor, document_id: str) -> Turn:
    """Start the turn. Raises: what `start_turn` raises, QuestionMissing."""
    position = newest_question(body.messages)
    replaced = None
    if body.thread_id is not None and body.truncate_thread_to_message_count is not None:
        replaced = replaced_turn(
            actor=actor,
            document_id=document_id,
            thread_id=body.thread_id,
            keep=body.truncate_thread_to_message_count,
        )
    return start_turn(
        actor=actor,
        document_id=document_id,
        text=body.messages[position].content or "",
        thread_id=body.thread_id,
        mentions=[mention.model_dump() for mention in body.mentions],
        model=body.model,
        auto_approve=body.auto_approve,
        auto_approved_tools=body.auto_approved_tools or (),
        history=[message.model_dump(exclude_none=True) for message in body.messages[:position]],
        instead_of=replaced.pk if replaced else None,
    )


def newest_question(messages: Sequence[MessageBody]) -> int:
    """Where the newest message of the person stands; what comes after it is not read. Raises: QuestionMissing."""
    for position in range(len(messages) - 1, -1, -1):
        if messages[position].role == "user" and (messages[position].content or "").strip():
            return position
    raise QuestionMissing()
