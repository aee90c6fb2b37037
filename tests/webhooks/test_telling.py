"""Which events of documents and of the agent are told, and with what: ids, names and states, no text."""

from typing import Any

import pytest
from django.db import transaction

from agent.announcing import announce_waiting
from agent.events import CallShown
from documents.events import append_event
from documents.models import Document, Run
from documents.services import UploadedFile, upload_documents
from tags_app.services import create_tag
from tests.agent.rows import make_thread, make_turn
from tests.conftest import Person
from tests.documents.making import make_document, make_prompt
from tests.webhooks.making import make_webhook
from webhooks.models import Delivery

SECRET_TEXT = "IBAN DE89370400440532013000"


@pytest.fixture
def document(alice: Person) -> Document:
    make_webhook(alice, "https://example.com/hook")
    document = make_document(alice, SECRET_TEXT, name="June.pdf")
    Delivery.objects.all().delete()
    return document


def told() -> tuple[str, dict[str, Any]]:
    """The only delivery: its event, and what it says beside the envelope."""
    delivery = Delivery.objects.get()
    assert SECRET_TEXT not in str(delivery.payload)
    envelope = ("event_id", "event_type", "timestamp", "created_at", "organization_id")
    return delivery.event, {key: value for key, value in delivery.payload.items() if key not in envelope}


def run_of(document: Document, **more: Any) -> Run:
    return Run.objects.create(
        organization_id=document.organization_id, document=document, version=document.current_version, **more
    )


def append(document: Document, type: str, run: Run | None = None, **data: Any) -> None:
    with transaction.atomic():
        append_event(document_id=document.pk, type=type, run=run, data=data)


def test_an_upload_is_told_with_its_tags_and_metadata(alice: Person) -> None:
    make_webhook(alice, "https://example.com/hook")
    tag = create_tag(actor=alice.actor, name="Invoice")
    file = UploadedFile(name="note.txt", data=SECRET_TEXT.encode(), tag_ids=[tag.pk.hex], metadata={"order": "7"})
    [result] = upload_documents(actor=alice.actor, files=[file])
    document_id = result.document.pk.hex
    assert told() == (
        "document.uploaded",
        {
            "document": {
                "document_id": document_id,
                "document_name": "note.txt",
                "state": "uploaded",
                "tag_ids": [tag.pk.hex],
                "metadata": {"order": "7"},
            }
        },
    )


def test_a_read_that_failed_is_told_with_its_reason(document: Document) -> None:
    run = run_of(document, kind="parse", phase="error", error_code="broken", error_message="It is broken.")
    append(document, "run.failed", run, kind="parse")
    event, data = told()
    assert event == "document.error"
    assert data["error"] == {"code": "broken", "message": "It is broken.", "retryable": False}


def test_a_result_is_told_without_its_values(alice: Person, document: Document) -> None:
    revision = make_prompt(alice, name="Receipt", model="docrouter/offline")
    run = run_of(document, kind="extract", phase="complete", prompt_revision=revision)
    append(document, "extraction.completed", run, extraction_id="1" * 32, grounding={"found": 2})
    event, data = told()
    assert event == "llm.completed"
    assert data["prompt"] == {
        "prompt_revid": revision.pk.hex,
        "prompt_id": revision.prompt_id.hex,
        "prompt_version": revision.version,
    }
    assert data["extraction"] == {"extraction_id": "1" * 32, "grounding": {"found": 2}}


@pytest.mark.parametrize(("phase", "events"), [("error", ["llm.error"]), ("cancelled", [])])
def test_a_prompt_that_failed_is_told_and_one_that_was_stopped_is_not(
    document: Document, phase: str, events: list[str]
) -> None:
    append(
        document,
        "extraction.failed",
        run_of(document, kind="extract", phase=phase, error_code="x"),
        code="x",
        retryable=False,
    )
    assert list(Delivery.objects.values_list("event", flat=True)) == events
    if events:
        assert told()[1]["prompt"]["prompt_revid"] == "default"


def test_a_proposal_is_told(document: Document) -> None:
    append(document, "document.auto_create.proposed", status="proposed")
    event, data = told()
    assert (event, data["proposal"], data["document"]["document_name"]) == (
        "auto_create.proposed",
        {"status": "proposed"},
        "June.pdf",
    )


@pytest.mark.parametrize(
    ("type", "data"),
    [
        ("document.updated", {"changed": ["name"]}),
        ("run.queued", {"kind": "parse"}),
        ("run.completed", {"kind": "parse"}),
        ("extraction.started", {"prompt_revid": "default"}),
    ],
)
def test_most_of_a_log_is_nobodys_business(document: Document, type: str, data: dict[str, Any]) -> None:
    append(document, type, run_of(document, kind="parse", phase="queued"), **data)
    assert not Delivery.objects.exists()


def test_a_turn_that_waits_is_told_by_the_names_of_its_tools(alice: Person, document: Document) -> None:
    turn = make_turn(make_thread(alice.actor, document), alice.actor, question=SECRET_TEXT)
    call = CallShown(id="call_1", name="create_tag", arguments=f'{{"name": "{SECRET_TEXT}"}}', summary=SECRET_TEXT)
    with transaction.atomic():
        announce_waiting(turn, [call])
    event, data = told()
    assert event == "approval.waiting"
    assert data["turn"]["turn_id"] == turn.pk.hex
    assert data["calls"] == [{"call_id": "call_1", "name": "create_tag"}]
