"""Auto-create over JSON: asked for at upload, told with the document, decided."""

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from documents.models import AutoCreate, Document
from tags_app.services import create_tag
from tests.api import Api, api_of
from tests.auto_create.making import asked_for, attempt_of, proposed
from tests.conftest import Person
from tests.documents.making import RECEIPT, make_document

pytestmark = pytest.mark.django_db
runs_turns = pytest.mark.django_db(transaction=True)
FILE = {"name": "a.txt", "content": "VG90YWw6IDEyLjUwIEVVUg=="}


@pytest.fixture
def api(alice: Person) -> Api:
    return api_of(alice)


def status_of(api: Api, document_id: str) -> Any:
    return api.get(f"documents/{document_id}?include_content=false")["auto_create"]["status"]


@pytest.mark.parametrize(
    ("setting", "wish", "status"),
    [
        (False, {}, "none"),
        (True, {}, "pending"),
        (True, {"auto_create": False}, "none"),
        (False, {"auto_create": True}, "pending"),
    ],
)
def test_an_upload_says_whether_it_is_to_be_set_up_else_the_setting_does(
    alice: Person, api: Api, setting: bool, wish: dict[str, bool], status: str
) -> None:
    alice.organization.auto_create_enabled = setting
    alice.organization.save()

    made = api.post("documents", {"documents": [FILE], **wish})["documents"][0]

    assert status_of(api, made["document_id"]) == status


def test_a_form_can_ask_for_it_too(alice: Person, api: Api) -> None:
    answer = Client().post(
        f"{api.base}/documents/multipart",
        {"file": SimpleUploadedFile("a.txt", b"Total: 12.50"), "auto_create": "true"},
        headers={"Authorization": f"Bearer {api.token}"},
    )

    assert answer.status_code == 200
    assert status_of(api, answer.json()["document"]["document_id"]) == "pending"


@runs_turns
@pytest.mark.usefixtures("warm_litellm")
def test_a_document_tells_what_was_proposed_and_who_decided(alice: Person, api: Api) -> None:
    document = proposed(alice)
    attempt, path = attempt_of(document), f"documents/{document.pk.hex}/auto_create"
    assert attempt.schema_revision_id is not None
    assert attempt.prompt_revision_id is not None
    assert attempt.thread_id is not None

    (listed,) = api.get("documents")["documents"]
    told = api.get(path)

    assert listed["auto_create"] == told
    assert told["status"] == "proposed"
    assert told["schema_revid"] == attempt.schema_revision_id.hex
    assert told["prompt_revid"] == attempt.prompt_revision_id.hex
    assert told["thread_id"] == attempt.thread_id.hex
    assert told["done_at"].endswith("Z")
    assert (told["error"], told["decided_by"]) == (None, None)
    assert api.post(f"{path}/accept") | {"decided_at": ""} == {
        "status": "accepted", "counted": True, "decided_by": "Alice's program", "decided_at": "", "kept": [],
    }  # fmt: skip
    assert api.post(f"{path}/reject")["counted"] is False
    assert api.get(path)["status"] == "accepted"
    assert api.error("post", f"{path}/retry")[0] == 409


@runs_turns
@pytest.mark.usefixtures("warm_litellm")
def test_accepting_with_a_tag_needs_the_count_to_be_confirmed(alice: Person, api: Api) -> None:
    document, tag = proposed(alice), create_tag(actor=alice.actor, name="Receipts")
    make_document(alice, *RECEIPT).tags.add(tag)
    path = f"documents/{document.pk.hex}/auto_create"

    asked = api.get(f"{path}/tag?tag_id={tag.pk.hex}")
    assert asked["documents"] == 1
    answer = api.raw("post", f"{path}/accept", {"tag_id": tag.pk.hex})
    assert (answer.status_code, answer.json()["code"], answer.json()["documents"]) == (409, "count_changed", 1)
    assert attempt_of(document).status == "proposed"
    assert api.post(f"{path}/accept", {"tag_id": tag.pk.hex, "documents": 1})["status"] == "accepted"
    assert api.get(f"documents/{document.pk.hex}?include_content=false")["tag_ids"] == [tag.pk.hex]


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"tag_id": "0" * 32, "documents": 0}, 400), ({"tag_id": "x"}, 400), ({"tag_id": 5}, 422),
        ({"tag_id": "\0"}, 422), ({"documents": -1}, 422), ({"documents": 10**30}, 422), ([], 422), (b"{", 422),
        ({"tag_id": "\ud800"}, 422),
    ],
)  # fmt: skip
def test_an_acceptance_that_is_wrong_changes_nothing(alice: Person, api: Api, body: Any, status: int) -> None:
    document, _ = asked_for(alice)
    AutoCreate.objects.filter(document=document).update(status="proposed")

    assert api.raw("post", f"documents/{document.pk.hex}/auto_create/accept", body).status_code == status
    assert attempt_of(document).status == "proposed"


def test_a_stranger_and_a_wrong_id_find_nothing(alice: Person, charlie: Person, api: Api) -> None:
    document, _ = asked_for(alice)
    foreign = api_of(charlie)
    for way in ("accept", "reject", "retry"):
        assert foreign.error("post", f"documents/{document.pk.hex}/auto_create/{way}")[0] == 404
        assert api.error("post", f"documents/nonsense/auto_create/{way}")[0] == 404


def test_a_list_costs_the_same_for_three_and_for_thirty(alice: Person, api: Api) -> None:
    def cost() -> int:
        with CaptureQueriesContext(connection) as queries:
            shown = api.get("documents?limit=100")["documents"]
        assert {one["auto_create"]["status"] for one in shown} == {"proposed"}
        return len(queries)

    def add(count: int) -> None:
        for _ in range(count):
            document = make_document(alice, "Total: 1")
            AutoCreate.objects.create(organization=alice.organization, document=document, status="proposed")
        Document.objects.update(auto_create_status="proposed")

    add(3)
    few = cost()
    add(27)
    assert cost() == few
