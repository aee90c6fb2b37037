"""Ask a question about one document: JSON, or a stream of events in our words or in those of OpenAI's clients."""

from functools import partial
from typing import Any

from django.http import HttpResponseBase
from rest_framework.request import Request

from agent.answering import Answering
from agent.answers.asked import Asked, Job
from agent.answers.selectors import get_response
from agent.answers.services import begin_response, begin_shared_response
from agent.api.v1.bodies import ResponseBody, ResponseQuery, ShareQuery, asked_of
from agent.api.v1.showing import ResponseAnswer, Showing, kept_answer
from agent.api.v1.streams import OpenAIDialect, OurDialect, response_frames
from agent.errors import NotSupported
from core.api.operations import EVENTS, operation
from core.api.streams import event_response
from core.api.v1 import V1Problem, respond
from core.api.views import Result
from core.threads import in_thread
from documents.sharing.guarding import guarded_public
from documents.sharing.services import open_for_asking, return_answer
from documents.sharing.shown import SharedView
from organizations.api.v1_doors import ORGANIZATION_HEADER, AsyncV1PublicView, AsyncV1View, V1View

TAG = "Responses (v1)"
ERRORS = (400, 404, 409, 429, 500, 503)
HEADERS = (ORGANIZATION_HEADER,)
EXAMPLE = {"input": "What is the total?"}


class AnsweringView(AsyncV1View):
    """What the doors of a question have in common."""

    rates = {"POST": "chat"}

    async def begin(self, document_id: str) -> tuple[Answering, Showing, ResponseBody]:
        """The question, written down and put to the model."""
        body = await in_thread(partial(self.body, ResponseBody))
        asked = await in_thread(partial(asked_of, body))
        job = await in_thread(partial(begin_response, actor=self.actor, document_id=document_id, asked=asked))
        return Answering(job), _showing(job, body), body


class ResponsesView(AnsweringView):
    """Ask; with stream: true the events are those of OpenAI's Responses API."""

    @operation(
        "v1_create_response",
        "Ask a question about a document; with stream: true the answer is a stream of OpenAI's events",
        tag=TAG,
        answer=ResponseAnswer,
        or_events=True,
        body=ResponseBody,
        errors=ERRORS,
        example=EXAMPLE,
        headers=HEADERS,
        problem=V1Problem,
    )
    async def post(self, request: Request, document_id: str) -> Result:
        answering, showing, body = await self.begin(document_id)
        if body.stream:
            return event_response(response_frames(answering, OpenAIDialect(showing)))
        return showing.ended(await answering.result())


class ResponseView(V1View):
    """An answer that was given."""

    @operation(
        "v1_get_response",
        "Read an answer again, if you asked",
        tag=TAG,
        answer=ResponseAnswer,
        query=ResponseQuery,
        errors=(400, 404),
        headers=HEADERS,
        problem=V1Problem,
    )
    def get(self, request: Request, document_id: str, response_id: str) -> ResponseAnswer:
        if self.query(ResponseQuery).stream:
            raise NotSupported("An answer that was kept does not stream.", fields={"stream": "leave it out"})
        return kept_answer(get_response(actor=self.actor, document_id=document_id, response_id=response_id))


class ResponsesStreamView(AnsweringView):
    """Ask; the answer streams in our own events."""

    @operation(
        "v1_stream_response",
        "Ask a question about a document; the answer streams",
        tag=TAG,
        answer=EVENTS,
        media_type="text/event-stream",
        body=ResponseBody,
        errors=ERRORS,
        example=EXAMPLE,
        headers=HEADERS,
        problem=V1Problem,
    )
    async def post(self, request: Request, document_id: str) -> HttpResponseBase:
        answering, showing, _ = await self.begin(document_id)
        return event_response(response_frames(answering, OurDialect(showing)))


class SharedResponsesView(AsyncV1PublicView):
    """Ask through a link of role "ask": by token, or by the ticket of a view, which the answer gives back.

    The organization's default model answers, whatever name is sent.
    """

    rates = {"POST": "chat"}

    @operation(
        "v1_create_shared_response",
        "Ask a question through a share link; with stream: true the answer is a stream of OpenAI's events",
        tag=TAG,
        answer=ResponseAnswer,
        or_events=True,
        body=ResponseBody,
        query=ShareQuery,
        errors=(400, 401, 403, 409, 410, 500, 503),
        example=EXAMPLE,
        headers=("X-Share-Token", "X-Share-Ticket", "X-Share-Password"),
        public=True,
        problem=V1Problem,
    )
    async def post(self, request: Request, share_id: str) -> HttpResponseBase:
        body = await in_thread(partial(self.body, ResponseBody))
        asked = await in_thread(partial(asked_of, body))
        if asked.run_id:
            raise NotSupported("A link has one text; runId cannot be chosen.", fields={"runId": "leave it out"})
        view, job = await in_thread(partial(self._begin, share_id, asked))
        answering, showing = Answering(job), _showing(job, body)
        answer: HttpResponseBase
        if body.stream:
            answer = event_response(response_frames(answering, OpenAIDialect(showing)))
        else:
            answer = respond(showing.ended(await answering.result()), 200)
        answer["X-Share-Ticket"] = view.ticket
        return answer

    def _begin(self, share_id: str, asked: Asked) -> tuple[SharedView, Job]:
        query, headers = self.query(ShareQuery), self.plain_request.headers
        view = open_for_asking(
            share_id=share_id,
            token=headers.get("X-Share-Token", query.token),
            ticket=headers.get("X-Share-Ticket", query.ticket),
            password=headers.get("X-Share-Password"),
            address=self.plain_request.META.get("REMOTE_ADDR", ""),
        )
        try:
            return view, begin_shared_response(view=view, asked=asked)
        except Exception:  # whatever it was: the answer that was counted is given back
            return_answer(share_id=view.share_id)
            raise

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        """A token may stand in the address: it is kept out of the log and of other sites."""
        return guarded_public(super().finalize_response(request, response, *args, **kwargs))


def _showing(job: Job, body: ResponseBody) -> Showing:
    return Showing(job, instructions=body.instructions, metadata=body.metadata)
