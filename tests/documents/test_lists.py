"""The list of documents: what it finds, its order, its count, and that it costs the same whatever is in it."""

import json
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from core.errors import Invalid
from documents import selectors
from documents.models import Document, DocumentTally
from documents.selectors import list_documents, tally
from documents.services import delete_document, restore_document
from tags_app.models import Tag
from tags_app.services import create_tag
from tests.conftest import Person
from tests.documents.many import RARE, fill

pytestmark = pytest.mark.django_db
DAY = datetime(2026, 5, 1, tzinfo=UTC)


def add(person: Person, name: str, *tags: Tag, **fields: Any) -> Document:
    values = {"uploaded_by_name": person.user.name, **fields}
    document = Document.objects.create(organization=person.organization, name=name, **values)
    document.tags.set(tags)
    return document


def names(person: Person, **query: Any) -> list[str]:
    return [document.name for document in list_documents(actor=person.actor, limit=100, **query).documents]


def grid(*items: tuple[str, str, object], logic: str = "and") -> str:
    wanted = [{"id": n, "field": f, "operator": o, "value": v} for n, (f, o, v) in enumerate(items)]
    return json.dumps({"items": wanted, "logicOperator": logic, "quickFilterValues": []})


def order(*keys: str) -> str:
    return json.dumps([{"field": key.lstrip("-"), "sort": "desc" if key[0] == "-" else "asc"} for key in keys])


@pytest.fixture
def shelf(alice: Person) -> dict[str, Tag]:
    """Five documents; `c` was uploaded last."""
    red, blue = create_tag(actor=alice.actor, name="Red"), create_tag(actor=alice.actor, name="blue")
    add(alice, "a.pdf", red, state="ocr_failed", created_at=DAY.replace(day=1, hour=23), uploaded_by_name="Zoe")
    add(alice, "B.pdf", red, blue, metadata={"case": "A=1", "who": "x"}, created_at=DAY.replace(day=2))
    add(alice, "ä_1.pdf", blue, metadata={"case": "B"}, created_at=DAY.replace(day=3, hour=10, minute=30, second=20))
    add(alice, "d%.pdf", state="llm_completed", created_at=DAY.replace(day=4), uploaded_by_name="bob")
    add(alice, "c.pdf", metadata={"case": "B", "who": "x,y"}, created_at=DAY.replace(day=5))
    return {"red": red, "blue": blue}


ALL = ["c.pdf", "d%.pdf", "ä_1.pdf", "B.pdf", "a.pdf"]


@pytest.mark.parametrize(
    ("item", "found"),
    [
        (("document_name", "contains", "%"), ["d%.pdf"]),
        (("document_name", "contains", "b.P"), ["B.pdf"]),
        (("document_name", "doesNotContain", "_"), ["c.pdf", "d%.pdf", "B.pdf", "a.pdf"]),
        (("document_name", "equals", "b.PDF"), ["B.pdf"]),
        (("document_name", "doesNotEqual", "b.pdf"), ["c.pdf", "d%.pdf", "ä_1.pdf", "a.pdf"]),
        (("document_name", "startsWith", "Ä_"), ["ä_1.pdf"]),
        (("document_name", "endsWith", "1.pdf"), ["ä_1.pdf"]),
        (("document_name", "isEmpty", None), []),
        (("document_name", "isNotEmpty", None), ALL),
        (("document_name", "isAnyOf", ["A.pdf", "C.PDF", "x"]), ["c.pdf", "a.pdf"]),
        (("document_name", "isAnyOf", []), ALL),
        (("document_name", "contains", ""), ALL),
        (("uploaded_by", "equals", "zoe"), ["a.pdf"]),
        (("state", "is", "ocr_failed"), ["a.pdf"]),
        (("state", "not", "uploaded"), ["d%.pdf", "a.pdf"]),
        (("state", "isAnyOf", ["ocr_failed", "llm_completed"]), ["d%.pdf", "a.pdf"]),
        (("state", "contains", "failed"), ["a.pdf"]),
        (("upload_date", "is", "2026-05-01"), ["a.pdf"]),
        (("upload_date", "not", "2026-05-01"), ["c.pdf", "d%.pdf", "ä_1.pdf", "B.pdf"]),
        (("upload_date", "after", "2026-05-03"), ["c.pdf", "d%.pdf"]),
        (("upload_date", "onOrAfter", "2026-05-03"), ["c.pdf", "d%.pdf", "ä_1.pdf"]),
        (("upload_date", "before", "2026-05-02"), ["a.pdf"]),
        (("upload_date", "onOrBefore", "2026-05-02"), ["B.pdf", "a.pdf"]),
        (("upload_date", "is", "2026-05-03T10:30"), ["ä_1.pdf"]),
        (("upload_date", "is", "2026-05-03T12:30:00.000+02:00"), ["ä_1.pdf"]),
        (("upload_date", "after", "2026-05-03T10:30:20Z"), ["c.pdf", "d%.pdf"]),
        (("upload_date", "isEmpty", None), []),
        (("tag_ids", "isEmpty", None), ["c.pdf", "d%.pdf"]),
        (("tag_ids", "isNotEmpty", None), ["ä_1.pdf", "B.pdf", "a.pdf"]),
        (("tag_ids", "contains", "RE"), ["B.pdf", "a.pdf"]),
        (("tag_ids", "equals", "Blue"), ["ä_1.pdf", "B.pdf"]),
        (("tag_ids", "doesNotContain", "red"), ["c.pdf", "d%.pdf", "ä_1.pdf"]),
        (("tag_ids", "isAnyOf", ["red", "0" * 32]), ["B.pdf", "a.pdf"]),
    ],
)
@pytest.mark.usefixtures("shelf")
def test_each_operator_of_the_grid_finds_what_it_says(
    alice: Person, item: tuple[str, str, object], found: list[str]
) -> None:
    assert names(alice, filters=grid(item)) == found


def test_tags_are_found_by_their_ids_too(alice: Person, shelf: dict[str, Tag]) -> None:
    red, blue = shelf["red"].pk.hex, shelf["blue"].pk.hex
    assert names(alice, filters=grid(("tag_ids", "contains", red))) == ["B.pdf", "a.pdf"]
    assert names(alice, filters=grid(("tag_ids", "is", red), ("tag_ids", "is", blue))) == ["B.pdf"]
    assert names(alice, filters=grid(("tag_ids", "isAnyOf", [red, blue]))) == ["ä_1.pdf", "B.pdf", "a.pdf"]
    assert names(alice, tag_ids=[red, blue]) == ["B.pdf"]
    assert names(alice, tag_ids=[red, red]) == ["B.pdf", "a.pdf"]


@pytest.mark.usefixtures("shelf")
def test_conditions_hold_together_or_one_of_them(alice: Person) -> None:
    both = (("state", "is", "uploaded"), ("document_name", "contains", "b"))
    assert names(alice, filters=grid(*both)) == ["B.pdf"]
    assert names(alice, filters=grid(*both, logic="or")) == ["c.pdf", "ä_1.pdf", "B.pdf"]
    unfinished = (("state", "is", "ocr_failed"), ("document_name", "contains", ""))
    assert names(alice, filters=grid(*unfinished, logic="or")) == ["a.pdf"]


@pytest.mark.parametrize(
    ("search", "found"),
    [
        ("case=A%3D1", ["B.pdf"]),
        ("case=A=1, who=x", ["B.pdf"]),
        ("case=B", ["c.pdf", "ä_1.pdf"]),
        (" case =B", ["c.pdf", "ä_1.pdf"]),
        ("case= B", []),
        ("who=x%2Cy", ["c.pdf"]),
        ("case=A", []),
        ("case=A,case=B", []),
        ("", ALL),
        (",", ALL),
    ],
)
@pytest.mark.usefixtures("shelf")
def test_metadata_is_found_by_exact_pairs(alice: Person, search: str, found: list[str]) -> None:
    assert names(alice, metadata_search=search) == found


@pytest.mark.parametrize(
    ("sort", "found"),
    [
        (order("document_name"), ["a.pdf", "B.pdf", "c.pdf", "d%.pdf", "ä_1.pdf"]),
        (order("-document_name"), ["ä_1.pdf", "d%.pdf", "c.pdf", "B.pdf", "a.pdf"]),
        (order("upload_date"), ALL[::-1]),
        (order("-state", "document_name"), ["B.pdf", "c.pdf", "ä_1.pdf", "a.pdf", "d%.pdf"]),
        (order("-uploaded_by"), ["a.pdf", "d%.pdf", "c.pdf", "ä_1.pdf", "B.pdf"]),
        (order("tag_ids"), ["B.pdf", "ä_1.pdf", "a.pdf", "d%.pdf", "c.pdf"]),
        (order("-tag_ids"), ["c.pdf", "d%.pdf", "a.pdf", "ä_1.pdf", "B.pdf"]),
        ('[{"field": "document_name", "sort": null}]', ALL),
        ("[]", ALL),
        ("", ALL),
    ],
)
@pytest.mark.usefixtures("shelf")
def test_every_field_sorts_both_ways_and_ties_follow(alice: Person, sort: str, found: list[str]) -> None:
    assert names(alice, sort=sort) == found


def test_names_that_equal_the_search_come_first_then_those_that_begin_with_it(alice: Person) -> None:
    for name in ("Report", "report 1", "my report", "REPORT", "a report", "reports", "other"):
        add(alice, name)
    found = ["REPORT", "Report", "reports", "report 1", "a report", "my report"]
    assert names(alice, name_search="rePort") == found
    pages = [list_documents(actor=alice.actor, name_search="report", skip=skip, limit=2) for skip in (0, 2, 4, 6)]
    assert [document.name for page in pages for document in page.documents] == found
    assert {page.total_count for page in pages} == {6}
    assert names(alice, name_search="report", sort=order("upload_date"))[:2] == ["Report", "report 1"]


@pytest.mark.parametrize(
    "query",
    [
        {"sort": "{"},
        {"sort": "{}"},
        {"sort": '[{"field": "metadata", "sort": "asc"}]'},
        {"sort": '[{"field": "state", "sort": "up"}]'},
        {"sort": '["state"]'},
        {"sort": "[" * 5000},
        {"sort": order(*["state"] * 6)},
        {"filters": "[]"},
        {"filters": '{"items": {}}'},
        {"filters": '{"items": [], "logicOperator": "xor"}'},
        {"filters": '{"items": [7]}'},
        {"filters": grid(("organization_id", "is", "x"))},
        {"filters": grid(("state", "regex", "x"))},
        {"filters": grid(("state", "regex", ""))},
        {"filters": grid(("state", "is", {"a": 1}))},
        {"filters": grid(("state", "isAnyOf", "x"))},
        {"filters": grid(("upload_date", "is", "soon"))},
        {"filters": grid(("upload_date", "after", "9999-12-31"))},
        {"filters": grid(("upload_date", "contains", "2026"))},
        {"filters": grid(("tag_ids", "is", "a\0"))},
        {"filters": grid(("tag_ids", "startsWith", "a"))},
        {"filters": grid(*[("state", "is", "x")] * 21)},
        {"name_search": "a\0"},
        {"name_search": "\ud800"},
        {"name_search": "x" * 1001},
        {"metadata_search": "no equals"},
        {"metadata_search": "a=%00"},
        {"metadata_search": ",".join(f"k{n}=v" for n in range(21))},
        {"tag_ids": ["0" * 32]},
        {"tag_ids": ["nonsense"]},
    ],
)
def test_what_cannot_be_read_is_refused(alice: Person, query: dict[str, Any]) -> None:
    with pytest.raises(Invalid):
        list_documents(actor=alice.actor, **query)


def test_a_query_is_never_code(alice: Person) -> None:
    add(alice, "a.pdf")
    for text in ("'; DROP TABLE documents_document; --", "%' OR '1'='1", '"', "\\", "${x}", ".*"):
        assert names(alice, name_search=text) == []
        assert names(alice, filters=grid(("document_name", "contains", text), ("state", "is", text))) == []
        assert names(alice, metadata_search=f"k={text.replace(',', '')}") == []


@pytest.mark.parametrize(
    "query",
    [
        {},
        {"name_search": "pdf"},
        {"sort": order("document_name")},
        {"metadata_search": "kind=a"},
        {"filters": grid(("state", "is", "uploaded"), ("tag_ids", "isNotEmpty", None))},
        {"tag_ids": ["{tag}"]},
    ],
)
def test_a_list_costs_the_same_queries_for_three_rows_and_for_thirty(alice: Person, query: dict[str, Any]) -> None:
    tag = create_tag(actor=alice.actor, name="one")
    query = {**query, **({"tag_ids": [tag.pk.hex]} if "tag_ids" in query else {})}

    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            page = list_documents(actor=alice.actor, limit=100, **query)
            assert all(document.current_version is None and document.tags.all() for document in page.documents)
        return len(captured)

    for number in range(3):
        add(alice, f"{number}.pdf", tag, metadata={"kind": "a"})
    few = queries()
    for number in range(27):
        add(alice, f"more {number}.pdf", tag, metadata={"kind": "a"})
    assert len(names(alice, **query)) == 30
    assert queries() == few


def test_the_count_follows_every_way_that_documents_come_and_go(alice: Person, charlie: Person) -> None:
    documents = [add(alice, f"{n}.pdf") for n in range(3)]
    add(charlie, "theirs.pdf")
    assert (tally(actor=alice.actor), tally(actor=charlie.actor)) == (3, 1)
    delete_document(actor=alice.actor, document_id=documents[0].pk)
    assert list_documents(actor=alice.actor).total_count == 2
    restore_document(actor=alice.actor, document_id=documents[0].pk)
    Document.objects.filter(pk=documents[1].pk).update(deleted_at=DAY, name="gone")
    Document.objects.filter(pk=documents[1].pk).update(deleted_at=DAY.replace(day=9))
    assert tally(actor=alice.actor) == 2
    Document.objects.filter(pk=documents[1].pk).delete()
    assert tally(actor=alice.actor) == 2
    documents[2].delete()
    Document.objects.bulk_create(Document(organization=alice.organization, name=str(n)) for n in range(20))
    Document.objects.update(state="ocr_failed")
    assert (tally(actor=alice.actor), tally(actor=charlie.actor)) == (21, 1)
    with transaction.atomic():
        add(alice, "never.pdf")
        transaction.set_rollback(True)
    assert list_documents(actor=alice.actor).total_count == 21
    alice.organization.delete()
    assert tally(actor=alice.actor) == 0


def test_a_count_beyond_its_bound_still_lets_everything_be_paged_through(
    alice: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(selectors, "COUNT_LIMIT", 5)
    for number in range(12):
        add(alice, f"{number}.pdf")
    seen: list[str] = []
    totals = []
    while True:
        page = list_documents(actor=alice.actor, name_search="pdf", skip=len(seen), limit=3)
        totals.append((page.total_count, page.is_exact))
        seen += [document.name for document in page.documents]
        if len(seen) >= page.total_count:
            break
    assert len(set(seen)) == len(seen) == 12
    assert totals == [(5, False), (7, False), (10, False), (12, True)]
    assert list_documents(actor=alice.actor, limit=3).total_count == 12


@pytest.mark.django_db(transaction=True)
def test_uploads_of_one_organization_count_without_waiting_for_each_other(alice: Person) -> None:
    counted, release = threading.Barrier(5, timeout=10), threading.Event()

    def upload() -> None:
        try:
            with transaction.atomic():
                add(alice, "slow.pdf")
                counted.wait()  # all five have counted while none has committed
                release.wait(10)
        finally:
            connection.close()

    threads = [threading.Thread(target=upload) for _ in range(4)]
    for thread in threads:
        thread.start()
    counted.wait()
    assert tally(actor=alice.actor) == 0
    release.set()
    for thread in threads:
        thread.join()
    assert tally(actor=alice.actor) == 4
    rows = DocumentTally.objects.count()
    add(alice, "next.pdf")
    assert (tally(actor=alice.actor), DocumentTally.objects.count()) == (5, rows)


@pytest.fixture
def crowd(alice: Person, charlie: Person) -> list[Tag]:
    """20,000 documents of alice, and as many of a neighbour: more of one would make reading the whole table cheap."""
    tags = fill(alice.organization, 20_000)
    fill(charlie.organization, 20_000)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE documents_document")
        cursor.execute("ANALYZE documents_document_tags")
    return tags


def scans(sql: str) -> Iterator[str]:
    """How the plan of a statement reads the table of documents."""
    with connection.cursor() as cursor:
        cursor.execute("EXPLAIN (FORMAT JSON) " + sql)
        waiting = [cursor.fetchone()[0][0]["Plan"]]
    while waiting:
        node = waiting.pop()
        waiting += node.get("Plans", [])
        if node.get("Relation Name") == "documents_document":
            yield f"{node['Node Type']} {node.get('Index Name', '')}".strip()


@pytest.mark.slow
def test_no_list_of_a_large_organization_reads_the_whole_table(alice: Person, crowd: list[Tag]) -> None:
    asked: dict[str, dict[str, Any]] = {
        f"sort {direction}{field}": {"sort": order(direction + field)}
        for field in ("document_name", "state", "uploaded_by", "upload_date")
        for direction in ("", "-")
    }
    asked |= {f"name {text}": {"name_search": text} for text in ("invoice", RARE, "qqqqqq", ".pdf", "e", "zq")}
    asked |= {
        "default": {},
        "deep": {"skip": 15_000},
        "tag": {"tag_ids": [crowd[0].pk.hex]},
        "rare tag": {"tag_ids": [crowd[-1].pk.hex]},
        "two tags": {"tag_ids": [crowd[1].pk.hex, crowd[7].pk.hex]},
        "pair": {"metadata_search": "kind=invoice"},
        "rare pair": {"metadata_search": "case=C-7"},
        "state": {"filters": grid(("state", "is", "ocr_failed"))},
        "day": {"filters": grid(("upload_date", "is", "2026-01-03"))},
        "uploader": {"filters": grid(("uploaded_by", "equals", "ada"))},
        "tagged": {"filters": grid(("tag_ids", "contains", crowd[3].pk.hex))},
        "both": {"name_search": "contoso", "filters": grid(("state", "isAnyOf", ["ocr_failed", "uploaded"]))},
    }
    whole = {}
    for name, query in asked.items():
        with CaptureQueriesContext(connection) as captured:
            list_documents(actor=alice.actor, **query)
        statements = [q["sql"] for q in captured.captured_queries if "documents_document" in q["sql"]]
        plans = [scan for sql in statements for scan in scans(sql)]
        assert plans, name
        if any("Index" not in scan and scan != "Bitmap Heap Scan" for scan in plans):
            whole[name] = plans
    assert whole == {}


@pytest.mark.slow
@pytest.mark.usefixtures("crowd")
def test_the_right_index_serves_each_order_and_search(alice: Person) -> None:
    expected = {
        "document_by_time": {},
        "document_by_name": {"sort": order("-document_name")},
        "document_by_state": {"sort": order("state")},
        "document_by_uploader": {"sort": order("uploaded_by")},
        "document_by_tags_and_letters": {"name_search": RARE},
        "document_by_metadata": {"metadata_search": "case=C-7"},
    }
    for index, query in expected.items():
        with CaptureQueriesContext(connection) as captured:
            list_documents(actor=alice.actor, **query)
        used = {word for found in captured.captured_queries for word in _indexes(found["sql"])}
        assert index in used, (index, used)
    connection.cursor().execute("DROP INDEX document_by_tags_and_letters")
    with CaptureQueriesContext(connection) as captured:
        list_documents(actor=alice.actor, name_search=RARE)
    assert "document_by_tags_and_letters" not in {
        word for found in captured.captured_queries for word in _indexes(found["sql"])
    }


def _indexes(sql: str) -> set[str]:
    with connection.cursor() as cursor:
        cursor.execute("EXPLAIN " + sql)
        return {word for (line,) in cursor.fetchall() for word in line.split()}


@pytest.mark.slow
@pytest.mark.usefixtures("crowd")
def test_a_search_among_many_keeps_its_ranks_and_loses_nothing(alice: Person) -> None:
    for name in ("Invoice", "my invoice", "INVOICE"):
        add(alice, name, created_at=DAY)
    seen = names(alice, name_search="invoice") + names(alice, name_search="invoice", skip=100)
    ranks = [0 if n.lower() == "invoice" else 1 if n.lower().startswith("invoice") else 2 for n in seen]
    assert (ranks[:2], ranks) == ([0, 0], sorted(ranks))
    last = list_documents(actor=alice.actor, name_search="invoice", skip=5000, limit=1000)
    assert last.documents[-1].name == "my invoice"
    assert last.total_count == 5000 + len(last.documents)
