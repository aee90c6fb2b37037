"""Threads over JSON: list, make, read page by page, rename, share, delete."""

from django.http import HttpResponse
from pydantic import TypeAdapter
from rest_framework.request import Request

from agent import services
from agent.api.bodies import (
    Ok,
    ThreadAnswer,
    ThreadBody,
    ThreadChange,
    ThreadItem,
    ThreadMade,
    ThreadQuery,
    ThreadsQuery,
    WorkingState,
)
from agent.api.results import finish_result
from agent.api.showing import thread_messages
from agent.errors import TurnNotFound
from agent.models import Thread
from agent.selectors import get_thread_message, get_turn, list_threads, open_turn_of, thread_page
from core.api.operations import operation
from core.errors import Invalid
from core.ids import show_id
from organizations.api.doors import OrganizationView

TAG = "Agent"
PAGE = 200
_LIST = TypeAdapter(list[ThreadItem])


class ThreadsView(OrganizationView):
    """The conversations about a document: one's own and the shared ones."""

    @operation("list_threads", "List the threads", tag=TAG, answer=list[ThreadItem], query=ThreadsQuery, errors=(404,))
    def get(self, request: Request, document_id: str) -> HttpResponse:
        limit = self.query(ThreadsQuery).limit
        items = [ThreadItem.of(row) for row in list_threads(actor=self.actor, document_id=document_id)[:limit]]
        return HttpResponse(_LIST.dump_json(items), content_type="application/json")

    @operation(
        "create_thread",
        "Begin a thread",
        tag=TAG,
        answer=ThreadMade,
        body=ThreadBody,
        errors=(400, 404),
        example={"title": "Invoice fields"},
    )
    def post(self, request: Request, document_id: str) -> ThreadMade:
        title = self.optional_body(ThreadBody).title or ""
        thread = services.create_thread(actor=self.actor, document_id=document_id, title=title)
        return ThreadMade(thread_id=show_id(thread.pk))


class ThreadView(OrganizationView):
    """One conversation."""

    @operation(
        "get_thread",
        "Read a thread: its newest messages, or those before one",
        tag=TAG,
        answer=ThreadAnswer,
        query=ThreadQuery,
        errors=(400, 404),
    )
    def get(self, request: Request, document_id: str, thread_id: str) -> ThreadAnswer:
        asked = self.query(ThreadQuery)
        thread = services.open_thread(actor=self.actor, document_id=document_id, thread_id=thread_id)
        before = get_thread_message(thread=thread, message_id=asked.before) if asked.before is not None else None
        head = get_turn(actor=self.actor, turn_id=asked.head, document_id=document_id) if asked.head else None
        if head is not None and head.thread_id != thread.pk:
            raise TurnNotFound()
        page = thread_page(thread=thread, head=head, until=before.turn if before else None, limit=PAGE)
        messages = thread_messages(page.turns, page.siblings)
        if before is not None:
            ids = [message.id for message in messages]
            messages = messages[: ids.index(show_id(before.pk))] if show_id(before.pk) in ids else messages
        state = finish_result({"working_state": thread.working_state}, actor=self.actor, document_id=document_id)
        working_state = WorkingState.model_validate(state["working_state"])
        standing = open_turn_of(thread=thread)
        return ThreadAnswer(
            **ThreadItem.of(thread).model_dump(),
            messages=messages[-PAGE:],
            has_earlier=page.has_earlier or len(messages) > PAGE,
            extraction=working_state.extraction,
            working_state=working_state,
            open_turn_id=show_id(standing.pk) if standing else None,
        )

    @operation(
        "rename_thread",
        "Rename a thread, or share it with the organization",
        tag=TAG,
        answer=ThreadItem,
        body=ThreadChange,
        errors=(400, 403, 404),
        example={"title": "Invoice fields"},
    )
    def patch(self, request: Request, document_id: str, thread_id: str) -> ThreadItem:
        return self._change(document_id, thread_id)

    @operation(
        "replace_thread_title",
        "Rename a thread, or share it with the organization",
        tag=TAG,
        answer=ThreadItem,
        body=ThreadChange,
        errors=(400, 403, 404),
        example={"title": "Invoice fields"},
    )
    def put(self, request: Request, document_id: str, thread_id: str) -> ThreadItem:
        return self._change(document_id, thread_id)

    @operation("delete_thread", "Delete a thread", tag=TAG, answer=Ok, errors=(403, 404))
    def delete(self, request: Request, document_id: str, thread_id: str) -> Ok:
        services.delete_thread(actor=self.actor, document_id=document_id, thread_id=thread_id)
        return Ok()

    def _change(self, document_id: str, thread_id: str) -> ThreadItem:
        change = self.body(ThreadChange)
        thread: Thread | None = None
        where = {"document_id": document_id, "thread_id": thread_id}
        if change.title is not None:
            thread = services.rename_thread(actor=self.actor, title=change.title, **where)
        if change.shared is not None:
            thread = services.share_thread(actor=self.actor, shared=change.shared, **where)
        if thread is None:
            raise Invalid("Say what to change: title or shared.")
        return ThreadItem.of(thread)
