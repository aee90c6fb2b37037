"""Events of a document: a page of them after a cursor, or a stream that goes on."""

from functools import partial

from django.http import HttpResponseBase
from rest_framework.request import Request

from core.api.operations import operation
from core.api.streams import cursor_of, event_response, wants_events
from core.api.v1 import V1Problem, respond
from core.threads import in_thread
from documents import selectors
from documents.api.v1.bodies import V1Event, V1Events, V1EventsQuery
from documents.api.v1.documents import HEADERS
from documents.api.v1.following import Source, event_frames
from documents.events import document_group
from documents.selectors import EventPage
from organizations.api.v1_doors import AsyncV1View
from organizations.news import members_group

TAG = "Documents (v1)"
PAGE_OF_A_STREAM = 200


class V1EventsView(AsyncV1View):
    """Everything that happened to a document, in order."""

    @operation(
        "v1_list_events", "Read a document's events after a cursor, or follow them as they come", tag=TAG,
        answer=V1Events, query=V1EventsQuery, errors=(400, 404), or_events=True,
        headers=("Last-Event-ID", *HEADERS), problem=V1Problem,
    )  # fmt: skip
    async def get(self, request: Request, document_id: str) -> HttpResponseBase:
        asked = self.query(V1EventsQuery)
        if not wants_events(self.plain_request):
            page = await in_thread(partial(self._page, document_id, asked.after, asked.limit))
            shown = [V1Event.model_validate(event) for event in page.events]
            return respond(V1Events(events=shown, next_after=page.next_after, head_seq=page.head_seq), 200)
        after = cursor_of(self.plain_request, otherwise=asked.after)
        document = await in_thread(partial(selectors.get_document, actor=self.actor, document_id=document_id))
        source = Source(
            groups=(document_group(document.pk), members_group(self.actor.organization_id)),
            read=lambda cursor: self._page(document_id, cursor, PAGE_OF_A_STREAM),
            admit=partial(self.admit, self.plain_request),
        )
        return event_response(event_frames(source, after=after))

    def _page(self, document_id: str, after: int, limit: int) -> EventPage:
        return selectors.list_events(actor=self.actor, document_id=document_id, after=after, limit=limit)
