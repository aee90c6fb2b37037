"""On a real Celery worker, from an upload to the receiver: at the commit, and by the clock what was left behind."""

import json
import time

import pytest
from django.db import transaction

from documents.services import UploadedFile, upload_documents
from organizations.models import Organization
from tests.conftest import Person, make_person
from tests.documents.conftest import StartWorker, start_worker
from tests.webhooks.making import make_webhook, tell
from tests.webhooks.receiver import Receiver
from webhooks import services, tasks

__all__ = ["start_worker"]

pytestmark = pytest.mark.slow


@pytest.fixture
def alice(transactional_db: None) -> Person:
    return make_person("alice@example.com")


def wait_for(receiver: Receiver, count: int) -> None:
    deadline = time.monotonic() + 60
    while len(receiver.received) < count and time.monotonic() < deadline:
        time.sleep(0.02)
    assert len(receiver.received) == count


def test_a_worker_sends_what_happens_and_what_was_left_behind(
    alice: Person, receiver: Receiver, start_worker: StartWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_webhook(alice, receiver.url, events=["document.uploaded"])
    start_worker("default", WEBHOOK_ALLOWED_NETWORKS="127.0.0.0/8")
    upload_documents(actor=alice.actor, files=[UploadedFile(name="note.txt", data=b"A note")])
    wait_for(receiver, 1)
    told = json.loads(receiver.received[0].body)
    assert (told["event_type"], told["document"]["document_name"]) == ("document.uploaded", "note.txt")
    monkeypatch.setattr(services.tasks.deliver, "delay", lambda _: None)  # as if the broker had lost it
    with transaction.atomic():
        tell(alice)
    tasks.deliver_all.delay()
    wait_for(receiver, 2)


def test_from_an_upload_to_the_result_each_step_is_told(
    alice: Person, receiver: Receiver, start_worker: StartWorker
) -> None:
    Organization.objects.update(default_prompt_enabled=True)
    make_webhook(alice, receiver.url)
    start_worker("default", "ingest", "llm", WEBHOOK_ALLOWED_NETWORKS="127.0.0.0/8")
    good = UploadedFile(name="note.txt", data=b"Invoice 4711\nTotal 12.00")
    broken = UploadedFile(name="scan.pdf", data=b"%PDF-1.4 and then nothing of the kind")
    upload_documents(actor=alice.actor, files=[good])
    upload_documents(actor=alice.actor, files=[broken])
    wait_for(receiver, 4)
    told = [json.loads(got.body) for got in receiver.received]
    names = sorted((one["event_type"], one["document"]["document_name"]) for one in told)
    assert names == [
        ("document.error", "scan.pdf"),
        ("document.uploaded", "note.txt"),
        ("document.uploaded", "scan.pdf"),
        ("llm.completed", "note.txt"),
    ]
    result = next(one for one in told if one["event_type"] == "llm.completed")
    assert (result["prompt"]["prompt_revid"], result["document"]["state"]) == ("default", "llm_completed")
    assert "4711" not in str(told)
