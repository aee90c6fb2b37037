"""Live news of documents, as HTML that finds its own place: states in the list, the workspace of one document."""

from typing import Any

from channels.db import database_sync_to_async
from django.template.loader import render_to_string

from documents.errors import DocumentNotFound
from documents.events import document_group, documents_group
from documents.models import Run
from documents.selectors import get_document, latest_parse
from documents.sockets import MemberConsumer
from documents.status import kept_here, shown_tags, status_of

_LIST_CHANGES = {"document.uploaded", "document.updated", "document.deleted", "document.restored"}
_AUTO_CREATE = "document.auto_create."
_SHOWN_ELSEWHERE = ("turn.", "share.", "document.published", "document.unpublished")
_READ_ENDS = {"run.completed", "run.failed", "run.cancelled"}


class DocumentsConsumer(MemberConsumer):
    """For the documents page: every document of the organization."""

    async def watched(self) -> tuple[str, ...]:
        return (documents_group(self.actor.organization_id),)

    async def document_event(self, message: dict[str, Any]) -> None:
        """An event of a document: its state again, and whether the list itself has changed."""
        event = message["event"]
        if event["type"].startswith(_SHOWN_ELSEWHERE) or not await self.still_member():
            return
        if event["type"] in _LIST_CHANGES:
            await self.send(text_data=render_to_string("documents/_list_news.html", {"event": event}))
        if event["type"].startswith(_AUTO_CREATE):
            await self.send(text_data=render_to_string("documents/_waiting_news.html"))
        status = await database_sync_to_async(_status)(self, event["documentId"])
        if status:
            await self.send(text_data=status)


class DocumentConsumer(MemberConsumer):
    """For the workspace: one document."""

    async def watched(self) -> tuple[str, ...]:
        groups: tuple[str, ...] = await database_sync_to_async(self._watched)()
        return groups

    def _watched(self) -> tuple[str, ...]:
        try:
            document = get_document(actor=self.actor, document_id=self.scope["url_route"]["kwargs"]["document_id"])
        except DocumentNotFound:
            return ()
        return (document_group(document.pk),)

    async def document_event(self, message: dict[str, Any]) -> None:
        """An event of the document: its state, what happened to its result, its pages when reading has ended."""
        event = message["event"]
        if not event["type"].startswith(_SHOWN_ELSEWHERE) and await self.still_member():
            await self.send(text_data=await database_sync_to_async(self._render)(event))

    def _render(self, event: dict[str, Any]) -> str:
        context = {
            "event": event,
            "document_id": event["documentId"],
            "reading_ended": event["type"] in _READ_ENDS,
        }
        news: str = render_to_string("documents/_workspace_news.html", context)
        if event["type"].startswith(_AUTO_CREATE):
            news += render_to_string("documents/_waiting_news.html")
        if event["type"] == "document.updated":
            news += _title(self, event["documentId"])
        return _status(self, event["documentId"]) + news


def _title(consumer: MemberConsumer, document_id: str) -> str:
    """Name and tags as they are now."""
    try:
        document = get_document(actor=consumer.actor, document_id=document_id)
    except DocumentNotFound:
        return ""
    context = {"document": document, "shown_tags": shown_tags(document), "kept_here": kept_here(document), "live": True}
    parts = ("documents/_name.html", "documents/_kept_here.html", "documents/_title_tags.html")
    return "".join(render_to_string(part, context) for part in parts)


def _status(consumer: MemberConsumer, document_id: str) -> str:
    try:
        document = get_document(actor=consumer.actor, document_id=document_id)
    except DocumentNotFound:
        return ""
    parse: Run | None = latest_parse(actor=consumer.actor, document_id=document_id)
    context = {"document": document, "status": status_of(document, parse), "live": True}
    return render_to_string("documents/_status.html", context)
