"""Prompts over JSON: the wire's shapes, versions, those of a document, refusals that write nothing, equal queries."""

import json
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from documents.models import Document
from organizations.models import AuditEntry
from prompts_app.config import PromptConfig
from prompts_app.models import Prompt, PromptRevision
from prompts_app.services import create_prompt
from schemas_app.services import create_schema
from tags_app.services import create_tag
from tests.api import Api, api_of
from tests.conftest import Person
from tests.schemas.bodies import response_format

KEYS = {
    *("prompt_revid", "prompt_id", "prompt_version", "name", "content", "schema_id", "schema_version", "tag_ids"),
    *("model", "kb_id", "peer_match_keys", "include", "created_at", "created_by", "pending_review"),
}
DEEP = b"[" * 200 + b"]" * 200


def body(**fields: Any) -> dict[str, Any]:
    return {"name": "Invoice", "content": "Read it.", **fields}


def add(person: Person, name: str, **fields: Any) -> PromptRevision:
    return create_prompt(actor=person.actor, config=PromptConfig(name=name, content="Read it.", **fields)).revision


@pytest.fixture
def api(alice: Person) -> Api:
    return api_of(alice)


def test_a_prompt_is_made_read_replaced_and_deleted(api: Api, alice: Person) -> None:
    tag = create_tag(actor=alice.actor, name="t")
    schema = create_schema(actor=alice.actor, name="S", response_format=response_format(total="number")).revision
    made = api.post("prompts", body(schema_id=schema.schema_id.hex, tag_ids=[tag.pk.hex], unknown=1))
    assert made.keys() == KEYS
    assert (made["schema_id"], made["schema_version"], made["tag_ids"]) == (schema.schema_id.hex, 1, [tag.pk.hex])
    assert (made["prompt_version"], made["model"], made["kb_id"]) == (1, "gpt-4o-mini", None)
    assert (made["include"], made["peer_match_keys"]) == ({"ocr_text": True, "metadata_keys": [], "pdf": True}, [])
    assert (made["created_by"], made["created_at"][-1]) == (alice.user.pk.hex, "Z")
    assert api.get(f"prompts/{made['prompt_revid']}") == made
    assert api.get("prompts") == {"prompts": [made], "total_count": 1, "skip": 0}
    replaced = api.put(f"prompts/{made['prompt_id']}", body(include={"pdf": False, "metadata_keys": ["case"]}))
    assert (replaced["prompt_id"], replaced["prompt_version"]) == (made["prompt_id"], 2)
    assert (replaced["schema_id"], replaced["tag_ids"]) == (None, [])
    assert replaced["include"] == {"ocr_text": True, "metadata_keys": ["case"], "pdf": False}
    versions = api.get(f"prompts/{made['prompt_id']}/versions")
    assert versions == {"prompts": [replaced, made], "total_count": 2, "skip": 0}
    assert api.delete(f"prompts/{made['prompt_id']}") == {"message": "Prompt deleted successfully"}
    assert api.error("get", f"prompts/{made['prompt_revid']}") == (404, "Prompt not found")
    assert api.get("prompts")["total_count"] == 0


def test_a_name_that_exists_with_its_case_gets_a_version(api: Api) -> None:
    first, second, other = (api.post("prompts", body(name=name)) for name in ("Invoice", "Invoice", "invoice"))
    assert (second["prompt_id"], second["prompt_version"]) == (first["prompt_id"], 2)
    assert other["prompt_id"] != first["prompt_id"]
    assert api.error("put", f"prompts/{other['prompt_id']}", body())[0] == 409


def test_only_another_name_renames_in_place_and_the_same_is_a_version(api: Api) -> None:
    made = api.post("prompts", body())
    assert api.put(f"prompts/{made['prompt_id']}", body(name="Bill")) == {**made, "name": "Bill"}
    assert api.put(f"prompts/{made['prompt_id']}", body(name="Bill"))["prompt_version"] == 2


def test_the_built_in_prompt_is_read_and_stays_as_it_is(api: Api) -> None:
    shown = api.get("prompts/default")
    assert (shown.keys(), shown["prompt_id"], shown["name"]) == (KEYS, "default", "Document Summary")
    assert api.get("prompts/default/versions")["prompts"] == [shown]
    assert api.error("put", "prompts/default", body())[0] == 400
    assert api.error("delete", "prompts/default")[0] == 400


def test_prompts_of_a_document_share_a_tag_with_it(api: Api, alice: Person) -> None:
    red, blue = (create_tag(actor=alice.actor, name=name).pk for name in ("red", "blue"))
    add(alice, "red", tag_ids=[red.hex])
    add(alice, "both", tag_ids=[red.hex, blue.hex])
    add(alice, "none")
    document = Document.objects.create(organization=alice.organization, name="a.pdf", uploaded_by_name="x")
    document.tags.add(blue)

    def listed(query: str) -> list[str]:
        return [prompt["name"] for prompt in api.get(f"prompts?{query}")["prompts"]]

    assert listed(f"document_id={document.pk.hex}") == ["both"]
    assert listed(f"tag_ids={red.hex},{blue.hex}") == ["both"]
    assert listed(f"tag_ids={red.hex}") == ["both", "red"]
    assert listed(f"document_id={document.pk.hex}&tag_ids={red.hex}&name_search=B") == ["both"]
    assert listed(f"document_id={document.pk.hex}&name_search=zzz") == []
    assert listed("document_id=&tag_ids=") == ["none", "both", "red"]


def test_a_document_without_tags_has_the_default_prompt_where_it_is_on(api: Api, alice: Person) -> None:
    add(alice, "Default Prompt")
    add(alice, "another")
    document = Document.objects.create(organization=alice.organization, name="a.pdf", uploaded_by_name="x")
    address = f"prompts?document_id={document.pk.hex}"
    assert api.get(address) == {"prompts": [], "total_count": 0, "skip": 0}
    alice.organization.default_prompt_enabled = True
    alice.organization.save()
    assert [prompt["name"] for prompt in api.get(address)["prompts"]] == ["Document Summary", "Default Prompt"]
    second = api.get(f"{address}&skip=1&limit=1")
    assert ([prompt["name"] for prompt in second["prompts"]], second["total_count"]) == (["Default Prompt"], 2)
    assert [prompt["name"] for prompt in api.get(f"{address}&name_search=def")["prompts"]] == ["Default Prompt"]


def test_a_document_that_is_not_ours_is_not_found(api: Api, charlie: Person) -> None:
    theirs = Document.objects.create(organization=charlie.organization, name="a.pdf", uploaded_by_name="x")
    for wrong in (theirs.pk.hex, "0" * 32, "nonsense"):
        assert api.error("get", f"prompts?document_id={wrong}") == (404, "Document not found")


def test_lists_filter_and_sort_by_every_field(api: Api, alice: Person) -> None:
    tag = create_tag(actor=alice.actor, name="Paid").pk.hex
    schema = create_schema(actor=alice.actor, name="S", response_format=response_format(total="number")).revision
    add(alice, "b", tag_ids=[tag])
    add(alice, "A", model="gpt-4o")
    add(alice, "c", schema_id=schema.schema_id.hex)
    add(alice, "c", schema_id=schema.schema_id.hex)

    def listed(operator: str, field: str, value: Any) -> list[str]:
        items = {"items": [{"id": 1, "field": field, "operator": operator, "value": value}]}
        return [prompt["name"] for prompt in api.get(f"prompts?filters={json.dumps(items)}")["prompts"]]

    assert listed("contains", "name", "B") == ["b"]
    assert listed("equals", "model", "GPT-4o") == ["A"]
    assert listed("isAnyOf", "model", ["gpt-4o", "gpt-4o-mini"]) == ["c", "A", "b"]
    assert listed("=", "prompt_version", "2") == ["c"]
    assert listed("<", "prompt_version", 2) == ["A", "b"]
    assert listed("contains", "content", "read") == ["c", "A", "b"]
    assert listed("is", "tag_ids", tag) == ["b"]
    assert listed("contains", "tag_ids", "pai") == ["b"]
    assert listed("isEmpty", "tag_ids", None) == ["c", "A"]
    assert listed("doesNotEqual", "tag_ids", tag) == ["c", "A"]
    assert listed("equals", "schema_id", schema.schema_id.hex) == ["c"]
    assert listed("isEmpty", "schema_id", None) == ["A", "b"]
    assert listed("isNotEmpty", "schema_version", None) == ["c"]
    assert listed("is", "created_by", alice.user.pk.hex) == ["c", "A", "b"]
    assert listed("onOrAfter", "created_at", "2999-01-01") == []

    def ordered(field: str, direction: str) -> list[str]:
        answer = api.get(f'prompts?sort=[{{"field":"{field}","sort":"{direction}"}}]')
        return [prompt["name"] for prompt in answer["prompts"]]

    assert ordered("name", "asc") == ["A", "b", "c"]
    assert ordered("model", "desc")[-1] == "A"
    assert ordered("prompt_version", "desc")[0] == "c"
    assert ordered("tag_ids", "asc") == ["b", "A", "c"]
    for field in ("content", "schema_id", "schema_version", "created_at", "created_by", "prompt_id", "prompt_revid"):
        assert sorted(ordered(field, "asc")) == ["A", "b", "c"]


BAD_BODIES: list[tuple[bytes, int]] = [
    (b"", 422),
    (b"{", 422),
    (b"[]", 422),
    (b"{}", 422),
    (b'{"name": "x"}', 422),
    (b'{"content": "x"}', 422),
    (json.dumps(body(name=None)).encode(), 422),
    (json.dumps(body(content=5)).encode(), 422),
    (json.dumps(body(tag_ids="x")).encode(), 422),
    (json.dumps(body(tag_ids=[1])).encode(), 422),
    (json.dumps(body(schema_version="one")).encode(), 422),
    (json.dumps(body(include=[])).encode(), 422),
    (json.dumps(body(include={"pdf": "perhaps"})).encode(), 422),
    (json.dumps(body(include={"metadata_keys": [{}]})).encode(), 422),
    (json.dumps(body(peer_match_keys="x")).encode(), 422),
    (json.dumps(body(content="a\0")).encode(), 422),
    (json.dumps(body(name="\ud800")).encode(), 422),
    (b'{"name": "x", "content": "x", "extra": NaN}', 422),
    (b'{"name": "x", "content": "x", "extra": ' + DEEP + b"}", 422),
    (json.dumps(body(name="")).encode(), 400),
    (json.dumps(body(name="x" * 300)).encode(), 400),
    (json.dumps(body(content=" ")).encode(), 400),
    (json.dumps(body(content="x" * 100_001)).encode(), 400),
    (json.dumps(body(model="no-such-model")).encode(), 400),
    (json.dumps(body(kb_id="0" * 32)).encode(), 400),
    (json.dumps(body(tag_ids=["nonsense"])).encode(), 400),
    (json.dumps(body(tag_ids=["0" * 32] * 300)).encode(), 400),
    (json.dumps(body(peer_match_keys=["x" * 300])).encode(), 400),
    (json.dumps(body(peer_match_keys=["x"] * 200)).encode(), 400),
    (json.dumps(body(schema_id="nonsense")).encode(), 404),
    (json.dumps(body(schema_id="0" * 32, schema_version=2)).encode(), 404),
]


@pytest.mark.parametrize(("bad", "status"), BAD_BODIES)
def test_a_body_that_is_no_prompt_is_refused_and_writes_nothing(api: Api, bad: bytes, status: int) -> None:
    made = api.post("prompts", body(name="first"))
    before = AuditEntry.objects.count()
    for method, address in (("post", "prompts"), ("put", f"prompts/{made['prompt_id']}")):
        answer = api.raw(method, address, bad)
        assert (answer.status_code, bool(answer.json()["detail"])) == (status, True)
    assert api.get("prompts")["prompts"] == [made]
    assert (Prompt.objects.count(), PromptRevision.objects.count(), AuditEntry.objects.count()) == (1, 1, before)


def test_the_sentences_are_those_that_clients_know(api: Api) -> None:
    assert api.error("post", "prompts", body(model="nope")) == (400, "Invalid model: nope")
    assert api.error("post", "prompts", body(tag_ids=["x"])) == (400, "Invalid tag IDs: ['x']")
    unknown = "0" * 32
    missing = api.error("post", "prompts", body(schema_id=unknown, schema_version=7))
    assert missing == (404, f"Schema with ID {unknown} version 7 not found")
    assert api.error("post", "prompts", body(schema_id=unknown)) == (404, f"Schema with ID {unknown} not found")
    assert api.error("post", "prompts", body(kb_id="kb"))[1] == "Knowledge base kb not found or not accessible"


def test_things_of_another_organization_are_no_part_of_a_prompt(api: Api, charlie: Person) -> None:
    tag = create_tag(actor=charlie.actor, name="theirs")
    schema = create_schema(actor=charlie.actor, name="S", response_format=response_format(total="number")).revision
    assert api.raw("post", "prompts", body(tag_ids=[tag.pk.hex])).status_code == 400
    assert api.raw("post", "prompts", body(schema_id=schema.schema_id.hex)).status_code == 404
    assert api.raw("get", f"prompts?tag_ids={tag.pk.hex}").status_code == 400
    by_schema = {"items": [{"field": "schema_id", "operator": "is", "value": schema.schema_id.hex}]}
    assert api.get(f"prompts?filters={json.dumps(by_schema)}")["prompts"] == []
    assert Prompt.objects.count() == 0


@pytest.mark.parametrize("wrong", ["0" * 32, "nonsense", "Default", "%00", "x" * 500, "..%2F..", "{foreign}"])
def test_an_id_that_is_not_ours_is_not_found(api: Api, charlie: Person, wrong: str) -> None:
    theirs = add(charlie, "theirs")
    for foreign in (theirs.pk.hex, theirs.prompt_id.hex):
        place = f"prompts/{wrong.replace('{foreign}', foreign)}"
        assert api.raw("get", place).status_code == 404
        assert api.raw("put", place, body()).status_code == 404
        assert api.raw("delete", place).status_code == 404
        assert api.raw("get", f"{place}/versions").status_code == 404
    theirs.prompt.refresh_from_db()
    assert (theirs.prompt.name, theirs.prompt.deleted_at) == ("theirs", None)


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("skip=-1", 422),
        ("limit=101", 422),
        ("limit=x", 422),
        ("tag_ids=%00", 422),
        ("tag_ids=nonsense", 400),
        ("tag_ids=" + ",".join(["0" * 32] * 300), 400),
        ("sort={", 400),
        ('sort=[{"field":"include","sort":"asc"}]', 400),
        ("filters=[]", 400),
        ('filters={"items":[{"field":"schema_id","operator":"is","value":"nonsense"}]}', 400),
        ('filters={"items":[{"field":"tag_ids","operator":">","value":"x"}]}', 400),
    ],
)
def test_a_list_query_that_cannot_be_read_is_refused(api: Api, query: str, status: int) -> None:
    assert api.raw("get", f"prompts?{query}").status_code == status


@pytest.mark.parametrize("query", ["", "tag_ids={tag}", "document_id={document}"])
def test_a_list_costs_the_same_for_3_and_for_30(api: Api, alice: Person, query: str) -> None:
    tag = create_tag(actor=alice.actor, name="t").pk
    schema = create_schema(actor=alice.actor, name="S", response_format=response_format(total="number")).revision
    document = Document.objects.create(organization=alice.organization, name="a.pdf", uploaded_by_name="x")
    document.tags.add(tag)
    address = f"prompts?limit=100&{query.format(tag=tag.hex, document=document.pk.hex)}"
    counts = []
    for total in (3, 30):
        for number in range(Prompt.objects.count(), total):
            add(alice, f"Prompt {number}", tag_ids=[tag.hex], schema_id=schema.schema_id.hex)
        with CaptureQueriesContext(connection) as queries:
            assert len(api.get(address)["prompts"]) == total
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_versions_cost_the_same_for_3_and_for_30(api: Api, alice: Person) -> None:
    counts = []
    for total in (3, 30):
        for _ in range(PromptRevision.objects.count(), total):
            revision = add(alice, "one")
        with CaptureQueriesContext(connection) as queries:
            assert api.get(f"prompts/{revision.prompt_id.hex}/versions")["total_count"] == total
        counts.append(len(queries))
    assert counts[0] == counts[1]
