"""Tags over JSON: the wire's shapes, refusals that write nothing, and the same number of queries for any length."""

from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from organizations.models import AuditEntry
from organizations.services import create_token
from tags_app.models import Tag
from tags_app.services import create_tag
from tests.api import Api, api_of
from tests.conftest import Person

BAD_BODIES: list[tuple[Any, int]] = [
    (b"", 422),
    (b"{", 422),
    (b"[]", 422),
    (b'"text"', 422),
    (b'{"name": 5}', 422),
    (b'{"name": null}', 422),
    (b'{"name": NaN}', 422),
    (b'{"name": "a\\u0000b"}', 422),
    (b'{"name": "half \\ud800"}', 422),
    (b'{"name": "x", "color": {"a": 1}}', 422),
    (b'{"name": "x", "extra": ' + b"[" * 5000 + b"]" * 5000 + b"}", 422),
    (b'{"name": "x", "extra": ' + b"[" * 200 + b"]" * 200 + b"}", 422),
    (b'{"name": "x", "extra": ' + b"9" * 10_000 + b"}", 422),
    (b'{"name": "\xff"}', 422),
    (b'{"name": "x", "never_send": "perhaps"}', 422),
    (b'{"name": ""}', 400),
    (b'{"name": "   "}', 400),
    (b'{"name": "' + b"x" * 300 + b'"}', 400),
    (b'{"name": "x", "color": "red;background:url(//evil)"}', 400),
]


@pytest.fixture
def api(alice: Person) -> Api:
    return api_of(alice)


def test_a_tag_is_made_read_changed_and_deleted(api: Api) -> None:
    made = api.post("tags", {"name": "Invoice", "color": None})
    assert made.keys() == {"id", "name", "color", "description", "never_send", "created_at", "created_by"}
    assert (made["name"], made["color"], made["description"]) == ("Invoice", "#3B82F6", None)
    assert made["created_at"].endswith("Z")
    assert api.get(f"tags/{made['id']}") == made
    assert api.put(f"tags/{made['id']}", {"name": "Paid", "color": "#112233"})["color"] == "#112233"
    assert api.get("tags")["tags"][0]["name"] == "Paid"
    assert api.delete(f"tags/{made['id']}") == {"message": "Tag deleted successfully"}
    assert api.get("tags") == {"tags": [], "total_count": 0, "skip": 0}
    assert api.error("get", f"tags/{made['id']}") == (404, "Tag not found")


def test_a_mark_is_set_kept_and_lifted_and_each_change_is_written_down(api: Api) -> None:
    made = api.post("tags", {"name": "Personnel", "never_send": True})
    path = f"tags/{made['id']}"
    marks = [made["never_send"]]
    for never_send in ({}, {"never_send": None}, {"never_send": False}, {"never_send": False}):
        marks.append(api.put(path, {"name": "Personnel", **never_send})["never_send"])
    assert marks == [True, True, True, False, False]
    actions = AuditEntry.objects.filter(action__startswith="tag.never").order_by("created_at")
    assert list(actions.values_list("action", flat=True)) == ["tag.never_send_set", "tag.never_send_lifted"]


def test_a_name_that_exists_is_refused(api: Api) -> None:
    api.post("tags", {"name": "Invoice"})
    assert api.error("post", "tags", {"name": "Invoice"}) == (400, "Tag with name 'Invoice' already exists")


@pytest.mark.parametrize(("body", "status"), BAD_BODIES)
def test_a_body_that_cannot_be_a_tag_is_refused_and_writes_nothing(api: Api, body: bytes, status: int) -> None:
    before = AuditEntry.objects.count()
    answer = api.raw("post", "tags", body)
    assert answer.status_code == status
    assert answer.json()["detail"]
    assert (Tag.objects.count(), AuditEntry.objects.count()) == (0, before)


@pytest.mark.parametrize(
    ("query", "where"),
    [
        ("skip=-1", "skip"),
        ("limit=101", "limit"),
        ("limit=0", "limit"),
        ("limit=ten", "limit"),
        ("skip=99999999999999999999", "skip"),
        ("name_search=%00", "name_search"),
    ],
)
def test_a_query_out_of_range_names_the_part(api: Api, query: str, where: str) -> None:
    answer = api.raw("get", f"tags?{query}")
    assert answer.status_code == 422
    assert answer.json()["detail"][0]["loc"] == ["query", where]


@pytest.mark.parametrize("query", ["sort={", "filters=[1]", 'sort=[{"field":"nonsense","sort":"asc"}]'])
def test_a_sort_or_filter_that_is_no_json_is_refused(api: Api, query: str) -> None:
    assert api.raw("get", f"tags?{query}").status_code == 400


def test_a_list_costs_the_same_for_3_and_for_30(api: Api, alice: Person) -> None:
    counts = []
    for total in (3, 30):
        for number in range(Tag.objects.count(), total):
            create_tag(actor=alice.actor, name=f"Tag {number}")
        with CaptureQueriesContext(
            connection,
        ) as queries:
            assert len(api.get("tags?limit=100")["tags"]) == total
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_a_missing_body_field_is_told_as_the_reference_does(api: Api) -> None:
    problem = api.raw("post", "tags", b"{}").json()["detail"][0]
    assert problem == {"type": "missing", "loc": ["body", "name"], "msg": "Field required", "input": {}}


def test_a_token_may_come_in_either_header(alice: Person) -> None:
    _, text = create_token(user=alice.user, name="ci", organization=alice.organization)
    address = f"/v0/orgs/{alice.organization.pk.hex}/tags"
    assert Client().get(address, headers={"X-Api-Key": text}).status_code == 200
    assert Client().get(address, headers={"Authorization": "Basic abc", "X-Api-Key": text}).status_code == 200
    refused = Client().get(address, headers={"Authorization": "Bearer wrong", "X-Api-Key": text})
    assert (refused.status_code, refused.json()["detail"]) == (401, "Invalid authentication credentials: invalid token")
    assert Client().get(address).json()["detail"] == "No authentication credentials provided"
