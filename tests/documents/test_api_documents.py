"""Documents over JSON: uploads, lists, bytes and ranges, changes; refusals that leave no row and no file."""

import base64
import json
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.conf import settings
from django.core.files.storage import default_storage
from django.db import connection
from django.http import HttpResponse
from django.test import Client, override_settings
from django.test.client import MULTIPART_CONTENT
from django.test.utils import CaptureQueriesContext

from documents.api.contents import write_base64
from documents.api.documents import DocumentsView
from documents.errors import ContentInvalid
from documents.models import Document, DocumentVersion
from organizations.models import AuditEntry
from tags_app.services import create_tag
from tests.api import Api, api_of
from tests.conftest import Person
from tests.data import make
from tests.documents.making import make_document
from tests.test_permissions import streamed

NOT_ASKED_FOR = {
    "status": "none", "schema_revid": None, "prompt_revid": None, "done_at": None, "thread_id": None, "error": None,
    "decided_by": None, "decided_at": None,
}  # fmt: skip
TEXT = base64.b64encode(b"Total: 12.50 EUR").decode()
UNKNOWN = "0" * 32


@pytest.fixture
def api(alice: Person) -> Api:
    return api_of(alice)


def upload(api: Api, name: str = "a.txt", content: str = TEXT, **more: Any) -> str:
    (made,) = api.post("documents", {"documents": [{"name": name, "content": content, **more}]})["documents"]
    identity: str = made["document_id"]
    return identity


def form(api: Api, fields: dict[str, Any], **headers: str) -> HttpResponse:
    sent = {"Authorization": f"Bearer {api.token}", **{key.replace("_", "-"): text for key, text in headers.items()}}
    return Client().post(f"{api.base}/documents/multipart", fields, headers=sent)


def named(data: bytes, name: str) -> BytesIO:
    file = BytesIO(data)
    file.name = name
    return file


def bytes_of(answer: HttpResponse) -> bytes:
    return async_to_sync(streamed)(answer) if answer.streaming else answer.content


def kept_files() -> set[Path]:
    return {path for path in Path(settings.FILES_DIR).rglob("*") if path.is_file()}


@pytest.fixture
def nothing_written(alice: Person) -> Callable[[], bool]:
    """Says whether everything is as it was: rows, the audit log and the stored files."""

    def state() -> tuple[int, int, set[Path]]:
        return Document.objects.count(), AuditEntry.objects.exclude(action="token.created").count(), kept_files()

    before = state()
    return lambda: state() == before


def test_a_document_is_uploaded_listed_read_changed_and_deleted(api: Api, alice: Person) -> None:
    tag = create_tag(actor=alice.actor, name="Invoice").pk.hex
    made = api.post(
        "documents",
        {"documents": [{"name": "a.txt", "content": TEXT, "tag_ids": [tag], "metadata": {"k": "v"}, "extra": 1}]},
    )
    (one,) = made["documents"]
    identity = one["document_id"]
    assert one == {"document_name": "a.txt", "document_id": identity, "tag_ids": [tag], "metadata": {"k": "v"}}

    listed = api.get("documents")
    (row,) = listed["documents"]
    assert (listed["total_count"], listed["skip"]) == (1, 0)
    assert row["upload_date"].endswith("Z")
    assert row | {"upload_date": "", "pdf_id": ""} == {
        "id": identity,
        "pdf_id": "",
        "document_name": "a.txt",
        "upload_date": "",
        "state": "uploaded",
        "uploaded_by": "Alice's program",
        "tag_ids": [tag],
        "type": None,
        "metadata": {"k": "v"},
        "never_send": False,
        "auto_create": NOT_ASKED_FOR,
    }
    assert row["pdf_id"] != identity

    read = api.get(f"documents/{identity}")
    assert read == {**row, "type": "text/plain", "content": TEXT}
    assert api.get(f"documents/{identity}?include_content=False&file_type=undefined") == {**read, "content": None}

    changed = {"document_name": "b.txt", "tag_ids": [], "metadata": {}}
    assert api.put(f"documents/{identity}", changed) == {"message": "Document updated successfully"}
    read = api.get(f"documents/{identity}?include_content=false")
    assert (read["document_name"], read["tag_ids"], read["metadata"]) == ("b.txt", [], {})
    assert api.put(f"documents/{identity}", {"tag_ids": None}) == {"message": "No updates provided"}

    assert api.delete(f"documents/{identity}") == {"message": "Document deleted successfully"}
    assert api.error("get", f"documents/{identity}") == (404, "Document not found")
    assert api.get("documents")["total_count"] == 0


def test_a_pdf_is_its_own_pdf(api: Api) -> None:
    data = make.pdf()
    identity = upload(api, "a.pdf", "data:application/pdf;base64," + base64.b64encode(data).decode())
    read = api.get(f"documents/{identity}?file_type=pdf")
    assert (read["pdf_id"], read["type"]) == (identity, "application/pdf")
    assert base64.b64decode(read["content"]) == data


def test_the_order_of_the_request_is_the_order_of_the_answer(api: Api) -> None:
    names = [f"{number}.txt" for number in range(5)]
    made = api.post("documents", {"documents": [{"name": name, "content": TEXT} for name in names]})
    assert [one["document_name"] for one in made["documents"]] == names
    assert api.post("documents", {"documents": []}) == {"documents": []}


@pytest.mark.parametrize(
    ("document", "status", "sentence"),
    [
        ({"content": "%%%%"}, 400, "Invalid base64 content: a.txt"),
        ({"content": "QUJD\nQUJD"}, 400, "Invalid base64 content"),
        ({"content": "QUJD QUJ"}, 400, "Invalid base64 content"),
        ({"content": "QUJ"}, 400, "Invalid base64 content"),
        ({"content": "QQ==QUJD"}, 400, "Invalid base64 content"),
        ({"content": "===="}, 400, "Invalid base64 content"),
        ({"content": "QUJ_"}, 400, "Invalid base64 content"),
        ({"content": "ÄÄÄÄ"}, 400, "Invalid base64 content"),
        ({"content": "data:text/plain,hello"}, 400, "Invalid base64 content"),
        ({"content": "data:text/plain;base64"}, 400, "Invalid base64 content"),
        ({"content": ""}, 400, "The file is empty"),
        ({"content": "data:;base64,"}, 400, "The file is empty"),
        ({"name": "name.xyz"}, 400, "Unsupported file extension .xyz: name.xyz"),
        ({"name": "a.exe", "content": "TVqQAA=="}, 400, "Unsupported file extension .exe: a.exe"),
        ({"tag_ids": ["nonsense"]}, 400, "Invalid tag IDs: ['nonsense']"),
        ({"tag_ids": [UNKNOWN]}, 400, f"Invalid tag IDs: ['{UNKNOWN}']"),
        ({"tag_ids": ["x" * 5000]}, 400, "Invalid tag IDs"),
        ({"metadata": {str(number): "v" for number in range(200)}}, 400, "At most 100"),
        ({"metadata": {"k": "v" * 5000}}, 400, "too long"),
        ({"metadata": {"k": 5}}, 422, ""),
        ({"metadata": {"k": "a\0b"}}, 422, ""),
        ({"metadata": ["k"]}, 422, ""),
        ({"never_send": "perhaps"}, 422, ""),
        ({"tag_ids": "text"}, 422, ""),
        ({"tag_ids": [5]}, 422, ""),
        ({"name": None}, 422, ""),
        ({"name": "a\ud800.txt"}, 422, ""),
        ({"content": 5}, 422, ""),
        ({"content": None}, 422, ""),
    ],
)
def test_one_bad_file_refuses_the_batch_and_nothing_is_kept(
    api: Api, nothing_written: Callable[[], bool], document: dict[str, Any], status: int, sentence: str
) -> None:
    good = {"name": "good.txt", "content": TEXT}
    bad = {"name": "a.txt", "content": TEXT, **document}
    answer = api.raw("post", "documents", {"documents": [good, bad]})
    assert (answer.status_code, sentence in str(answer.json()["detail"])) == (status, True), answer.content
    assert nothing_written()


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 422),
        (b"{}", 422),
        (b"[]", 422),
        (b'{"documents": 5}', 422),
        (b'{"documents": {}}', 422),
        (b'{"documents": [5]}', 422),
        (b'{"documents": [{}]}', 422),
        (b'{"documents": ' + b"[" * 5000 + b"]" * 5000 + b"}", 422),
        (b'\xff{"documents": []}', 422),
        (b'{"documents": [{"name": "\xff.txt", "content": "QQ=="}]}', 422),
        (b'{"documents": [], "auto_create": "perhaps"}', 422),
        (json.dumps({"documents": [{"name": "a.txt", "content": TEXT}] * 101}).encode(), 400),
    ],
)
def test_a_body_that_is_no_batch_is_refused(
    api: Api, nothing_written: Callable[[], bool], body: bytes, status: int
) -> None:
    assert api.raw("post", "documents", body).status_code == status
    assert nothing_written()


def test_foreign_tags_are_as_unknown_as_others(api: Api, charlie: Person, nothing_written: Callable[[], bool]) -> None:
    foreign = create_tag(actor=charlie.actor, name="Theirs").pk.hex
    before = AuditEntry.objects.count()
    document = {"name": "a.txt", "content": TEXT, "tag_ids": [foreign]}
    assert api.error("post", "documents", {"documents": [document]}) == (400, f"Invalid tag IDs: ['{foreign}']")
    assert (Document.objects.count(), AuditEntry.objects.count()) == (0, before)


def test_files_and_bodies_that_are_too_large_are_413(
    api: Api, nothing_written: Callable[[], bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    large = base64.b64encode(b"x" * 3_000_000).decode()
    with override_settings(MAX_UPLOAD_BYTES=2_097_152):
        assert api.error("post", "documents", {"documents": [{"name": "a.txt", "content": large}]}) == (
            413, "a.txt is larger than 2 MB."
        )  # fmt: skip
        assert form(api, {"file": named(b"x" * 3_000_000, "a.txt")}).status_code == 413
        assert form(api, {"file": named(b"x" * 4_000_000, "a.txt")}).json()["detail"] == "A file here has at most 2 MB."
    monkeypatch.setattr(DocumentsView, "max_body_bytes", 1_048_576)
    assert api.error("post", "documents", {"documents": [{"name": "a.txt", "content": large}]}) == (
        413, "A request here has at most 1 MB."
    )  # fmt: skip
    assert nothing_written()


def test_too_many_pages_are_refused_with_the_reason(api: Api, nothing_written: Callable[[], bool]) -> None:
    with override_settings(MAX_PAGES=2):
        content = base64.b64encode(make.gigantic_png()).decode()
        status, detail = api.error("post", "documents", {"documents": [{"name": "a.png", "content": content}]})
    assert (status, "megapixels are allowed" in detail) == (400, True)
    assert nothing_written()


def test_long_base64_is_decoded_in_pieces_to_the_same_bytes(alice: Person) -> None:
    data = bytes(range(256)) * 12_000
    for cut in (0, 1, 2):
        target = BytesIO()
        write_base64(base64.b64encode(data[cut:]).decode(), target, name="a")
        assert target.getvalue() == data[cut:]
    broken = base64.b64encode(b"x" * 786_431).decode() + "QUJD"  # padding at the end of the first piece
    assert "=" in broken[: 1 << 20]
    with pytest.raises(ContentInvalid):
        write_base64(broken, BytesIO(), name="a")


def test_the_same_key_uploads_once(api: Api) -> None:
    body = {"documents": [{"name": "a.txt", "content": TEXT}]}
    first = api.raw("post", "documents", body, Idempotency_Key="k1")
    again = api.raw("post", "documents", body, Idempotency_Key="k1")
    assert (first.status_code, again.json()) == (200, first.json())
    other = api.raw("post", "documents", {"documents": []}, Idempotency_Key="k1")
    assert (other.status_code, other.json()["code"]) == (409, "idempotency_key_reused")
    forms = [form(api, {"file": named(b"hello", "a.txt")}, Idempotency_Key="k2") for _ in range(2)]
    assert forms[0].json() == forms[1].json()
    assert form(api, {"file": named(b"hallo", "a.txt")}, Idempotency_Key="k2").status_code == 409
    assert Document.objects.count() == 2


@pytest.mark.parametrize("size", [20, 6_000_000])
def test_a_form_uploads_a_file(api: Api, alice: Person, size: int) -> None:
    tag = create_tag(actor=alice.actor, name="Invoice").pk.hex
    data = (b"0123456789 line of text\n" * (size // 24 + 1))[:size]
    fields = {"file": named(data, "a.txt"), "tag_ids": json.dumps([tag]), "metadata": '{"k": "v"}', "name": "Ä.txt"}
    made = form(api, fields).json()["document"]
    assert made | {"document_id": ""} == {
        "document_name": "Ä.txt", "document_id": "", "tag_ids": [tag], "metadata": {"k": "v"}
    }  # fmt: skip
    answer = api.raw("get", f"documents/{made['document_id']}")
    assert answer.streaming == (size > 1_000_000)
    assert base64.b64decode(json.loads(bytes_of(answer))["content"]) == data


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({}, 422),
        ({"file": "text"}, 422),
        ({"tag_ids": "nonsense"}, 400),
        ({"tag_ids": '{"a": 1}'}, 400),
        ({"tag_ids": "[5]"}, 400),
        ({"tag_ids": '["' + UNKNOWN + '"]'}, 400),
        ({"tag_ids": "[" * 5000 + "]" * 5000}, 400),
        ({"metadata": "[]"}, 400),
        ({"metadata": '{"a": 1}'}, 400),
        ({"metadata": '{"a": "\\u0000"}'}, 400),
        ({"metadata": "a\0b"}, 422),
        ({"name": "x.xyz"}, 400),
        ({"auto_create": "perhaps"}, 422),
    ],
)
def test_a_form_that_is_wrong_is_refused(
    api: Api, nothing_written: Callable[[], bool], fields: dict[str, Any], status: int
) -> None:
    given = {"file": named(b"hello", "a.txt")} if fields and "file" not in fields else {}
    answer = form(api, given | fields)
    assert answer.status_code == status, answer.content
    assert answer.json()["detail"]
    assert nothing_written()


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("application/json", b"{}"),
        ("multipart/form-data", b"x"),
        ("multipart/form-data; boundary=b", b"nonsense"),
        ("multipart/form-data; boundary=" + "b" * 500, b"x"),
        (MULTIPART_CONTENT, b'--BoUnDaRyStRiNg\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n'),
    ],
)
def test_what_is_no_form_is_refused(api: Api, nothing_written: Callable[[], bool], kind: str, body: bytes) -> None:
    answer = Client().generic(
        "POST",
        f"{api.base}/documents/multipart",
        body,
        content_type=kind,
        headers={"Authorization": f"Bearer {api.token}"},
    )
    assert answer.status_code in (400, 422), answer.content
    assert nothing_written()


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("skip=-1", 422), ("limit=0", 422), ("limit=1001", 422), ("limit=x", 422), ("skip=99999999999999999999", 422),
        ("tag_ids=nonsense", 400), (f"tag_ids={UNKNOWN}", 400), ("sort={", 400), ("filters=[1]", 400),
        ("metadata_search=novalue", 400), ("metadata_search=a%3D%2500", 400), ("name_search=%00", 422),
    ],
)  # fmt: skip
def test_a_list_query_that_is_wrong_is_refused(api: Api, query: str, status: int) -> None:
    assert api.raw("get", f"documents?{query}").status_code == status


def test_a_list_is_searched_by_name_tags_and_metadata(api: Api, alice: Person) -> None:
    tag = create_tag(actor=alice.actor, name="Invoice").pk.hex
    first = upload(api, "Invoice June.txt", tag_ids=[tag], metadata={"a, b": "1=2"})
    upload(api, "other.txt", metadata={"a, b": "3"})

    def found(query: str) -> list[str]:
        return [row["id"] for row in api.get(f"documents?limit=1000&{query}")["documents"]]

    assert found("name_search=june") == found(f"tag_ids={tag}") == [first]
    assert found("metadata_search=a%252C%2520b%3D1%253D2") == [first]
    assert len(found("name_search=&metadata_search=&tag_ids=")) == 2
    assert found('sort=[{"field":"document_name","sort":"asc"}]')[0] == first


def test_a_list_costs_the_same_for_3_and_for_30(api: Api, alice: Person) -> None:
    counts = []
    for total in (3, 30):
        for number in range(Document.objects.count(), total):
            make_document(alice, name=f"{number}.pdf")
        with CaptureQueriesContext(connection) as queries:
            assert len(api.get("documents?limit=100")["documents"]) == total
        counts.append(len(queries))
    assert counts[0] == counts[1]


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"document_name": ""}, 400),
        ({"document_name": "  "}, 400),
        ({"document_name": 5}, 422),
        ({"document_name": "a\0"}, 422),
        ({"tag_ids": [UNKNOWN]}, 400),
        ({"tag_ids": ["x"]}, 400),
        ({"tag_ids": "x"}, 422),
        ({"metadata": {"a": 1}}, 422),
        ({"metadata": {"a": "x" * 3000}}, 400),
        ([], 422),
    ],
)
def test_a_change_that_is_wrong_is_refused(
    api: Api, alice: Person, nothing_written: Callable[[], bool], body: Any, status: int
) -> None:
    document = make_document(alice, name="a.pdf")
    before = (AuditEntry.objects.count(), Document.objects.values().get())
    assert api.raw("put", f"documents/{document.pk.hex}", body).status_code == status
    assert (AuditEntry.objects.count(), Document.objects.values().get()) == before


@pytest.mark.parametrize("identity", ["x", UNKNOWN, "%00", "0" * 500, "../x", "ffffffff-ffff-ffff-ffff-ffffffffffff"])
def test_an_id_that_is_none_of_ours_is_404(api: Api, charlie: Person, identity: str) -> None:
    theirs = make_document(charlie, name="theirs.pdf").pk.hex
    for path in (f"documents/{identity}", f"documents/{theirs}"):
        for method, body in (("get", None), ("put", {}), ("delete", None)):
            assert api.raw(method, path, body).status_code in (404, 307), (method, path)
        assert api.raw("get", f"{path}/file").status_code == 404
    assert Document.objects.filter(deleted_at=None).count() == 1


def test_a_file_is_sent_whole_in_ranges_or_not_again(api: Api) -> None:
    data = make.pdf()
    identity = upload(api, "Rechnung für Öl.pdf", base64.b64encode(data).decode())
    address = f"documents/{identity}/file"

    whole = api.raw("get", address)
    assert (whole.status_code, bytes_of(whole), whole["Content-Type"]) == (200, data, "application/pdf")
    assert whole["Content-Length"] == str(len(data))
    assert whole["Content-Disposition"] == (
        "attachment; filename=\"Rechnung f_r _l.pdf\"; filename*=UTF-8''Rechnung%20f%C3%BCr%20%C3%96l.pdf"
    )
    assert (whole["X-Content-Type-Options"], whole["Accept-Ranges"]) == ("nosniff", "bytes")
    assert "sandbox" in whole["Content-Security-Policy"]

    part = api.raw("get", address, Range="bytes=10-19")
    assert (part.status_code, bytes_of(part), part["Content-Length"]) == (206, data[10:20], "10")
    assert part["Content-Range"] == f"bytes 10-19/{len(data)}"
    assert bytes_of(api.raw("get", address, Range="bytes=-5")) == data[-5:]
    same = api.raw("get", address, Range="bytes=10-", If_Range=whole["ETag"])
    assert (same.status_code, bytes_of(same)) == (206, data[10:])
    changed = api.raw("get", address, Range="bytes=10-", If_Range='"another"')
    assert (changed.status_code, bytes_of(changed)) == (200, data)
    beyond = api.raw("get", address, Range=f"bytes={len(data)}-")
    assert (beyond.status_code, beyond["Content-Range"]) == (416, f"bytes */{len(data)}")
    assert (beyond["Content-Type"], beyond.json()["code"]) == ("application/json", "range_not_satisfiable")
    assert "Content-Disposition" not in beyond
    known = api.raw("get", address, If_None_Match=whole["ETag"])
    assert (known.status_code, known.content) == (304, b"")
    assert bytes_of(api.raw("get", f"{address}?file_type=original")) == data


def test_a_pdf_that_is_not_made_yet_is_404_and_the_original_is_there(api: Api) -> None:
    identity = upload(api)
    assert api.error("get", f"documents/{identity}/file") == (404, "The PDF of this document is not made yet.")
    assert api.error("get", f"documents/{identity}?file_type=pdf")[0] == 404
    assert bytes_of(api.raw("get", f"documents/{identity}/file?file_type=original")) == b"Total: 12.50 EUR"
    version = DocumentVersion.objects.get(document_id=identity)
    version.pdf_key = f"{version.file_key}.pdf"
    version.save()
    default_storage.save(version.pdf_key, named(b"%PDF-1.4 made", "x"))  # type: ignore[arg-type]  # anything that reads
    made = api.raw("get", f"documents/{identity}/file")
    assert (bytes_of(made), made["Content-Type"]) == (b"%PDF-1.4 made", "application/pdf")
    assert made["Content-Disposition"].startswith('attachment; filename="a.pdf"')
    assert base64.b64decode(api.get(f"documents/{identity}?file_type=pdf")["content"]) == b"%PDF-1.4 made"


def test_a_file_that_is_gone_from_the_disk_is_a_clear_404_everywhere(api: Api, alice: Person) -> None:
    identity = upload(api, "a.pdf", base64.b64encode(make.pdf()).decode())
    for path in kept_files():
        path.unlink()
    sentence = "The stored file of this document is missing."
    assert api.error("get", f"documents/{identity}") == (404, sentence)
    assert api.error("get", f"documents/{identity}/file") == (404, sentence)
    assert api.get(f"documents/{identity}?include_content=false")["content"] is None
    browser = alice.client()
    assert browser.get(f"/documents/{identity}/file").status_code == 404
    assert browser.get(f"/documents/{identity}/pages/1/image").status_code == 404
