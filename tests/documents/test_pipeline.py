"""From upload to text on a real Celery worker, and what happens when it dies."""

import time

import pytest

from documents import processing, selectors, services, tasks
from documents.errors import DocumentNotFound
from documents.models import Document, Event, Page, Run
from documents.reaping import requeue_dead_runs
from documents.services import UploadedFile
from tests.conftest import Person
from tests.data import make
from tests.documents.conftest import StartWorker, wait_for


@pytest.mark.django_db(transaction=True)
def test_an_uploaded_pdf_becomes_readable_on_a_real_worker(alice: Person, start_worker: StartWorker) -> None:
    start_worker("ingest")
    uploads = [
        UploadedFile(name="three.pdf", data=make.numbered_pdf(3)),
        UploadedFile(name="broken.pdf", data=make.pdf()[:200]),
        UploadedFile(name="locked.pdf", data=make.encrypted()),
    ]

    good, broken, locked = (r.document for r in services.upload_documents(actor=alice.actor, files=uploads))

    wait_for(good, "ocr_completed")
    content = selectors.document_content(actor=alice.actor, document_id=good.id)
    assert [page.text.splitlines()[0] for page in content.pages] == [f"Page number {n}" for n in (1, 2, 3)]
    assert good.phase == "complete"
    types = list(Event.objects.filter(document=good).order_by("seq").values_list("type", flat=True))
    assert types == ["document.uploaded", "run.queued", "run.started", *["page.parsed"] * 3, "run.completed"]
    for document, code in ((broken, "unreadable_file"), (locked, "encrypted_file")):
        wait_for(document, "ocr_failed")
        run = Run.objects.get(document=document)
        assert (document.phase, run.phase, run.error_code) == ("error", "error", code)
        assert run.error_message


def upload(person: Person, name: str, data: bytes) -> Document:
    return services.upload_documents(actor=person.actor, files=[UploadedFile(name=name, data=data)])[0].document


def wait_for_pages(document: Document, count: int) -> Run:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        run = Run.objects.get(document=document)
        if run.pages_done >= count:
            return run
        time.sleep(0.01)
    raise AssertionError(f"only {run.pages_done} pages")


def parsed_pages(document: Document) -> list[int]:
    return [event.data["page"] for event in Event.objects.filter(document=document, type="page.parsed").order_by("seq")]


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_killed_worker_is_noticed_and_no_page_is_parsed_twice(alice: Person, start_worker: StartWorker) -> None:
    worker = start_worker("ingest", RUN_LEASE_SECONDS="2")
    document = upload(alice, "long.pdf", make.numbered_pdf(1900))
    wait_for_pages(document, 20)
    worker.kill()
    worker.wait()
    done = Run.objects.get(document=document).pages_done
    assert 20 <= done < 1900
    assert document.state != "ocr_completed"

    deadline = time.monotonic() + 10
    while not (stale := requeue_dead_runs()) and time.monotonic() < deadline:
        time.sleep(0.2)
    assert stale == [Run.objects.get(document=document).pk]
    for run_id in stale * 3:
        tasks.parse.delay(run_id.hex)
    start_worker("ingest")
    start_worker("ingest")

    wait_for(document, "ocr_completed")
    assert parsed_pages(document) == list(range(1, 1901))
    run = Run.objects.get(document=document)
    assert (run.attempts, run.epoch, run.pages_done, run.pages_total) == (2, 2, 1900, 1900)
    assert Page.objects.filter(version=document.current_version).count() == 1900


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_running_parse_stops_at_its_next_page_and_can_be_started_again(
    alice: Person, start_worker: StartWorker
) -> None:
    start_worker("ingest")
    document = upload(alice, "long.pdf", make.numbered_pdf(1900))
    run = wait_for_pages(document, 5)

    services.cancel_run(actor=alice.actor, run_id=run.id)

    wait_for(document, "ocr_failed")
    assert document.phase == "cancelled"
    assert 5 <= len(parsed_pages(document)) < 1900
    services.reparse(actor=alice.actor, document_id=document.id)
    wait_for(document, "ocr_completed")
    assert Page.objects.filter(version=document.current_version).count() == 1900


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_file_that_kills_its_reader_fails_its_run_and_the_worker_lives(
    alice: Person, start_worker: StartWorker
) -> None:
    worker = start_worker("ingest", DOCROUTER_TEST_CHILD_DIES_ON="page")
    document = upload(alice, "killer.pdf", make.pdf())

    wait_for(document, "ocr_failed")

    run = Run.objects.get(document=document)
    assert run.error_code == "parser_crashed"
    assert run.error_message.startswith("Page 1: ")
    text = upload(alice, "note.txt", b"hello")
    wait_for(text, "ocr_failed")
    assert worker.poll() is None


@pytest.mark.django_db(transaction=True)
def test_a_run_whose_lease_was_lost_writes_nothing_more(alice: Person) -> None:
    document = upload(alice, "a.pdf", make.pdf())
    run = Run.objects.get(document=document)
    first = processing.claim_run(run.id)
    assert first is not None
    assert processing.claim_run(run.id) is None
    Run.objects.filter(pk=run.pk).update(lease_until=run.created_at)
    assert requeue_dead_runs() == [run.pk]
    assert processing.claim_run(run.id) is not None
    page = make.page_content("late")

    with pytest.raises(processing.RunLost):
        processing.commit_pages(first, [page])

    assert not Page.objects.exists()
    assert parsed_pages(document) == []


@pytest.mark.django_db(transaction=True)
def test_a_run_that_never_comes_to_an_end_is_given_up(alice: Person) -> None:
    document = upload(alice, "a.pdf", make.pdf())
    Run.objects.filter(document=document).update(attempts=3)

    assert processing.claim_run(Run.objects.get(document=document).id) is None

    document.refresh_from_db()
    run = Run.objects.get(document=document)
    assert (document.state, run.error_code, run.retryable) == ("ocr_failed", "gave_up", True)


@pytest.mark.django_db(transaction=True)
def test_a_deleted_document_is_not_read_on(alice: Person) -> None:
    document = upload(alice, "a.pdf", make.pdf())
    claim = processing.claim_run(Run.objects.get(document=document).id)
    assert claim is not None
    services.delete_document(actor=alice.actor, document_id=document.id)

    with pytest.raises(processing.RunLost):
        processing.commit_pages(claim, [make.page_content("late")])

    assert Run.objects.get(document=document).phase == "cancelled"
    with pytest.raises(DocumentNotFound):
        selectors.document_content(actor=alice.actor, document_id=document.id)


@pytest.mark.django_db(transaction=True)
def test_other_formats_are_read_through_a_pdf_of_ours(alice: Person) -> None:
    document = upload(alice, "note.txt", "Größe: 42\nIgnored 🙂".encode())
    run = Run.objects.get(document=document)

    assert processing.parse_document(run.id) == document.id

    document.refresh_from_db()
    version = document.current_version
    assert version is not None
    assert version.pdf_key == f"{version.file_key}.pdf"
    assert version.notes == ["1 different characters cannot be shown; a box stands for each."]
    assert selectors.page_text(actor=alice.actor, document_id=document.id).startswith("Größe: 42")
    image = selectors.page_image(actor=alice.actor, document_id=document.id, number=1, width=160)
    assert image.data[8:12] == b"WEBP"
    assert processing.parse_document(run.id) is None
