"""The documents page: rows, filters, upload and its outcomes, deleting; and who may not."""

import re
from io import BytesIO

import pytest
from django.test import Client

from documents.models import Document, Run
from documents.status import status_of
from tags_app.services import create_tag
from tests.conftest import Person
from tests.data import make
from tests.documents.making import RECEIPT, make_document

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}


def upload(client: Client, *files: tuple[str, bytes], script: bool = True, **fields: object) -> str:
    posted = [_file(name, data) for name, data in files]
    headers = HTMX if script else {}
    return client.post("/documents/upload", {"files": posted, **fields}, headers=headers).content.decode()


def _file(name: str, data: bytes) -> BytesIO:
    file = BytesIO(data)
    file.name = name
    return file


def test_an_empty_page_says_what_to_do(alice: Person) -> None:
    page = alice.client().get("/documents").content.decode()
    assert "No documents yet." in page
    assert 'enctype="multipart/form-data"' in page
    assert "<script" in page
    assert not re.search(r"<script(?![^>]*\ssrc=)|\son\w+=", page)


def test_uploaded_files_become_documents_with_their_tags(alice: Person) -> None:
    tag = create_tag(actor=alice.actor, name="to pay")
    answer = upload(alice.client(), ("a.pdf", make.pdf()), tag_ids=[tag.id.hex])
    document = Document.objects.get()
    assert f"/documents/{document.id.hex}" in answer
    assert list(document.tags.all()) == [tag]
    row = alice.client().get("/documents").content.decode()
    assert "to pay" in row
    assert "Waiting to be read" in row


def test_the_same_bytes_twice_are_offered_and_stored_again_only_when_asked_for(alice: Person, bob: Person) -> None:
    upload(alice.client(), ("first.pdf", make.pdf()))
    answer = upload(bob.client(), ("second.pdf", make.pdf()))
    assert "is here already" in answer
    assert "first.pdf" in answer
    assert Document.objects.count() == 1
    upload(bob.client(), ("second.pdf", make.pdf()), again="1")
    assert Document.objects.count() == 2


def test_the_same_bytes_in_another_organization_are_no_duplicate(alice: Person, charlie: Person) -> None:
    upload(alice.client(), ("secret.pdf", make.pdf()))
    assert "here already" not in upload(charlie.client(), ("mine.pdf", make.pdf()))


def test_a_file_that_is_refused_says_why_and_the_others_are_kept(alice: Person) -> None:
    page = upload(alice.client(), ("empty.pdf", b""), ("good.pdf", make.pdf()), script=False)
    assert "was not uploaded: The file is empty" in page
    assert [document.name for document in Document.objects.all()] == ["good.pdf"]
    assert "<html" in page


def test_a_name_is_never_markup(alice: Person) -> None:
    answer = upload(alice.client(), ("<img src=x>.pdf", make.pdf()))
    assert "<img" not in answer
    assert "<img src=x>" not in alice.client().get("/documents").content.decode()


def test_filters_and_order_answer_with_the_rows_alone(alice: Person) -> None:
    for name in ("alpha.pdf", "beta.pdf"):
        Document.objects.filter(pk=make_document(alice, *RECEIPT).pk).update(name=name)
    client = alice.client()
    found = client.get("/documents?q=alph", headers=HTMX).content.decode()
    assert "alpha.pdf" in found
    assert "beta.pdf" not in found
    assert "<html" not in found
    ordered = client.get("/documents?sort=-name").content.decode()
    assert ordered.index("beta.pdf") < ordered.index("alpha.pdf")
    assert "No document matches." in client.get("/documents?state=ocr_failed").content.decode()


@pytest.mark.parametrize("query", ["sort=nonsense", "state=x", "skip=-1", "skip=999999999999", "q=%00"])
def test_a_crooked_address_never_breaks_the_page(alice: Person, query: str) -> None:
    assert alice.client().get(f"/documents?{query}").status_code in (200, 400)


def test_the_list_costs_the_same_queries_for_three_rows_and_for_twelve(
    alice: Person, django_assert_max_num_queries: object
) -> None:
    client = alice.client()
    for _ in range(3):
        make_document(alice, *RECEIPT)
    with django_assert_max_num_queries(10) as few:  # type: ignore[operator]
        client.get("/documents")
    for _ in range(9):
        make_document(alice, *RECEIPT)
    with django_assert_max_num_queries(len(few)):  # type: ignore[operator]
        client.get("/documents")


def test_progress_and_failure_are_sentences(alice: Person) -> None:
    document = make_document(alice, *RECEIPT)
    document.state = "ocr_processing"
    status = status_of(document, Run(pages_done=3, pages_total=12))
    assert (status.label, status.done, status.total) == ("3 of 12 pages", 3, 12)
    document.state = "ocr_failed"
    failed = status_of(document, Run(phase="error", error_message="This file is damaged and cannot be read."))
    assert failed.is_failure
    assert failed.reason == "This file is damaged and cannot be read."


def test_deleting_asks_first_and_then_the_document_is_gone(alice: Person) -> None:
    document = make_document(alice, *RECEIPT)
    client, address = alice.client(), f"/documents/{document.id.hex}/delete"
    assert "30 days" in client.get(address, headers=HTMX).content.decode()
    assert client.post(address)["Location"] == "/documents"
    assert client.get(f"/documents/{document.id.hex}").status_code == 404


def test_nobody_is_sent_to_sign_in_and_other_tenants_find_nothing(
    alice: Person, charlie: Person, nobody: Client
) -> None:
    document = make_document(alice, *RECEIPT)
    base = f"/documents/{document.id.hex}"
    pages = ["", "/delete", "/viewer", "/file", "/text", "/find?q=x", "/pages/1/image", "/pages/1/words", "/extraction"]
    for page in pages:
        assert charlie.client().get(base + page).status_code == 404, page
        assert nobody.get(base + page)["Location"].startswith("/sign-in"), page
    for action in ("/delete", "/rename", "/tags", "/read-again", "/extraction/run"):
        assert charlie.client().post(base + action, {"name": "x"}).status_code == 404, action
    document.refresh_from_db()
    assert document.deleted_at is None
    assert document.name not in charlie.client().get("/documents").content.decode()
