"""Users over JSON: who sees, changes and ends whom; passwords; what stays of somebody who left."""

from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from organizations.models import Membership, Organization, User
from organizations.people import services
from organizations.services import add_member, create_organization, create_user
from tests.api import Api, account_api_of
from tests.conftest import PASSWORD, Person, make_person
from tests.organizations.bad import BAD_IDS, NO_BODY_AT_ALL

NEW = {"email": "Ann@Example.com", "name": "Ann", "password": PASSWORD}


@pytest.fixture
def root(db: None) -> Person:
    person = make_person("root@example.com")
    person.user.is_system_admin = True
    person.user.save()
    return person


def way(person: Person) -> str:
    return f"users/{person.user.pk.hex}"


def emails(api: Api, query: str = "") -> list[str]:
    return [row["email"] for row in api.get(f"users{query}")["users"]]


def signs_in(email: str, password: str) -> bool:
    return Client().post("/sign-in", {"username": email, "password": password}).status_code == 302


def test_the_deployment_s_admin_makes_a_person_with_an_organization_of_their_own(root: Person) -> None:
    api = account_api_of(root)
    made = api.post("users", NEW)
    assert made.keys() == {
        "id",
        "email",
        "name",
        "role",
        "email_verified",
        "created_at",
        "has_password",
        "has_seen_tour",
    }
    assert (made["email"], made["name"], made["role"], made["email_verified"]) == (
        "ann@example.com",
        "Ann",
        "user",
        False,
    )
    assert (made["has_password"], made["has_seen_tour"], made["created_at"][-1]) == (True, None, "Z")
    organization = Organization.objects.get(name="ann@example.com")
    assert organization.type == "individual"
    assert organization.memberships.get().role == "admin"
    assert signs_in("ann@example.com", PASSWORD)
    assert api.error("post", "users", NEW) == (400, "Email already registered")


def test_others_make_nobody(alice: Person) -> None:
    assert account_api_of(alice).error("post", "users", NEW) == (403, "Admin access required")
    assert User.objects.count() == 1


def test_a_person_is_not_made_halfway(root: Person) -> None:
    create_organization(name="ann@example.com", owner=root.user)
    assert account_api_of(root).error("post", "users", NEW)[0] == 400
    assert not User.objects.filter(email="ann@example.com").exists()


def test_people_see_themselves_and_whom_they_administer_and_the_deployment_s_admin_everybody(
    alice: Person, bob: Person, charlie: Person, root: Person
) -> None:
    hers, his, everything = account_api_of(alice), account_api_of(bob), account_api_of(root)
    assert emails(hers) == ["bob@example.com", "alice@example.com"]
    assert emails(his) == ["bob@example.com"]
    assert emails(everything)[0] == "root@example.com"
    assert len(emails(everything)) == 4
    of = f"?organization_id={alice.organization.pk.hex}"
    assert emails(hers, of) == emails(everything, of) == ["bob@example.com", "alice@example.com"]
    assert his.error("get", f"users{of}")[0] == 403
    assert emails(hers, f"?user_id={bob.user.pk.hex}") == emails(his, f"?user_id={bob.user.pk.hex}")
    for api, person in ((his, alice), (hers, charlie)):
        assert api.error("get", f"users?user_id={person.user.pk.hex}")[0] == 403
    both = f"users{of}&user_id={bob.user.pk.hex}"
    assert hers.error("get", both) == (400, "Cannot specify both user_id and organization_id")


def test_a_search_is_plain_text_in_name_and_address(alice: Person, bob: Person) -> None:
    api = account_api_of(alice)
    assert emails(api, "?search_name=BOB") == emails(api, "?search_name=bob%40ex") == ["bob@example.com"]
    assert emails(api, "?search_name=.") == ["bob@example.com", "alice@example.com"]
    assert emails(api, "?search_name=%25") == []
    assert api.error("get", f"users?search_name={'x' * 201}")[0] == 400


def test_a_page_of_people_has_no_upper_bound(alice: Person, bob: Person) -> None:
    api = account_api_of(alice)
    assert api.get("users?skip=1&limit=100000") == {**api.get("users?skip=1"), "total_count": 2}
    assert emails(api, "?limit=1") + emails(api, "?skip=1&limit=1") == ["bob@example.com", "alice@example.com"]
    for query in ("limit=0", "limit=-1", "limit=x", "skip=-1", "skip=99999999999999999999", "search_name=%00"):
        assert api.raw("get", f"users?{query}").status_code == 422


def test_one_changes_one_s_own_name_password_and_tour(alice: Person) -> None:
    api = account_api_of(alice)
    changed = api.put(way(alice), {"name": " Alicia ", "has_seen_tour": True, "email": "other@example.com"})
    assert (changed["name"], changed["email"], changed["has_seen_tour"]) == ("Alicia", "alice@example.com", None)
    api.put(way(alice), {"password": "another long secret"})
    assert signs_in("alice@example.com", "another long secret")
    assert not signs_in("alice@example.com", PASSWORD)
    alice.user.refresh_from_db()
    assert alice.user.has_seen_tour is True


def test_nobody_makes_themselves_more_than_they_are(alice: Person) -> None:
    api = account_api_of(alice)
    nothing = (400, "No valid update data provided")
    for body in ({}, {"role": "admin"}, {"email_verified": True}, {"is_system_admin": True}, {"name": None}):
        assert api.error("put", way(alice), body) == nothing
    api.put(way(alice), {"name": "Alice", "role": "admin", "email_verified": True, "is_superuser": True})
    alice.user.refresh_from_db()
    user = alice.user
    assert (user.is_system_admin, user.is_superuser, user.is_staff, user.email_verified) == (False,) * 4


def test_only_oneself_and_the_deployment_s_admin_change_a_person(alice: Person, bob: Person, root: Person) -> None:
    for method in ("put", "delete"):
        assert account_api_of(alice).error(method, way(bob), {"name": "x"})[0] == 403
    changed = account_api_of(root).put(way(bob), {"role": "admin", "email_verified": True})
    assert (changed["role"], changed["email_verified"]) == ("admin", True)


def test_the_last_who_runs_the_deployment_stays(root: Person, alice: Person) -> None:
    api = account_api_of(root)
    refused = (400, "Cannot remove admin role from the last admin user")
    assert api.error("put", way(root), {"role": "user"}) == refused
    Organization.objects.filter(pk=root.organization.pk).update(type="individual")
    assert api.error("delete", way(root)) == (400, "Cannot delete the last system admin user")
    api.put(way(alice), {"role": "admin"})
    assert api.put(way(root), {"role": "user"})["role"] == "user"


@pytest.mark.parametrize("password", ["short", "password123", "x" * 1025])
def test_a_password_is_held_to_the_rules_of_the_pages(root: Person, alice: Person, password: str) -> None:
    api, before = account_api_of(root), alice.user.password
    for answer in (
        api.raw("post", "users", NEW | {"password": password}),
        api.raw("put", way(alice), {"password": password}),
    ):
        assert answer.status_code == (422 if len(password) > 1024 else 400)
    alice.user.refresh_from_db()
    assert (User.objects.count(), alice.user.password) == (2, before)


def test_who_leaves_is_gone_at_once_and_the_name_stays_on_what_they_did(
    alice: Person, bob: Person, root: Person
) -> None:
    browser, api = bob.client(), account_api_of(bob)
    assert browser.get("/documents").status_code == 200
    assert api.delete(way(bob)) == {"message": "User and related data deleted successfully"}
    assert browser.get("/documents").status_code == 302
    assert not signs_in("bob@example.com", PASSWORD)
    assert emails(account_api_of(alice)) == ["alice@example.com"]
    assert account_api_of(root).error("get", f"users?user_id={bob.user.pk.hex}") == (404, "User not found")
    assert account_api_of(root).error("put", way(bob), {"name": "x"}) == (404, "User not found")
    assert account_api_of(root).error("delete", way(bob)) == (404, "User not found")
    bob.user.refresh_from_db()
    assert bob.user.display_name == "Bob (former member)"
    assert create_user(email="bob@example.com", password=PASSWORD).pk != bob.user.pk  # the address is free again


def test_an_organization_of_one_s_own_goes_along_and_one_with_others_keeps_an_admin(
    alice: Person, bob: Person, charlie: Person, root: Person
) -> None:
    api = account_api_of(root)
    made = api.post("users", NEW)
    api.delete(f"users/{made['id']}")
    assert Organization.objects.get(name="ann@example.com").deleted_at is not None
    detail = "Cannot delete user: they are the last admin of organization 'Alice's organization'"
    assert api.error("delete", way(alice)) == (400, detail)
    assert Membership.objects.filter(user=alice.user).exists()
    add_member(organization=alice.organization, user=bob.user, role="admin")
    api.delete(way(alice))
    assert alice.organization.memberships.get().user == bob.user


def test_a_malformed_id_is_not_found(alice: Person, root: Person) -> None:
    api = account_api_of(root)
    for bad in BAD_IDS:
        assert api.raw("put", f"users/{bad}", {"name": "x"}).status_code == 404, bad
        assert api.raw("delete", f"users/{bad}").status_code == 404, bad
        for name in ("user_id", "organization_id"):
            refused = api.raw("get", f"users?{name}={bad}")
            assert refused.status_code == (422 if bad == "%00" else 404), bad


BAD: list[tuple[Any, int]] = [
    *((raw, 422) for raw in NO_BODY_AT_ALL),
    (NEW | {"name": "x" * 201}, 422),
    (NEW | {"email": "x" * 255}, 422),
    (NEW | {"name": None}, 422),
    (NEW | {"password": 5}, 422),
    (NEW | {"password": ["x"]}, 422),
]


def test_a_body_that_cannot_be_a_person_is_refused_and_writes_nothing(root: Person) -> None:
    api = account_api_of(root)
    before = User.objects.values().get()
    for body, status in BAD:
        assert api.raw("post", "users", body).status_code == status, body
    for bad in ("", "x", "a b@example.com", "x@", "@example.com", "x@y", "x@example.com\nBcc: y", "é@example.com"):
        assert api.raw("post", "users", NEW | {"email": bad}).status_code == 400, bad
    for change in (
        {"role": "god"},
        {"email_verified": "perhaps"},
        {"has_seen_tour": 7},
        {"name": "x" * 201},
        {"name": []},
    ):
        assert api.raw("put", way(root), change).status_code == 422, change
    assert User.objects.values().get() == before


def test_a_list_costs_the_same_for_3_and_30(alice: Person) -> None:
    api, counts = account_api_of(alice), []
    for total in (3, 30):
        for number in range(User.objects.count(), total):
            add_member(organization=alice.organization, user=create_user(email=f"u{number}@example.com"))
        with CaptureQueriesContext(connection) as queries:
            assert len(emails(api, "?limit=100")) == total
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_there_is_a_limit_of_people(root: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("organizations.services.MAX_USERS", 1)
    status, detail = account_api_of(root).error("post", "users", NEW)
    assert (status, detail) == (403, "System limit reached: Cannot have more than 1 users")
    assert services.lock_user_and_system_admins(user_id=root.user.pk)[1] == [root.user]
