"""The cast: alice (admin) and bob (member) of one organization, charlie of another, and nobody."""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from django.conf import settings
from django.db import connection
from django.test import Client
from hypothesis import Phase
from hypothesis import settings as hypothesis_settings
from pytest_django import DjangoDbBlocker
from redis import Redis

from organizations.actor import Actor
from organizations.models import Organization, User
from organizations.selectors import actor_for
from organizations.services import add_member, create_organization, create_user
from tests.fakes.fixtures import fake_provider, warm_litellm

__all__ = ["fake_provider", "warm_litellm"]

PASSWORD = "a long enough secret"

# The phase that explains a failure follows every line of the code under test: of the engine's that takes gigabytes.
hypothesis_settings.register_profile(
    "unexplained", parent=hypothesis_settings(), phases=[phase for phase in Phase if phase is not Phase.explain]
)
hypothesis_settings.load_profile("unexplained")


@dataclass(frozen=True)
class Person:
    """One of the cast: the user, the organization, the actor through the page door."""

    user: User
    organization: Organization
    actor: Actor

    def client(self) -> Client:
        """A browser in which this person is signed in."""
        client = Client()
        client.force_login(self.user)
        return client


def make_person(email: str, *, organization: Organization | None = None) -> Person:
    """A member of `organization`, or the admin of a new one."""
    user = create_user(email=email, password=PASSWORD, name=email.split("@")[0].capitalize())
    if organization is None:
        organization = create_organization(name=f"{user.name}'s organization", owner=user)
    else:
        add_member(organization=organization, user=user)
    return Person(user, organization, actor_for(user=user, organization_id=organization.id, via="page"))


@pytest.fixture
def alice(db: None) -> Person:
    return make_person("alice@example.com")


@pytest.fixture
def bob(alice: Person) -> Person:
    return make_person("bob@example.com", organization=alice.organization)


@pytest.fixture
def charlie(db: None) -> Person:
    return make_person("charlie@example.com")


@pytest.fixture
def nobody() -> Client:
    return Client()


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """Hang up before the database is dropped: threads that outlive the last test may still hold connections."""
    yield
    with django_db_blocker.unblock(), connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


def empty_cache() -> None:
    """Forget what this process cached. Not `cache.clear()`, which empties the database that all processes share."""
    with Redis.from_url(settings.REDIS_URL) as redis:
        if keys := list(redis.scan_iter(match=f"{settings.REDIS_PREFIX}:1:*", count=1000)):
            redis.delete(*keys)


@pytest.fixture(autouse=True)
def _empty_cache(request: pytest.FixtureRequest) -> Iterator[None]:
    """Counters and rendered things of one test never reach the next (only where the database is used at all)."""
    yield
    if {"db", "transactional_db"} & set(request.fixturenames):
        empty_cache()
