"""Schemas and their versions: names, races, immutability, trash, undo, tenants."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import DatabaseError, connection, transaction
from django.test.utils import CaptureQueriesContext

from core.listing import ListQueryInvalid
from organizations.selectors import list_audit
from schemas_app.errors import (
    NameInvalid,
    NothingToUpdate,
    SchemaChanged,
    SchemaInvalid,
    SchemaNameTaken,
    SchemaNotFound,
)
from schemas_app.models import Schema, SchemaRevision
from schemas_app.presentation import field_rows, show_schema
from schemas_app.selectors import get_revision, get_schema, get_version, list_schemas, list_versions
from schemas_app.services import create_schema, restore_schema, revert_schema, trash_schema, update_schema
from tests.conftest import Person
from tests.schemas.bodies import response_format

BODY = response_format(total="number", date="string")
OTHER = response_format(total="number", date="string", id="string")


def names(person: Person, **query: Any) -> list[str]:
    return [row.schema.name for row in list_schemas(actor=person.actor, **query).rows]


def test_a_new_name_makes_version_one(alice: Person) -> None:
    saved = create_schema(actor=alice.actor, name="  Invoice ", response_format=BODY)
    assert (saved.outcome, saved.new_version, saved.revision.version) == ("created", False, 1)
    shown = show_schema(get_revision(actor=alice.actor, schema_revid=saved.revision.pk.hex))
    assert shown["name"] == "Invoice"
    assert shown["response_format"] == BODY
    assert shown["created_by"] == alice.user.pk.hex
    assert shown["created_at"].endswith("Z")
    assert list_audit(actor=alice.actor)[0].action == "schema.created"


def test_fields_keep_their_order(alice: Person) -> None:
    fields = ["zebra", "a", "much_longer_name", "b"]
    saved = create_schema(
        actor=alice.actor, name="Order", response_format=response_format(**dict.fromkeys(fields, "string"))
    )
    stored = get_revision(actor=alice.actor, schema_revid=saved.revision.pk)
    assert [row.name for row in field_rows(stored.response_format)] == fields


def test_the_same_name_in_another_case_makes_a_new_version_with_the_new_spelling(alice: Person) -> None:
    first = create_schema(actor=alice.actor, name="Straße", response_format=BODY)
    second = create_schema(actor=alice.actor, name="STRAßE", response_format=OTHER)
    assert (second.new_version, second.revision.version, second.previous_name) == (True, 2, "Straße")
    assert second.revision.schema_id == first.revision.schema_id
    assert get_revision(actor=alice.actor, schema_revid=first.revision.pk).schema.name == "STRAßE"
    assert [row.version for row in list_versions(actor=alice.actor, schema_id=first.revision.schema_id)] == [2, 1]


def test_a_rename_alone_stays_in_place(alice: Person) -> None:
    first = create_schema(actor=alice.actor, name="Invoice", response_format=BODY).revision
    saved = update_schema(actor=alice.actor, schema_id=first.schema_id, name="Bill")
    assert (saved.outcome, saved.revision.pk) == ("renamed", first.pk)
    assert names(alice) == ["Bill"]
    again = update_schema(actor=alice.actor, schema_id=first.schema_id, name="Receipt", response_format=BODY)
    assert (again.outcome, again.revision.pk) == ("renamed", first.pk)


def test_an_identical_body_is_a_new_version_unless_the_caller_skips_it(alice: Person) -> None:
    first = create_schema(actor=alice.actor, name="Invoice", response_format=BODY).revision
    skipped = update_schema(
        actor=alice.actor, schema_id=first.schema_id, response_format=dict(BODY), skip_identical=True
    )
    assert (skipped.outcome, skipped.revision.pk) == ("unchanged", first.pk)
    assert update_schema(actor=alice.actor, schema_id=first.schema_id, response_format=BODY).revision.version == 2
    one = response_format(paid={"type": "boolean", "default": True})
    other = response_format(paid={"type": "boolean", "default": 1})
    update_schema(actor=alice.actor, schema_id=first.schema_id, response_format=one)
    assert update_schema(
        actor=alice.actor, schema_id=first.schema_id, response_format=other, skip_identical=True
    ).new_version


def test_an_update_needs_something_and_the_version_that_was_seen(alice: Person) -> None:
    first = create_schema(actor=alice.actor, name="Invoice", response_format=BODY).revision
    create_schema(actor=alice.actor, name="Other", response_format=BODY)
    with pytest.raises(NothingToUpdate):
        update_schema(actor=alice.actor, schema_id=first.schema_id)
    with pytest.raises(SchemaNameTaken):
        update_schema(actor=alice.actor, schema_id=first.schema_id, name="OTHER")
    with pytest.raises(SchemaChanged):
        update_schema(actor=alice.actor, schema_id=first.schema_id, name="New", expected_version=2)
    assert get_schema(actor=alice.actor, schema_id=first.schema_id).name == "Invoice"


@pytest.mark.parametrize("name", ["", "   ", "x" * 201, "a\0b", "a\nb", "\ud800", "\u202e"])
def test_names_that_cannot_be_shown_are_refused(alice: Person, name: str) -> None:
    with pytest.raises(NameInvalid):
        create_schema(actor=alice.actor, name=name, response_format=BODY)


def test_strict_is_asked_for_by_the_caller(alice: Person) -> None:
    loose = {"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "object"}}}
    with pytest.raises(SchemaInvalid):
        create_schema(actor=alice.actor, name="Loose", response_format=loose, strict=True)
    assert create_schema(actor=alice.actor, name="Loose", response_format=loose).outcome == "created"
    with pytest.raises(SchemaInvalid):
        create_schema(actor=alice.actor, name="Loose", response_format={})


def test_trash_frees_the_name_and_restore_says_when_it_was_taken(alice: Person) -> None:
    first = create_schema(actor=alice.actor, name="Invoice", response_format=BODY).revision
    trash_schema(actor=alice.actor, schema_id=first.schema_id)
    assert names(alice) == []
    for read in (
        lambda: get_revision(actor=alice.actor, schema_revid=first.pk),
        lambda: get_schema(actor=alice.actor, schema_id=first.schema_id),
        lambda: list_versions(actor=alice.actor, schema_id=first.schema_id),
        lambda: update_schema(actor=alice.actor, schema_id=first.schema_id, name="x"),
        lambda: trash_schema(actor=alice.actor, schema_id=first.schema_id),
    ):
        with pytest.raises(SchemaNotFound):
            read()
    second = create_schema(actor=alice.actor, name="invoice", response_format=BODY)
    assert second.revision.version == 1
    with pytest.raises(SchemaNameTaken):
        restore_schema(actor=alice.actor, schema_id=first.schema_id)
    trash_schema(actor=alice.actor, schema_id=second.revision.schema_id)
    restore_schema(actor=alice.actor, schema_id=first.schema_id)
    assert names(alice) == ["Invoice"]
    with pytest.raises(SchemaNotFound):
        restore_schema(actor=alice.actor, schema_id=first.schema_id)


def test_revert_adds_a_version_equal_to_the_one_before(alice: Person) -> None:
    first = create_schema(actor=alice.actor, name="Invoice", response_format=BODY).revision
    create_schema(actor=alice.actor, name="INVOICE", response_format=OTHER)
    saved = revert_schema(
        actor=alice.actor, schema_id=first.schema_id, to_version=1, to_name="Invoice", expected_version=2
    )
    assert (saved.revision.version, saved.revision.response_format) == (3, BODY)
    assert names(alice) == ["Invoice"]
    with pytest.raises(SchemaChanged):
        revert_schema(actor=alice.actor, schema_id=first.schema_id, to_version=1, to_name="x", expected_version=2)


def test_the_other_organization_finds_nothing(alice: Person, charlie: Person) -> None:
    revision = create_schema(actor=alice.actor, name="Invoice", response_format=BODY).revision
    schema_id = revision.schema_id.hex
    for act in (
        lambda actor: get_revision(actor=actor, schema_revid=revision.pk.hex),
        lambda actor: get_schema(actor=actor, schema_id=schema_id),
        lambda actor: get_version(actor=actor, schema_id=schema_id),
        lambda actor: list_versions(actor=actor, schema_id=schema_id),
        lambda actor: update_schema(actor=actor, schema_id=schema_id, name="x"),
        lambda actor: trash_schema(actor=actor, schema_id=schema_id),
        lambda actor: restore_schema(actor=actor, schema_id=schema_id),
        lambda actor: revert_schema(actor=actor, schema_id=schema_id, to_version=1, to_name="x", expected_version=1),
    ):
        with pytest.raises(SchemaNotFound):
            act(charlie.actor)
    assert list_schemas(actor=charlie.actor).total_count == 0
    assert create_schema(actor=charlie.actor, name="Invoice", response_format=BODY).outcome == "created"


@pytest.mark.parametrize("bad", ["", "x", "0" * 31, "0" * 32, "g" * 32, None, 5, [], "../" * 9, "\0" * 32, "é" * 32])
def test_a_malformed_id_looks_like_an_unknown_one(alice: Person, bad: Any) -> None:
    for read in (
        lambda: get_revision(actor=alice.actor, schema_revid=bad),
        lambda: get_schema(actor=alice.actor, schema_id=bad),
        lambda: update_schema(actor=alice.actor, schema_id=bad, name="x"),
    ):
        with pytest.raises(SchemaNotFound):
            read()


def test_the_list_is_searched_sorted_filtered_and_paged(alice: Person) -> None:
    for name in ("Invoice", "100% sure", "a_b", "axb", "Receipt"):
        create_schema(actor=alice.actor, name=name, response_format=BODY)
    create_schema(actor=alice.actor, name="receipt", response_format=OTHER)
    assert names(alice) == ["receipt", "axb", "a_b", "100% sure", "Invoice"]
    assert names(alice, name_search="VOI") == ["Invoice"]
    assert names(alice, name_search="%") == ["100% sure"]
    assert names(alice, name_search="a_b") == ["a_b"]
    assert names(alice, name_search=".*") == []
    assert names(alice, sort='[{"field": "name", "sort": "asc"}]', skip=3) == ["Invoice", "receipt"]
    assert names(alice, sort='[{"field": "schema_version", "sort": "desc"}]', limit=1) == ["receipt"]
    by_name = '{"items": [{"field": "name", "operator": "startsWith", "value": "A"}]}'
    assert names(alice, filters=by_name) == ["axb", "a_b"]
    either = (
        '{"items": [{"field": "schema_version", "operator": ">=", "value": "2"},'
        '{"field": "name", "operator": "equals", "value": "INVOICE"}], "logicOperator": "or"}'
    )
    assert names(alice, filters=either) == ["receipt", "Invoice"]
    after = '{"items": [{"field": "created_at", "operator": "after", "value": "2100-01-01"}]}'
    assert names(alice, filters=after) == []
    page = list_schemas(actor=alice.actor, skip=3, limit=1)
    assert ([row.schema.name for row in page.rows], page.total_count, page.skip) == (["100% sure"], 5, 3)


@pytest.mark.parametrize(
    "query",
    [
        {"sort": "{"}, {"sort": "{}"}, {"sort": "[1]"}, {"sort": '[{"field": "secret", "sort": "asc"}]'},
        {"sort": '[{"field": "name", "sort": "up"}]'}, {"filters": "[]"}, {"filters": "{"}, {"filters": "[" * 5000},
        {"filters": '{"items": 5}'}, {"filters": '{"items": [5]}'},
        {"filters": '{"items": [{"field": "schema__organization", "operator": "equals", "value": "1"}]}'},
        {"filters": '{"items": [{"field": "name", "operator": "regex", "value": "1"}]}'},
        {"filters": '{"items": [{"field": "schema_version", "operator": "=", "value": "x"}]}'},
        {"filters": '{"items": [{"field": "created_at", "operator": "after", "value": "soon"}]}'},
        {"filters": '{"items": [{"field": "name", "operator": "contains", "value": "\\u0000"}]}'},
        {"name_search": "a\0"}, {"name_search": "\ud800"}, {"name_search": "x" * 1001},
    ],
)  # fmt: skip
def test_a_query_that_cannot_be_read_is_refused(alice: Person, query: dict[str, str]) -> None:
    with pytest.raises(ListQueryInvalid):
        list_schemas(actor=alice.actor, **query)


def test_a_list_costs_the_same_for_3_and_30_rows(alice: Person) -> None:
    counts = []
    for total in (3, 30):
        for number in range(total):
            create_schema(actor=alice.actor, name=f"Schema {number}", response_format=BODY)
        with CaptureQueriesContext(
            connection,
        ) as queries:
            rows = list_schemas(actor=alice.actor, limit=100).rows
            assert len([show_schema(row) for row in rows]) == total
        counts.append(len(queries))
    assert counts[0] == counts[1] == 2


def test_nothing_changes_a_revision(alice: Person) -> None:
    revision = create_schema(actor=alice.actor, name="Invoice", response_format=BODY).revision

    def raw(sql: str) -> None:
        with connection.cursor() as cursor:
            cursor.execute(sql)

    revision.response_format = OTHER
    for attempt in (
        revision.save,
        revision.delete,
        SchemaRevision.objects.filter(pk=revision.pk).delete,
        lambda: SchemaRevision.objects.update(version=9),
        lambda: raw("UPDATE schemas_app_schemarevision SET response_format = '{}'"),
        lambda: raw("UPDATE schemas_app_schemarevision SET created_by_id = NULL, version = 7"),
        lambda: raw("DELETE FROM schemas_app_schemarevision"),
        Schema.objects.filter(pk=revision.schema_id).delete,
        lambda: SchemaRevision.objects.create(
            organization=alice.organization, schema_id=revision.schema_id, version=1, response_format={}
        ),
    ):
        with pytest.raises(DatabaseError), transaction.atomic():
            attempt()
    assert get_revision(actor=alice.actor, schema_revid=revision.pk).response_format == BODY


@pytest.mark.django_db(transaction=True)
def test_two_creates_at_the_same_moment_become_versions_one_and_two(alice: Person) -> None:
    def create(number: int) -> int:
        try:
            name = "Invoice" if number % 2 else "INVOICE"
            return create_schema(actor=alice.actor, name=name, response_format=BODY).revision.version
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as pool:
        versions = list(pool.map(create, range(8)))
    assert sorted(versions) == list(range(1, 9))
    assert list_schemas(actor=alice.actor).total_count == 1
