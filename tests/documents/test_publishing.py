"""Publications: frozen, numbered, public, withdrawn."""

from io import BytesIO
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from django.test import Client
from django.utils import timezone
from PIL import Image

from core.ids import new_id
from core.purging import purging
from documents.models import Document, Event, Extraction, Publication, Run, ShareLink
from documents.publishing import list_publications, publish, unpublish
from documents.results import update_field
from documents.sharing.errors import NothingPublished, PublicationNotFound
from documents.sharing.services import create_share_link
from organizations.models import AuditEntry
from tests.conftest import Person
from tests.documents.making import RECEIPT, make_prompt
from tests.documents.sharing import result_of, shared_document

VALUES = {"number": "2468", "total": 4950}


@pytest.fixture
def document(alice: Person) -> Document:
    document = shared_document(alice, RECEIPT)
    result_of(alice, document, VALUES)
    return document


def program_of(person: Person) -> Client:
    client = Client(headers={"X-Organization-Id": person.organization.pk.hex})
    client.force_login(person.user)
    return client


def test_a_publication_is_for_everybody_as_page_and_as_json(alice: Person, document: Document) -> None:
    row = publish(actor=alice.actor, document_id=document.pk, with_pages=True)
    page = Client().get(f"/p/{row.slug}")
    assert (page.status_code, page.cookies) == (200, {})
    assert "2468" in page.content.decode()
    assert alice.organization.name not in page.content.decode()
    assert alice.user.name not in page.content.decode()
    by_ending = Client().get(f"/p/{row.slug}.json")
    by_header = Client().get(f"/p/{row.slug}", headers={"Accept": "application/json"})
    assert by_ending.content == by_header.content
    body = by_ending.json()
    assert (body["version"], body["name"], body["data"]) == (1, "receipt.pdf", VALUES)
    assert body["grounding"]["total"]["state"] == "found"
    picture = Client().get(body["pages"][0]["imageUrl"].removeprefix("http://testserver"))
    assert Image.open(BytesIO(picture.content)).format == "WEBP"
    for answer in (page, by_ending, by_header, picture):
        assert "noindex" in answer.headers["X-Robots-Tag"]
        assert answer.headers["Referrer-Policy"] == "no-referrer"
        assert answer.headers["Cache-Control"] == "public, no-cache"
        assert answer.cookies == {}


def test_pages_are_shown_only_when_they_were_published(alice: Person, document: Document) -> None:
    row = publish(actor=alice.actor, document_id=document.pk)
    assert Client().get(f"/p/{row.slug}/pages/1/image").status_code == 404
    assert Client().get(f"/p/{row.slug}.json").json()["pages"] == []
    assert "Contoso" not in Client().get(f"/p/{row.slug}").content.decode()


@pytest.mark.parametrize("rest", ["", ".json"])
def test_who_has_it_already_is_told_so(alice: Person, document: Document, rest: str) -> None:
    row = publish(actor=alice.actor, document_id=document.pk)
    first = Client().get(f"/p/{row.slug}{rest}")
    again = Client().get(f"/p/{row.slug}{rest}", headers={"If-None-Match": first.headers["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["ETag"] == first.headers["ETag"]
    assert Client().get(f"/p/{row.slug}{rest}", headers={"If-None-Match": '"other"'}).status_code == 200
    unpublish(actor=alice.actor, document_id=document.pk)
    gone = Client().get(f"/p/{row.slug}{rest}", headers={"If-None-Match": first.headers["ETag"]})
    assert gone.status_code == 410
    assert "public" not in gone.headers["Cache-Control"]


def test_what_was_published_stays_as_it_was(alice: Person, document: Document) -> None:
    first = publish(actor=alice.actor, document_id=document.pk)
    before = Client().get(f"/p/{first.slug}.json").json()
    update_field(actor=alice.actor, document_id=document.pk, path="total", value=1)
    document.name = "renamed.pdf"
    document.save()
    second = publish(actor=alice.actor, document_id=document.pk)
    Extraction.objects.update(withdrawn_at=timezone.now())
    assert Client().get(f"/p/{first.slug}.json").json() == before
    body = Client().get(f"/p/{second.slug}.json").json()
    assert (body["version"], body["data"]["total"], body["name"]) == (2, 1, "renamed.pdf")
    assert [row.number for row in list_publications(actor=alice.actor, document_id=document.pk)] == [2, 1]
    assert len(first.slug) == 43


@pytest.mark.parametrize(
    "change",
    ["payload = '{}'", "slug = 'x'", "number = 9", "created_at = now()", "with_pages = true", "withdrawn_at = NULL"],
)
def test_the_database_lets_nothing_change(alice: Person, document: Document, change: str) -> None:
    row = publish(actor=alice.actor, document_id=document.pk)
    unpublish(actor=alice.actor, document_id=document.pk, publication_id=row.pk.hex)
    with pytest.raises(IntegrityError, match="only be withdrawn"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"UPDATE documents_publication SET {change}")  # noqa: S608 - the words stand above
    with pytest.raises(IntegrityError, match="only be withdrawn"), transaction.atomic():
        Publication.objects.all().delete()


def test_who_left_and_a_result_that_is_purged_are_forgotten(alice: Person, document: Document) -> None:
    publish(actor=alice.actor, document_id=document.pk)
    Publication.objects.update(created_by=None, extraction=None)
    assert Publication.objects.get().created_by_name == "Alice"


def test_unpublishing_withdraws_one_or_all(alice: Person, document: Document) -> None:
    rows = [publish(actor=alice.actor, document_id=document.pk) for _ in range(3)]
    unpublish(actor=alice.actor, document_id=document.pk, publication_id=rows[1].pk.hex)
    assert [Client().get(f"/p/{row.slug}").status_code for row in rows] == [200, 410, 200]
    assert len(unpublish(actor=alice.actor, document_id=document.pk)) == 2
    with pytest.raises(NothingPublished):
        unpublish(actor=alice.actor, document_id=document.pk)
    with pytest.raises(PublicationNotFound):
        unpublish(actor=alice.actor, document_id=document.pk, publication_id=new_id().hex)
    assert publish(actor=alice.actor, document_id=document.pk).number == 4
    types = Event.objects.filter(document=document, type__startswith="document.").values_list("type", flat=True)
    assert list(types.order_by("seq")) == ["document.published"] * 3 + ["document.unpublished"] * 3 + [
        "document.published"
    ]
    assert AuditEntry.objects.filter(action="document.unpublished").count() == 3


def test_a_result_is_chosen_by_prompt_or_run(alice: Person, document: Document) -> None:
    run = Run.objects.create(
        organization=alice.organization, document=document, version_id=document.current_version_id, kind="extract",
        phase="complete",
    )  # fmt: skip
    chosen = result_of(alice, document, {"number": "chosen"}, prompt=_prompt(alice))
    chosen.run = run
    chosen.save()
    result_of(alice, document, {"number": "newest"}, prompt=_prompt(alice, "Newest"))
    place, client = f"/v1/documents/{document.pk.hex}/publish", program_of(alice)
    assert chosen.prompt_revision is not None
    revid = chosen.prompt_revision.pk.hex
    for body in ({"runId": run.pk.hex}, {"promptRevid": revid}, {"promptRevid": revid, "runId": run.pk.hex}):
        answer = client.post(place, body, content_type="application/json")
        assert answer.status_code == 201, answer.content
        shown = Client().get(f"{answer.json()['url'].removeprefix('http://testserver')}.json").json()
        assert shown["data"] == {"number": "chosen"}
    answer = client.post(place, {}, content_type="application/json").json()
    assert set(answer) == {"publicationId", "version", "url", "publishedAt", "withdrawnAt"}
    assert answer["version"] == 4
    withdrawn = client.post(place, {"unpublish": True}, content_type="application/json")
    assert (withdrawn.status_code, withdrawn.json()["publicationId"]) == (200, answer["publicationId"])
    assert withdrawn.json()["withdrawnAt"]
    assert [row["version"] for row in client.get(place).json()["publications"]] == [4, 3, 2, 1]


def _prompt(person: Person, name: str = "Chosen") -> Any:
    return make_prompt(person, name=name)


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"runId": "nonsense"}, 404), ({"promptRevid": "nonsense"}, 404), ({"runId": "\0"}, 422),
        ({"unpublish": True}, 409), ({"unpublish": True, "publicationId": "x"}, 404), ({"unpublish": "often"}, 422),
        ({"promptRevid": 5}, 422),
    ],
)  # fmt: skip
def test_bad_requests_publish_nothing(alice: Person, document: Document, body: dict[str, Any], status: int) -> None:
    place = f"/v1/documents/{document.pk.hex}/publish"
    answer = program_of(alice).post(place, body, content_type="application/json")
    assert answer.status_code == status
    assert "error" in answer.json()
    assert not Publication.objects.exists()


def test_nothing_is_published_of_what_has_no_result(alice: Person) -> None:
    place = f"/v1/documents/{shared_document(alice, RECEIPT).pk.hex}/publish"
    assert program_of(alice).post(place, {}, content_type="application/json").status_code == 404


def test_another_organization_publishes_and_withdraws_nothing_of_ours(
    alice: Person, charlie: Person, document: Document
) -> None:
    row = publish(actor=alice.actor, document_id=document.pk)
    client, place = program_of(charlie), f"/v1/documents/{document.pk.hex}/publish"
    own = shared_document(charlie, RECEIPT)
    for path, body in (
        (place, {}),
        (place, {"unpublish": True}),
        (f"/v1/documents/{own.pk.hex}/publish", {"unpublish": True, "publicationId": row.pk.hex}),
    ):
        assert client.post(path, body, content_type="application/json").status_code == 404
    assert client.get(place).status_code == 404
    assert Publication.objects.get().withdrawn_at is None


@pytest.mark.parametrize("slug", ["nonsense", "a" * 43, "a" * 5000, "..", "%00"])
def test_an_unknown_address_is_not_found(db: None, slug: str) -> None:
    for rest in ("", ".json", "/pages/1/image"):
        assert Client().get(f"/p/{slug}{rest}").status_code == 404


def test_a_document_in_the_trash_is_not_published(alice: Person, document: Document) -> None:
    row = publish(actor=alice.actor, document_id=document.pk)
    Document.objects.update(deleted_at=timezone.now())
    assert Client().get(f"/p/{row.slug}").status_code == 404
    Document.objects.update(deleted_at=None)
    assert Client().get(f"/p/{row.slug}").status_code == 200


def test_public_addresses_are_counted_for_the_network_address(alice: Person, document: Document, settings: Any) -> None:
    settings.RATE_LIMIT_SCALE = 1
    settings.RATE_LIMITS = settings.RATE_LIMITS | {"public": 3}
    row = publish(actor=alice.actor, document_id=document.pk)
    answers = [Client().get(f"/p/{row.slug}").status_code for _ in range(5)]
    assert answers == [200] * 3 + [429] * 2
    assert Client(REMOTE_ADDR="10.9.9.9").get(f"/p/{row.slug}").status_code == 200


def test_a_purge_takes_links_and_publications_with_the_document(alice: Person, document: Document) -> None:
    publish(actor=alice.actor, document_id=document.pk)
    create_share_link(actor=alice.actor, document_id=document.pk, redact_paths=["number"])
    with pytest.raises(IntegrityError, match="only be withdrawn"), transaction.atomic():
        document.delete()
    with purging():
        Document.objects.get().delete()
    assert not Publication.objects.exists()
    assert not ShareLink.objects.exists()
