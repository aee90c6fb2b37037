"""A webhook that is switched off by itself: its organization's admins hear of it, once and in a person's words."""

import smtplib

import pytest
from django.core import mail
from pytest_django import DjangoCaptureOnCommitCallbacks, Settings

from organizations.models import Membership
from tests.conftest import Person
from tests.webhooks.making import make_webhook, tell
from tests.webhooks.receiver import Receiver
from webhooks import processing
from webhooks.models import Webhook


@pytest.fixture
def failing(
    alice: Person,
    bob: Person,
    charlie: Person,
    receiver: Receiver,
    settings: Settings,
) -> Webhook:
    settings.WEBHOOK_GIVE_UP_AFTER, settings.PUBLIC_URL = 2, "https://docs.example.com/"
    webhook = make_webhook(alice, f"{receiver.url}?key=secret", name="Books & <b>")
    for _ in range(4):
        receiver.will_answer(404)
        tell(alice)
    return webhook


def test_admins_and_nobody_else_get_one_letter(
    alice: Person, bob: Person, failing: Webhook, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        processing.deliver_due(failing.pk)
        processing.deliver_due(failing.pk)
    [letter] = mail.outbox
    assert (letter.to, letter.subject) == (["alice@example.com"], "A webhook was switched off")
    assert f"https://docs.example.com/settings/webhooks/{failing.pk.hex}" in letter.body
    assert "Books & <b>" in letter.body
    assert "2 deliveries to it in a row were lost" in letter.body
    assert "key=secret" not in letter.body


def test_every_admin_gets_a_letter_and_without_an_address_of_ours_it_has_no_link(
    bob: Person,
    failing: Webhook,
    settings: Settings,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    settings.PUBLIC_URL = ""
    Membership.objects.filter(user=bob.user).update(role="admin")
    with django_capture_on_commit_callbacks(execute=True):
        processing.deliver_due(failing.pk)
    assert [letter.to for letter in mail.outbox] == [["alice@example.com"], ["bob@example.com"]]
    assert "http" not in mail.outbox[0].body.replace("http://127.0.0.1", "")
    assert "Open Webhooks in DocRouter" in mail.outbox[0].body


def test_a_mail_server_that_fails_changes_nothing(
    failing: Webhook,
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise smtplib.SMTPServerDisconnected

    monkeypatch.setattr("django.core.mail.EmailMessage.send", fails)
    with django_capture_on_commit_callbacks(execute=True):
        assert not processing.deliver_due(failing.pk)
    failing.refresh_from_db()
    assert (failing.enabled, failing.lost_in_a_row) == (False, 2)
