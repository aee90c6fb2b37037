"""Reading answers that were kept."""

from agent.errors import ResponseNotFound
from agent.models import Response
from documents.selectors import get_document
from organizations.actor import Actor
from organizations.gate import get_owned

_PREFIX = "resp_"


def get_response(*, actor: Actor, document_id: object, response_id: str) -> Response:
    """An answer about a document, for who asked: a question is as private as a thread.

    `response_id` may be in OpenAI's form. Raises: DocumentNotFound, ResponseNotFound.
    """
    document = get_document(actor=actor, document_id=document_id)
    row = get_owned(Response, actor, response_id.removeprefix(_PREFIX), error=ResponseNotFound, related=["document"])
    if row.document_id != document.pk or row.author_id != actor.user_id:
        raise ResponseNotFound
    return row
