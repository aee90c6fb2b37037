"""Chat with the agent about a document: ask, decide, stop, follow. JSON or a stream of events."""

from collections.abc import AsyncGenerator
from functools import partial
from time import monotonic
from typing import Any

from django.http import HttpResponse, HttpResponseBase
from rest_framework.request import Request

import agent.tools  # noqa: F401 - fills the toolbox
from agent import services
from agent.api.asking import ask
from agent.api.bodies import (
    ApprovalBody,
    ApproveBody,
    CancelAnswer,
    CancelBody,
    ChatAnswer,
    ChatBody,
    DecisionAnswer,
    EventsQuery,
    ToolsAnswer,
    TurnAnswer,
)
from agent.api.errors import CursorInvalid, NeedsStream, NothingToStop, TurnFailed, TurnFailedForNow, TurnUnknown
from agent.api.frames import Source, event_frames, frame
from agent.api.results import Finish, answer_of, finisher, last_words
from agent.api.showing import turn_answer
from agent.api.waiting import end_of_run
from agent.endings import FINAL
from agent.errors import TurnNotFound
from agent.models import Turn
from agent.selectors import Replay, get_thread, get_turn, open_turn_of, turn_events
from agent.services import DecideOutcome, Decision
from agent.streams import last_end
from agent.toolbox import toolbox
from core.api.operations import EVENTS, operation
from core.api.streams import event_response
from core.ids import show_id
from core.threads import in_thread
from documents.selectors import get_document
from organizations.api.doors import AsyncOrganizationView, OrganizationView
from organizations.idempotency import once

CHAT_SECONDS = 290.0
APPROVE_SECONDS = 30.0
STOP_SECONDS = 3.0
FRESH_SECONDS = 2.0
"""So long a check of who asks is good for."""
MAX_CURSOR = 2**53
TAG = "Agent"
Json = dict[str, Any]

CHAT_EXAMPLE = {"messages": [{"role": "user", "content": "Set up extraction for this document"}], "stream": True}
APPROVE_EXAMPLE = {"turn_id": "0" * 32, "approvals": [{"call_id": "call_1", "approved": True}], "stream": True}


class TurnView(AsyncOrganizationView):
    """What the doors of a turn have in common."""

    def source(self, turn: Turn, finish: Finish, *, once_only: bool) -> Source:
        """Where frames of this turn come from. Who asks is looked at again each time the database is."""
        checked_at = monotonic()

        def replay(after: int) -> Replay:
            if monotonic() - checked_at > FRESH_SECONDS:
                self.admit(self.plain_request)
            return turn_events(actor=self.actor, turn_id=turn.pk, document_id=turn.document_id, after=after)

        return Source(turn=turn, replay=replay, finished=finish, once=once_only)

    async def answer(self, turn: Turn, finish: Finish, *, after: int, seconds: float) -> HttpResponse:
        """The JSON answer once the run has ended, or that it still runs after some seconds."""
        end = None
        if turn.status == Turn.Status.RUNNING:
            end = await end_of_run(turn, after=after, seconds=seconds)
        return json_answer(await in_thread(partial(self._answer, turn, end, finish)))

    def _answer(self, turn: Turn, end: Json | None, finish: Finish) -> Json:
        fresh = turn if end is not None else get_turn(actor=self.actor, turn_id=turn.pk, document_id=turn.document_id)
        return answer_of(fresh, end, finish)


class ChatView(TurnView):
    """Ask. Dropping the connection does not end a turn."""

    rates = {"POST": "chat"}

    @operation(
        "chat_with_document",
        "Ask the agent; with stream: true the answer is a stream of events",
        tag=TAG,
        answer=ChatAnswer,
        or_events=True,
        body=ChatBody,
        errors=(400, 404, 409, 503),
        example=CHAT_EXAMPLE,
        headers=("Idempotency-Key",),
    )
    async def post(self, request: Request, document_id: str) -> HttpResponseBase:
        body, turn, is_known = await in_thread(partial(self._ask, document_id))
        finish = finisher(self.actor, document_id)
        if not body.stream:
            return await self.answer(turn, finish, after=0, seconds=CHAT_SECONDS)
        source = self.source(turn, finish, once_only=True)
        return event_response(event_frames(source, after=0, is_new=not is_known))

    def _ask(self, document_id: str) -> tuple[ChatBody, Turn, bool]:
        """The request, its turn, and whether that is the one that an earlier request with the same key started."""
        body = self.body(ChatBody)
        if body.auto_approve and not body.stream:
            raise NeedsStream()
        started: list[Turn] = []

        def work() -> Json:
            started.append(ask(body, actor=self.actor, document_id=document_id))
            return {"turn_id": show_id(started[0].pk)}

        key, route = self.plain_request.headers.get("Idempotency-Key"), self.plain_request.path
        remembered, is_known = once(actor=self.actor, key=key, route=route, fingerprint=self.raw_body(), work=work)
        if not is_known:
            return body, started[0], False
        return body, get_turn(actor=self.actor, turn_id=remembered["turn_id"], document_id=document_id), True


class ApproveView(TurnView):
    """Decide about calls that wait."""

    rates = {"POST": "chat"}

    @operation(
        "decide_tool_calls",
        "Approve, edit or reject calls; with stream: true the rest of the turn is a stream of events",
        tag=TAG,
        answer=ChatAnswer,
        or_events=True,
        body=ApproveBody,
        errors=(400, 404, 409, 503),
        example=APPROVE_EXAMPLE,
    )
    async def post(self, request: Request, document_id: str) -> HttpResponseBase:
        body = await in_thread(partial(self.body, ApproveBody))
        outcome, turn, after = await in_thread(partial(self._decide, body, document_id))
        decisions = [DecisionAnswer.of(answer).model_dump(mode="json") for answer in outcome.answers]
        finish = finisher(self.actor, document_id, decisions=decisions)
        if body.stream:
            return event_response(await self._stream(turn, finish, after=after))
        try:
            return await self.answer(turn, finish, after=after, seconds=APPROVE_SECONDS)
        except (TurnFailed, TurnFailedForNow) as problem:
            problem.extra["decisions"] = decisions
            raise

    def _decide(self, body: ApproveBody, document_id: str) -> tuple[DecideOutcome, Turn, int]:
        """The outcome, the turn, and the number of the event after which the decisions' consequences are told."""
        get_document(actor=self.actor, document_id=document_id)
        if body.thread_id is not None:
            turn = get_turn(actor=self.actor, turn_id=body.turn_id, document_id=document_id)
            if turn.thread_id is None or show_id(turn.thread_id) != body.thread_id.replace("-", "").lower():
                raise TurnNotFound()
        outcome = services.decide(
            actor=self.actor,
            document_id=document_id,
            turn_id=body.turn_id,
            decisions=[decision_of(approval) for approval in body.approvals],
        )
        paused_at = last_end(outcome.turn.pk, otherwise=outcome.turn.event_seq)  # before the row is read again
        turn = services.open_turn(actor=self.actor, document_id=document_id, turn_id=body.turn_id)
        if any(answer.accepted for answer in outcome.answers):
            return outcome, outcome.turn, outcome.turn.event_seq
        return outcome, turn, paused_at

    async def _stream(self, turn: Turn, finish: Finish, *, after: int) -> AsyncGenerator[bytes, None]:
        if turn.status == Turn.Status.RUNNING:
            return event_frames(self.source(turn, finish, once_only=True), after=after, replay_first=False)
        whole = await in_thread(partial(get_turn, actor=self.actor, turn_id=turn.pk, document_id=turn.document_id))
        words = await in_thread(partial(last_words, whole, finish))
        return _said(whole.event_seq, words)


class CancelView(AsyncOrganizationView):
    """Stop a turn."""

    @operation(
        "cancel_chat",
        "Stop a turn, or the open turn of a thread",
        tag=TAG,
        answer=CancelAnswer,
        body=CancelBody,
        errors=(400, 404),
        example={"turn_id": "0" * 32},
    )
    async def post(self, request: Request, document_id: str) -> CancelAnswer:
        body = await in_thread(partial(self.body, CancelBody))
        turn = await in_thread(partial(self._stop, body, document_id))
        if turn is None:
            return CancelAnswer(ok=True, status="idle")
        if turn.status in FINAL:
            return CancelAnswer(ok=True, status=turn.status)
        await end_of_run(turn, after=turn.event_seq, seconds=STOP_SECONDS)
        stopped = await in_thread(partial(get_turn, actor=self.actor, turn_id=turn.pk, document_id=document_id))
        return CancelAnswer(ok=True, status=stopped.status)

    def _stop(self, body: CancelBody, document_id: str) -> Turn | None:
        get_document(actor=self.actor, document_id=document_id)
        turn_id: object = body.turn_id
        if body.thread_id is not None:
            thread = get_thread(actor=self.actor, document_id=document_id, thread_id=body.thread_id)
            standing = open_turn_of(thread=thread)
            if turn_id is None and standing is None:
                return None
            turn_id = turn_id or (standing.pk if standing else None)
        if turn_id is None:
            raise NothingToStop()
        return services.cancel_turn(actor=self.actor, document_id=document_id, turn_id=turn_id)


class ToolsView(OrganizationView):
    """What the agent can do."""

    @operation("list_chat_tools", "List the agent's tools", tag=TAG, answer=ToolsAnswer, errors=(404,))
    def get(self, request: Request, document_id: str) -> ToolsAnswer:
        get_document(actor=self.actor, document_id=document_id)
        return ToolsAnswer(read_only=sorted(toolbox.read_names), read_write=sorted(toolbox.write_names))


class TurnStateView(OrganizationView):
    """How a turn stands."""

    @operation("get_turn", "Read how a turn stands", tag=TAG, answer=TurnAnswer, errors=(404,))
    def get(self, request: Request, document_id: str, turn_id: str) -> TurnAnswer:
        get_document(actor=self.actor, document_id=document_id)
        try:
            turn = services.open_turn(actor=self.actor, document_id=document_id, turn_id=turn_id)
        except TurnNotFound as problem:
            raise TurnUnknown() from problem
        return turn_answer(turn, finisher(self.actor, document_id))


class TurnEventsView(TurnView):
    """The events of a turn after a cursor, then live."""

    @operation(
        "follow_turn",
        "Follow a turn: what was told after Last-Event-ID, then what comes",
        tag=TAG,
        answer=EVENTS,
        query=EventsQuery,
        errors=(400, 404),
        media_type="text/event-stream",
        headers=("Last-Event-ID",),
    )
    async def get(self, request: Request, document_id: str, turn_id: str) -> HttpResponseBase:
        after = self._cursor()
        turn = await in_thread(partial(self._open, document_id, turn_id))
        source = self.source(turn, finisher(self.actor, document_id), once_only=False)
        return event_response(event_frames(source, after=after))

    def _open(self, document_id: str, turn_id: str) -> Turn:
        get_document(actor=self.actor, document_id=document_id)
        try:
            return services.open_turn(actor=self.actor, document_id=document_id, turn_id=turn_id, whole=False)
        except TurnNotFound as problem:
            raise TurnUnknown() from problem

    def _cursor(self) -> int:
        after = self.query(EventsQuery).after
        given = self.plain_request.headers.get("Last-Event-ID", "").strip()
        if not given:
            return after
        if not (given.isascii() and given.isdigit() and len(given) <= 16 and int(given) <= MAX_CURSOR):
            raise CursorInvalid()
        return int(given)


def json_answer(result: Json) -> HttpResponse:
    """Only the keys that are there: clients tell a pause by its `turn_id`."""
    text = ChatAnswer.model_validate(result).model_dump_json(exclude_unset=True)
    return HttpResponse(text, content_type="application/json")


def decision_of(approval: ApprovalBody) -> Decision:
    """The wire's decision as the service takes it."""
    return Decision(
        call_id=approval.call_id,
        approved=approval.approved,
        arguments=approval.arguments,
        reason=approval.reason or "",
        arguments_hash=approval.arguments_hash,
    )


async def _said(seq: int, words: list[str]) -> AsyncGenerator[bytes, None]:
    for text in words:
        yield frame(seq, text)
