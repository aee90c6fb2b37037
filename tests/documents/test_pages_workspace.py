"""The workspace: viewer, pictures, words, find, the original file, renaming and tagging."""

import json
import re
from pathlib import Path

import pytest
from django.test import AsyncClient, Client

from documents import page_images
from documents.models import Document, DocumentVersion, Page
from documents.services import UploadedFile, upload_documents
from tags_app.services import create_tag
from tests.conftest import Person
from tests.data import make
from tests.documents.making import RECEIPT, make_document

pytestmark = pytest.mark.django_db


@pytest.fixture
def receipt(alice: Person) -> Document:
    return make_document(alice, *RECEIPT)


@pytest.fixture
def uploaded(alice: Person) -> Document:
    (stored,) = upload_documents(actor=alice.actor, files=[UploadedFile(name='ä "b".pdf', data=make.pdf())])
    return stored.document


def test_the_workspace_shows_pages_tabs_and_what_was_read(alice: Person, receipt: Document) -> None:
    page = alice.client().get(f"/documents/{receipt.id.hex}").content.decode()
    for expected in ('id="page-1"', 'id="tab-extraction"', 'id="tab-agent"', f"/ws/documents/{receipt.id.hex}"):
        assert expected in page


def test_a_document_that_is_not_read_yet_says_so(alice: Person, uploaded: Document) -> None:
    page = alice.client().get(f"/documents/{uploaded.id.hex}").content.decode()
    assert "This document is being read." in page
    assert "The text is not ready yet." in page


def test_a_picture_is_sent_once_and_then_only_confirmed(alice: Person, uploaded: Document) -> None:
    client, address = alice.client(), f"/documents/{uploaded.id.hex}/pages/1/image?w=300"
    first = client.get(address)
    assert first["Content-Type"] == "image/webp"
    assert first.content[8:12] == b"WEBP"
    again = client.get(address, headers={"If-None-Match": first["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert client.get(f"{address}0", headers={"If-None-Match": first["ETag"]}).status_code == 200
    assert client.get(f"/documents/{uploaded.id.hex}/pages/2/image").status_code == 404


def test_a_confirmed_picture_is_not_drawn(alice: Person, uploaded: Document, monkeypatch: pytest.MonkeyPatch) -> None:
    version = DocumentVersion.objects.get(document=uploaded)
    monkeypatch.setattr("documents.selectors.cached_image", None)
    etag = page_images.image_etag(version, 1, 960)
    answer = alice.client().get(f"/documents/{uploaded.id.hex}/pages/1/image", headers={"If-None-Match": etag})
    assert answer.status_code == 304


def test_words_come_in_columns_with_their_boxes(alice: Person, receipt: Document) -> None:
    words = alice.client().get(f"/documents/{receipt.id.hex}/pages/1/words").json()
    assert set(words) == {"text", "x0", "y0", "x1", "y1", "line"}
    assert len({len(column) for column in words.values()}) == 1
    assert words["text"]


def test_find_crosses_words_and_ignores_case_and_blanks(alice: Person, receipt: Document) -> None:
    page = Page.objects.get(version__document=receipt)
    first, second = page.words["text"][:2]
    wanted = f"{first[1:]}  {second[:-1]}".upper()
    hits = alice.client().get(f"/documents/{receipt.id.hex}/find", {"q": wanted}).json()["hits"]
    assert len(hits) == 1
    assert hits[0]["boxes"][0]["page"] == 1
    assert alice.client().get(f"/documents/{receipt.id.hex}/find", {"q": " "}).json()["hits"] == []


def test_the_text_panel_never_lets_a_document_speak_html(alice: Person, receipt: Document) -> None:
    Page.objects.filter(version__document=receipt).update(text="<script>alert(1)</script>")
    panel = alice.client().get(f"/documents/{receipt.id.hex}/text").content.decode()
    assert "&lt;script&gt;" in panel
    assert "<script>" not in panel


def test_the_document_is_renamed_and_tagged_by_plain_forms(alice: Person, receipt: Document) -> None:
    tag, client = create_tag(actor=alice.actor, name="to pay"), alice.client()
    client.post(f"/documents/{receipt.id.hex}/rename", {"name": "June.pdf"})
    client.post(f"/documents/{receipt.id.hex}/tags", {"tag_ids": [tag.id.hex]})
    page = client.get(f"/documents/{receipt.id.hex}").content.decode()
    assert "June.pdf" in page
    assert "to pay" in page


def test_a_document_that_could_not_be_read_says_why_and_can_be_read_again(alice: Person, uploaded: Document) -> None:
    run = uploaded.runs.get()
    run.phase, run.error_message = "error", "This file is damaged and cannot be read."
    run.save()
    Document.objects.filter(pk=uploaded.pk).update(state="ocr_failed", phase="error")
    client = alice.client()
    page = client.get(f"/documents/{uploaded.id.hex}").content.decode()
    assert "This file is damaged and cannot be read." in page
    again = client.post(f"/documents/{uploaded.id.hex}/read-again", headers={"HX-Request": "true"})
    assert "This document is being read." in again.content.decode()
    twice = client.post(f"/documents/{uploaded.id.hex}/read-again", headers={"HX-Request": "true"})
    assert (twice.status_code, twice["HX-Retarget"]) == (409, "#problems")


async def read(client: AsyncClient, address: str, **headers: str) -> tuple[int, dict[str, str], bytes]:
    answer = await client.get(address, headers=headers)
    data = b"".join([part async for part in answer]) if answer.streaming else answer.content
    return answer.status_code, dict(answer.items()), data


@pytest.mark.django_db(transaction=True)
async def test_the_original_comes_whole_or_in_part_and_never_as_a_page_of_ours(
    alice: Person, uploaded: Document
) -> None:
    client = AsyncClient()
    await client.aforce_login(alice.user)
    address, data = f"/documents/{uploaded.id.hex}/file", make.pdf()
    status, headers, whole = await read(client, address)
    assert (status, whole) == (200, data)
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Content-Security-Policy"].startswith("sandbox")
    assert headers["Content-Disposition"].startswith("inline; filename=")
    assert "; filename*=UTF-8''%C3%A4%20" in headers["Content-Disposition"]
    status, headers, part = await read(client, address, Range="bytes=5-9")
    assert (status, part, headers["Content-Range"]) == (206, data[5:10], f"bytes 5-9/{len(data)}")
    assert (await read(client, address, Range="bytes=-4"))[2] == data[-4:]
    assert (await read(client, address, Range=f"bytes={len(data)}-"))[0] == 416
    assert (await read(client, f"{address}?download=1"))[1]["Content-Disposition"].startswith("attachment")


def test_every_script_and_style_that_pages_name_is_there(alice: Person, receipt: Document, nobody: Client) -> None:
    page = alice.client().get(f"/documents/{receipt.id.hex}").content.decode()
    named = [part.split('"')[0] for part in page.split("/static/")[1:]]
    ours = [name for name in named if name.startswith(("css/", "js/", "icons/"))]
    assert len(ours) > 8
    assert [name for name in ours if not (Path("static") / name).is_file()] == []
    config = re.search(r"name=\"htmx-config\"\s+content='([^']+)'", page)
    assert config is not None
    assert json.loads(config[1])["allowEval"] is False
