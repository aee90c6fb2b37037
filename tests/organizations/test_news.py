"""What open sockets hear when memberships change, and only after it is true."""

import asyncio
from collections.abc import Callable

import pytest
from asgiref.sync import sync_to_async
from channels.layers import get_channel_layer
from django.db import transaction

from organizations.models import Membership
from organizations.news import members_group
from organizations.people.services import delete_user
from organizations.services import (
    OrganizationChanges,
    add_member,
    create_user,
    delete_organization,
    update_organization,
)
from tests.conftest import Person, make_person

pytestmark = pytest.mark.django_db(transaction=True)
NEWS = {"type": "membership.changed"}


@pytest.fixture
def alice(transactional_db: None) -> Person:
    return make_person("alice@example.com")


@pytest.mark.parametrize("how", ["removed", "another role", "left", "organization deleted"])
async def test_everybody_who_looks_is_told_that_memberships_changed(alice: Person, how: str) -> None:
    bob = await sync_to_async(create_user)(email="bob@example.com")
    await sync_to_async(add_member)(organization=alice.organization, user=bob)
    hers = {"by": alice.user, "organization_id": alice.organization.pk}
    acts: dict[str, Callable[[], object]] = {
        "removed": lambda: update_organization(**hers, changes=OrganizationChanges(members={alice.user.pk: "admin"})),
        "another role": lambda: update_organization(
            **hers, changes=OrganizationChanges(members={alice.user.pk: "admin", bob.pk: "admin"})
        ),
        "left": lambda: delete_user(by=bob, user_id=bob.pk),
        "organization deleted": lambda: delete_organization(**hers),
    }
    layer = get_channel_layer()
    channel = await layer.new_channel()
    await layer.group_add(members_group(alice.organization.pk), channel)
    await sync_to_async(acts[how])()
    assert await asyncio.wait_for(layer.receive(channel), 5) == NEWS
    await layer.group_discard(members_group(alice.organization.pk), channel)


async def test_what_was_taken_back_is_told_to_nobody(alice: Person) -> None:
    def removed_and_taken_back() -> None:
        with transaction.atomic():
            delete_organization(by=alice.user, organization_id=alice.organization.pk)
            transaction.set_rollback(True)

    layer = get_channel_layer()
    channel = await layer.new_channel()
    await layer.group_add(members_group(alice.organization.pk), channel)
    await sync_to_async(removed_and_taken_back)()
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(layer.receive(channel), 0.3)
    assert await Membership.objects.acount() == 1
