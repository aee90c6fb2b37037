"""One drive of a claimed turn: load, ask, keep, tell, end. Runs on the process's turn loop; see `agent.runner`."""

import uuid
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass, replace
from decimal import Decimal
from time import monotonic
from typing import Any

from django.conf import settings
from django.utils import timezone

import agent.tools  # noqa: F401 - fills the toolbox
from agent.events import ApprovalRequired, Done
from agent.keeping import TurnKeeper
from agent.loop import run_turn
from agent.messages import ChatMessage, Transcript
from agent.models import Turn
from agent.outbox import Outbox
from agent.policy import may_run_unasked
from agent.prompt import build_preface
from agent.setup import Limits, Tally, TurnSetup
from agent.stopping import Stop
from agent.streams import Streams, last_seq
from agent.taint import DocumentText
from agent.toolbox import Toolbox, ToolContext, toolbox
from agent.transcript import history_messages, load_transcript, told_documents, totals, whole_turn
from core.ids import show_id
from core.threads import in_thread
from documents.errors import TextNotReady
from documents.leaving import sources_of
from documents.selectors import document_content, get_document, page_text
from llm import client
from llm.catalog import OFFLINE_MODEL
from llm.content import DocumentContent
from llm.sources import Sources, is_remote
from llm.types import Completion, Delta, Usage
from organizations.actor import Actor
from organizations.selectors import actor_for

Json = dict[str, Any]


@dataclass(slots=True, kw_only=True)
class Loaded:
    """What a run of a turn begins with. The rest is read when it is first needed: see `_prepare` and `_text`.

    `limits` and `judge` (may this write run?) are those of a turn that nobody watches; a person's turn has the usual.
    """

    turn: Turn
    transcript: Transcript
    context: ToolContext
    toolbox: Toolbox
    tally: Tally
    seq: int
    history: list[ChatMessage] | None = None
    text: DocumentText | None = None
    document: DocumentContent | None = None
    limits: Limits | None = None
    judge: Callable[[str, Json], bool] | None = None


def load(turn_id: uuid.UUID, toolbox: Toolbox) -> Loaded:
    """Read the turn, and the person for whom it runs, with the rights they have now.

    Raises: DomainError when the person or the document is gone.
    """
    turn = whole_turn(turn_id)
    actor = actor_for(user=turn.author, organization_id=turn.organization_id, via="agent", name=turn.actor_name)
    get_document(actor=actor, document_id=turn.document_id)
    prompt_tokens, completion_tokens, cost = totals(turn.messages.all())
    return Loaded(
        turn=turn,
        transcript=load_transcript(turn),
        context=_context(turn, actor),
        toolbox=toolbox,
        tally=Tally(usage=Usage(prompt_tokens, completion_tokens), cost_usd=cost),
        seq=max(turn.event_seq, last_seq(turn.pk)),
    )


def load_new(turn: Turn, *, actor: Actor, question: str) -> Loaded:
    """What `load` would read of a turn that the caller has just stored for this person, without reading it."""
    return Loaded(
        turn=turn,
        transcript=Transcript(question=question),
        context=_context(turn, replace(actor, via="agent")),
        toolbox=toolbox,
        tally=Tally(),
        seq=0,
    )


async def drive(
    turn_id: uuid.UUID,
    epoch: int,
    *,
    begun: Loaded | None,
    stop: Stop,
    streams: Streams,
    on_release: Callable[[], None],
) -> None:
    """Run a claimed turn until it is done or waits; `on_release` is called once nobody holds it any more.

    `begun` is None for a turn that has to be read first.
    Raises: LeaseLost, and whatever the model or a tool raised: the caller writes down how the turn ended.
    """
    loaded = await in_thread(lambda: load(turn_id, toolbox)) if begun is None else begun
    if loaded.turn.cancel_requested:
        stop.request()
    keeper = TurnKeeper(turn_id, epoch, toolbox=loaded.toolbox, context=loaded.context, tally=loaded.tally)
    outbox = Outbox(streams, turn_id, loaded.turn.thread_id, seq=loaded.seq)
    keeper.seq = lambda: outbox.seq
    try:
        async with aclosing(run_turn(loaded.transcript, _setup(loaded, keeper, stop))) as events:
            async for event in events:
                if isinstance(event, Done) and event.result.status != "waiting":
                    await keeper.finish(event.result)
                if isinstance(event, Done | ApprovalRequired):
                    on_release()
                await outbox.tell(event)
    finally:
        await outbox.close()


def _context(turn: Turn, actor: Actor) -> ToolContext:
    return ToolContext(
        actor=actor,
        document_id=show_id(turn.document_id),
        thread_id=show_id(turn.thread_id) if turn.thread_id else None,
        turn_id=show_id(turn.pk),
        working_state=dict(turn.working_state),
        now=timezone.now(),
        is_remote=is_remote(turn.model),
    )


def _prepare(loaded: Loaded) -> tuple[list[ChatMessage], Sources]:
    """What stands before this turn's own messages, and whose text it is. Only the history is not read anew."""
    turn = loaded.turn
    if loaded.history is None:
        loaded.document = _content_for(loaded.context.actor, turn)
        loaded.history = history_messages(turn, hints=loaded.toolbox.hints())
    about = sources_of(turn.document_id, *told_documents(turn))
    return [*build_preface(loaded.context, mentions=turn.mentions), *loaded.history], about


def _text(loaded: Loaded) -> DocumentText:
    """The document's text, for the first write that has to be judged by it."""
    if loaded.text is None:
        try:
            text = page_text(actor=loaded.context.actor, document_id=loaded.turn.document_id)
        except TextNotReady:
            text = ""
        loaded.text = DocumentText(text)
    return loaded.text


def _content_for(actor: Actor, turn: Turn) -> DocumentContent | None:
    """Pages with words, for the one model that reads them."""
    if turn.model != OFFLINE_MODEL:
        return None
    try:
        return document_content(actor=actor, document_id=turn.document_id)
    except TextNotReady:
        return None


def _setup(loaded: Loaded, keeper: TurnKeeper, stop: Stop) -> TurnSetup:
    turn = loaded.turn

    async def ask(messages: list[ChatMessage]) -> AsyncGenerator[Delta | Completion, None]:
        preface, about = await in_thread(lambda: _prepare(loaded))
        sent = [*preface, *messages]
        definitions = loaded.toolbox.definitions()
        keeper.sent = {"model": turn.model, "messages": sent, "tools": [tool.name for tool in loaded.toolbox]}
        keeper.asked_at = keeper.thought_until = monotonic()
        stream = client.stream(
            model=turn.model, messages=sent, about=about, tools=definitions, document=loaded.document
        )
        async with aclosing(stream) as items:
            async for item in items:
                if isinstance(item, Delta) and item.kind == "thinking":
                    keeper.thought_until = monotonic()
                yield item

    def judge(name: str, arguments: Json) -> bool:
        if loaded.judge is not None:
            return loaded.judge(name, arguments)
        return may_run_unasked(turn, name, arguments, tainted=_text(loaded).taints(name, arguments))

    async def may_run(name: str, arguments: Json) -> bool:
        return await in_thread(lambda: judge(name, arguments))

    def is_tainted(name: str, arguments: Json) -> bool:
        return loaded.text is None or loaded.text.taints(name, arguments)

    return TurnSetup(
        turn_id=show_id(turn.pk),
        thread_id=loaded.context.thread_id,
        model=turn.model,
        ask=ask,
        toolbox=loaded.toolbox,
        keeper=keeper,
        may_run=may_run,
        is_tainted=is_tainted,
        working_state=loaded.context.working_state,
        limits=loaded.limits or _usual_limits(),
        tally=loaded.tally,
        stop=stop,
    )


def _usual_limits() -> Limits:
    """Of a turn that somebody watches."""
    return Limits(
        rounds=settings.AGENT_MAX_ROUNDS,
        follow_ups=settings.AGENT_FOLLOW_UPS,
        cost=Decimal(str(settings.AGENT_MAX_COST_PER_TURN)) or None,
        result_chars=settings.AGENT_RESULT_CHARS,
    )
