"""Runs of `/v1`: their list, how one stands, starting and stopping; and the older addresses that lead to the same."""

from decimal import Decimal
from io import BytesIO
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from documents.models import Document, Event, Run
from documents.services import UploadedFile, upload_documents
from tests.conftest import Person
from tests.documents.making import make_document, make_prompt
from tests.v1.calling import V1

UNKNOWN = "0" * 32


@pytest.fixture
def document(alice: Person) -> Document:
    return make_document(alice, "Total: 5")


def runs(document: Document) -> str:
    return f"documents/{document.pk.hex}/runs"


def named(data: bytes, name: str = "new.txt") -> BytesIO:
    file = BytesIO(data)
    file.name = name
    return file


def test_a_run_is_shown_with_its_progress_its_costs_and_its_end(v1: V1, document: Document) -> None:
    (only,) = v1.get(runs(document))["runs"]
    row = Run.objects.get()
    assert only == {
        "runId": row.pk.hex,
        "workflowId": row.pk.hex,
        "documentId": document.pk.hex,
        "kind": "parse",
        "phase": "complete",
        "progress": {"pagesDone": 0, "pagesTotal": None},
        "createdAt": round(row.created_at.timestamp() * 1000),
        "startedAt": None,
        "updatedAt": round(row.updated_at.timestamp() * 1000),
        "completedAt": None,
        "error": None,
        "costUsd": 0.0,
    }
    assert v1.get(f"{runs(document)}/{row.pk.hex}") == only
    row.phase, row.error_code, row.error_message, row.retryable = "error", "gave_up", "It stopped.", True
    row.cost_usd = Decimal("0.00120000")
    row.save()
    failed = v1.get(f"{runs(document)}/{row.pk.hex}")
    assert failed["error"] == {"code": "gave_up", "message": "It stopped.", "retryable": True}
    assert failed["costUsd"] == 0.0012


def test_runs_come_newest_first_page_by_page(v1: V1, document: Document) -> None:
    version = document.current_version
    assert version is not None
    for _ in range(6):
        Run.objects.create(
            organization_id=document.organization_id, document=document, version=version, kind="extract", phase="error"
        )
    moment = Run.objects.order_by("created_at")[2].created_at
    Run.objects.filter(created_at__gt=moment).update(created_at=moment)
    walked, after = [], ""
    while True:
        page = v1.get(f"{runs(document)}?limit=2{after}")
        walked += [run["runId"] for run in page["runs"]]
        if page["nextAfter"] is None:
            break
        after = f"&after={page['nextAfter']}"
    assert walked == [pk.hex for pk in Run.objects.order_by("-created_at", "-id").values_list("pk", flat=True)]
    assert len(walked) == 7
    with CaptureQueriesContext(connection) as context:
        v1.get(runs(document))
    assert len(context) <= 6


def test_a_document_is_read_again_once_at_a_time(v1: V1, document: Document) -> None:
    for body in (None, {}, {"kind": "reparse"}):
        started = v1.post(runs(document), body, status=202)
        assert (started["kind"], started["phase"], started["documentId"]) == ("parse", "queued", document.pk.hex)
        again = v1.raw("post", runs(document), body)
        said = again.json()["error"]
        assert (again.status_code, said["code"], said["details"]) == (409, "run_active", {"runId": started["runId"]})
        stopped = v1.post(f"{runs(document)}/{started['runId']}/cancel", status=202)
        assert (stopped["runId"], stopped["phase"]) == (started["runId"], "cancelled")
        assert v1.error("post", f"{runs(document)}/{started['runId']}/cancel") == (409, "run_finished")
        assert v1.get(f"documents/{document.pk.hex}")["phase"] == "cancelled"


def test_a_prompt_runs_beside_a_read_and_once_at_a_time(v1: V1, alice: Person, document: Document) -> None:
    revid = make_prompt(alice).pk.hex
    mine = v1.post(runs(document), {"kind": "extract", "promptRevid": revid}, status=202)
    other = v1.post(runs(document), {"kind": "extract"}, status=202)
    assert (mine["kind"], other["kind"]) == ("extract", "extract")
    assert v1.error("post", runs(document), {"kind": "extract", "promptRevid": revid})[0] == 409
    assert v1.error("post", runs(document), {"kind": "extract", "promptRevid": UNKNOWN})[0] == 404
    assert v1.post(f"{runs(document)}/{other['runId']}/cancel", status=202)["phase"] == "cancelled"
    unread = make_document(alice, phase="queued")
    assert v1.error("post", runs(unread), {"kind": "extract"}) == (409, "text_not_ready")


def test_a_proposal_is_asked_for(v1: V1, document: Document) -> None:
    started = v1.post(runs(document), {"kind": "propose"}, status=202)
    assert started["kind"] == "propose"
    assert v1.error("post", runs(document), {"kind": "propose"}) == (409, "run_active")
    assert v1.get(f"documents/{document.pk.hex}")["autoCreate"]["status"] in ("pending", "running")


@pytest.mark.parametrize("place", ["/v1/documents/{}/runs", "/document/{}/upload", "/document/{}/reparse"])
def test_new_bytes_are_a_new_version_of_the_same_document(v1: V1, document: Document, place: str) -> None:
    started = v1.form(place.format(document.pk.hex), {"file": named(b"Total: 7")}, status=202)
    assert (started["documentId"], started["kind"], started["phase"]) == (document.pk.hex, "parse", "queued")
    read = v1.get(f"documents/{document.pk.hex}")
    assert (read["sizeBytes"], read["mimeType"], read["activeRunId"]) == (8, "text/plain", started["runId"])
    assert document.versions.count() == 2
    assert Event.objects.filter(document=document, type="document.version_added").exists()


BAD_STARTS: list[tuple[int, Any]] = [
    (422, b"{"),
    (422, b"[]"),
    (422, b"null"),
    (422, b'"reparse"'),
    (422, b"[" * 50_000),
    (422, {"kind": "parse"}),
    (422, {"kind": None}),
    (422, {"kind": 7}),
    (422, {"kind": "rep\0arse"}),
    (422, {"kind": "extract", "promptRevid": 7}),
    (422, b'{"kind": "extract", "promptRevid": "\\ud800"}'),
    (404, {"kind": "extract", "promptRevid": "nonsense"}),
    (404, {"kind": "extract", "promptRevid": "9" * 5000}),
]


@pytest.mark.parametrize(("status", "body"), BAD_STARTS, ids=range(len(BAD_STARTS)))
def test_a_bad_start_is_refused_and_starts_nothing(v1: V1, document: Document, status: int, body: Any) -> None:
    assert v1.error("post", runs(document), body)[0] == status
    assert v1.error("post", f"/document/{document.pk.hex}/reparse", body)[0] == status
    assert Run.objects.count() == 1


@pytest.mark.parametrize(
    ("status", "fields"),
    [
        (422, {"kind": "nonsense"}),
        (400, {"kind": "extract", "file": (b"x", "a.txt")}),
        (400, {"file": (b"", "a.txt")}),
        (400, {"file": (b"x", "a.exe")}),
    ],
)
def test_a_bad_form_is_refused_and_starts_nothing(
    v1: V1, document: Document, status: int, fields: dict[str, Any]
) -> None:
    sent = {key: named(*value) if key == "file" else value for key, value in fields.items()}
    assert set(v1.form(f"/v1/{runs(document)}", sent, status=status)) == {"error"}
    assert (Run.objects.count(), document.versions.count()) == (1, 1)


@pytest.mark.parametrize("query", ["limit=0", "limit=1001", "limit=x", f"limit={10**30}", "after=%00"])
def test_a_page_of_runs_that_cannot_be_is_refused(v1: V1, document: Document, query: str) -> None:
    assert v1.error("get", f"{runs(document)}?{query}")[0] == 422


def test_what_is_no_run_of_this_document_is_not_found(
    v1: V1, alice: Person, charlie: Person, document: Document
) -> None:
    other, foreign = make_document(alice, "x"), make_document(charlie, "y")
    for run_id in ("nonsense", UNKNOWN, "%00", other.runs.get().pk.hex, foreign.runs.get().pk.hex):
        assert v1.error("get", f"{runs(document)}/{run_id}")[0] == 404
        assert v1.error("post", f"{runs(document)}/{run_id}/cancel")[0] == 404
        assert v1.error("get", f"{runs(document)}?after={run_id}")[0] in (404, 422)
    run_id = foreign.runs.get().pk.hex
    for place in ("nonsense", UNKNOWN, foreign.pk.hex):
        assert v1.error("get", f"documents/{place}/runs") == (404, "document_not_found")
        assert v1.error("get", f"documents/{place}/runs/{run_id}") == (404, "document_not_found")
        assert v1.error("post", f"documents/{place}/runs") == (404, "document_not_found")


def test_the_older_addresses_answer_as_their_originals(v1: V1, alice: Person) -> None:
    (made,) = upload_documents(actor=alice.actor, files=[uploaded()])
    document = made.document
    assert_same_read(v1, f"documents/{document.pk.hex}", f"/document/{document.pk.hex}/status")
    for identity in ("nonsense", UNKNOWN):
        assert_same_read(v1, f"documents/{identity}", f"/document/{identity}/status")
    for name in ("reparse", "upload"):
        both = [f"documents/{document.pk.hex}/runs", f"/document/{document.pk.hex}/{name}"]
        refused = [v1.form(place, {"file": named(b"x")}, status=409)["error"]["code"] for place in map(full, both)]
        assert refused == ["run_active", "run_active"]
        Run.objects.filter(document=document).update(phase="complete")
        shapes = []
        for place in map(full, both):
            shapes.append(shape(v1.form(place, {"file": named(b"Total: 8")}, status=202)))
            Run.objects.filter(document=document).update(phase="complete")
        assert shapes[0] == shapes[1]
        Run.objects.filter(pk=Run.objects.latest("created_at").pk).update(phase="queued")
    assert v1.error("get", f"/document/{document.pk.hex}/reparse")[0] == 405
    assert v1.error("post", f"/document/{document.pk.hex}/status")[0] == 405


def uploaded() -> UploadedFile:
    return UploadedFile(name="a.txt", data=b"Total: 5")


def full(place: str) -> str:
    return place if place.startswith("/") else f"/v1/{place}"


def shape(answer: Any) -> Any:
    """Names and kinds of values."""
    if isinstance(answer, dict):
        return {key: shape(value) for key, value in answer.items()}
    return type(answer).__name__


def assert_same_read(v1: V1, original: str, alias: str) -> None:
    """Byte for byte, and with the same headers but for what counts requests."""
    first, second = v1.raw("get", original), v1.raw("get", alias)
    assert (first.status_code, first.content) == (second.status_code, second.content)
    own = {"Allow", "X-RateLimit-Remaining", "X-RateLimit-Reset", "X-Request-Id"}
    kept = [{name: text for name, text in answer.items() if name not in own} for answer in (first, second)]
    assert kept[0] == kept[1]
