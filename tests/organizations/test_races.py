"""Two people act in the same moment, on connections of their own: one stays in charge, nothing happens twice."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest
from django.db import connections

from core.errors import DomainError
from organizations import services
from organizations.errors import LastAdmin
from organizations.letters.services import accept_invitation, invite
from organizations.models import Invitation, Membership, Organization, User
from organizations.people.services import UserChanges, delete_user, update_user
from organizations.selectors import token_digest
from organizations.services import (
    OrganizationChanges,
    add_member,
    create_organization,
    create_user,
    update_organization,
)
from tests.conftest import PASSWORD, Person, make_person

pytestmark = pytest.mark.django_db(transaction=True)
ROUNDS = 8


@pytest.fixture
def alice(transactional_db: None) -> Person:
    return make_person("alice@example.com")


def together(*acts: Callable[[], Any]) -> list[Any]:
    """Do all at once; what each returned, or the domain error that it raised. Anything else fails the test."""
    ready = threading.Barrier(len(acts))

    def one(act: Callable[[], Any]) -> Any:
        ready.wait(timeout=10)
        try:
            return act()
        except DomainError as refused:
            return refused
        finally:
            connections.close_all()

    with ThreadPoolExecutor(len(acts)) as pool:
        return list(pool.map(one, acts))


def admins_of(organization: Organization) -> int:
    return organization.memberships.filter(role="admin", user__is_active=True).count()


def test_two_admins_who_remove_each_other_leave_one(alice: Person) -> None:
    bob = create_user(email="bob@example.com")
    for _ in range(ROUNDS):
        for user in (alice.user, bob):
            add_member(organization=alice.organization, user=user, role="admin")
        outcomes = together(
            *(
                partial(
                    update_organization,
                    by=by,
                    organization_id=alice.organization.pk,
                    changes=OrganizationChanges(members={by.pk: "admin", other.pk: "user"}),
                )
                for by, other in ((alice.user, bob), (bob, alice.user))
            )
        )
        assert admins_of(alice.organization) == 1
        assert sum(isinstance(outcome, DomainError) for outcome in outcomes) == 1


def test_the_two_last_admins_who_delete_themselves_at_once_leave_one(alice: Person) -> None:
    for number in range(ROUNDS):
        owner = create_user(email=f"owner{number}@example.com")
        other = create_user(email=f"other{number}@example.com")
        organization = create_organization(name=f"O{number}", owner=owner)
        add_member(organization=organization, user=other, role="admin")
        outcomes = together(*(partial(delete_user, by=user, user_id=user.pk) for user in (owner, other)))
        assert admins_of(organization) == 1
        assert [type(outcome) for outcome in outcomes if outcome is not None] == [LastAdmin]


def test_an_admin_who_is_made_the_only_one_while_leaving_is_not_lost(alice: Person) -> None:
    for number in range(ROUNDS):
        bob = create_user(email=f"bob{number}@example.com")
        add_member(organization=alice.organization, user=bob, role="admin")
        add_member(organization=alice.organization, user=alice.user, role="admin")
        together(
            partial(delete_user, by=bob, user_id=bob.pk),
            partial(
                update_organization,
                by=alice.user,
                organization_id=alice.organization.pk,
                changes=OrganizationChanges(members={bob.pk: "admin"}),
            ),
        )
        assert admins_of(alice.organization) == 1
        Membership.objects.filter(organization=alice.organization).delete()


def test_of_two_who_run_the_deployment_and_step_down_one_stays(alice: Person) -> None:
    users = [create_user(email=f"root{number}@example.com") for number in range(2)]
    for _ in range(ROUNDS):
        User.objects.filter(pk__in=[user.pk for user in users]).update(is_system_admin=True)
        for user in users:
            user.refresh_from_db()
        steps = [partial(update_user, by=by, user_id=by.pk, changes=UserChanges(role="user")) for by in users]
        outcomes = together(*steps)
        assert User.objects.filter(is_system_admin=True).count() == 1
        assert sum(isinstance(outcome, LastAdmin) for outcome in outcomes) == 1


def test_who_demote_each_other_leave_one(alice: Person) -> None:
    one, two = (create_user(email=f"root{number}@example.com") for number in range(2))
    for _ in range(ROUNDS):
        User.objects.filter(pk__in=[one.pk, two.pk]).update(is_system_admin=True)
        for user in (one, two):
            user.refresh_from_db()
        demotions = [
            partial(update_user, by=by, user_id=of.pk, changes=UserChanges(role="user"))
            for by, of in ((one, two), (two, one))
        ]
        together(*demotions)
        assert User.objects.filter(is_system_admin=True).count() >= 1


def test_an_invitation_is_taken_once(alice: Person) -> None:
    for number in range(ROUNDS // 2):
        Invitation.objects.create(
            email=f"ann{number}@example.com",
            organization=alice.organization,
            digest=token_digest(token=f"t{number}"),
            expires_at="2100-01-01T00:00Z",
        )
        take = partial(accept_invitation, token=f"t{number}", name="Ann", password=PASSWORD)
        outcomes = together(take, take, take)
        assert sum(isinstance(outcome, User) for outcome in outcomes) == 1
        assert Membership.objects.filter(user__email=f"ann{number}@example.com").count() == 1


def test_inviting_one_address_twice_at_once_leaves_one_invitation_and_one_account(alice: Person) -> None:
    alice.user.is_system_admin = True
    offer = partial(invite, by=alice.user, email="ann@example.com", organization_id=None, role="user", site="http://x")
    assert not any(isinstance(outcome, DomainError) for outcome in together(offer, offer, offer))
    assert Invitation.objects.count() == 1
    outcomes = together(*(partial(create_user, email="ann@example.com") for _ in range(4)))
    assert sum(isinstance(outcome, User) for outcome in outcomes) == 1


def test_the_limit_of_organizations_holds_for_many_at_once(alice: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(services, "MAX_ORGANIZATIONS_OF_A_USER", 3)
    together(*(partial(create_organization, name=f"O{number}", owner=alice.user) for number in range(6)))
    assert alice.user.memberships.count() == 3


def test_a_name_is_given_once(alice: Person) -> None:
    users = [create_user(email=f"u{number}@example.com") for number in range(4)]
    outcomes = together(*(partial(create_organization, name="Acme", owner=user) for user in users))
    assert sum(isinstance(outcome, Organization) for outcome in outcomes) == 1
