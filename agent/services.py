"""What people do with the agent: ask, decide, stop, take back; keep threads and standing rules."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from agent import runner
from agent.deciding import (
    Answer,
    DecideOutcome,
    Decision,
    decide,
    lock_turn,
    reject_all,
    tell_decided,
)
from agent.driving import load_new
from agent.endings import FINAL, cancel_waiting, tell_on_commit
from agent.errors import (
    AuthorOnly,
    QuestionInvalid,
    RuleInvalid,
    RuleNotFound,
    ShuttingDown,
    ThreadNotFound,
    TurnNotFound,
    TurnOpen,
    UndoImpossible,
)
from agent.leases import claim_new
from agent.logbook import log_turn
from agent.mentions import check_mentions
from agent.messages import ChatMessage, clean_text, sanitize
from agent.models import StandingRule, Thread, ToolCall, Turn
from agent.policy import never_auto_approved
from agent.selectors import get_thread, get_tool_call, get_turn
from agent.toolbox import toolbox
from agent.tools.undo import undo_write
from agent.transcript import append_question, told_documents
from core.errors import Invalid
from core.ids import show_id
from documents.leaving import sources_of
from documents.selectors import get_document
from llm.catalog import require_chat_model
from organizations.actor import Actor
from organizations.gate import get_owned
from organizations.services import record

__all__ = ["Answer", "DecideOutcome", "Decision", "decide"]

MAX_QUESTION_CHARS = 100_000
MAX_HISTORY = 500
TITLE_CHARS = 50
REJECTED_BY_GOING_ON = "The person went on with another question instead."


@transaction.atomic
def start_turn(
    *,
    actor: Actor,
    document_id: object,
    text: str,
    thread_id: object = None,
    mentions: Sequence[Mapping[str, Any]] = (),
    model: str | None = None,
    auto_approve: bool = False,
    auto_approved_tools: Sequence[str] = (),
    history: Sequence[ChatMessage] = (),
    instead_of: object = None,
    reject_waiting: bool = False,
    launch: bool = True,
) -> Turn:
    """Ask the agent something about a document; the turn runs in this process after the commit.

    With a thread, the thread is the context, else `history` is. `instead_of` is an earlier turn of the thread whose
    question this one replaces: the thread goes on from there and the old branch stays. `reject_waiting` rejects what
    an open turn waits for and goes on. Headless callers pass `launch=False` and await `runner.run`.
    Raises: DocumentNotFound, ThreadNotFound, TurnOpen, QuestionInvalid, ModelNotEnabled, ModelError, ShuttingDown.
    """
    if launch and not runner.accepts_turns():
        raise ShuttingDown()
    question = _question(text)
    document = get_document(actor=actor, document_id=document_id)
    thread = _lock_thread_for_asking(actor, document_id, thread_id)
    parent_id = _parent_id(actor, document_id, thread, instead_of)
    _clear_the_way(thread, actor, reject_waiting=reject_waiting)
    turn = Turn(
        document=document,
        thread=thread,
        parent_id=parent_id,
        auto_approve=auto_approve,
        auto_approved_tools=_known_tools(auto_approved_tools),
        mentions=check_mentions(actor=actor, mentions=mentions),
        history=[] if thread else sanitize(list(history)[-MAX_HISTORY:]),
    )
    turn.model = _model(model, turn)
    if launch:
        claim_new(turn)
    _begin(turn, actor, question)
    if launch:
        transaction.on_commit(lambda: _launch(turn, actor, question))
    return turn


@transaction.atomic
def cancel_turn(*, actor: Actor, document_id: object, turn_id: object) -> Turn:
    """Stop a turn: at once when it waits, within a second when it runs, here or in another process.

    Stopping a turn that has just ended changes nothing. Raises: TurnNotFound.
    """
    turn = lock_turn(actor=actor, document_id=document_id, turn_id=turn_id)
    if turn.status in FINAL:
        return turn
    record(actor=actor, action="turn.cancelled", target=("turn", turn.pk))
    if turn.status == Turn.Status.WAITING:
        tell_on_commit(turn, cancel_waiting(turn, actor=actor))
        return turn
    turn.cancel_requested = True
    turn.save(update_fields=["cancel_requested", "updated_at"])
    transaction.on_commit(lambda: runner.stop_here(turn.pk))
    return turn


@transaction.atomic
def create_thread(*, actor: Actor, document_id: object, title: str = "") -> Thread:
    """Open a conversation about a document. Raises: DocumentNotFound, Invalid."""
    document = get_document(actor=actor, document_id=document_id)
    thread = Thread(organization_id=actor.organization_id, document=document, author_id=actor.user_id)
    if title.strip():
        thread.title, thread.renamed = _title(title), True
    thread.save()
    record(actor=actor, action="thread.created", target=("thread", thread.pk))
    return thread


@transaction.atomic
def open_thread(*, actor: Actor, document_id: object, thread_id: object) -> Thread:
    """The thread, to be read; an admin who opens somebody's private thread leaves a line in the audit log.

    Raises: ThreadNotFound.
    """
    thread = get_thread(actor=actor, document_id=document_id, thread_id=thread_id)
    if not thread.shared and thread.author_id != actor.user_id:
        record(actor=actor, action="thread.opened_by_admin", target=("thread", thread.pk))
    return thread


@transaction.atomic
def open_turn(*, actor: Actor, document_id: object, turn_id: object, whole: bool = True) -> Turn:
    """The turn, to be read; an admin who opens one of somebody's private thread leaves a line in the audit log.

    Raises: TurnNotFound.
    """
    turn = get_turn(actor=actor, document_id=document_id, turn_id=turn_id, whole=whole)
    if turn.author_id != actor.user_id and not (turn.thread and turn.thread.shared):
        record(actor=actor, action="turn.opened_by_admin", target=("turn", turn.pk))
    return turn


@transaction.atomic
def rename_thread(*, actor: Actor, document_id: object, thread_id: object, title: str) -> Thread:
    """Raises: ThreadNotFound, AuthorOnly, Invalid."""
    thread = _own_thread(actor, document_id, thread_id)
    thread.title, thread.renamed = _title(title), True
    thread.save(update_fields=["title", "renamed", "updated_at"])
    record(actor=actor, action="thread.renamed", target=("thread", thread.pk))
    return thread


@transaction.atomic
def share_thread(*, actor: Actor, document_id: object, thread_id: object, shared: bool = True) -> Thread:
    """Let every member of the organization read, decide and ask in this thread, or no longer.

    Raises: ThreadNotFound, AuthorOnly.
    """
    thread = _own_thread(actor, document_id, thread_id)
    thread.shared = shared
    thread.save(update_fields=["shared", "updated_at"])
    record(actor=actor, action="thread.shared" if shared else "thread.unshared", target=("thread", thread.pk))
    return thread


@transaction.atomic
def delete_thread(*, actor: Actor, document_id: object, thread_id: object) -> None:
    """Move a thread to the trash; what runs or waits in it is stopped. Raises: ThreadNotFound, AuthorOnly."""
    thread = lock_thread(_own_thread(actor, document_id, thread_id))  # before its turns, as whoever asks does
    for turn in thread.turns.filter(status__in=Turn.OPEN):
        cancel_turn(actor=actor, document_id=document_id, turn_id=turn.pk)
    thread.deleted_at = timezone.now()
    thread.save(update_fields=["deleted_at", "updated_at"])
    record(actor=actor, action="thread.deleted", target=("thread", thread.pk))


@transaction.atomic
def undo_tool_call(*, actor: Actor, call_row_id: object) -> ToolCall:
    """Take back what a call wrote, while the object is still as the call left it.

    Raises: ToolCallNotFound, UndoImpossible, and what the undoing service raises.
    """
    seen = get_tool_call(actor=actor, call_row_id=call_row_id)
    call = ToolCall.objects.select_for_update(of=("self",)).select_related("turn").get(pk=seen.pk)
    if call.status != ToolCall.Status.DONE or not call.undo or call.undone_at:
        raise UndoImpossible()
    undo_write(actor=actor, undo=call.undo)
    call.undone_at = timezone.now()
    call.save(update_fields=["undone_at"])
    record(actor=actor, action="tool_call.undone", target=("tool_call", call.pk), data={"tool": call.name})
    tell_decided(call.turn, [call.call_id])
    log_turn(call.turn, "undone", actor=actor, call_id=call.call_id)
    return call


@transaction.atomic
def create_standing_rule(*, actor: Actor, tool: str, until: datetime, document_id: object = None) -> StandingRule:
    """Always approve this tool for this person, on one document or in the organization, until a date.

    Raises: RuleInvalid, DocumentNotFound.
    """
    if tool not in toolbox.write_names or tool.startswith("delete_") or tool in never_auto_approved():
        raise RuleInvalid("This tool always asks.", fields={"tool": "cannot be approved for later"})
    now = timezone.now()
    if not now < until <= now + timedelta(days=366):
        raise RuleInvalid("A rule holds for at most a year.", fields={"until": "within a year"})
    document = get_document(actor=actor, document_id=document_id) if document_id is not None else None
    rule = StandingRule.objects.create(
        organization_id=actor.organization_id, user_id=actor.user_id, tool=tool, document=document, until=until
    )
    record(actor=actor, action="standing_rule.created", target=("standing_rule", rule.pk), data={"tool": tool})
    return rule


@transaction.atomic
def revoke_standing_rule(*, actor: Actor, rule_id: object) -> None:
    """Raises: RuleNotFound."""
    rule = get_owned(StandingRule, actor, rule_id, error=RuleNotFound)
    if rule.user_id != actor.user_id and not actor.is_admin:
        raise RuleNotFound()
    rule.revoked_at = rule.revoked_at or timezone.now()
    rule.save(update_fields=["revoked_at"])
    record(actor=actor, action="standing_rule.revoked", target=("standing_rule", rule.pk), data={"tool": rule.tool})


def _lock_thread_for_asking(actor: Actor, document_id: object, thread_id: object) -> Thread | None:
    """None for a question that stands alone. Raises: ThreadNotFound."""
    if thread_id is None:
        return None
    thread = get_thread(actor=actor, document_id=document_id, thread_id=thread_id)
    if not (thread.shared or thread.author_id == actor.user_id):
        raise ThreadNotFound()
    return lock_thread(thread)


def lock_thread(thread: Thread) -> Thread:
    """The row, locked until the transaction ends; before any turn of it."""
    return Thread.objects.select_for_update().get(pk=thread.pk)


def _own_thread(actor: Actor, document_id: object, thread_id: object) -> Thread:
    thread = get_thread(actor=actor, document_id=document_id, thread_id=thread_id)
    if thread.author_id != actor.user_id and not actor.is_admin:
        raise AuthorOnly()
    return thread


def _clear_the_way(thread: Thread | None, actor: Actor, *, reject_waiting: bool) -> None:
    """One open turn per thread. Raises: TurnOpen."""
    if thread is None:
        return
    standing = Turn.objects.select_for_update().filter(thread=thread, status__in=Turn.OPEN).first()
    if standing is None:
        return
    if not reject_waiting or standing.status != Turn.Status.WAITING:
        raise TurnOpen(turn_id=show_id(standing.pk))
    reject_all(turn=standing, actor=actor, reason=REJECTED_BY_GOING_ON)
    record(actor=actor, action="turn.rejected", target=("turn", standing.pk))
    tell_on_commit(standing, cancel_waiting(standing, actor=actor, code="went_on"))


def _begin(turn: Turn, actor: Actor, question: str) -> None:
    """Store a new turn with its question, in its thread."""
    thread = turn.thread
    turn.organization_id, turn.author_id = actor.organization_id, actor.user_id
    turn.actor_name, turn.via = actor.name, actor.via
    turn.working_state = {"schema_revid": None, "prompt_revid": None} | (thread.working_state if thread else {})
    turn.save(force_insert=True)
    append_question(turn, question)
    if thread is not None:
        _touch_thread(thread, turn, question)
    data = {"document": show_id(turn.document_id)}
    record(actor=actor, action="turn.started", target=("turn", turn.pk), data=data)
    log_turn(turn, "started", actor=actor)


def _launch(turn: Turn, actor: Actor, question: str) -> None:
    runner.launch_new(load_new(turn, actor=actor, question=question))


def _question(text: str) -> str:
    question = clean_text(text).strip()
    if not 0 < len(question) <= MAX_QUESTION_CHARS:
        raise QuestionInvalid()
    return question


def _parent_id(actor: Actor, document_id: object, thread: Thread | None, instead_of: object) -> Any:
    """The turn to go on from: the newest, or the one before the question that is asked anew. Raises: TurnNotFound."""
    if instead_of is not None:
        replaced = get_turn(actor=actor, turn_id=instead_of, document_id=document_id)
        if thread is None or replaced.thread_id != thread.pk:
            raise TurnNotFound()
        return replaced.parent_id
    if thread is None:
        return None
    return thread.turns.order_by("-created_at", "-id").values_list("id", flat=True).first()


def _model(named: str | None, turn: Turn) -> str:
    """What was named counts; what the thread used last does not where it may not be used any more.

    Raises: ModelNotEnabled, NeverSendToModel.
    """
    about = sources_of(turn.document_id, *told_documents(turn))
    remembered = turn.thread.model if turn.thread and not about.local_only else None
    return require_chat_model(named or remembered or None, about=about)


def _touch_thread(thread: Thread, turn: Turn, question: str) -> None:
    if not thread.renamed and turn.parent_id is None:
        thread.title = question[:TITLE_CHARS]
    thread.model = turn.model
    thread.save(update_fields=["title", "model", "updated_at"])


def _known_tools(names: Sequence[str]) -> list[str]:
    unknown = [name for name in names if name not in toolbox]
    if unknown:
        raise Invalid("These tools do not exist: " + ", ".join(unknown)[:200], code="unknown_tool")
    return list(dict.fromkeys(names))


def _title(title: str) -> str:
    plain = " ".join(clean_text(title).split())
    if not 0 < len(plain) <= 200:
        raise Invalid("A title needs 1 to 200 characters.", fields={"title": "1 to 200 characters"})
    return plain
