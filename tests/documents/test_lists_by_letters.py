"""Searches that trigrams cannot serve, the ids of tags beside a document, and few rows that are sorted when found."""

import json
import random
import threading
from typing import Any

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from documents import selectors
from documents.models import Document
from documents.selectors import list_documents
from tags_app.models import Tag
from tags_app.services import create_tag
from tests.conftest import Person
from tests.documents.many import RARE, fill
from tests.documents.test_lists import add, grid, names, order

pytestmark = pytest.mark.django_db
ALPHABET = "aAbBäÄßéΣσςıİﬁ%_\\'\" .-1９中😀"


def _upper(texts: list[str]) -> list[str]:
    """As the database does it: that is what a search without case means here."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT array_agg(upper(t) ORDER BY n) FROM unnest(%s::text[]) WITH ORDINALITY AS x(t, n)", [texts]
        )
        return list(cursor.fetchone()[0])


def test_short_and_odd_texts_find_exactly_the_names_that_have_them(alice: Person, charlie: Person) -> None:
    chance = random.Random(4)
    made = sorted({"".join(chance.choices(ALPHABET, k=chance.randint(1, 7))) for _ in range(120)})
    Document.objects.bulk_create(Document(organization=alice.organization, name=name) for name in made)
    Document.objects.bulk_create(Document(organization=charlie.organization, name=name) for name in made[:40])
    capitals = dict(zip(made, _upper(made), strict=True))
    texts = [*ALPHABET, *("".join(chance.choices(ALPHABET, k=chance.randint(2, 3))) for _ in range(24))]
    hits = 0
    for n, (text, capital) in enumerate(zip(texts, _upper(texts), strict=True)):
        having = sorted(name for name in made if capital in capitals[name])
        hits += bool(having)
        asked = (
            ({"name_search": text}, having),
            ({"filters": grid(("document_name", "contains", text))}, having),
            (
                {"filters": grid(("document_name", "endsWith", text))},
                sorted(name for name in made if capitals[name].endswith(capital)),
            ),
            ({"filters": grid(("document_name", "doesNotContain", text))}, sorted(set(made) - set(having))),
        )
        query, wanted = asked[n % len(asked)]
        found = list_documents(actor=alice.actor, limit=200, **query)
        assert (sorted(row.name for row in found.documents), found.total_count) == (wanted, len(wanted)), query
    assert hits > 25


def test_a_short_text_holds_beside_other_conditions_but_not_against_them(alice: Person) -> None:
    for name in ("zq one", "zq two", "three"):
        add(alice, name)
    either = grid(("document_name", "contains", "zq"), ("document_name", "contains", "hree"), logic="or")
    assert names(alice, filters=either) == ["three", "zq two", "zq one"]
    assert names(alice, filters=grid(("document_name", "contains", "zq"), ("document_name", "contains", "wo"))) == [
        "zq two"
    ]
    assert names(alice, name_search="zq", filters=grid(("document_name", "endsWith", "e"))) == ["zq one"]
    Document.objects.filter(name="zq one").update(name="other")
    assert names(alice, name_search="Q") == ["zq two"]


QUERIES: list[dict[str, Any]] = [
    {"name_search": "re"},
    {"name_search": "REPORT"},
    {"name_search": "%"},
    {"name_search": "report", "sort": order("document_name")},
    {"name_search": "report", "sort": order("-state", "upload_date")},
    {"filters": grid(("state", "isNotEmpty", None)), "sort": order("-document_name")},
    {"filters": grid(("state", "isNotEmpty", None)), "sort": order("tag_ids", "-uploaded_by")},
    {"filters": grid(("state", "isNotEmpty", None))},
    {"metadata_search": "k=1"},
]


@pytest.mark.parametrize("query", QUERIES, ids=json.dumps)
def test_few_rows_stand_where_they_would_among_many(
    alice: Person, query: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    tag = create_tag(actor=alice.actor, name="t")
    for n, name in enumerate(("Report", "report 1", "my report", "REPORT", "100% report", "re", "100% report", "x")):
        labels = [tag] * (n % 2)
        state = ("uploaded", "ocr_failed")[n % 3 == 0]
        add(alice, name, *labels, state=state, uploaded_by_name=f"u{n % 4}", metadata={"k": str(n % 2)})
    listed = {}
    for limit in (1, 2000):
        monkeypatch.setattr(selectors, "COUNT_LIMIT", limit)
        pages = [list_documents(actor=alice.actor, skip=skip, limit=3, **query) for skip in (0, 3, 6, 9)]
        listed[limit] = [[row.pk for row in page.documents] for page in pages]
    assert listed[1] == listed[2000]
    assert listed[1][0]


def test_the_ids_of_tags_follow_every_way_that_tags_come_and_go(alice: Person) -> None:
    red, blue, green = (create_tag(actor=alice.actor, name=name) for name in ("red", "blue", "green"))
    one, two = add(alice, "one", red), add(alice, "two")

    def kept(document: Document) -> set[Any]:
        kept_ids = Document.objects.values_list("tag_ids", flat=True).get(pk=document.pk)
        assert sorted(kept_ids) == sorted(
            document.tags.through.objects.filter(document=document).values_list("tag", flat=True)
        )
        return set(kept_ids)

    assert (kept(one), kept(two)) == ({red.pk}, set())
    two.tags.add(red, blue)
    one.tags.set([blue, green])
    assert (kept(one), kept(two)) == ({blue.pk, green.pk}, {red.pk, blue.pk})
    one.save()  # with no tag_ids in memory, as they were when it was made
    assert kept(one) == {blue.pk, green.pk}
    Document.objects.update(tag_ids=[green.pk])
    assert (kept(one), kept(two)) == ({blue.pk, green.pk}, {red.pk, blue.pk})
    Tag.objects.filter(pk=blue.pk).delete()
    two.tags.remove(red)
    one.tags.through.objects.create(document=two, tag=green)
    assert (kept(one), kept(two)) == ({green.pk}, {green.pk})
    one.tags.clear()
    assert kept(one) == set()


@pytest.mark.django_db(transaction=True)
def test_of_two_who_tag_a_document_at_once_none_is_forgotten(alice: Person) -> None:
    red, blue = (create_tag(actor=alice.actor, name=name) for name in ("red", "blue"))
    document = add(alice, "one")
    first_done = threading.Event()

    def second() -> None:
        try:
            with transaction.atomic():
                Document.objects.filter(pk=document.pk).exists()
                first_done.wait(10)
                document.tags.through.objects.create(document=document, tag=blue)
        finally:
            connection.close()

    thread = threading.Thread(target=second)
    with transaction.atomic():
        document.tags.through.objects.create(document=document, tag=red)
        thread.start()
        first_done.set()
        thread.join(0.3)  # waits for this transaction
        assert thread.is_alive()
    thread.join(10)
    assert set(Document.objects.values_list("tag_ids", flat=True).get(pk=document.pk)) == {red.pk, blue.pk}


def _plan(sql: str) -> str:
    with connection.cursor() as cursor:
        cursor.execute("EXPLAIN " + sql)
        return "\n".join(line for (line,) in cursor.fetchall())


@pytest.mark.slow
def test_one_index_serves_tags_words_and_short_texts_together(alice: Person, charlie: Person) -> None:
    tags = fill(alice.organization, 20_000)
    fill(charlie.organization, 10_000)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE documents_document")
    asked: dict[str, dict[str, Any]] = {
        "docrouter_pieces(": {"name_search": "zq"},
        "docrouter_pieces(organization_id": {"filters": grid(("document_name", "contains", "&"))},
        "(upper((name)::text) ~~ '%INVOICE%'": {"tag_ids": [tags[0].pk.hex], "name_search": "invoice"},
        "(tag_ids @> ": {"tag_ids": [tags[1].pk.hex, tags[7].pk.hex], "sort": order("document_name")},
        "(tag_ids && ": {"filters": grid(("tag_ids", "isAnyOf", [tags[7].pk.hex, tags[-1].pk.hex]))},
        "~~ '%ZUGSPITZE%'": {"name_search": RARE, "filters": grid(("tag_ids", "is", tags[-1].pk.hex))},
    }
    for condition, query in asked.items():
        with CaptureQueriesContext(connection) as captured:
            list_documents(actor=alice.actor, **query)
        counted = [entry["sql"] for entry in captured.captured_queries if entry["sql"].startswith("WITH found")]
        lines = _plan(counted[0]).splitlines()
        searched = [n for n, line in enumerate(lines) if "on document_by_tags_and_letters" in line]
        assert any(condition in lines[n + 1] for n in searched), (condition, "\n".join(lines))
