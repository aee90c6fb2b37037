"""Signing in and out, the lockout, the organization in the session."""

import pytest
from django.test import Client
from pytest_django import Settings

from organizations.services import add_member, create_organization
from tests.conftest import PASSWORD, Person, empty_cache

pytestmark = pytest.mark.django_db


def sign_in(client: Client, email: str, password: str = PASSWORD) -> int:
    return client.post("/sign-in", {"username": email, "password": password}).status_code


def test_a_person_signs_in_with_e_mail_in_any_case_and_out_again(alice: Person, nobody: Client) -> None:
    assert sign_in(nobody, "Alice@Example.com") == 302
    assert nobody.get("/documents").status_code == 200
    nobody.post("/sign-out")
    assert nobody.get("/documents").status_code == 302


def test_nobody_is_sent_to_the_sign_in_page_and_comes_back_to_where_they_wanted(nobody: Client) -> None:
    assert nobody.get("/documents?x=1")["Location"] == "/sign-in?next=/documents%3Fx%3D1"


def test_a_wrong_password_and_an_unknown_address_read_the_same(alice: Person, nobody: Client) -> None:
    wrong = nobody.post("/sign-in", {"username": "alice@example.com", "password": "no"})
    unknown = nobody.post("/sign-in", {"username": "who@example.com", "password": "no"})
    assert wrong.status_code == unknown.status_code == 422
    for page in (wrong, unknown):
        assert "That e-mail and password do not match." in page.content.decode()


def test_repeated_failures_lock_the_door_even_for_the_right_password(
    alice: Person, nobody: Client, settings: Settings
) -> None:
    settings.SIGN_IN_ATTEMPTS = 3
    assert [sign_in(nobody, "alice@example.com", "no") for _ in range(3)] == [422] * 3
    assert sign_in(nobody, "ALICE@example.com") == 429
    empty_cache()
    assert sign_in(nobody, "alice@example.com") == 302


def test_one_password_for_many_addresses_is_counted_by_the_network_address(
    alice: Person, nobody: Client, settings: Settings
) -> None:
    settings.SIGN_IN_ATTEMPTS = 1
    for n in range(5):
        assert sign_in(nobody, f"u{n}@example.com", "no") == 422
    assert sign_in(nobody, "alice@example.com") == 429


def test_the_right_password_forgets_earlier_slips(alice: Person, nobody: Client, settings: Settings) -> None:
    settings.SIGN_IN_ATTEMPTS = 2
    sign_in(nobody, "alice@example.com", "no")
    assert sign_in(nobody, "alice@example.com") == 302
    nobody.post("/sign-out")
    sign_in(nobody, "alice@example.com", "no")
    assert sign_in(nobody, "alice@example.com") == 302


def test_a_member_of_two_organizations_can_switch_and_of_no_other(alice: Person, charlie: Person) -> None:
    second = create_organization(name="Second", owner=charlie.user)
    add_member(organization=second, user=alice.user)
    client = alice.client()
    client.post("/organization", {"organization_id": second.id.hex})
    assert client.get("/documents").context["organization"] == second
    client.post("/organization", {"organization_id": charlie.organization.id.hex})
    assert client.get("/documents").context["organization"] == second


def test_a_person_without_an_organization_is_told_so(alice: Person) -> None:
    alice.user.memberships.all().delete()
    response = alice.client().get("/documents")
    assert response.status_code == 403
    assert "You do not belong to an organization yet" in response.content.decode()
