"""Organizations over JSON: who sees and changes which, upgrades, members, limits, and refusals that write nothing."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import Settings

from core.ids import new_id
from organizations import services
from organizations.models import AuditEntry, Membership, Organization
from organizations.services import add_member, create_organization, create_user
from tests.api import Api, account_api_of, api_of
from tests.conftest import Person, make_person
from tests.organizations.bad import BAD_IDS, NO_BODY_AT_ALL

KEYS = {
    "id", "name", "members", "type", "default_prompt_enabled", "auto_create_enabled", "experimental_features",
    "flow_log_level", "ocr_config", "ocr_catalog", "created_at", "updated_at",
}  # fmt: skip
DEFAULT_OCR = {
    "mode": "textract",
    "textract": {"feature_types": []},
    "mistral": {},
    "mistral_vertex": {},
    "pymupdf": {},
    "llm": {"provider": None, "model": None},
}
CATALOG = {
    "textract_feature_types": ["FORMS", "LAYOUT", "SIGNATURES", "TABLES"],
    "modes": ["textract", "mistral", "mistral_vertex", "llm", "pymupdf"],
    "mistral_enabled": False,
    "mistral_vertex_enabled": False,
}


@pytest.fixture
def api(alice: Person) -> Api:
    return account_api_of(alice)


@pytest.fixture
def root(db: None) -> Person:
    person = make_person("root@example.com")
    person.user.is_system_admin = True
    person.user.save()
    return person


def way(person: Person) -> str:
    return f"organizations/{person.organization.pk.hex}"


def member(person: Person, role: str = "user") -> dict[str, str]:
    return {"user_id": person.user.pk.hex, "role": role}


def names(api: Api, query: str = "") -> list[str]:
    return [row["name"] for row in api.get(f"organizations{query}")["organizations"]]


def test_an_organization_is_made_with_the_defaults_of_the_wire(api: Api, alice: Person) -> None:
    made = api.post("organizations", {"name": "Acme"})
    assert made.keys() == KEYS
    assert made["members"] == [member(alice, "admin")]
    assert (made["type"], made["experimental_features"], made["flow_log_level"]) == ("individual", False, "ERROR")
    assert (made["ocr_config"], made["ocr_catalog"]) == (DEFAULT_OCR, CATALOG)
    assert made["created_at"].endswith("Z")
    assert made["updated_at"].endswith("Z")
    assert api.get(f"organizations?organization_id={made['id']}") == {
        "organizations": [made],
        "total_count": 1,
        "skip": 0,
    }


def test_the_default_prompt_is_on_unasked_only_where_it_costs_nothing(api: Api, settings: Settings) -> None:
    settings.DEFAULT_EXTRACTION_MODEL = "docrouter/offline"
    assert api.post("organizations", {"name": "Free"})["default_prompt_enabled"] is True
    settings.DEFAULT_EXTRACTION_MODEL = "gpt-4.1"
    assert api.post("organizations", {"name": "Costly"})["default_prompt_enabled"] is False
    asked = api.post("organizations", {"name": "Asked for", "default_prompt_enabled": True})
    assert asked["default_prompt_enabled"] is True
    settings.DEFAULT_EXTRACTION_MODEL = "docrouter/offline"
    declined = api.post("organizations", {"name": "Declined", "default_prompt_enabled": False})
    assert declined["default_prompt_enabled"] is False


def test_what_the_wire_keeps_of_an_organization_comes_back(api: Api) -> None:
    asked = {
        "name": "Acme",
        "type": "team",
        "default_prompt_enabled": False,
        "auto_create_enabled": True,
        "experimental_features": True,
        "flow_log_level": "TRACE",
        "ocr_config": {"mode": "llm", "textract": {"feature_types": ["TABLES"]}, "llm": {"provider": "openai"}},
    }
    made = api.post("organizations", asked)
    assert {key: made[key] for key in asked if key != "ocr_config"} == {
        key: asked[key] for key in asked if key != "ocr_config"
    }
    wanted = DEFAULT_OCR | asked["ocr_config"] | {"llm": {"provider": "openai", "model": None}}  # type: ignore[operator]
    assert made["ocr_config"] == wanted
    changed = api.put(f"organizations/{made['id']}", {"type": "team", "flow_log_level": "INFO"})
    assert (changed["flow_log_level"], changed["ocr_config"], changed["name"]) == ("INFO", wanted, "Acme")


def test_a_name_is_taken_in_any_case_and_free_again_after_deleting(api: Api) -> None:
    made = api.post("organizations", {"name": "Acme"})
    taken = (400, "An organization named 'ACME' already exists")
    assert api.error("post", "organizations", {"name": "ACME"}) == taken
    other = api.post("organizations", {"name": "Other"})
    assert api.error("put", f"organizations/{other['id']}", {"name": "ACME"}) == taken
    assert api.put(f"organizations/{made['id']}", {"name": "ACME"})["name"] == "ACME"
    assert api.delete(f"organizations/{made['id']}") == {"status": "success"}
    assert api.post("organizations", {"name": "acme"})["id"] != made["id"]


def test_an_enterprise_is_made_by_who_runs_the_deployment(api: Api, root: Person) -> None:
    body = {"name": "Big", "type": "enterprise"}
    assert api.error("post", "organizations", body)[0] == 403
    assert account_api_of(root).post("organizations", body)["type"] == "enterprise"


def test_there_is_a_limit_for_each_person_and_for_the_deployment(
    api: Api, alice: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(services, "MAX_ORGANIZATIONS_OF_A_USER", 2)
    gone = api.post("organizations", {"name": "Second"})
    refused = (403, "User limit reached: Cannot be member of more than 2 organizations")
    assert api.error("post", "organizations", {"name": "Third"}) == refused
    api.delete(f"organizations/{gone['id']}")
    api.post("organizations", {"name": "Second again"})
    monkeypatch.setattr(services, "MAX_ORGANIZATIONS", 2)
    assert api.error("post", "organizations", {"name": "Third"})[1].startswith("System limit reached")


@pytest.mark.parametrize(
    ("of", "to", "status"),
    [
        ("individual", "team", 200),
        ("individual", "enterprise", 200),
        ("team", "enterprise", 200),
        ("team", "team", 200),
        ("team", "individual", 400),
        ("enterprise", "team", 400),
        ("enterprise", "individual", 400),
    ],
)
def test_a_type_only_goes_up(api: Api, alice: Person, of: str, to: str, status: int) -> None:
    Organization.objects.update(type=of)
    answer = api.raw("put", way(alice), {"type": to})
    assert answer.status_code == status
    if status == 400:
        detail = f"Invalid organization type upgrade. Cannot change from {of} to {to}"
        assert answer.json()["detail"] == detail


def test_a_change_without_a_type_means_individual_as_in_the_reference(api: Api, alice: Person) -> None:
    detail = "Invalid organization type upgrade. Cannot change from team to individual"
    assert api.error("put", way(alice), {"name": "New"}) == (400, detail)
    Organization.objects.update(type="individual")
    assert api.put(way(alice), {"name": "New"})["name"] == "New"


def test_members_are_replaced_as_a_whole(api: Api, alice: Person, bob: Person, charlie: Person) -> None:
    his = api_of(bob)
    body = {"type": "team", "members": [member(alice, "admin"), member(charlie, "admin")]}
    assert api.put(way(alice), body)["members"] == body["members"]
    assert his.error("get", "tags")[0] == 401  # the token ended with the membership
    api.put(way(alice), {"type": "team", "members": [member(alice), member(charlie, "admin")]})
    assert api.error("put", way(alice), {"type": "team"})[0] == 403  # no admin any more
    actions = AuditEntry.objects.filter(organization=alice.organization).values_list("action", flat=True)
    assert {"member.removed", "member.added", "member.role_changed", "organization.updated"} <= set(actions)


@pytest.mark.parametrize(
    "members",
    [
        [],
        [("bob", "user")],
        [("alice", "user"), ("bob", "user")],
        [("alice", "admin"), ("alice", "user")],
        [("alice", "admin"), ("nobody", "user")],
        [("alice", "admin"), ("malformed", "user")],
        [("alice", "admin"), ("gone", "user")],
    ],
)
def test_members_that_cannot_be_are_refused_and_nothing_changes(
    api: Api, alice: Person, bob: Person, members: list[tuple[str, str]]
) -> None:
    gone = create_user(email="gone@example.com", password="x")
    gone.is_active = False
    gone.save()
    ids = {
        "alice": alice.user.pk.hex,
        "bob": bob.user.pk.hex,
        "nobody": new_id().hex,
        "malformed": "x' or 1=1",
        "gone": gone.pk.hex,
    }
    before = AuditEntry.objects.count()
    body = {"type": "team", "members": [{"user_id": ids[name], "role": role} for name, role in members]}
    status, detail = api.error("put", way(alice), body)
    assert status == 400
    if not any(role == "admin" for _, role in members):
        assert detail == "Organization must have at least one admin"
    roles = dict(Membership.objects.filter(organization=alice.organization).values_list("user__email", "role"))
    assert roles == {"alice@example.com": "admin", "bob@example.com": "user"}
    assert AuditEntry.objects.count() == before


def test_only_admins_change_and_delete(api: Api, alice: Person, bob: Person, charlie: Person, root: Person) -> None:
    for person in (bob, charlie):
        other = account_api_of(person)
        assert other.error("put", way(alice), {"type": "team"})[0] == 403
        assert other.error("delete", way(alice))[0] == 403
    assert account_api_of(root).put(way(alice), {"type": "team", "name": "By root"})["name"] == "By root"


def test_a_deleted_organization_is_gone_for_everybody_at_once(api: Api, alice: Person, bob: Person) -> None:
    hers, browser = api_of(alice), bob.client()
    assert api.delete(way(alice)) == {"status": "success"}
    assert hers.error("get", "tags") == (403, "You are not a member of this organization")
    assert browser.get("/documents").status_code == 403
    assert names(api) == []
    assert api.error("get", f"organizations?organization_id={alice.organization.pk.hex}")[0] == 404
    assert api.error("delete", way(alice)) == (404, "Organization not found")
    assert api.error("put", way(alice), {"type": "team"}) == (404, "Organization not found")


def test_people_see_their_own_organizations_and_the_deployment_s_admin_all(
    api: Api, alice: Person, charlie: Person, root: Person
) -> None:
    everything = account_api_of(root)
    assert names(api) == ["Alice's organization"]
    assert names(everything) == ["Root's organization", "Charlie's organization", "Alice's organization"]
    assert names(api, f"?user_id={alice.user.pk.hex}") == ["Alice's organization"]
    assert names(everything, f"?user_id={charlie.user.pk.hex}") == ["Charlie's organization"]
    assert names(everything, f"?organization_id={alice.organization.pk.hex}") == ["Alice's organization"]
    assert api.error("get", f"organizations?user_id={charlie.user.pk.hex}")[0] == 403
    hidden = (403, "Not authorized to view this organization")
    assert api.error("get", f"organizations?organization_id={charlie.organization.pk.hex}") == hidden
    both = f"organizations?organization_id={alice.organization.pk.hex}&user_id={alice.user.pk.hex}"
    assert api.error("get", both) == (400, "Cannot specify both user_id and organization_id")


def test_searches_are_plain_text_without_case(api: Api, alice: Person, bob: Person) -> None:
    create_organization(name="100% [a-z]+", owner=alice.user)
    assert names(api, "?name_search=100%25") == names(api, "?name_search=%5BA-Z") == ["100% [a-z]+"]
    assert names(api, "?name_search=.*") == names(api, "?name_search=_") == []
    assert names(api, "?member_search=BOB%40") == names(api, "?member_search=bob") == ["Alice's organization"]
    assert len(names(api, "?member_search=alice")) == 2
    for name in ("name_search", "member_search"):
        assert names(api, f"?{name}={'x' * 200}") == []
        assert api.error("get", f"organizations?{name}={'x' * 201}")[0] == 400


def test_pages_do_not_overlap(api: Api, alice: Person) -> None:
    for number in range(4):
        create_organization(name=f"O{number}", owner=alice.user)
    pages = [names(api, f"?skip={skip}&limit=2") for skip in (0, 2, 4, 6)]
    assert pages == [["O3", "O2"], ["O1", "O0"], ["Alice's organization"], []]


def test_a_malformed_id_is_not_found(api: Api, root: Person) -> None:
    everything = account_api_of(root)
    for bad in BAD_IDS:
        assert everything.raw("put", f"organizations/{bad}", {"name": "x"}).status_code == 404
        assert everything.raw("delete", f"organizations/{bad}").status_code == 404
        assert api.raw("delete", f"organizations/{bad}").status_code == 404
        refused = api.raw("get", f"organizations?organization_id={bad}")
        assert refused.status_code == (422 if bad == "%00" else 404)


@pytest.mark.parametrize(
    "query", ["skip=-1", "skip=x", "limit=0", "limit=101", "limit=1e3", "skip=99999999999999999999", "name_search=%00"]
)
def test_a_query_out_of_range_is_refused(api: Api, query: str) -> None:
    assert api.raw("get", f"organizations?{query}").status_code == 422


BAD: list[tuple[Any, int]] = [
    *((raw, 422) for raw in NO_BODY_AT_ALL),
    ({"name": "x", "type": "club"}, 422),
    ({"name": "x", "type": 5}, 422),
    ({"name": "x", "default_prompt_enabled": "perhaps"}, 422),
    ({"name": "x", "experimental_features": []}, 422),
    ({"name": "x", "flow_log_level": "debug"}, 422),
    ({"name": "x", "ocr_config": 5}, 422),
    ({"name": "x", "ocr_config": {"mode": "eyes"}}, 422),
    ({"name": "x", "ocr_config": {"textract": {"feature_types": ["SMELL"]}}}, 422),
    ({"name": "x", "ocr_config": {"textract": {"feature_types": ["TABLES"] * 5}}}, 422),
    ({"name": "x", "ocr_config": {"mistral": {"a": "x" * 10_000}}}, 422),
    ({"name": "x", "ocr_config": {"llm": {"provider": 5}}}, 422),
    ({"name": ""}, 400),
    ({"name": "   "}, 400),
    ({"name": "x" * 201}, 400),
]


def test_a_body_that_cannot_be_an_organization_is_refused_and_writes_nothing(api: Api, alice: Person) -> None:
    before = AuditEntry.objects.count()
    for body, status in BAD:
        assert api.raw("post", "organizations", body).status_code == status, body
        changed = body | {"type": body.get("type", "team")} if isinstance(body, dict) else body
        assert api.raw("put", way(alice), changed).status_code == status, body
    assert list(Organization.objects.values_list("name", flat=True)) == ["Alice's organization"]
    assert AuditEntry.objects.count() == before


@pytest.mark.parametrize(
    "members",
    [5, {}, ["x"], [{}], [{"user_id": "x"}], [{"user_id": 5, "role": "admin"}], [{"user_id": "x", "role": "god"}]],
)
def test_members_of_another_form_are_refused(api: Api, alice: Person, members: Any) -> None:
    assert api.raw("put", way(alice), {"type": "team", "members": members}).status_code == 422


def test_a_list_costs_the_same_for_3_and_30_whatever_the_members(api: Api, alice: Person, bob: Person) -> None:
    counts = []
    for total in (3, 30):
        for number in range(Organization.objects.count(), total):
            organization = Organization.objects.create(name=f"O{number}")
            add_member(organization=organization, user=alice.user, role="admin")
            add_member(organization=organization, user=bob.user)
        with CaptureQueriesContext(connection) as queries:
            assert len(names(api, "?limit=100&member_search=bob")) == total
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_deleting_ends_open_invitations(api: Api, alice: Person) -> None:
    api.post("email/invitations", {"email": "ann@example.com", "organization_id": alice.organization.pk.hex})
    api.delete(way(alice))
    assert alice.organization.invitations.count() == 0
    assert Organization.objects.get().deleted_at <= timezone.now()
