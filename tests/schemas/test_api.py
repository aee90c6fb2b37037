"""Schemas over JSON: the wire's shapes, versions, checks of data, refusals that write nothing, equal query counts."""

import json
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from organizations.models import AuditEntry
from prompts_app.config import PromptConfig
from prompts_app.services import create_prompt, delete_prompt
from schemas_app.models import Schema, SchemaRevision
from schemas_app.services import create_schema
from tests.api import Api, api_of
from tests.conftest import Person
from tests.schemas.bodies import response_format, wrapping

FORMAT = response_format(total="number", number="string")
KEYS = {
    *("schema_revid", "schema_id", "schema_version", "name", "response_format", "created_at", "created_by"),
    "pending_review",
}
DEEP = b"[" * 200 + b"]" * 200


def body(**fields: Any) -> dict[str, Any]:
    return {"name": "Invoice", "response_format": FORMAT, **fields}


@pytest.fixture
def api(alice: Person) -> Api:
    return api_of(alice)


def test_a_schema_is_made_read_changed_and_deleted(api: Api, alice: Person) -> None:
    made = api.post("schemas", body())
    assert made.keys() == KEYS
    assert (made["name"], made["schema_version"], made["created_by"]) == ("Invoice", 1, alice.user.pk.hex)
    assert made["created_at"].endswith("Z")
    assert json.dumps(made["response_format"]) == json.dumps(FORMAT)
    assert api.get(f"schemas/{made['schema_revid']}") == made
    assert api.get("schemas") == {"schemas": [made], "total_count": 1, "skip": 0}
    changed = api.put(f"schemas/{made['schema_id']}", {"response_format": response_format(total="integer")})
    assert (changed["schema_id"], changed["schema_version"]) == (made["schema_id"], 2)
    assert api.get(f"schemas/{made['schema_revid']}") == made
    versions = api.get(f"schemas/{made['schema_id']}/versions")
    assert versions == {"schemas": [changed, made], "total_count": 2, "skip": 0}
    assert api.get("schemas")["schemas"] == [changed]
    assert api.delete(f"schemas/{made['schema_id']}") == {"message": "Schema deleted successfully"}
    assert api.error("get", f"schemas/{made['schema_revid']}") == (404, "Schema not found")
    assert api.get("schemas") == {"schemas": [], "total_count": 0, "skip": 0}


def test_a_name_that_exists_gets_a_version_and_the_new_spelling(api: Api) -> None:
    first, second = api.post("schemas", body()), api.post("schemas", body(name="INVOICE"))
    assert (second["schema_id"], second["schema_version"], second["name"]) == (first["schema_id"], 2, "INVOICE")
    assert api.get(f"schemas/{first['schema_revid']}")["name"] == "INVOICE"


def test_only_another_name_renames_in_place_and_an_identical_body_is_a_version(api: Api) -> None:
    made = api.post("schemas", body())
    renamed = api.put(f"schemas/{made['schema_id']}", {"name": "Bill"})
    assert renamed == {**made, "name": "Bill"}
    assert api.put(f"schemas/{made['schema_id']}", {"name": "Note", **FORMAT, "response_format": FORMAT}) == {
        **made,
        "name": "Note",
    }
    assert api.put(f"schemas/{made['schema_id']}", {"response_format": FORMAT})["schema_version"] == 2


def test_a_name_of_another_schema_is_refused(api: Api) -> None:
    api.post("schemas", body())
    other = api.post("schemas", body(name="Other"))
    assert api.error("put", f"schemas/{other['schema_id']}", {"name": "invoice"})[0] == 409


def test_data_is_held_against_one_version(api: Api) -> None:
    inner = {"type": "object", "properties": {"lines": {"type": "array", "items": response_format(sum="number")}}}
    inner["properties"]["lines"]["items"] = {"type": "object", "properties": {"sum": {"type": "number"}}}
    made = api.post("schemas", body(response_format=wrapping(inner)))
    address = f"schemas/{made['schema_revid']}/validate"
    assert api.post(address, {"data": {"lines": [{"sum": 1.5}]}}) == {"valid": True}
    answer = api.post(address, {"data": {"lines": [{"sum": "1,50"}]}})
    assert (answer["valid"], [problem["path"] for problem in answer["errors"]]) == (False, ["lines.0.sum"])
    assert api.post(address, {"data": None})["valid"] is False
    status, problems = api.error("post", address, {"lines": []})
    assert (status, problems[0]["loc"], problems[0]["type"]) == (422, ["body", "data"], "missing")
    assert api.error("post", f"schemas/{made['schema_id']}/validate", {"data": {}}) == (404, "Schema not found")


def test_a_schema_in_use_is_not_deleted_and_the_sentence_names_the_prompts(api: Api, alice: Person) -> None:
    made = api.post("schemas", body())
    prompt = create_prompt(
        actor=alice.actor, config=PromptConfig(name="Lí", content="Read.", schema_id=made["schema_id"])
    ).revision.prompt
    assert api.error("delete", f"schemas/{made['schema_id']}") == (
        400,
        'Cannot delete schema because it has dependent prompts:[{"name": "Lí", "schema_version": 1}]',
    )
    assert api.get(f"schemas/{made['schema_revid']}") == made
    delete_prompt(actor=alice.actor, prompt_id=prompt.pk)
    api.delete(f"schemas/{made['schema_id']}")


def test_lists_search_filter_and_sort(api: Api, alice: Person) -> None:
    for name in ("b_1", "A%", "c"):
        create_schema(actor=alice.actor, name=name, response_format=FORMAT)
    create_schema(actor=alice.actor, name="c", response_format=FORMAT)

    def listed(query: str) -> list[str]:
        return [schema["name"] for schema in api.get(f"schemas?{query}")["schemas"]]

    assert listed("") == ["c", "A%", "b_1"]
    assert listed("name_search=%25") == ["A%"]
    assert listed("name_search=") == ["c", "A%", "b_1"]
    assert listed('sort=[{"field":"name","sort":"asc"}]') == ["A%", "b_1", "c"]
    assert listed('sort=[{"field":"schema_version","sort":"desc"}]')[0] == "c"
    assert listed("skip=1&limit=1") == ["A%"]
    assert listed('filters={"items":[{"field":"schema_version","operator":">","value":"1"}]}') == ["c"]
    assert listed('filters={"items":[{"field":"schema_version","operator":"!=","value":"2"}]}') == ["A%", "b_1"]
    mine = f'{{"items":[{{"field":"created_by","operator":"equals","value":"{alice.user.pk.hex}"}}]}}'
    assert listed(f"filters={mine}") == ["c", "A%", "b_1"]
    assert listed(f"filters={mine.replace(alice.user.pk.hex, '0' * 32)}") == []
    assert listed('filters={"items":[{"field":"created_at","operator":"before","value":"2020-01-01"}]}') == []


BAD_BODIES: list[tuple[bytes, int]] = [
    (b"", 422),
    (b"{", 422),
    (b"[]", 422),
    (b"{}", 422),
    (b'{"name": "x"}', 422),
    (b'{"name": 5, "response_format": {}}', 422),
    (b'{"name": "x", "response_format": null}', 422),
    (b'{"name": "x", "response_format": []}', 422),
    (b'{"name": "x", "response_format": "json_schema"}', 422),
    (b'{"name": "x", "response_format": {}}', 422),
    (b'{"name": "x", "response_format": {"type": "text"}}', 422),
    (b'{"name": "x", "response_format": {"type": "json_schema", "json_schema": 7}}', 422),
    (json.dumps(body(response_format=wrapping({"type": "nonsense"}))).encode(), 422),
    (json.dumps(body(response_format=wrapping({"$ref": "http://127.0.0.1:1/x"}))).encode(), 422),
    (json.dumps(body(response_format=wrapping({"$ref": "#/nowhere"}))).encode(), 422),
    (json.dumps(body(response_format=wrapping({"type": "string", "pattern": "("}))).encode(), 422),
    (json.dumps(body(response_format=wrapping({"minimum": 10**400}))).encode(), 422),
    (json.dumps(body(response_format=wrapping({"title": "a\0"}))).encode(), 422),
    (json.dumps(body(response_format=wrapping({"title": "\ud800"}))).encode(), 422),
    (b'{"name": "x", "response_format": {"type": "json_schema", "json_schema": ' + DEEP + b"}}", 422),
    (b'{"name": "x", "response_format": ' + b"[" * 5000 + b"]" * 5000 + b"}", 422),
    (b'{"name": "x", "response_format": {"a": NaN}}', 422),
    (json.dumps(body(name="a\0")).encode(), 422),
    (json.dumps(body(name="")).encode(), 400),
    (json.dumps(body(name="  ")).encode(), 400),
    (json.dumps(body(name="x" * 300)).encode(), 400),
    (json.dumps(body(name="a\u202eb")).encode(), 400),
]


RENAMES = (b'{"name": "x"}', b'{"name": "x", "response_format": null}')


@pytest.mark.parametrize(("bad", "status"), BAD_BODIES)
def test_a_body_that_is_no_schema_is_refused_and_writes_nothing(api: Api, bad: bytes, status: int) -> None:
    before = AuditEntry.objects.count()
    answer = api.raw("post", "schemas", bad)
    assert (answer.status_code, bool(answer.json()["detail"])) == (status, True)
    assert (Schema.objects.count(), AuditEntry.objects.count()) == (0, before)


@pytest.mark.parametrize(("bad", "status"), [case for case in BAD_BODIES if case[0] not in RENAMES])
def test_a_change_that_is_none_is_refused_and_writes_nothing(api: Api, bad: bytes, status: int) -> None:
    made = api.post("schemas", body())
    before = AuditEntry.objects.count()
    assert api.raw("put", f"schemas/{made['schema_id']}", bad).status_code == status
    assert api.get("schemas")["schemas"] == [made]
    assert (SchemaRevision.objects.count(), AuditEntry.objects.count()) == (1, before)


@pytest.mark.parametrize("bad", [b"", b"{", b"[]", b"{}", b'{"data": NaN}', b'{"data": ' + DEEP + b"}"])
def test_data_that_is_no_json_is_refused(api: Api, bad: bytes) -> None:
    made = api.post("schemas", body())
    assert api.raw("post", f"schemas/{made['schema_revid']}/validate", bad).status_code == 422


def test_strange_data_is_checked_and_never_breaks_the_server(api: Api) -> None:
    made = api.post("schemas", body())
    address = f"schemas/{made['schema_revid']}/validate"
    for data in (
        [],
        "text",
        0,
        10**300,
        {"": {"": [None] * 100}},
        {"total": 10**300, "number": "x" * 19_000},
        {"a": 1},
    ):
        assert isinstance(api.post(address, {"data": data})["valid"], bool)


@pytest.mark.parametrize("wrong", ["0" * 32, "nonsense", "default", "0", "%00", "x" * 500, "..%2F..", "{foreign}"])
def test_an_id_that_is_not_ours_is_not_found(api: Api, charlie: Person, wrong: str) -> None:
    theirs = create_schema(actor=charlie.actor, name="theirs", response_format=FORMAT).revision
    for foreign in (theirs.pk.hex, theirs.schema_id.hex):
        place = f"schemas/{wrong.replace('{foreign}', foreign)}"
        assert api.raw("get", place).status_code == 404
        assert api.raw("put", place, {"name": "mine"}).status_code == 404
        assert api.raw("delete", place).status_code == 404
        assert api.raw("get", f"{place}/versions").status_code == 404
        assert api.raw("post", f"{place}/validate", {"data": {}}).status_code == 404
    theirs.schema.refresh_from_db()
    assert (theirs.schema.name, theirs.schema.deleted_at) == ("theirs", None)


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("skip=-1", 422),
        ("skip=99999999999999999999", 422),
        ("limit=0", 422),
        ("limit=101", 422),
        ("limit=ten", 422),
        ("name_search=%00", 422),
        ("sort={", 400),
        ("sort={}", 400),
        ('sort=[{"field":"response_format","sort":"asc"}]', 400),
        ("filters=[]", 400),
        ('filters={"items":[{"field":"organization","operator":"is","value":"x"}]}', 400),
        ('filters={"items":[{"field":"schema_version","operator":"contains","value":"1"}]}', 400),
        ('filters={"items":[{"field":"schema_version","operator":"=","value":"one"}]}', 400),
        ('filters={"items":[{"field":"created_by","operator":"is","value":"somebody"}]}', 400),
        ("filters=" + "[" * 5000, 400),
    ],
)
def test_a_list_query_that_cannot_be_read_is_refused(api: Api, query: str, status: int) -> None:
    assert api.raw("get", f"schemas?{query}").status_code == status


@pytest.mark.parametrize("query", ["", "&name_search=s", '&sort=[{"field":"name","sort":"desc"}]'])
def test_a_list_costs_the_same_for_3_and_for_30(api: Api, alice: Person, query: str) -> None:
    counts = []
    for total in (3, 30):
        for number in range(Schema.objects.count(), total):
            create_schema(actor=alice.actor, name=f"Schema {number}", response_format=FORMAT)
        with CaptureQueriesContext(connection) as queries:
            assert len(api.get(f"schemas?limit=100{query}")["schemas"]) == total
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_versions_cost_the_same_for_3_and_for_30(api: Api, alice: Person) -> None:
    counts = []
    for total in (3, 30):
        for _ in range(SchemaRevision.objects.count(), total):
            revision = create_schema(actor=alice.actor, name="one", response_format=FORMAT).revision
        with CaptureQueriesContext(connection) as queries:
            assert api.get(f"schemas/{revision.schema_id.hex}/versions")["total_count"] == total
        counts.append(len(queries))
    assert counts[0] == counts[1]
