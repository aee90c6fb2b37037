"""manage.py create_user, create_organization, create_token: nothing on standard output but the result."""

import io

import pytest
from django.core.management import CommandError, call_command

from core.ids import show_id
from organizations.selectors import find_organization, get_user_by_email, memberships_of, resolve_token
from tests.conftest import Person


def output_of(*arguments: str) -> str:
    out = io.StringIO()
    call_command(*arguments, stdout=out)
    return out.getvalue()


def test_a_user_is_made_and_named_by_id(db: None) -> None:
    text = output_of("create_user", "--email", "Dana@Example.com", "--password", "a long enough one", "--admin")
    user = get_user_by_email(email="dana@example.com")
    assert text == show_id(user.id) + "\n"
    assert user.check_password("a long enough one")
    assert user.is_system_admin


def test_the_password_can_come_from_standard_input(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("from the pipe\n"))
    output_of("create_user", "--email", "dana@example.com", "--password", "-")
    assert get_user_by_email(email="dana@example.com").check_password("from the pipe")


def test_without_password_nobody_can_sign_in_yet(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO())
    output_of("create_user", "--email", "dana@example.com")
    assert not get_user_by_email(email="dana@example.com").has_usable_password()


def test_an_organization_gets_its_owner_as_admin(alice: Person) -> None:
    text = output_of("create_organization", "--name", "Northwind", "--owner", "alice@example.com")
    organization = find_organization(name_or_id="northwind")
    assert text == show_id(organization.id) + "\n"
    roles = {row.organization_id: row.role for row in memberships_of(user=alice.user)}
    assert roles[organization.id] == "admin"


@pytest.mark.parametrize("by", ["name", "id"])
def test_a_token_of_an_organization_is_the_only_output(alice: Person, by: str) -> None:
    wanted = alice.organization.name if by == "name" else show_id(alice.organization.id)
    text = output_of("create_token", "--email", "alice@example.com", "--organization", wanted, "--days", "7")
    token = resolve_token(token=text.strip())
    assert text.startswith("org_")
    assert len(text.split()) == 1
    assert (token.organization, token.user) == (alice.organization, alice.user)
    assert token.expires_at is not None


def test_a_token_without_organization_is_an_account_token(alice: Person) -> None:
    text = output_of("create_token", "--email", "alice@example.com")
    assert text.startswith("acc_")
    assert resolve_token(token=text.strip()).expires_at is None


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["create_user", "--email", "alice@example.com", "--password", "x"], "already registered"),
        (["create_user", "--email", "no address", "--password", "x"], "not an e-mail address"),
        (["create_organization", "--name", "N", "--owner", "who@example.com"], "User not found"),
        (["create_organization", "--name", "", "--owner", "alice@example.com"], "1 to 200 characters"),
        (["create_token", "--email", "who@example.com"], "User not found"),
        (["create_token", "--email", "alice@example.com", "--organization", "nowhere"], "Organization not found"),
        (["create_token", "--email", "alice@example.com", "--days", "-1"], "lifetime"),
    ],
)
def test_a_refusal_is_a_sentence(alice: Person, arguments: list[str], reason: str) -> None:
    with pytest.raises(CommandError, match=reason):
        output_of(*arguments)


def test_a_token_for_a_foreign_organization_is_refused(alice: Person, charlie: Person) -> None:
    with pytest.raises(CommandError, match="not a member"):
        output_of("create_token", "--email", "alice@example.com", "--organization", charlie.organization.name)
