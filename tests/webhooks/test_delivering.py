"""From an event to the receiver: an outbox, retries, giving up, one sender at a time."""

import json
from datetime import timedelta

import pytest
from django.db import transaction
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries, Settings

from organizations.models import AuditEntry
from tests.conftest import Person
from tests.webhooks.making import SECRET, make_webhook, send_now, tell
from tests.webhooks.receiver import Receiver
from webhooks import processing, services
from webhooks.models import Delivery, Webhook
from webhooks.services import WebhookChanges
from webhooks.signing import signature


def test_an_event_arrives_once_signed_and_with_its_ids(alice: Person, receiver: Receiver) -> None:
    webhook = make_webhook(alice, f"{receiver.url}?key=a%20b")
    delivery = tell(alice)
    assert not processing.deliver_due(webhook.pk)
    processing.deliver_due(webhook.pk)
    [got] = receiver.received
    body = json.loads(got.body)
    assert got.path == "/hook?key=a%20b"
    assert body["event_type"] == got.headers["X-DocRouter-Event"] == "document.uploaded"
    assert body["event_id"] == got.headers["X-DocRouter-Event-Id"] == delivery.event_id.hex
    assert body["organization_id"] == alice.organization.pk.hex
    assert body["document"]["document_name"] == "Rechnung März.pdf"
    assert got.headers["X-DocRouter-Delivery"] == delivery.pk.hex
    timestamp = int(got.headers["X-DocRouter-Timestamp"])
    assert body["timestamp"] == timestamp
    assert got.headers["X-DocRouter-Signature"] == signature(secret=SECRET, timestamp=timestamp, body=got.body)
    assert "X-DocRouter-Signature-Former" not in got.headers
    delivery.refresh_from_db()
    assert (delivery.status, delivery.next_attempt_at) == ("delivered", None)
    [attempt] = delivery.attempts
    assert (attempt["status_code"], attempt["answer"], attempt["error"]) == (200, "thanks", "")


def test_only_who_listens_is_told_and_only_what_they_asked_for(alice: Person, charlie: Person) -> None:
    make_webhook(alice, "https://example.com/a", events=["llm.error"])
    off = make_webhook(alice, "https://example.com/off", enabled=False)
    gone = make_webhook(alice, "https://example.com/gone")
    services.delete_webhook(actor=alice.actor, webhook_id=gone.pk)
    make_webhook(charlie, "https://example.com/charlie")
    services.announce(organization_id=alice.organization.pk, event="document.uploaded", data={})
    assert Delivery.objects.count() == 0
    tell(alice, "llm.error")
    assert [row.webhook.url for row in Delivery.objects.all()] == ["https://example.com/a"]
    assert not Delivery.objects.filter(webhook=off).exists()


def test_telling_costs_one_query_when_nobody_listens(
    alice: Person, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    def never() -> dict[str, object]:
        raise AssertionError("nobody listens")

    with django_assert_num_queries(1):
        services.announce(organization_id=alice.organization.pk, event="document.uploaded", data=never)


def test_a_change_that_is_taken_back_tells_nobody(alice: Person) -> None:
    make_webhook(alice, "https://example.com/")
    with transaction.atomic():
        tell(alice)
        assert Delivery.objects.count() == 1
        transaction.set_rollback(True)
    assert Delivery.objects.count() == 0


def test_a_failing_server_is_tried_again_after_5_30_and_300_seconds(alice: Person, receiver: Receiver) -> None:
    webhook = make_webhook(alice, receiver.url)
    delivery = tell(alice)
    waits = []
    for status in (500, 429, 408):
        receiver.will_answer(status, b"<b>busy</b>\0" + b"x" * 9000)
        send_now(webhook)
        delivery.refresh_from_db()
        assert delivery.status == "pending"
        assert delivery.next_attempt_at is not None
        waits.append(round((delivery.next_attempt_at - timezone.now()).total_seconds()))
    assert waits == [5, 30, 300]
    receiver.will_answer(503)
    send_now(webhook)
    delivery.refresh_from_db()
    assert (delivery.status, delivery.next_attempt_at, len(delivery.attempts)) == ("failed", None, 4)
    assert delivery.attempts[0]["error"] == "The server answered 500."
    assert delivery.attempts[0]["answer"].startswith("<b>busy</b>\ufffdxxx")
    assert len(delivery.attempts[0]["answer"]) == 4096
    assert (
        len({(got.headers["X-DocRouter-Delivery"], got.headers["X-DocRouter-Event-Id"]) for got in receiver.received})
        == 1
    )


@pytest.mark.parametrize(
    ("status", "headers", "error"),
    [
        (404, {}, "The server answered 404."),
        (410, {}, "The server answered 410."),
        (302, {"Location": "http://127.0.0.1:1/"}, "The server sent us elsewhere; redirects are not followed."),
        (307, {"Location": "http://169.254.169.254/"}, "The server sent us elsewhere; redirects are not followed."),
    ],
)
def test_an_answer_that_says_no_is_final(
    alice: Person, receiver: Receiver, status: int, headers: dict[str, str], error: str
) -> None:
    webhook = make_webhook(alice, receiver.url)
    delivery = tell(alice)
    receiver.will_answer(status, **headers)
    processing.deliver_due(webhook.pk)
    delivery.refresh_from_db()
    assert delivery.status == "failed"
    assert [attempt["error"] for attempt in delivery.attempts] == [error]
    assert len(receiver.received) == 1


@pytest.mark.parametrize(
    ("status", "wish", "seconds"),
    [
        (429, "120", 120),
        (503, "120", 120),
        (503, "7200", 3600),
        (429, "9" * 60, 3600),
        (429, "Fri, 31 Dec 9999 23:59:59 GMT", 3600),
        (429, "Wed, 21 Oct 2015 07:28:00 GMT", 5),
        (429, "1", 5),
        (429, "-5", 5),
        (429, "soon", 5),
        (429, "Mon, 01 Jan 0001 00:00:00 -0000", 5),
        (500, "120", 5),
    ],
)
def test_a_busy_server_is_left_alone_as_long_as_it_asks_within_reason(
    alice: Person, receiver: Receiver, status: int, wish: str, seconds: int
) -> None:
    webhook, delivery = make_webhook(alice, receiver.url), tell(alice)
    receiver.will_answer(status, **{"Retry-After": wish})
    before = timezone.now()
    processing.deliver_due(webhook.pk)
    delivery.refresh_from_db()
    webhook.refresh_from_db()
    for moment in (delivery.next_attempt_at, webhook.rests_until):
        assert moment is not None
        assert seconds <= (moment - before).total_seconds() < seconds + 3


def test_a_server_that_is_away_rests_and_nothing_else_is_tried_meanwhile(alice: Person) -> None:
    webhook = make_webhook(alice, "http://127.0.0.1:9/")
    tell(alice)
    tell(alice)
    processing.deliver_due(webhook.pk)
    tried = [len(row.attempts) for row in Delivery.objects.order_by("created_at", "id")]
    assert tried == [1, 0]
    assert processing.due_webhooks() == []
    Webhook.objects.update(rests_until=timezone.now())
    assert processing.due_webhooks() == [webhook.pk]
    assert Delivery.objects.order_by("created_at").first().attempts[0]["error"] == "The server could not be reached."


def test_after_20_lost_deliveries_in_a_row_a_webhook_is_switched_off(
    alice: Person, receiver: Receiver, settings: Settings
) -> None:
    settings.WEBHOOK_GIVE_UP_AFTER = 3
    webhook = make_webhook(alice, receiver.url)
    for status in (404, 404, 200, 404, 404, 404):
        receiver.will_answer(status)
        tell(alice)
    waiting = tell(alice)
    processing.deliver_due(webhook.pk)
    webhook.refresh_from_db()
    waiting.refresh_from_db()
    assert not webhook.enabled
    assert webhook.switched_off_at is not None
    assert (waiting.status, waiting.attempts, processing.due_webhooks()) == ("pending", [], [])
    assert AuditEntry.objects.filter(action="webhook.switched_off", target_id=webhook.pk.hex).count() == 1
    services.update_webhook(actor=alice.actor, webhook_id=webhook.pk, changes=WebhookChanges(enabled=True))
    webhook.refresh_from_db()
    assert (webhook.enabled, webhook.lost_in_a_row, webhook.switched_off_at) == (True, 0, None)
    assert processing.due_webhooks() == [webhook.pk]


def test_a_lease_that_ran_out_lets_another_send_and_the_first_writes_nothing(
    alice: Person, receiver: Receiver, settings: Settings
) -> None:
    webhook = make_webhook(alice, receiver.url)
    delivery = tell(alice)
    dead = processing.take_next(webhook.pk)
    assert dead is not None
    assert processing.take_next(webhook.pk) is None
    assert processing.due_webhooks() == []
    Webhook.objects.update(leased_until=timezone.now() - timedelta(seconds=1))
    assert processing.due_webhooks() == [webhook.pk]
    processing.deliver_due(webhook.pk)
    processing.finish(dead, processing.Outcome(error="late"))
    delivery.refresh_from_db()
    assert (delivery.status, len(delivery.attempts), delivery.claims) == ("delivered", 1, 2)
    assert len(receiver.received) == 1


@pytest.mark.parametrize("act", ["off", "deleted", "at once"])
def test_a_webhook_that_was_deleted_or_switched_off_gets_nothing_more(
    alice: Person, receiver: Receiver, act: str
) -> None:
    webhook = make_webhook(alice, receiver.url)
    delivery = tell(alice)
    if act == "off":
        services.update_webhook(actor=alice.actor, webhook_id=webhook.pk, changes=WebhookChanges(enabled=False))
    elif act == "deleted":
        services.delete_webhook(actor=alice.actor, webhook_id=webhook.pk)
    else:
        Webhook.objects.update(enabled=False)  # as if the event had been told in the same moment
    assert processing.due_webhooks() == []
    processing.deliver_due(webhook.pk)
    delivery.refresh_from_db()
    assert (receiver.received, delivery.status) == ([], "pending" if act == "at once" else "failed")


def test_a_delivery_that_kills_its_workers_is_given_up(alice: Person, receiver: Receiver) -> None:
    webhook = make_webhook(alice, receiver.url)
    delivery, later = tell(alice), tell(alice)
    Delivery.objects.filter(pk=delivery.pk).update(claims=processing.MAX_CLAIMS)
    processing.deliver_due(webhook.pk)
    processing.deliver_due(webhook.pk)
    delivery.refresh_from_db()
    later.refresh_from_db()
    assert (delivery.status, delivery.attempts, later.status) == ("failed", [], "delivered")
    assert len(receiver.received) == 1


def test_slow_servers_of_one_organization_hold_up_nobody_else(
    alice: Person, charlie: Person, receiver: Receiver, settings: Settings
) -> None:
    settings.WEBHOOK_SENDERS = 4
    slow = [make_webhook(alice, receiver.url) for _ in range(3)]
    fine = [make_webhook(charlie, receiver.url) for _ in range(3)]
    tell(alice)
    tell(charlie)
    assert [processing.take_next(webhook.pk) is not None for webhook in slow] == [True, True, False]
    assert [processing.take_next(webhook.pk) is not None for webhook in fine] == [True, True, False]
    Webhook.objects.filter(pk=slow[0].pk).update(leased_until=None)
    processing.deliver_due(slow[2].pk)
    assert [got.headers["X-DocRouter-Event"] for got in receiver.received] == ["document.uploaded"]


def test_a_header_is_sent_instead_of_a_signature(alice: Person, receiver: Receiver) -> None:
    webhook = make_webhook(
        alice, receiver.url, auth_type="header", auth_header_name="X-Key", auth_header_value="for you only"
    )
    assert b"for you only" not in bytes(webhook.sealed_header_value)
    tell(alice)
    processing.deliver_due(webhook.pk)
    [got] = receiver.received
    assert got.headers["X-Key"] == "for you only"
    assert "X-DocRouter-Signature" not in got.headers


def test_the_former_secret_signs_for_a_day_beside_the_new_one(alice: Person, receiver: Receiver) -> None:
    webhook = make_webhook(alice, receiver.url)
    _, secret = services.update_webhook(actor=alice.actor, webhook_id=webhook.pk, changes=WebhookChanges(secret=""))
    assert secret is not None
    assert secret.startswith("whs_")
    tell(alice)
    processing.deliver_due(webhook.pk)
    Webhook.objects.update(former_secret_until=timezone.now())
    tell(alice)
    processing.deliver_due(webhook.pk)
    first, second = receiver.received
    signed = {"timestamp": int(first.headers["X-DocRouter-Timestamp"]), "body": first.body}
    assert first.headers["X-DocRouter-Signature"] == signature(secret=secret, **signed)
    assert first.headers["X-DocRouter-Signature-Former"] == signature(secret=SECRET, **signed)
    assert "X-DocRouter-Signature-Former" not in second.headers


def test_a_delivery_is_sent_again_by_hand_as_a_new_one(alice: Person, receiver: Receiver) -> None:
    webhook = make_webhook(alice, receiver.url)
    first = tell(alice)
    receiver.will_answer(404)
    processing.deliver_due(webhook.pk)
    again = services.retry_delivery(actor=alice.actor, delivery_id=first.pk)
    third = services.retry_delivery(actor=alice.actor, delivery_id=again.pk)
    processing.deliver_due(webhook.pk)
    again.refresh_from_db()
    first.refresh_from_db()
    assert (first.status, again.status, again.replay_of_id, third.replay_of_id) == (
        "failed",
        "delivered",
        first.pk,
        first.pk,
    )
    ids = [got.headers["X-DocRouter-Event-Id"] for got in receiver.received]
    assert ids == [first.event_id.hex] * 3


def test_old_deliveries_are_forgotten(alice: Person) -> None:
    webhook = make_webhook(alice, "https://example.com/")
    old, waiting, fresh = tell(alice), tell(alice), tell(alice)
    processing.end_pending(webhook.pk)
    long_ago = timezone.now() - timedelta(days=31)
    Delivery.objects.filter(pk=waiting.pk).update(status="pending", ended_at=None, next_attempt_at=long_ago)
    Delivery.objects.filter(pk__in=[old.pk, waiting.pk]).update(created_at=long_ago)
    assert processing.purge() == 2
    assert list(Delivery.objects.values_list("pk", flat=True)) == [fresh.pk]
    services.delete_webhook(actor=alice.actor, webhook_id=webhook.pk)
    assert processing.purge() == 0
    Webhook.objects.update(deleted_at=long_ago)
    processing.purge()
    assert not Webhook.objects.exists()


def test_what_waits_stands_in_the_metrics(alice: Person) -> None:
    webhook = make_webhook(alice, "https://example.com/")
    tell(alice)
    old = tell(alice)
    Delivery.objects.filter(pk=old.pk).update(created_at=timezone.now() - timedelta(seconds=90))
    samples = dict(line.split() for line in _scrape() if line.startswith("docrouter_deliveries"))
    assert samples["docrouter_deliveries_pending"] == "2.0"
    assert 90 <= float(samples["docrouter_deliveries_oldest_pending_seconds"]) < 120
    Webhook.objects.filter(pk=webhook.pk).update(enabled=False)
    assert "docrouter_deliveries_pending 0.0" in _scrape()


def _scrape() -> list[str]:
    return Client().get("/metrics").content.decode().splitlines()
