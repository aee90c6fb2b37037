"""Starting and stopping runs: new bytes, prompts by hand, what is in the way, what a stopped worker may still write."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.utils import timezone

from documents import extraction, files, pipeline, processing, selectors, services
from documents.errors import ExtractionActive, ExtractionFailed, RunActive, RunEnded, TextNotReady
from documents.models import Document, DocumentVersion, Event, Extraction, Page, Run
from documents.reaping import requeue_dead_runs
from documents.services import UploadedFile
from llm.types import Completion, Usage
from organizations.models import AuditEntry
from tests.conftest import Person
from tests.data import make
from tests.documents.making import RECEIPT, make_document, make_prompt

with_threads = pytest.mark.django_db(transaction=True)


def upload(person: Person, data: bytes) -> Document:
    (result,) = services.upload_documents(actor=person.actor, files=[UploadedFile(name="a.pdf", data=data)])
    return result.document


def read(document: Document) -> Run:
    run = Run.objects.filter(document=document, kind="parse").order_by("-created_at").first()
    assert run is not None
    processing.parse_document(run.pk)
    run.refresh_from_db()
    return run


@with_threads
def test_new_bytes_are_a_new_version_and_destroy_nothing(alice: Person) -> None:
    document = upload(alice, make.pdf(RECEIPT))
    first = read(document)
    old = async_to_sync(extraction.run_extraction)(actor=alice.actor, document_id=document.pk)
    text = selectors.page_text(actor=alice.actor, document_id=document.pk)

    run = services.start_run(
        actor=alice.actor, document_id=document.pk, file=UploadedFile(name="b.txt", data=b"Quite another text")
    )

    document.refresh_from_db()
    versions = list(DocumentVersion.objects.filter(document=document).order_by("number"))
    assert [(one.number, one.file_name) for one in versions] == [(1, "a.pdf"), (2, "b.txt")]
    assert (document.current_version, run.version, document.phase) == (versions[1], versions[1], "queued")
    read(document)
    assert selectors.page_text(actor=alice.actor, document_id=document.pk).startswith("Quite another text")
    assert "\n".join(Page.objects.filter(version=versions[0]).values_list("text", flat=True)) == text
    assert Extraction.objects.get(pk=old.pk).version == versions[0]
    assert Run.objects.get(pk=first.pk).version == versions[0]
    types = [event.type for event in Event.objects.filter(document=document).order_by("seq")]
    assert types[-5:] == ["document.version_added", "run.queued", "run.started", "page.parsed", "run.completed"]
    assert AuditEntry.objects.filter(action="document.version_added").count() == 1


@pytest.mark.django_db
def test_new_bytes_wait_for_the_read_that_is_going_on_and_leave_nothing_behind(alice: Person) -> None:
    document = upload(alice, make.pdf(RECEIPT))
    active = Run.objects.get(document=document)
    with pytest.raises(RunActive) as refused:
        services.start_run(
            actor=alice.actor, document_id=document.pk, file=UploadedFile(name="b.pdf", data=make.pdf(RECEIPT))
        )
    with pytest.raises(RunActive) as again:
        services.start_run(actor=alice.actor, document_id=document.pk)
    assert refused.value.extra == again.value.extra == {"run_id": active.pk.hex}
    assert DocumentVersion.objects.count() == 1


@with_threads
def test_a_prompt_started_by_hand_is_run_by_a_worker_in_the_name_of_who_started_it(alice: Person, bob: Person) -> None:
    document = make_document(alice, *RECEIPT)
    prompt = make_prompt(alice)
    run = services.start_run(actor=bob.actor, document_id=document.pk, kind="extract", prompt_revid=prompt.pk.hex)
    assert (run.phase, run.pool) == ("queued", "llm")
    with pytest.raises(ExtractionActive) as refused:
        services.start_run(actor=alice.actor, document_id=document.pk, kind="extract", prompt_revid=prompt.pk.hex)
    assert refused.value.extra == {"run_id": run.pk.hex}

    pipeline.extract(run.pk)

    assert Extraction.objects.get().run_id == run.pk
    assert AuditEntry.objects.get(action="extraction.created").user == bob.user


@pytest.mark.django_db
def test_a_prompt_waits_for_the_text(alice: Person) -> None:
    document = upload(alice, make.pdf(RECEIPT))
    for kind in ("extract", "propose"):
        with pytest.raises(TextNotReady):
            services.start_run(actor=alice.actor, document_id=document.pk, kind=kind)


@with_threads
def test_a_read_that_is_stopped_ends_at_once_and_its_worker_writes_nothing_more(alice: Person) -> None:
    document = upload(alice, make.pdf(RECEIPT))
    run = Run.objects.get(document=document)
    claim = processing.claim_run(run.pk)
    assert claim is not None

    assert services.cancel_run(actor=alice.actor, run_id=run.pk).phase == "cancelled"

    with pytest.raises(processing.RunLost):
        processing.commit_pages(claim, [make.page_content("late")])
    with pytest.raises(RunEnded):
        services.cancel_run(actor=alice.actor, run_id=run.pk)
    document.refresh_from_db()
    assert document.phase == "cancelled"
    assert services.start_run(actor=alice.actor, document_id=document.pk).phase == "queued"


@pytest.mark.django_db
def test_a_proposal_that_nobody_works_on_ends_at_once(alice: Person) -> None:
    document = make_document(alice, *RECEIPT)
    run = services.start_run(actor=alice.actor, document_id=document.pk, kind="propose")
    with pytest.raises(RunActive) as refused:
        services.start_run(actor=alice.actor, document_id=document.pk, kind="propose")
    assert refused.value.extra == {"run_id": run.pk.hex}

    assert services.cancel_run(actor=alice.actor, run_id=run.pk).phase == "cancelled"

    document.refresh_from_db()
    assert document.auto_create_status == "failed"


@with_threads
def test_a_model_that_answers_without_data_is_paid_for_all_the_same(
    alice: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def babble(**_asked: Any) -> Completion:
        return Completion(text="no data here", usage=Usage(), cost_usd=Decimal("0.25"))

    monkeypatch.setattr(extraction, "complete", babble)
    document = make_document(alice, *RECEIPT)
    with pytest.raises(ExtractionFailed):
        async_to_sync(extraction.run_extraction)(actor=alice.actor, document_id=document.pk)
    assert Run.objects.get(kind="extract").cost_usd == Decimal("0.25")


@with_threads
def test_each_page_is_counted_each_time_that_it_is_read(alice: Person) -> None:
    document = upload(alice, make.numbered_pdf(3))
    read(document)
    services.start_run(actor=alice.actor, document_id=document.pk)
    claim = processing.claim_run(Run.objects.filter(phase="queued").get().pk)
    assert claim is not None
    processing.commit_pages(claim, [make.page_content("again")])
    assert list(Page.objects.order_by("number").values_list("reads", flat=True)) == [2, 1, 1]


@with_threads
def test_why_a_read_is_tried_again_stands_in_the_log(alice: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    document = upload(alice, make.pdf(RECEIPT))
    run = Run.objects.get(document=document)

    def refuse(_key: str) -> None:
        raise OSError("the disk does not answer")

    with monkeypatch.context() as patched:
        patched.setattr(files, "local_copy", refuse)
        with pytest.raises(OSError, match="does not answer"):
            processing.parse_document(run.pk)
    assert processing.claim_run(run.pk) is not None
    Run.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    assert requeue_dead_runs() == [run.pk]
    assert requeue_dead_runs() == []

    assert processing.parse_document(run.pk) == document.pk

    told = Event.objects.filter(document=document, type="run.retried").order_by("seq")
    assert [(event.data["attempt"], event.data["code"]) for event in told] == [
        (2, "storage_failed"),
        (3, "worker_lost"),
    ]
    assert Page.objects.get().reads == 1
