"""What was read of a document over JSON: blocks, text, facts, files made of it; nothing before all of it is read."""

import gzip
import json
from datetime import timedelta
from io import BytesIO
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from kombu.exceptions import OperationalError
from openpyxl import load_workbook

from docrouter.celery import app
from documents import blocks, exports, processing
from documents.exports import harmless
from documents.ingest.wire import words_as_columns
from documents.models import Document, DocumentVersion, Page, Run
from documents.states import refresh_state
from llm.content import Word
from tags_app.services import create_tag
from tests.api import Api, api_of
from tests.conftest import Person
from tests.documents.making import RECEIPT, make_document, words_of
from tests.test_permissions import streamed

ROUTES = (
    *("ocr/download/blocks/{}", "ocr/download/json/{}", "ocr/download/text/{}", "ocr/download/metadata/{}"),
    *("ocr/export/markdown/{}", "ocr/export/html/{}", "ocr/export/tables.xlsx/{}"),
)
MISSING = {
    "ocr/download/text/{}": "OCR text not found",
    "ocr/download/metadata/{}": "OCR metadata not found",
}
UNKNOWN = "0" * 32


@pytest.fixture
def api(alice: Person) -> Api:
    return api_of(alice)


@pytest.fixture
def receipt(alice: Person) -> Document:
    return make_document(alice, *RECEIPT)


def address(document: Document, kind: str) -> str:
    return f"ocr/{kind}/{document.pk.hex}"


def add_pages(document: Document, *texts: str, words: tuple[Word, ...] = ()) -> None:
    version = document.current_version
    assert version is not None
    first = Page.objects.filter(version=version).count() + 1
    Page.objects.bulk_create(
        Page(
            organization_id=document.organization_id,
            version=version,
            number=number,
            width=595,
            height=842,
            source="ocr",
            text=text,
            words=words_as_columns(words or words_of(*text.split("\n"))),
        )
        for number, text in enumerate(texts, first)
    )
    DocumentVersion.objects.filter(pk=version.pk).update(page_count=first + len(texts) - 1)


def table_words() -> tuple[Word, ...]:
    """A table of three columns below a heading, whose words say what a spreadsheet or a browser would run."""
    rows = [
        ("Item", "Quantity", "Price"),
        ("=cmd()", "2", "10.00"),
        ("<b>Nail</b>", "30", "4.50"),
        ("Saw", "1", "9.99"),
    ]
    words = [Word("Offer", 0.1, 0.05, 0.2, 0.065, line=0)]
    for line, row in enumerate(rows, 1):
        for column, text in enumerate(row):
            x = 0.1 + 0.3 * column
            words.append(Word(text, x, 0.1 + 0.02 * line, x + 0.01 * len(text), 0.115 + 0.02 * line, line=line))
    return tuple(words)


def test_blocks_name_their_children_and_lie_inside_the_page(api: Api, receipt: Document) -> None:
    rows = api.get(address(receipt, "download/blocks"))
    by_id = {row["Id"]: row for row in rows}
    assert len(by_id) == len(rows)
    (page,) = [row for row in rows if row["BlockType"] == "PAGE"]
    lines = [by_id[key] for key in page["Relationships"][0]["Ids"]]
    assert [line["Text"] for line in lines] == list(RECEIPT)
    for line in lines:
        words = [by_id[key] for key in line["Relationships"][0]["Ids"]]
        assert " ".join(word["Text"] for word in words) == line["Text"]
        assert {word["BlockType"] for word in words} == {"WORD"}
    for row in rows:
        box = row["Geometry"]["BoundingBox"]
        assert 0 <= box["Left"] <= box["Left"] + box["Width"] <= 1.000001
        assert row["Geometry"]["Polygon"][2] == {
            "X": pytest.approx(box["Left"] + box["Width"]), "Y": pytest.approx(box["Top"] + box["Height"])
        }  # fmt: skip
        assert (row["Page"], 0 < row["Confidence"] <= 100) == (1, True)


def test_both_routes_say_the_same_plain_or_packed(api: Api, receipt: Document) -> None:
    rows = api.get(address(receipt, "download/blocks"))
    whole = api.raw("get", address(receipt, "download/json"))
    assert whole.json() == {"DocumentMetadata": {"Pages": 1}, "Blocks": rows}
    assert whole["Cache-Control"] == "private, max-age=3600"
    packed = api.raw("get", address(receipt, "download/json") + "?format=gzip")
    assert packed["Content-Encoding"] == "gzip"
    assert gzip.decompress(packed.content) == whole.content
    assert api.raw("get", address(receipt, "download/blocks") + "?format=zip").status_code == 422


def test_a_document_without_words_has_a_page_without_children(api: Api, alice: Person) -> None:
    document = make_document(alice)
    (page,) = api.get(address(document, "download/blocks"))
    assert (page["BlockType"], "Relationships" in page) == ("PAGE", False)


def test_text_is_one_page_or_all(api: Api, receipt: Document) -> None:
    add_pages(receipt, "Seite zwei: Öl", "page three")
    whole = api.raw("get", address(receipt, "download/text"))
    assert whole["Content-Type"] == "text/plain; charset=utf-8"
    assert whole.content.decode() == "\n".join([*RECEIPT, "Seite zwei: Öl", "page three"])
    assert api.raw("get", address(receipt, "download/text") + "?page_num=2").content.decode() == "Seite zwei: Öl"
    for number in ("0", "-1", "4", "99999999999999999999"):
        assert api.error("get", f"{address(receipt, 'download/text')}?page_num={number}") == (
            404, "OCR text not found"
        )  # fmt: skip
    assert api.raw("get", address(receipt, "download/text") + "?page_num=x").status_code == 422


def test_facts_say_how_many_pages_when_and_how(api: Api, receipt: Document) -> None:
    facts = api.get(address(receipt, "download/metadata"))
    assert (facts["n_pages"], facts["ocr_type"], facts["ocr_date"][-1]) == (1, "text_layer", "Z")
    add_pages(receipt, "scanned")
    assert api.get(address(receipt, "download/metadata"))["ocr_type"] == "mixed"


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("phase", ["queued", "parsing", "error", "cancelled"])
def test_nothing_is_said_before_all_of_it_is_read(api: Api, alice: Person, route: str, phase: str) -> None:
    document = make_document(alice, phase=phase)
    add_pages(document, "half of it")
    assert api.error("get", route.format(document.pk.hex)) == (404, MISSING.get(route, "OCR data not found"))


@pytest.mark.parametrize("route", ROUTES)
def test_tables_and_plain_text_have_no_ocr(api: Api, receipt: Document, route: str) -> None:
    sentence = "OCR not supported for this document extension"
    for kind in ("text/csv", "text/plain", "text/markdown"):
        DocumentVersion.objects.update(mime_type=kind)
        assert api.error("get", route.format(receipt.pk.hex)) == (404, sentence)
    assert api.error("post", address(receipt, "run")) == (400, "Document type does not support OCR")


@pytest.mark.parametrize("route", [*ROUTES, "ocr/run/{}"])
def test_an_id_that_is_none_of_ours_is_404(api: Api, charlie: Person, route: str) -> None:
    theirs = make_document(charlie, *RECEIPT).pk.hex
    method = "post" if "run" in route else "get"
    before = Run.objects.count()
    for identity in ("x", UNKNOWN, "%00", "0" * 500, theirs):
        assert api.error(method, route.format(identity)) == (404, "Document not found")
    assert Run.objects.count() == before


def test_reading_again_makes_a_run_and_only_one(api: Api, receipt: Document) -> None:
    queued = {"status": "queued", "document_id": receipt.pk.hex}
    assert api.post(address(receipt, "run") + "?ocr_only=True") == queued
    run = Run.objects.filter(document=receipt).latest("created_at")
    assert (run.phase, run.ocr_only) == ("queued", True)
    assert api.get(f"documents/{receipt.pk.hex}?include_content=false")["state"] == "uploaded"
    assert api.error("post", address(receipt, "run"))[0] == 409
    assert api.error("post", address(receipt, "run") + "?force=false")[0] == 409
    assert api.raw("post", address(receipt, "run") + "?force=perhaps").status_code == 422


def test_without_force_only_the_prompts_run_again(api: Api, receipt: Document) -> None:
    read = Run.objects.get(document=receipt)
    Run.objects.update(ocr_only=True, prompts_queued_at=read.created_at)
    assert api.post(address(receipt, "run") + "?force=False&ocr_only=true")["status"] == "queued"
    read.refresh_from_db()
    assert read.prompts_queued_at is not None
    assert api.post(address(receipt, "run") + "?force=False")["status"] == "queued"
    read.refresh_from_db()
    assert (Run.objects.count(), read.prompts_queued_at, read.ocr_only) == (1, None, False)
    Run.objects.update(phase="error")
    refresh_state(document_id=receipt.pk)
    api.post(address(receipt, "run") + "?force=false")
    assert Run.objects.count() == 2


@pytest.mark.django_db(transaction=True)
def test_without_a_broker_the_clock_finds_what_is_to_run_again(
    api: Api, receipt: Document, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: Any, **__: Any) -> None:
        raise OperationalError

    long_ago = timezone.now() - timedelta(minutes=5)
    Run.objects.update(ocr_only=True, prompts_queued_at=long_ago, completed_at=long_ago)
    monkeypatch.setattr(app, "send_task", away)
    assert api.post(address(receipt, "run") + "?force=False")["status"] == "queued"
    Run.objects.update(updated_at=long_ago)
    assert processing.take_reads_without_prompts() == [receipt.pk]
    assert api.post(address(receipt, "run"))["status"] == "queued"
    assert Run.objects.get(phase="queued").admitted_at is None


def test_markdown_and_html_have_the_text_and_no_markup_of_the_document(api: Api, alice: Person) -> None:
    document = make_document(alice, "# No heading", "<script>alert(1)</script> [x](javascript:1)", "- no list", "1. a")
    markdown = api.raw("get", address(document, "export/markdown"))
    assert markdown["Content-Type"] == "text/markdown; charset=utf-8"
    assert markdown.content.decode().splitlines() == [
        "\\# No heading  ", "\\<script\\>alert(1)\\</script\\> \\[x\\](javascript:1)  ", "\\- no list  ", "\\1. a"
    ]  # fmt: skip
    html = api.raw("get", address(document, "export/html"))
    assert html["Content-Type"] == "text/html; charset=utf-8"
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html.content.decode()
    assert "<script" not in html.content.decode()
    for answer in (markdown, html):
        assert answer["Content-Disposition"].startswith("attachment; ")
        assert (answer["X-Content-Type-Options"], "sandbox" in answer["Content-Security-Policy"]) == ("nosniff", True)


def test_tables_come_out_where_they_stand_and_run_nothing(api: Api, alice: Person) -> None:
    document = make_document(alice)
    Page.objects.all().delete()
    add_pages(document, "Offer\nItem Quantity Price\n…\n…\n…", words=table_words())
    markdown = api.raw("get", address(document, "export/markdown")).content.decode()
    assert markdown == (
        "Offer\n\n| Item | Quantity | Price |\n| --- | --- | --- |\n"
        "| =cmd() | 2 | 10.00 |\n| \\<b\\>Nail\\</b\\> | 30 | 4.50 |\n| Saw | 1 | 9.99 |\n"
    )
    assert (
        "<td>&lt;b&gt;Nail&lt;/b&gt;</td><td>30</td>"
        in api.raw("get", address(document, "export/html")).content.decode()
    )

    answer = api.raw("get", address(document, "export/tables.xlsx"))
    assert answer["Content-Disposition"].startswith('attachment; filename="receipt.xlsx"')
    (sheet,) = load_workbook(BytesIO(answer.content)).worksheets
    assert [[cell.value for cell in row] for row in sheet.rows] == [
        ["Item", "Quantity", "Price"], ["'=cmd()", "2", "10.00"], ["<b>Nail</b>", "30", "4.50"], ["Saw", "1", "9.99"]
    ]  # fmt: skip
    assert sheet["A2"].data_type == "s"
    assert api.raw("get", address(document, "export/tables.xlsx") + "?table_index=0").status_code == 200
    for place in ("1", "-1", "99999999999999999999"):
        status, _ = api.error("get", f"{address(document, 'export/tables.xlsx')}?table_index={place}")
        assert status == 404


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@x", "\tx", "\x07=1", "\r=1"])
def test_a_cell_that_a_spreadsheet_would_run_is_text(text: str) -> None:
    assert harmless(text)[0] == "'"
    assert harmless("plain 5") == "plain 5"


def test_pages_cost_the_same_number_of_queries_for_3_and_for_30(api: Api, receipt: Document) -> None:
    for route in ROUTES[:-1]:
        counts = []
        for total in (3, 30):
            Page.objects.filter(number__gt=1).delete()
            add_pages(receipt, *["one page"] * (total - 1))
            with CaptureQueriesContext(connection) as queries:
                assert api.raw("get", route.format(receipt.pk.hex)).content
            counts.append(len(queries))
        assert counts[0] == counts[1], route


@pytest.mark.django_db(transaction=True)
def test_a_long_document_is_sent_page_by_page(api: Api, receipt: Document) -> None:
    add_pages(receipt, *(f"page {number}" for number in range(2, 121)))
    whole = api.raw("get", address(receipt, "download/blocks"))
    assert whole.streaming
    rows = json.loads(async_to_sync(streamed)(whole))
    assert [row["Page"] for row in rows if row["BlockType"] == "PAGE"] == list(range(1, 121))
    assert len({row["Id"] for row in rows}) == len(rows)
    packed = api.raw("get", address(receipt, "download/json") + "?format=gzip")
    told = json.loads(gzip.decompress(async_to_sync(streamed)(packed)))
    assert told == {"DocumentMetadata": {"Pages": 120}, "Blocks": rows}


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 422),
        (b"[]", 422),
        (b'{"mode": "some"}', 422),
        (b'{"tag_id": 5}', 422),
        (b'{"document_filters": 5}', 422),
        (b'{"document_filters": {"filters": "{"}}', 400),
        (b'{"tag_id": "x"}', 400),
        (b'{"tag_id": "00000000000000000000000000000000"}', 400),
        (b'{"document_filters": {"tag_ids": ["x"]}}', 400),
    ],
)
def test_a_question_what_there_is_to_read_can_be_wrong(api: Api, body: bytes, status: int) -> None:
    assert api.raw("post", "ocr/bulk-analyze", body).status_code == status


def test_what_there_is_to_read_is_listed_with_the_reason(api: Api, alice: Person, receipt: Document) -> None:
    failed = make_document(alice, name="failed.pdf", phase="error")
    tag = create_tag(actor=alice.actor, name="Invoice")
    failed.tags.add(tag)

    def names(body: dict[str, Any]) -> set[str]:
        answer = api.post("ocr/bulk-analyze", body)
        assert answer["total_executions"] == len(answer["executions"])
        assert all(one["reason"] for one in answer["executions"])
        return {one["document_name"] for one in answer["executions"]}

    assert names({}) == names({"mode": "missing"}) == {"failed.pdf"}
    assert names({"mode": "all"}) == {"failed.pdf", "receipt.pdf"}
    assert names({"mode": "all", "tag_id": tag.pk.hex}) == {"failed.pdf"}
    assert names({"mode": "all", "document_filters": {"name_search": "RECEIPT"}}) == {"receipt.pdf"}


def test_what_is_made_of_pages_never_holds_all_of_them(receipt: Document) -> None:
    pages = iter([Page(number=1, words={}), Page(number=2, words={})])
    pieces = blocks.list_as_json(pages)
    assert next(pieces).startswith(b"[{")
    assert next(pages).number == 2, "the second page was not asked for yet"
    assert next(exports.markdown_of(iter(Page.objects.filter(version=receipt.current_version)))).startswith(b"Contoso")
