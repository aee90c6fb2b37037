"""Reading threads and turns: who may see what is decided here."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, Exists, OuterRef, Prefetch, Q, QuerySet
from django.utils import timezone

from agent.errors import AuthorOnly, MessageNotFound, ThreadNotFound, ToolCallNotFound, TurnNotFound
from agent.events import AssistantTextChunk, AssistantTextDone, ThinkingChunk, ThinkingDone
from agent.models import Message, StandingRule, Thread, ToolCall, Turn
from agent.streams import Numbered, Stored, read_stream, stored_portion
from core.ids import parse_id, show_id
from documents.proposals import waiting_proposals
from documents.selectors import get_document
from organizations.actor import Actor
from organizations.gate import get_owned, owned

Json = dict[str, Any]

SETTLING_SECONDS = 15.0
"""Events are told after their commit: Redis has three seconds to take them, and a busy process more to offer them."""
PORTION = 200


@dataclass(frozen=True, slots=True)
class LiveText:
    """What a running turn has said in rounds that are not stored yet, up to event `seq`."""

    seq: int
    texts: dict[int, str]
    thoughts: dict[int, str]


@dataclass(frozen=True, slots=True)
class Replay:
    """Events after a cursor, or, when they are not kept any more, a snapshot that stands for all of them.

    `seq` is the cursor after them. `is_open`: more will come, now or once somebody decides.
    """

    stored: Sequence[Stored]
    snapshot: Json | None
    seq: int
    is_open: bool
    turn: Turn

    @property
    def events(self) -> list[Numbered]:
        return [Numbered(item.seq, item.event) for item in self.stored]


@dataclass(frozen=True, slots=True)
class ThreadPage:
    """A part of a branch: its turns, oldest first; `siblings` are by parent the turns asked at the same place."""

    turns: Sequence[Turn]
    has_earlier: bool
    siblings: Mapping[uuid.UUID | None, Sequence[uuid.UUID]]


def list_threads(*, actor: Actor, document_id: object) -> QuerySet[Thread]:
    """The person's own and the shared threads of a document, newest first, `has_open` and `is_waiting` noted.

    Raises: DocumentNotFound.
    """
    document = get_document(actor=actor, document_id=document_id)
    open_turns = Turn.objects.filter(thread=OuterRef("pk"))
    return (
        owned(Thread, actor)
        .filter(Q(author_id=actor.user_id) | Q(shared=True), document=document)
        .select_related("author")
        .annotate(
            has_open=Exists(open_turns.filter(status__in=Turn.OPEN)),
            is_waiting=Exists(open_turns.filter(status=Turn.Status.WAITING)),
        )
        .order_by("-updated_at", "-id")
    )


def get_thread(*, actor: Actor, document_id: object, thread_id: object) -> Thread:
    """A thread of this document that the actor may see; admins may see all. Raises: ThreadNotFound."""
    thread = get_owned(Thread, actor, thread_id, error=ThreadNotFound)
    document = get_document(actor=actor, document_id=document_id)
    if thread.document_id != document.pk:
        raise ThreadNotFound()
    may_open_thread(actor=actor, thread=thread)
    return thread


def may_open_thread(*, actor: Actor, thread: Thread) -> None:
    """Raises: ThreadNotFound for somebody else's private thread, unless the actor is an admin."""
    if not (thread.shared or thread.author_id == actor.user_id or actor.is_admin):
        raise ThreadNotFound()


def thread_turns(*, thread: Thread, head: Turn | None = None) -> list[Turn]:
    """The turns of the newest branch, or of the one that ends at `head`, oldest first, with messages and calls."""
    return _turns_of(thread_line(thread=thread, head=head))


def thread_line(*, thread: Thread, head: Turn | None = None) -> list[uuid.UUID]:
    """The ids of these turns."""
    parents = dict(thread.turns.order_by("created_at", "id").values_list("id", "parent_id"))
    current = head.pk if head else next(reversed(parents), None)
    line: dict[uuid.UUID, None] = {}
    while current is not None and current not in line:
        line[current] = None
        current = parents.get(current)
    return list(reversed(line))


def thread_page(*, thread: Thread, head: Turn | None, until: Turn | None, limit: int) -> ThreadPage:
    """The newest turns of a branch, up to and with `until`, which may stand on a branch of its own."""
    line = thread_line(thread=thread, head=head)
    if until is not None:
        line = line[: line.index(until.pk) + 1] if until.pk in line else thread_line(thread=thread, head=until)
    messages = Prefetch("messages", Message.objects.defer("sent"))  # as large as the document, for each round
    turns = _turns_of(line[-limit:], Turn.objects.prefetch_related(messages, "tool_calls"))
    siblings: dict[uuid.UUID | None, list[uuid.UUID]] = {}
    rows = thread.turns.filter(Q(parent_id__in=[turn.parent_id for turn in turns]) | Q(parent__isnull=True))
    for turn_id, parent_id in rows.order_by("created_at", "id").values_list("id", "parent_id"):
        siblings.setdefault(parent_id, []).append(turn_id)
    return ThreadPage(turns, len(line) > limit, siblings)


def has_answer(turn: Turn, *, rounds: int) -> bool:
    """Whether a final answer of this turn stands in the thread as the wire has it."""
    return rounds > 0 and turn.status != Turn.Status.RUNNING


def replaced_turn(*, actor: Actor, document_id: object, thread_id: object, keep: int) -> Turn | None:
    """The turn whose question is asked anew when only the first `keep` messages of the newest branch stay.

    A number in the middle of a turn drops its question too: no question stays without its answer. None: all stay.
    Raises: ThreadNotFound.
    """
    thread = get_thread(actor=actor, document_id=document_id, thread_id=thread_id)
    line = thread_line(thread=thread)
    counted = thread.turns.annotate(rounds=Count("messages", filter=Q(messages__role="assistant")))
    rows = {row.pk: row for row in counted.filter(pk__in=line)}
    left = keep
    for turn_id in line:
        left -= 1 + has_answer(rows[turn_id], rounds=rows[turn_id].rounds)
        if left < 0:
            return rows[turn_id]
    return None


def open_turn_of(*, thread: Thread) -> Turn | None:
    """The one turn of the thread that runs or waits."""
    return thread.turns.filter(status__in=Turn.OPEN).first()


def still_runs(*, turn: Turn) -> bool:
    """Whether its row says so now."""
    return Turn.objects.filter(pk=turn.pk, status=Turn.Status.RUNNING).exists()


def get_thread_message(*, thread: Thread, message_id: object) -> Message:
    """Raises: MessageNotFound."""
    rows = Message.objects.filter(turn__thread=thread, pk=parse_id(message_id, error=MessageNotFound))
    message = rows.defer("sent").select_related("turn").first()
    if message is None:
        raise MessageNotFound()
    return message


def branches(*, turn: Turn) -> list[Turn]:
    """The turns that were asked at the same place of the thread, this one included, oldest first."""
    if turn.thread_id is None:
        return [turn]
    rows = Turn.objects.filter(thread_id=turn.thread_id, parent_id=turn.parent_id)
    return list(rows.order_by("created_at", "id"))


def newest_of_branch(*, turn: Turn) -> Turn:
    """The newest turn that continues this one, or itself."""
    if turn.thread_id is None:
        return turn
    rows = Turn.objects.filter(thread_id=turn.thread_id).order_by("-created_at", "-id")
    by_id = {row.pk: row for row in rows}
    for candidate in rows:
        current: Turn | None = candidate
        while current is not None and current.pk != turn.pk:
            current = by_id.get(current.parent_id) if current.parent_id else None
        if current is not None:
            return candidate
    return turn


def get_turn(*, actor: Actor, turn_id: object, document_id: object = None, whole: bool = True) -> Turn:
    """A turn that the actor may see, with its messages and calls unless it need not be whole.

    Raises: TurnNotFound, also for another document's turn when `document_id` is given.
    """
    rows = _whole_turns() if whole else Turn.objects.select_related("thread", "document")
    wanted = parse_id(turn_id, error=TurnNotFound)
    turn = rows.filter(pk=wanted, organization_id=actor.organization_id).first()
    if turn is None:
        raise TurnNotFound()
    if document_id is not None and show_id(turn.document_id) != _plain_id(document_id):
        raise TurnNotFound()
    if turn.document.deleted_at or (turn.thread and turn.thread.deleted_at) or not may_decide(actor=actor, turn=turn):
        raise TurnNotFound()
    return turn


def may_decide(*, actor: Actor, turn: Turn) -> bool:
    """The author, an admin, and once the thread is shared any member."""
    return turn.author_id == actor.user_id or actor.is_admin or bool(turn.thread and turn.thread.shared)


def waiting_turns(*, actor: Actor) -> QuerySet[Turn]:
    """Turns that wait for this person's decision, the ones that expire first at the top."""
    rows = owned(Turn, actor).filter(
        status=Turn.Status.WAITING, expires_at__gt=timezone.now(), document__deleted_at__isnull=True
    )
    if not actor.is_admin:
        rows = rows.filter(Q(author_id=actor.user_id) | Q(thread__shared=True))
    return (
        rows.filter(Q(thread__isnull=True) | Q(thread__deleted_at__isnull=True))
        .select_related("thread", "document", "author")
        .prefetch_related("tool_calls", "messages")
        .order_by("expires_at", "id")
    )


def count_waiting(*, actor: Actor) -> int:
    """Turns and proposals."""
    return waiting_turns(actor=actor).count() + waiting_proposals(actor=actor).count()


def get_tool_call(*, actor: Actor, call_row_id: object) -> ToolCall:
    """Raises: ToolCallNotFound."""
    call = get_owned(ToolCall, actor, call_row_id, error=ToolCallNotFound)
    turn = Turn.objects.select_related("thread").get(pk=call.turn_id)
    if not may_decide(actor=actor, turn=turn):
        raise ToolCallNotFound()
    return call


def what_was_sent(*, actor: Actor, message_id: object) -> Json:
    """Exactly what a round's model call was given, with tokens and cost; for the author and admins.

    Raises: TurnNotFound, AuthorOnly.
    """
    message = get_owned(Message, actor, message_id, error=TurnNotFound)
    turn = get_turn(actor=actor, turn_id=message.turn_id)
    if not (actor.is_admin or turn.author_id == actor.user_id):
        raise AuthorOnly()
    cost = float(message.cost_usd) if message.cost_usd is not None else None
    return {**(message.sent or {}), "usage": message.usage, "cost_usd": cost}


def list_standing_rules(*, actor: Actor, now: datetime | None = None) -> QuerySet[StandingRule]:
    """The person's rules that hold now, newest first."""
    rows = owned(StandingRule, actor).filter(user_id=actor.user_id, revoked_at__isnull=True)
    return rows.filter(until__gt=now or timezone.now()).select_related("document").order_by("-created_at", "-id")


def rule_covers(*, turn: Turn, tool: str) -> bool:
    """Whether a standing rule of the turn's author allows this tool on this document now."""
    rules = StandingRule.objects.filter(
        Q(document_id=turn.document_id) | Q(document__isnull=True),
        organization_id=turn.organization_id,
        user_id=turn.author_id,
        tool=tool,
        revoked_at__isnull=True,
        until__gt=timezone.now(),
    )
    return rules.exists()


def live_text(*, turn: Turn) -> LiveText:
    """Text and thinking of rounds that are still being said, for a page that is loaded in the middle of an answer."""
    texts: dict[int, str] = {}
    thoughts: dict[int, str] = {}
    seq = turn.event_seq
    for numbered in read_stream(turn.pk):
        seq = max(seq, numbered.seq)
        match numbered.event:
            case AssistantTextChunk(chunk=chunk, round_index=index):
                texts[index] = texts.get(index, "") + chunk
            case ThinkingChunk(chunk=chunk, round_index=index):
                thoughts[index] = thoughts.get(index, "") + chunk
            case AssistantTextDone(full_text=text, round_index=index):
                texts[index] = text
            case ThinkingDone(thinking=text, round_index=index):
                thoughts[index] = text
            case _:
                pass
    return LiveText(seq, texts, thoughts)


def turn_events(*, actor: Actor, turn_id: object, document_id: object, after: int = 0) -> Replay:
    """A portion of the events after a cursor: nothing lost, nothing twice; a snapshot where the stream has a gap.

    Raises: TurnNotFound.
    """
    row_id = parse_id(turn_id, error=TurnNotFound)
    # Read before the rows: what is told in between comes with the next portion.
    rest, kept = stored_portion(row_id, after=after, count=PORTION)
    turn = get_turn(actor=actor, turn_id=row_id, document_id=document_id, whole=False)
    newest = max(turn.event_seq, kept)
    reaches_back = rest[0].seq == after + 1 if rest else after in (kept or newest, newest)
    if not rest and after == 0 and turn.status != Turn.Status.RUNNING:
        reaches_back = False  # who knows nothing yet hears how it stands, even when nothing was ever told
    is_whole = kept >= turn.event_seq or not _is_settled(turn)
    if after <= newest and reaches_back and (is_whole or after == newest):
        seq = rest[-1].seq if rest else after
        return Replay(rest, None, seq, turn.status in Turn.OPEN or seq < newest, turn)
    turn = get_turn(actor=actor, turn_id=row_id, document_id=document_id)
    return Replay((), snapshot(turn=turn, live=live_text(turn=turn)), newest, turn.status in Turn.OPEN, turn)


def _is_settled(turn: Turn) -> bool:
    """Whether everything that was ever told of the turn must have been kept by now, if it is kept at all."""
    return timezone.now() - turn.updated_at > timedelta(seconds=SETTLING_SECONDS)


def snapshot(*, turn: Turn, live: LiveText | None = None) -> Json:
    """The transcript of a turn as one object, for a client whose cursor is older than what is kept.

    With `live`, what is being said in rounds that are not stored yet stands there too.
    """
    calls: dict[Any, list[ToolCall]] = {}
    for call in sorted(turn.tool_calls.all(), key=lambda row: row.position):
        calls.setdefault(call.message_id, []).append(call)
    messages = sorted(turn.messages.all(), key=lambda row: row.position)
    rounds = [_snapshot_round(row, calls.get(row.pk, [])) for row in messages if row.role == "assistant"]
    return {
        "type": "snapshot",
        "turn_id": show_id(turn.pk),
        "status": turn.status,
        "rounds": rounds + (_live_rounds(live, stored=len(rounds)) if live else []),
        "result": turn.outcome,
        "expires_at": turn.expires_at.isoformat() if turn.expires_at else None,
    }


def _live_rounds(live: LiveText, *, stored: int) -> list[Json]:
    said = sorted(index for index in live.texts.keys() | live.thoughts.keys() if index >= stored)
    return [
        {
            "round_index": index,
            "text": live.texts.get(index, ""),
            "thinking": live.thoughts.get(index),
            "tool_calls": [],
            "complete": False,
        }
        for index in said
    ]


def _snapshot_round(message: Message, calls: list[ToolCall]) -> Json:
    return {
        "round_index": message.round_index,
        "text": message.content,
        "thinking": message.thinking or None,
        "tool_calls": [
            {
                "id": call.call_id,
                "name": call.name,
                "arguments": call.arguments_text,
                "status": call.status,
                "result": call.result,
            }
            for call in calls
        ],
        "complete": True,
    }


def _turns_of(line: Sequence[uuid.UUID], whole: QuerySet[Turn] | None = None) -> list[Turn]:
    rows = {row.pk: row for row in (_whole_turns() if whole is None else whole).filter(pk__in=line)}
    return [rows[turn_id] for turn_id in line if turn_id in rows]


def _whole_turns() -> QuerySet[Turn]:
    return Turn.objects.select_related("thread", "author", "document").prefetch_related("messages", "tool_calls")


def _plain_id(value: object) -> str:
    return str(value).replace("-", "").lower()
