"""What the agent proposed by itself, over JSON: read how it stands, accept (and tag), reject, try again.

It stands with the agent's addresses since a rejection stops who works on the proposal in the chat.
"""

from datetime import datetime
from typing import Annotated

from pydantic import Field
from rest_framework.request import Request

from agent import reviewing as with_chat
from core.api.bodies import HIGHEST, Answer, Body
from core.api.operations import operation
from core.ids import show_id
from documents import reviewing
from documents.api.bodies import AutoCreateState
from documents.errors import NothingProposed
from documents.proposals import auto_create_facts, facts_of, newest_attempt
from documents.reviewing import Outcome
from documents.selectors import get_document
from documents.spreading import preview_tag
from organizations.api.doors import OrganizationView

TAG = "Auto-create"


class ReviewAcceptBody(Body):
    """With `tag_id`, document and prompt get the tag, and the prompt runs on the tag's other documents.

    `documents` confirms on how many it will run: what GET …/auto_create/tag said.
    """

    tag_id: str | None = None
    documents: Annotated[int, Field(ge=0, le=HIGHEST)] | None = None


class TagQuery(Body):
    """The tag that is thought of."""

    tag_id: str


class TagPreview(Answer):
    """What accepting with this tag would set in motion: the prompt runs on so many other documents."""

    tag_id: str
    prompt_revid: str | None
    documents: int


class ReviewAnswer(Answer):
    """How it stands after this call; `counted` is false when somebody had decided before, and then who and when.

    `kept`: names of what a rejection left, since something else uses it by now.
    """

    status: str
    counted: bool
    decided_by: str
    decided_at: datetime | None
    kept: list[str]

    @classmethod
    def of(cls, outcome: Outcome) -> "ReviewAnswer":
        attempt = outcome.attempt
        return cls(
            status=attempt.status,
            counted=outcome.counted,
            decided_by=attempt.decided_by_name,
            decided_at=attempt.decided_at,
            kept=list(outcome.kept),
        )


class AutoCreateView(OrganizationView):
    """How it stands."""

    @operation("get_auto_create", "See what the agent proposed", tag=TAG, answer=AutoCreateState, errors=(404,))
    def get(self, request: Request, document_id: str) -> AutoCreateState:
        document = get_document(actor=self.actor, document_id=document_id)
        return AutoCreateState.of(auto_create_facts(actor=self.actor, documents=[document])[document.pk])


class TagPreviewView(OrganizationView):
    """Counting before anything runs."""

    @operation(
        "preview_auto_create_tag", "Count what accepting with a tag would run on", tag=TAG, answer=TagPreview,
        query=TagQuery, errors=(400, 404, 409),
    )  # fmt: skip
    def get(self, request: Request, document_id: str) -> TagPreview:
        attempt = newest_attempt(actor=self.actor, document_id=document_id)
        if attempt is None:
            raise NothingProposed
        found = preview_tag(actor=self.actor, attempt=attempt, tag_id=self.query(TagQuery).tag_id)
        prompt = show_id(found.prompt.pk) if found.prompt else None
        return TagPreview(tag_id=show_id(found.tag.pk), prompt_revid=prompt, documents=found.count)


class AcceptView(OrganizationView):
    """Yes."""

    @operation(
        "accept_auto_create", "Accept what the agent proposed", tag=TAG, answer=ReviewAnswer, body=ReviewAcceptBody,
        errors=(400, 404, 409), example={"tag_id": "01a2019d16c17798972bcbfdd43d2b19", "documents": 12},
    )  # fmt: skip
    def post(self, request: Request, document_id: str) -> ReviewAnswer:
        body = self.optional_body(ReviewAcceptBody)
        if body.tag_id is None:
            return ReviewAnswer.of(reviewing.accept(actor=self.actor, document_id=document_id))
        outcome = reviewing.accept_and_tag(
            actor=self.actor, document_id=document_id, tag_id=body.tag_id, count=body.documents
        )
        return ReviewAnswer.of(outcome)


class RejectView(OrganizationView):
    """No."""

    @operation(
        "reject_auto_create", "Reject it: what it made is deleted", tag=TAG, answer=ReviewAnswer, errors=(404, 409)
    )
    def post(self, request: Request, document_id: str) -> ReviewAnswer:
        return ReviewAnswer.of(with_chat.reject(actor=self.actor, document_id=document_id))


class RetryView(OrganizationView):
    """Again."""

    @operation(
        "retry_auto_create", "Try again after a failure or a rejection", tag=TAG, answer=AutoCreateState,
        errors=(404, 409),
    )  # fmt: skip
    def post(self, request: Request, document_id: str) -> AutoCreateState:
        return AutoCreateState.of(facts_of(reviewing.try_again(actor=self.actor, document_id=document_id)))
