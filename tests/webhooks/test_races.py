"""Processes of their own send at the same moment, and are killed: nothing twice at once, nothing lost."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from datetime import timedelta

import pytest
from django.conf import settings
from django.db import connection, transaction
from django.utils import timezone

from tests.conftest import Person, make_person
from tests.webhooks.making import make_webhook, tell
from tests.webhooks.receiver import Receiver
from webhooks import processing, services
from webhooks.models import Delivery, Webhook

PLAYER = "import django; django.setup(); from tests.webhooks.player import main; main()"
Start = Callable[[], "subprocess.Popen[str]"]


@pytest.fixture(autouse=True)
def queued(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What would be queued; no worker listens here."""
    ids: list[str] = []
    monkeypatch.setattr(services.tasks.deliver, "delay", ids.append)
    return ids


@pytest.fixture
def alice(transactional_db: None) -> Person:
    return make_person("alice@example.com")


@pytest.fixture
def webhook(alice: Person, receiver: Receiver) -> Webhook:
    return make_webhook(alice, receiver.url)


@pytest.fixture
def start(webhook: Webhook) -> Iterator[Start]:
    """Start a worker about the webhook; whatever still lives is killed at the end."""
    started: list[subprocess.Popen[str]] = []
    base = settings.DATABASE_URL.rpartition("/")[0]
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "tests.settings",
        "DATABASE_URL": f"{base}/{connection.settings_dict['NAME']}",
        "WEBHOOK_ALLOWED_NETWORKS": "127.0.0.0/8",
        "TEST_DATA_DIR": str(settings.DATA_DIR.parent),
    }

    def run() -> subprocess.Popen[str]:
        command = [sys.executable, "-c", PLAYER, str(webhook.pk)]
        process = subprocess.Popen(
            command, cwd=settings.BASE_DIR, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        started.append(process)
        return process

    yield run
    for process in started:
        process.kill()
        process.communicate()


def go(process: "subprocess.Popen[str]") -> None:
    """Let a process begin, once it is there."""
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    process.stdin.write("\n")
    process.stdin.flush()


@pytest.mark.slow
def test_two_workers_send_everything_once_and_one_at_a_time(alice: Person, start: Start, receiver: Receiver) -> None:
    receiver.delay = 0.005
    for _ in range(20):
        tell(alice)
    workers = [start(), start()]
    for worker in workers:
        go(worker)
    for worker in workers:
        assert worker.wait(20) == 0
    ids = [got.headers["X-DocRouter-Delivery"] for got in receiver.received]
    assert (len(ids), len(set(ids)), receiver.busiest) == (20, 20, 1)
    assert ids == [pk.hex for pk in Delivery.objects.order_by("created_at", "id").values_list("pk", flat=True)]
    assert set(Delivery.objects.values_list("status", "claims")) == {("delivered", 1)}


@pytest.mark.slow
def test_a_worker_that_is_killed_while_it_sends_loses_nothing(
    alice: Person, webhook: Webhook, start: Start, receiver: Receiver
) -> None:
    receiver.delay = 30
    delivery = tell(alice)
    worker = start()
    go(worker)
    deadline = time.monotonic() + 10
    while not receiver.received and time.monotonic() < deadline:
        time.sleep(0.01)
    worker.send_signal(signal.SIGKILL)
    worker.wait(5)
    receiver.delay = 0
    assert processing.take_next(webhook.pk) is None, "its lease still runs"
    Webhook.objects.update(leased_until=timezone.now() - timedelta(seconds=1))
    assert processing.due_webhooks() == [webhook.pk]
    processing.deliver_due(webhook.pk)
    delivery.refresh_from_db()
    assert (delivery.status, delivery.claims, len(delivery.attempts)) == ("delivered", 2, 1)
    assert {got.headers["X-DocRouter-Delivery"] for got in receiver.received} == {delivery.pk.hex}


def test_an_event_is_sent_after_its_commit_and_never_before(alice: Person, webhook: Webhook, queued: list[str]) -> None:
    with transaction.atomic():
        tell(alice)
        assert queued == []
    assert queued == [webhook.pk.hex]
    with transaction.atomic():
        tell(alice)
        transaction.set_rollback(True)
    assert (queued, Delivery.objects.count()) == ([webhook.pk.hex], 1)


def test_a_broker_that_is_away_does_not_break_what_happened(
    alice: Person, webhook: Webhook, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: object) -> None:
        raise ConnectionError

    monkeypatch.setattr(services.tasks.deliver, "delay", away)
    with transaction.atomic():
        tell(alice)
    assert processing.due_webhooks() == [webhook.pk]


def test_switching_off_while_something_is_on_its_way_keeps_what_came_of_it(
    alice: Person, webhook: Webhook, receiver: Receiver
) -> None:
    first, second = tell(alice), tell(alice)
    receiver.delay = 0.3
    sender = threading.Thread(target=_send_on_its_own, args=(webhook,))
    sender.start()
    while not receiver.received:
        time.sleep(0.005)
    changes = services.WebhookChanges(enabled=False)
    services.update_webhook(actor=alice.actor, webhook_id=webhook.pk, changes=changes)
    sender.join(10)
    first.refresh_from_db()
    second.refresh_from_db()
    assert (first.status, second.status, len(receiver.received)) == ("delivered", "failed", 1)
    webhook.refresh_from_db()
    assert (webhook.enabled, webhook.leased_until) == (False, None)


def _send_on_its_own(webhook: Webhook) -> None:
    try:
        processing.deliver_due(webhook.pk)
    finally:
        connection.close()
