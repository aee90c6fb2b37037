"""Who: users, organizations, members, tokens, the audit log."""

from datetime import timedelta

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from core.errors import Invalid, NotFound
from core.ids import new_id, show_id
from organizations.errors import (
    AdminRequired,
    EmailInvalid,
    EmailTaken,
    NotAMember,
    OrganizationNameTaken,
    TokenExpired,
    TokenInvalid,
)
from organizations.models import AccessToken, AuditEntry, Membership, User
from organizations.selectors import actor_for, find_organization, get_user_by_email, list_audit, resolve_token
from organizations.services import create_organization, create_token, create_user, delete_token, record, require_admin
from tests.conftest import Person


def test_an_e_mail_address_belongs_to_one_person_whatever_its_case(alice: Person) -> None:
    with pytest.raises(EmailTaken):
        create_user(email="ALICE@example.com", password="x")
    with pytest.raises(IntegrityError), transaction.atomic():
        User(email="Alice@Example.com").save()


@pytest.mark.parametrize("email", ["", "alice", "a b@example.com", "alice@", "\0@example.com"])
def test_what_is_no_e_mail_address_is_refused(db: None, email: str) -> None:
    with pytest.raises(EmailInvalid):
        create_user(email=email, password="x")


def test_who_makes_an_organization_becomes_its_admin(alice: Person) -> None:
    organization = create_organization(name="Second", owner=alice.user)
    assert Membership.objects.get(organization=organization).role == "admin"


@pytest.mark.parametrize("name", ["", "   ", "x" * 201, "a\0b"])
def test_an_organization_needs_a_real_name(alice: Person, name: str) -> None:
    with pytest.raises(Invalid):
        create_organization(name=name, owner=alice.user)


def test_two_organizations_cannot_have_one_name(alice: Person) -> None:
    create_organization(name="Acme", owner=alice.user)
    with pytest.raises(OrganizationNameTaken):
        create_organization(name="ACME", owner=alice.user)


def test_an_operator_finds_an_organization_by_name_or_id(alice: Person) -> None:
    assert find_organization(name_or_id=alice.organization.name.upper()) == alice.organization
    assert find_organization(name_or_id=show_id(alice.organization.id)) == alice.organization
    with pytest.raises(NotFound):
        find_organization(name_or_id="nothing of the kind")
    assert get_user_by_email(email="ALICE@EXAMPLE.COM") == alice.user


def test_an_actor_needs_a_membership(alice: Person, charlie: Person) -> None:
    for organization_id in (alice.organization.id, new_id()):
        with pytest.raises(NotAMember):
            actor_for(user=charlie.user, organization_id=organization_id, via="api")


def test_members_who_are_no_admins_are_stopped_where_admins_are_asked_for(alice: Person, bob: Person) -> None:
    require_admin(actor=alice.actor)
    with pytest.raises(AdminRequired):
        require_admin(actor=bob.actor)


def test_a_token_is_shown_once_and_stored_only_as_a_digest(alice: Person) -> None:
    row, text = create_token(user=alice.user, name="ci", organization=alice.organization)
    assert text.startswith("org_")
    assert len(text) == 47
    assert row.prefix == text[:10]
    stored = str(AccessToken.objects.filter(pk=row.pk).values().get())
    assert text[10:] not in stored
    assert resolve_token(token=text) == row


def test_an_account_token_is_bound_to_no_organization(alice: Person) -> None:
    row, text = create_token(user=alice.user, name="")
    assert text.startswith("acc_")
    assert row.organization is None


def test_a_token_for_somebody_else_s_organization_is_refused(alice: Person, charlie: Person) -> None:
    with pytest.raises(NotAMember):
        create_token(user=charlie.user, name="x", organization=alice.organization)


def test_an_expired_token_says_so_and_an_unknown_one_does_not_exist(alice: Person) -> None:
    row, text = create_token(user=alice.user, name="x", lifetime_days=1)
    AccessToken.objects.filter(pk=row.pk).update(expires_at=timezone.now() - timedelta(seconds=1))
    with pytest.raises(TokenExpired):
        resolve_token(token=text)
    for bad in ("", "acc_", text + "x", "org_\0"):
        with pytest.raises(TokenInvalid):
            resolve_token(token=bad)


def test_a_token_of_a_user_who_was_switched_off_is_invalid(alice: Person) -> None:
    _, text = create_token(user=alice.user, name="x")
    User.objects.filter(pk=alice.user.pk).update(is_active=False)
    with pytest.raises(TokenInvalid):
        resolve_token(token=text)


def test_the_audit_log_says_who_did_what_through_which_door_and_stays_in_its_organization(
    alice: Person, charlie: Person
) -> None:
    record(actor=alice.actor, action="tag.created", target=("tag", alice.user.id), data={"n": 1})
    entry = list_audit(actor=alice.actor)[0]
    assert (entry.actor_name, entry.via, entry.action) == ("Alice", "page", "tag.created")
    assert [one.action for one in list_audit(actor=charlie.actor)] == ["organization.created"]
    assert AuditEntry.objects.count() == 3


def test_making_and_ending_an_organizations_token_stands_in_its_audit_log(alice: Person) -> None:
    row, _text = create_token(user=alice.user, name="ci", organization=alice.organization)
    delete_token(user=alice.user, token_id=row.pk, organization_id=alice.organization.pk)
    entries = AuditEntry.objects.filter(organization=alice.organization, target_type="token")
    assert [(entry.action, entry.target_id) for entry in entries.order_by("created_at")] == [
        ("token.created", row.pk.hex),
        ("token.deleted", row.pk.hex),
    ]
