"""Documents of `/v1`: uploads, pages of the list, one document and its tag, deletion."""

import base64
import hashlib
import time
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from typing import Any
from urllib.parse import quote

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from documents.extraction import begin_extraction
from documents.models import Document, Run
from documents.services import delete_document
from tags_app.services import create_tag
from tests.conftest import Person
from tests.data import make
from tests.documents.making import make_document
from tests.v1.calling import V1, account_v1_of, v1_of

TEXT = base64.b64encode(b"Total: 12.50 EUR").decode()
UNKNOWN = "0" * 32


def named(data: bytes, name: str) -> BytesIO:
    file = BytesIO(data)
    file.name = name
    return file


def test_a_document_is_uploaded_read_and_deleted(v1: V1, alice: Person) -> None:
    tag = create_tag(actor=alice.actor, name="Invoice").pk.hex
    began = round(time.time() * 1000)
    made = v1.post("documents", {"name": "a.txt", "content": TEXT, "tagIds": [tag], "metadata": {"k": "v"}})
    assert set(made) == {"documentId", "runId", "workflowId", "phase", "updatedAt"}
    assert (made["phase"], made["workflowId"]) == ("queued", made["runId"])
    assert began - 1 <= made["updatedAt"] <= time.time() * 1000 + 1

    read = v1.get(f"documents/{made['documentId']}")
    assert read == {
        "documentId": made["documentId"],
        "name": "a.txt",
        "mimeType": "text/plain",
        "sizeBytes": 16,
        "pageCount": None,
        "sha256": hashlib.sha256(b"Total: 12.50 EUR").hexdigest(),
        "tagIds": [tag],
        "metadata": {"k": "v"},
        "neverSend": False,
        "phase": "queued",
        "activeRunId": made["runId"],
        "autoCreate": {"status": "none"},
        "createdAt": read["createdAt"],
        "updatedAt": made["updatedAt"],
    }
    assert v1.get("documents") == {"documents": [read], "nextAfter": None}
    v1.delete(f"documents/{made['documentId']}")
    assert v1.error("get", f"documents/{made['documentId']}") == (404, "document_not_found")
    assert Run.objects.get(pk=made["runId"]).cancel_requested or Run.objects.get(pk=made["runId"]).phase == "cancelled"


def test_a_form_uploads_as_well(v1: V1, alice: Person) -> None:
    tag = create_tag(actor=alice.actor, name="Invoice").pk.hex
    fields = {"file": named(make.pdf(), "b.pdf"), "name": "c.pdf", "tagIds": f'["{tag}"]', "metadata": '{"a": "b"}'}
    read = v1.get(f"documents/{v1.form('documents', fields)['documentId']}")
    assert (read["name"], read["tagIds"], read["metadata"], read["mimeType"], read["pageCount"]) == (
        "c.pdf", [tag], {"a": "b"}, "application/pdf", 1,
    )  # fmt: skip


def test_pages_of_the_list_hold_every_document_once_newest_first(v1: V1, alice: Person) -> None:
    made = [make_document(alice, name=f"{number}.pdf") for number in range(7)]
    moment = made[0].created_at
    Document.objects.filter(pk__in=[one.pk for one in made[2:5]]).update(created_at=moment)  # at the same moment
    walked, after = [], ""
    while True:
        page = v1.get(f"documents?limit=3{after}")
        assert len(page["documents"]) <= 3
        walked += [one["documentId"] for one in page["documents"]]
        if page["nextAfter"] is None:
            break
        assert page["nextAfter"] == walked[-1]
        delete_document(actor=alice.actor, document_id=page["nextAfter"])  # a cursor stays good
        after = f"&after={page['nextAfter']}"
    wanted = Document.objects.order_by("-created_at", "-id").values_list("pk", flat=True)
    assert walked == [pk.hex for pk in wanted]


def test_a_page_costs_the_same_for_three_and_for_thirty(v1: V1, alice: Person) -> None:
    def queries(count: int) -> int:
        for number in range(count):
            make_document(alice, name=f"{number}.pdf")
        with CaptureQueriesContext(connection) as context:
            v1.get("documents?limit=100")
        return len(context)

    v1.get("documents")
    few = queries(3)
    assert queries(27) == few <= 8


def test_an_unchanged_document_is_not_sent_again(v1: V1, alice: Person) -> None:
    document = make_document(alice, "Total: 5")
    first = v1.raw("get", f"documents/{document.pk.hex}")
    again = v1.raw("get", f"documents/{document.pk.hex}", If_None_Match=first["ETag"])
    assert (again.status_code, again.content, again["ETag"]) == (304, b"", first["ETag"])
    begin_extraction(actor=alice.actor, document_id=document.pk)
    changed = v1.raw("get", f"documents/{document.pk.hex}", If_None_Match=f'W/"x", {first["ETag"]}')
    assert changed.status_code == 200
    said = changed.json()
    assert (said["phase"], said["updatedAt"] > first.json()["updatedAt"]) == ("extracting", True)
    assert said["activeRunId"] == Run.objects.get(kind="extract").pk.hex


def test_the_run_that_works_comes_before_a_newer_one_that_has_ended(v1: V1, alice: Person) -> None:
    document = make_document(alice, "Total: 5")
    active = begin_extraction(actor=alice.actor, document_id=document.pk)
    Run.objects.create(
        organization=alice.organization, document=document, version=active.version, kind="propose", phase="error"
    )
    assert v1.get(f"documents/{document.pk.hex}")["activeRunId"] == active.pk.hex


def test_a_token_of_the_account_names_the_organization_in_a_header(alice: Person, bob: Person, charlie: Person) -> None:
    document = make_document(alice, "Total: 5").pk.hex
    own = account_v1_of(alice)
    assert own.get(f"documents/{document}")["documentId"] == document
    assert V1(own.token).error("get", "documents") == (400, "organization_missing")
    assert V1(own.token, {"X-Organization-Id": UNKNOWN}).error("get", "documents")[0] == 403
    assert V1(own.token, {"X-Organization-Id": "nonsense"}).error("get", "documents")[0] == 403
    foreign = V1(account_v1_of(charlie).token, {"X-Organization-Id": alice.organization.pk.hex})
    assert foreign.error("get", f"documents/{document}")[0] == 403
    assert v1_of(charlie).error("get", f"documents/{document}") == (404, "document_not_found")
    assert v1_of(bob).get(f"documents/{document}")["documentId"] == document


@pytest.mark.django_db(transaction=True)
def test_an_upload_sent_twice_at_once_is_one_document(v1: V1) -> None:
    body = {"name": "a.txt", "content": TEXT}

    def send(_: int) -> Any:
        try:
            return v1.post("documents", body, Idempotency_Key="k")
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as threads:
        answers = list(threads.map(send, range(4)))
    assert answers == [answers[0]] * 4
    assert Document.objects.count() == 1
    assert v1.error("post", "documents", body | {"name": "b.txt"}, Idempotency_Key="k") == (
        409, "idempotency_key_reused",
    )  # fmt: skip
    form = {"file": named(b"Total: 12.50 EUR", "a.txt")}
    assert v1.form("documents", form, status=409, Idempotency_Key="k")["error"]["code"] == "idempotency_key_reused"
    assert v1.error("post", "documents", body, Idempotency_Key="x" * 201) == (400, "idempotency_key_invalid")


def test_an_upload_that_failed_is_not_remembered(v1: V1) -> None:
    wrong = {"name": "a.txt", "content": TEXT, "tagIds": [UNKNOWN]}
    assert v1.error("post", "documents", wrong, Idempotency_Key="k")[0] == 400
    assert v1.post("documents", {"name": "a.txt", "content": TEXT}, Idempotency_Key="k")["phase"] == "queued"


DEEP = b'{"name": "a.txt", "content": "", "metadata": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"
BAD_UPLOADS: list[tuple[int, Any]] = [
    (422, b""),
    (422, b"{"),
    (422, b"null"),
    (422, b"[]"),
    (422, b"\xff\xfe"),
    (422, DEEP),
    (422, b'{"name": "a.txt", "content": NaN}'),
    (422, {}),
    (422, {"name": "a.txt"}),
    (422, {"content": TEXT}),
    (422, {"name": 7, "content": TEXT}),
    (422, {"name": "a\0.txt", "content": TEXT}),
    (422, b'{"name": "\\ud800.txt", "content": ""}'),
    (422, {"name": "a.txt", "content": TEXT, "tagIds": "x"}),
    (422, {"name": "a.txt", "content": TEXT, "tagIds": [1]}),
    (422, {"name": "a.txt", "content": TEXT, "metadata": {"a": 1}}),
    (422, {"name": "a.txt", "content": TEXT, "metadata": []}),
    (422, {"name": "a.txt", "content": TEXT, "autoCreate": "perhaps"}),
    (400, {"name": "a.txt", "content": TEXT, "tagIds": ["nonsense"]}),
    (400, {"name": "a.txt", "content": TEXT, "tagIds": [UNKNOWN]}),
    (400, {"name": "a.txt", "content": ""}),
    (400, {"name": "a.txt", "content": "VG90"[:-1]}),
    (400, {"name": "a.txt", "content": "####"}),
    (400, {"name": "a.txt", "content": "data:text/plain,Total"}),
    (400, {"name": "a.exe", "content": TEXT}),
    (400, {"name": "a.txt", "content": TEXT, "metadata": {"a": "x" * 3000}}),
    (400, {"name": "a.txt", "content": TEXT, "metadata": {str(number): "" for number in range(101)}}),
]


@pytest.mark.parametrize(("status", "body"), BAD_UPLOADS, ids=range(len(BAD_UPLOADS)))
def test_a_bad_upload_is_refused_and_leaves_nothing(v1: V1, status: int, body: Any) -> None:
    before = Document.objects.count()
    given, code = v1.error("post", "documents", body)
    assert (given, bool(code)) == (status, True)
    assert Document.objects.count() == before


BAD_FORMS: list[tuple[int, dict[str, Any]]] = [
    (422, {}),
    (422, {"name": "a.txt"}),
    (400, {"file": ("a.txt", b"x"), "tagIds": "x"}),
    (400, {"file": ("a.txt", b"x"), "tagIds": "[1]"}),
    (400, {"file": ("a.txt", b"x"), "metadata": "[]"}),
    (400, {"file": ("a.txt", b"x"), "metadata": '{"a": 1}'}),
    (400, {"file": ("a.txt", b"")}),
    (400, {"file": ("a.exe", b"MZ")}),
    (422, {"file": ("a.txt", b"x"), "autoCreate": "perhaps"}),
    (422, {"file": ("a.txt", b"x"), "name": "a\0"}),
]


@pytest.mark.parametrize(("status", "fields"), BAD_FORMS, ids=range(len(BAD_FORMS)))
def test_a_bad_form_is_refused_and_leaves_nothing(v1: V1, status: int, fields: dict[str, Any]) -> None:
    sent = {key: named(value[1], value[0]) if key == "file" else value for key, value in fields.items()}
    assert set(v1.form("documents", sent, status=status)) == {"error"}
    assert not Document.objects.exists()


@pytest.mark.parametrize(
    "query",
    ["limit=0", "limit=101", "limit=-1", "limit=x", f"limit={10**30}", "limit=1.5", "after=%00", "limit=%F0%9F%98%80"],
)
def test_a_page_that_cannot_be_is_refused(v1: V1, query: str) -> None:
    assert v1.error("get", f"documents?{query}")[0] == 422


@pytest.mark.parametrize("identity", ["x", UNKNOWN, "..", "0" * 31, "Ⅷ" * 32, "%00", "' OR 1=1", "0" * 5000])
def test_what_is_no_document_of_ours_is_not_found(v1: V1, charlie: Person, identity: str) -> None:
    for name in (identity, make_document(charlie).pk.hex):
        place = quote(name, safe="%")
        for method in ("get", "delete"):
            assert v1.error(method, f"documents/{place}")[0] == 404
        assert v1.error("get", f"documents?after={place}")[0] in (404, 422)


@pytest.mark.parametrize("method", ["put", "patch"])
def test_other_methods_and_other_addresses_are_refused_in_the_same_form(v1: V1, method: str) -> None:
    assert v1.error(method, "documents", {}) == (405, "method_not_allowed")
    assert v1.error("get", "nonsense") == (404, "not_found")
    assert v1.error("get", "/document/x/nonsense") == (404, "not_found")
    assert V1("").error("get", "documents")[0] == 401
