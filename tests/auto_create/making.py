"""Documents that are set up without a person: asked for, queued, and worked on in this process."""

from typing import Any

from agent import auto_create as worker
from documents.auto_create import request
from documents.models import AutoCreate, Document, Run
from documents.states import refresh_state
from tests.conftest import Person
from tests.documents.making import RECEIPT, make_document


def asked_for(person: Person, *lines: str, name: str = "receipt.pdf") -> tuple[Document, Run]:
    """A readable document whose auto-create waits for a worker."""
    document = make_document(person, *(lines or RECEIPT), name=name)
    attempt = request(actor=person.actor, document=document)
    assert attempt.run is not None or AutoCreate.objects.get(pk=attempt.pk).run is not None
    return document, Run.objects.get(document=document, kind="propose")


def proposed(person: Person, *lines: str, name: str = "receipt.pdf") -> Document:
    """A document that the built-in model has set up."""
    document, run = asked_for(person, *lines, name=name)
    worker.propose(run.pk)
    document.refresh_from_db()
    assert document.auto_create_status == "proposed", attempt_of(document).error_message
    return document


def attempt_of(document: Document) -> AutoCreate:
    return AutoCreate.objects.filter(document=document).order_by("-created_at", "-id")[0]


__all__ = ["Any", "asked_for", "attempt_of", "proposed", "refresh_state"]
