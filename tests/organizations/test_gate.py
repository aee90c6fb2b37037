"""The tenant gate: rows of the actor's organization, and of no other, and not the trash."""

import pytest
from django.utils import timezone

from core.errors import NotFound
from organizations.gate import get_owned, owned
from tags_app.models import Tag
from tests.conftest import Person


def tag(person: Person, name: str = "one") -> Tag:
    return Tag.objects.create(organization=person.organization, name=name)


def test_each_organization_sees_its_own_rows_only(alice: Person, bob: Person, charlie: Person) -> None:
    ours, theirs = tag(alice), tag(charlie)
    assert list(owned(Tag, alice.actor)) == list(owned(Tag, bob.actor)) == [ours]
    assert list(owned(Tag, charlie.actor)) == [theirs]


def test_foreign_unknown_malformed_and_trashed_rows_are_the_same_answer(alice: Person, charlie: Person) -> None:
    trashed = tag(alice, "old")
    trashed.deleted_at = timezone.now()
    trashed.save()
    for row_id in (tag(charlie).id, "0" * 32, "nonsense", trashed.id, None):
        with pytest.raises(NotFound) as refused:
            get_owned(Tag, alice.actor, row_id)
        assert str(refused.value) == "Not found."
