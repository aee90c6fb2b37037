"""From upload to text on a real Celery worker, and what happens when it dies."""

import pytest

from documents import selectors, services
from documents.models import Event, Run
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
