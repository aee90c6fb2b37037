"""One of each thing that alice has: what the permission table and the attacks are tried on."""

from dataclasses import dataclass, fields
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.utils import timezone

from agent.models import Response, StandingRule
from documents.models import Document, Extraction
from documents.publishing import publish
from documents.sharing.services import create_share_link
from tags_app.services import create_tag
from tests.agent.rows import add_call, add_message, make_thread, make_turn
from tests.conftest import Person
from tests.documents.making import RECEIPT, make_document, make_prompt
from webhooks.models import Delivery, Webhook
from webhooks.services import WebhookChanges, create_webhook

MARK = "Xylophon"
"""Stands in every name and text of alice's: whoever sees it sees something of hers."""


@dataclass(frozen=True)
class Belongings:
    """Ids of alice's things, by the names that addresses use. The thread is private, its turn waits."""

    document_id: str
    run_id: str
    extraction_id: str
    schema_id: str
    schema_revid: str
    prompt_id: str
    prompt_revid: str
    tag_id: str
    thread_id: str
    turn_id: str
    call_id: str
    done_call_id: str
    call_name: str
    call_hash: str
    rule_id: str
    webhook_id: str
    delivery_id: str
    share_id: str
    publication_id: str
    response_id: str

    def ids(self) -> dict[str, str]:
        return {field.name: getattr(self, field.name) for field in fields(self)}


def belongings_of(person: Person, *, mark: str = MARK) -> Belongings:
    """Make one of each; the name of each is `mark` and what it is."""
    tag = create_tag(actor=person.actor, name=f"{mark} tag", description=f"{mark} said of it")
    revision = make_prompt(person, name=f"{mark} prompt", model="docrouter/offline")
    document = readable_document(person, mark)
    document.tags.add(tag.pk)
    extraction = extraction_of(person, document, revision.pk, {"number": f"{mark} 1", "total": 4950})
    thread = make_thread(person.actor, document, title=f"{mark} thread")
    turn = make_turn(thread, person.actor, question=f"{mark} question")
    message = add_message(turn, "assistant", f"{mark} answer", sent={"messages": [mark]})
    done = add_call(
        message,
        "create_tag",
        {"name": tag.name},
        status="done",
        decision="approved",
        result={"tag_id": tag.pk.hex, "name": tag.name},
        undo={"kind": "document_updated", "document_id": document.pk.hex, "before": {}, "after": {}},
    )
    waiting = add_call(message, "create_tag", {"name": f"{mark} proposal"})
    rule = StandingRule.objects.create(
        organization=person.organization,
        user=person.user,
        tool="create_tag",
        document=document,
        until=timezone.now() + timedelta(days=1),
    )
    webhook, delivery = webhook_of(person, mark)
    schema_revision = revision.schema_revision
    assert schema_revision is not None
    shared = create_share_link(actor=person.actor, document_id=document.pk).link
    published = publish(actor=person.actor, document_id=document.pk)
    return Belongings(
        document_id=document.pk.hex,
        run_id=document.runs.get().pk.hex,
        extraction_id=extraction.pk.hex,
        schema_id=schema_revision.schema_id.hex,
        schema_revid=schema_revision.pk.hex,
        prompt_id=revision.prompt_id.hex,
        prompt_revid=revision.pk.hex,
        tag_id=tag.pk.hex,
        thread_id=thread.pk.hex,
        turn_id=turn.pk.hex,
        call_id=waiting.pk.hex,
        done_call_id=done.pk.hex,
        call_name=waiting.call_id,
        call_hash=waiting.arguments_hash,
        rule_id=rule.pk.hex,
        webhook_id=webhook.pk.hex,
        delivery_id=delivery.pk.hex,
        share_id=shared.pk.hex,
        publication_id=published.pk.hex,
        response_id=response_of(person, document, mark).pk.hex,
    )


def webhook_of(person: Person, mark: str) -> tuple[Webhook, Delivery]:
    """A webhook with a delivery that failed."""
    changes = WebhookChanges(name=f"{mark} webhook", url=f"https://example.com/{mark.replace(' ', '-')}")
    webhook, _ = create_webhook(actor=person.actor, changes=changes)
    delivery = Delivery.objects.create(
        organization=person.organization,
        webhook=webhook,
        event_id=webhook.pk,
        event="document.uploaded",
        payload={"document": {"document_name": f"{mark}.pdf"}},
        status="failed",
        next_attempt_at=None,
        ended_at=timezone.now(),
    )
    return webhook, delivery


def response_of(person: Person, document: Document, mark: str) -> Response:
    """A question that was answered."""
    version = document.current_version
    assert version is not None
    return Response.objects.create(
        organization=person.organization,
        document=document,
        version=version,
        author=person.user,
        status="completed",
        question=f"{mark} question",
        answer=f"{mark} answer",
        model_used="docrouter/offline",
        completed_at=timezone.now(),
    )


def readable_document(person: Person, mark: str = MARK) -> Document:
    """A document of one page with a stored file."""
    document = make_document(person, *RECEIPT, f"{mark} stands on the page", name=f"{mark}.pdf")
    version = document.current_version
    assert version is not None
    version.file_key = version.pdf_key = default_storage.save(f"tests/{document.pk.hex}", ContentFile(b"%PDF-1.4"))
    version.size_bytes = 8
    version.save()
    return document


def extraction_of(person: Person, document: Document, revision_id: UUID, values: dict[str, Any]) -> Extraction:
    """A result of the prompt on the document, as if a model had read these values."""
    return Extraction.objects.create(
        organization=person.organization,
        document=document,
        version=document.current_version,
        prompt_revision_id=revision_id,
        llm_result=values,
        updated_llm_result=values,
    )
