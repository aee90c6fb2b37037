"""One key, one piece of work: repeated, at the same time, with another body, after a failure."""

import threading
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from core.errors import Conflict, Invalid
from docrouter.celery import app
from organizations.idempotency import IdempotencyKeyReused, forget_old, once
from organizations.models import IdempotentRequest
from organizations.tasks import forget_old_requests
from tags_app.models import Tag
from tags_app.services import create_tag
from tests.conftest import Person


def make_tag(person: Person, key: str | None, name: str = "Invoice", body: bytes = b"1") -> tuple[dict[str, Any], bool]:
    def work() -> dict[str, Any]:
        return {"id": create_tag(actor=person.actor, name=name).pk.hex}

    return once(actor=person.actor, key=key, route="tags", fingerprint=body, work=work)


def test_a_repeated_request_gets_the_first_answer(alice: Person) -> None:
    first, again = make_tag(alice, "k1"), make_tag(alice, "k1")
    assert (first[1], again[1]) == (False, True)
    assert first[0] == again[0]
    assert Tag.objects.count() == 1


def test_without_a_key_nothing_is_remembered(alice: Person) -> None:
    make_tag(alice, None)
    assert IdempotentRequest.objects.count() == 0


def test_a_key_with_another_body_is_refused(alice: Person) -> None:
    make_tag(alice, "k1")
    with pytest.raises(IdempotencyKeyReused):
        make_tag(alice, "k1", body=b"2")


def test_a_key_belongs_to_one_person(alice: Person, bob: Person) -> None:
    make_tag(alice, "k1", name="Hers")
    assert make_tag(bob, "k1", name="His")[1] is False


def test_work_that_failed_is_not_remembered(alice: Person) -> None:
    create_tag(actor=alice.actor, name="Invoice")
    with pytest.raises(Conflict):
        make_tag(alice, "k1")
    assert make_tag(alice, "k1", name="Another")[1] is False


@pytest.mark.parametrize("key", ["", "x" * 201, "a\0b"])
def test_an_impossible_key_is_refused(alice: Person, key: str) -> None:
    with pytest.raises(Invalid):
        make_tag(alice, key)


def test_a_key_is_forgotten_after_a_day(alice: Person) -> None:
    make_tag(alice, "k1", name="Old")
    IdempotentRequest.objects.update(created_at=timezone.now() - timedelta(days=2))
    assert make_tag(alice, "k1", name="New")[1] is False
    assert forget_old() == 0


def test_beat_forgets_old_keys_of_everybody(alice: Person) -> None:
    make_tag(alice, "k1", name="Old")
    IdempotentRequest.objects.update(created_at=timezone.now() - timedelta(days=2))
    make_tag(alice, "k2", name="New")
    forget_old_requests()
    assert [row.key for row in IdempotentRequest.objects.all()] == ["k2"]
    assert app.conf.beat_schedule["forget-old-requests"]["task"] in app.tasks


@pytest.mark.django_db(transaction=True)
def test_of_two_at_once_one_works_and_both_get_its_answer(alice: Person) -> None:
    start, answers = threading.Barrier(4), []

    def call() -> None:
        start.wait()
        try:
            answers.append(make_tag(alice, "k1"))
        finally:
            connection.close()

    threads = [threading.Thread(target=call) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(replayed for _, replayed in answers) == [False, True, True, True]
    assert len({answer["id"] for answer, _ in answers}) == 1
    assert Tag.objects.count() == 1
