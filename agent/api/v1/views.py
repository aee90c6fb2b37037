"""Ask a question about one document: JSON, or a stream of events in our words or in those of OpenAI's clients."""

import time
from functools import partial

from django.http import HttpResponseBase
from rest_framework.request import Request

from agent.answering import Answering
from agent.answers.services import begin_response
from agent.api.frames import event_response
from agent.api.v1.bodies import ResponseBody, asked_of
from agent.api.v1.showing import ResponseAnswer, Showing
from agent.api.v1.streams import OpenAIDialect, OurDialect, response_frames
from core.api.operations import EVENTS, operation
from core.api.v1 import V1Problem
from core.api.views import Result
from core.threads import in_thread
from organizations.api.v1_doors import AsyncV1View

TAG = "Responses"
ERRORS = (400, 404, 409, 429, 500, 503)
EXAMPLE = {"input": "What is the total?"}


class AnsweringView(AsyncV1View):
    """What the doors of a question have in common."""

    rates = {"POST": "chat"}

    async def begin(self, document_id: str) -> tuple[Answering, Showing, ResponseBody]:
        """The question, written down and put to the model."""
        body = await in_thread(partial(self.body, ResponseBody))
        asked = await in_thread(partial(asked_of, body))
        job = await in_thread(partial(begin_response, actor=self.actor, document_id=document_id, asked=asked))
        showing = Showing(job, instructions=body.instructions, metadata=body.metadata)
        return Answering(job), showing, body


class ResponsesView(AnsweringView):
    """Ask; with stream: true the events are those of OpenAI's Responses API."""

    @operation(
        "create_response",
        "Ask a question about a document; with stream: true the answer is a stream of OpenAI's events",
        tag=TAG,
        answer=ResponseAnswer,
        or_events=True,
        body=ResponseBody,
        errors=ERRORS,
        example=EXAMPLE,
        problem=V1Problem,
    )
    async def post(self, request: Request, document_id: str) -> Result:
        answering, showing, body = await self.begin(document_id)
        if body.stream:
            return event_response(response_frames(answering, OpenAIDialect(showing, int(time.time()))))
        return showing.ended(await answering.result())


class ResponsesStreamView(AnsweringView):
    """Ask; the answer streams in our own events."""

    @operation(
        "stream_response",
        "Ask a question about a document; the answer streams",
        tag=TAG,
        answer=EVENTS,
        media_type="text/event-stream",
        body=ResponseBody,
        errors=ERRORS,
        example=EXAMPLE,
        problem=V1Problem,
    )
    async def post(self, request: Request, document_id: str) -> HttpResponseBase:
        answering, showing, _ = await self.begin(document_id)
        return event_response(response_frames(answering, OurDialect(showing)))
