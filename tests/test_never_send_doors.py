"""Where people and programs mark what is never sent to a model, and where they see that it is."""

import base64
import re
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from documents.models import Document, Event
from documents.services import delete_document, update_document
from documents.tagging import delete_tag
from organizations.models import AuditEntry
from tags_app.errors import TagInUse
from tags_app.models import Tag
from tags_app.services import create_tag, update_tag
from tests.api import Api, api_of
from tests.conftest import Person
from tests.documents.making import RECEIPT, make_document

pytestmark = pytest.mark.django_db

SENTENCE = "Never send to a model outside this server"
BADGE = "Stays on this server"
FILE = {"name": "a.txt", "content": base64.b64encode(b"Dismissal of Smith").decode()}


@pytest.fixture
def api(alice: Person) -> Api:
    return api_of(alice)


@pytest.fixture
def document(alice: Person) -> Document:
    return make_document(alice, *RECEIPT)


def marks() -> list[str]:
    rows = AuditEntry.objects.filter(action__contains="never_send").order_by("created_at", "id")
    return list(rows.values_list("action", flat=True))


def page_of(person: Person, address: str) -> str:
    answer = person.client().get(address)
    assert answer.status_code == 200
    return re.sub(r"\s+", " ", answer.content.decode())


def test_a_document_is_marked_and_unmarked_over_the_api_and_each_change_is_written_down(
    api: Api, document: Document
) -> None:
    path = f"documents/{document.pk.hex}"
    seen = []
    for body in ({"never_send": True}, {"never_send": True}, {"document_name": "b.pdf"}, {"never_send": False}):
        assert api.put(path, body) == {"message": "Document updated successfully"}
        seen.append(api.get(f"{path}?include_content=false")["never_send"])
    assert seen == [True, True, True, False]
    assert [row["never_send"] for row in api.get("documents")["documents"]] == [False]
    assert marks() == ["document.never_send_set", "document.never_send_lifted"]
    told = Event.objects.filter(document=document, type="document.updated").values_list("data", flat=True)
    assert [data["changed"] for data in told].count(["never_send"]) == 2


def test_a_file_can_come_with_its_mark_so_that_nothing_is_sent_before_it(api: Api, alice: Person) -> None:
    api.post("documents", {"documents": [{**FILE, "never_send": True}, FILE], "auto_create": True})
    assert [row.never_send for row in Document.objects.order_by("pk")] == [True, False]
    address, sent = f"{api.base}/documents/multipart", {"Authorization": f"Bearer {api.token}"}
    for text in ("true", "false"):
        form: Any = {"file": SimpleUploadedFile("b.txt", b"Smith"), "never_send": text}
        assert Client().post(address, form, headers=sent).status_code == 200
    assert list(Document.objects.filter(name="b.txt").order_by("pk").values_list("never_send", flat=True)) == [
        True,
        False,
    ]
    assert marks() == ["document.never_send_set"] * 2


def test_the_switch_of_the_page_marks_and_says_so_everywhere(alice: Person, document: Document) -> None:
    address = f"/documents/{document.pk.hex}"
    assert 'aria-checked="false"' in page_of(alice, address)
    assert BADGE not in page_of(alice, address)
    answer = alice.client().post(f"{address}/never-send", {"never_send": "1"})
    assert (answer.status_code, answer["Location"]) == (302, address)
    marked = page_of(alice, address)
    assert 'aria-checked="true"' in marked
    assert marked.count(BADGE) == 1
    assert BADGE in page_of(alice, "/documents")
    alice.client().post(f"{address}/never-send", {"never_send": "0"})
    assert BADGE not in page_of(alice, address)
    assert marks() == ["document.never_send_set", "document.never_send_lifted"]


def test_the_switch_is_not_there_for_others(charlie: Person, document: Document) -> None:
    answer = charlie.client().post(f"/documents/{document.pk.hex}/never-send", {"never_send": "1"})
    assert answer.status_code == 404
    assert marks() == []


def test_a_tag_is_marked_in_its_form_and_the_document_says_which_tag_it_is(alice: Person, document: Document) -> None:
    tag = create_tag(actor=alice.actor, name="Personnel")
    update_document(actor=alice.actor, document_id=document.pk, tag_ids=[tag.pk])
    form = f"/tags/{tag.pk.hex}/edit"
    assert SENTENCE in page_of(alice, form)
    alice.client().post(form, {"name": "Personnel", "color": "#112233", "never_send": "on"})
    assert Tag.objects.get().never_send
    assert re.search(r'<input type="checkbox" name="never_send"[^>]* checked', page_of(alice, form))
    assert BADGE in page_of(alice, "/tags")
    assert "Its tag “Personnel” is marked" in page_of(alice, f"/documents/{document.pk.hex}")
    alice.client().post(form, {"name": "Personnel", "color": "#112233"})
    assert not Tag.objects.get().never_send


def test_a_document_does_not_come_back_from_the_trash_without_the_mark_of_its_tag(
    alice: Person, document: Document
) -> None:
    tag = create_tag(actor=alice.actor, name="Personnel", never_send=True)
    update_document(actor=alice.actor, document_id=document.pk, tag_ids=[tag.pk])
    delete_document(actor=alice.actor, document_id=document.pk)
    with pytest.raises(TagInUse, match="in the trash"):
        delete_tag(actor=alice.actor, tag_id=tag.pk)
    update_tag(actor=alice.actor, tag_id=tag.pk, name=tag.name, never_send=False)
    assert delete_tag(actor=alice.actor, tag_id=tag.pk).deleted_at is not None


def test_the_chooser_offers_the_built_in_model_and_says_why_no_other(
    alice: Person, document: Document, settings: Any
) -> None:
    settings.MODEL_PROVIDER_KEYS = {"openai": "sk-of-the-tests"}
    address = f"/documents/{document.pk.hex}/agent"
    before = page_of(alice, address)
    assert "(not for this document)" not in before
    assert '<option value="docrouter/offline" selected' not in before
    update_document(actor=alice.actor, document_id=document.pk, never_send=True)
    after = page_of(alice, address)
    assert '<option value="docrouter/offline" selected>' in after
    remote = re.findall(r'<option value="(?!docrouter/)[^"]+"([^>]*)>([^<]*)', after)
    assert remote
    assert all("disabled" in more and "(not for this document)" in text for more, text in remote)
    assert "This document is never sent to a model outside this server." in after


def test_who_asks_a_remote_model_all_the_same_keeps_the_question_and_reads_why(
    alice: Person, document: Document, settings: Any
) -> None:
    settings.MODEL_PROVIDER_KEYS = {"openai": "sk-of-the-tests"}
    update_document(actor=alice.actor, document_id=document.pk, never_send=True)
    sent = {"text": "What is the total?", "model": "gpt-4o-mini"}
    answer = alice.client().post(f"/documents/{document.pk.hex}/agent/send", sent)
    assert "Choose the built-in model, or take the mark away." in answer.content.decode()
    assert "agent-sent" not in answer.headers.get("HX-Trigger", "")
