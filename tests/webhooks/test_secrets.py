"""Secrets at rest: sealed, sealed anew under another key, and a delivery that says so when no key opens them."""

import pytest
from cryptography.fernet import Fernet
from django.core.management import CommandError, call_command
from pytest_django import Settings

from core.sealing import unseal
from tests.conftest import Person
from tests.webhooks.making import SECRET, make_webhook, tell
from tests.webhooks.receiver import Receiver
from webhooks.models import Webhook
from webhooks.processing import deliver_due
from webhooks.services import reseal_secrets


@pytest.fixture
def webhook(alice: Person, receiver: Receiver) -> Webhook:
    header = {"auth_header_name": "X-Key", "auth_header_value": "for you only"}
    return make_webhook(alice, receiver.url, **header)


def test_secrets_are_sealed_anew_under_the_first_key(webhook: Webhook, settings: Settings) -> None:
    assert SECRET.encode() not in bytes(webhook.sealed_secret)
    new = Fernet.generate_key().decode()
    settings.ENCRYPTION_KEYS = [new, *settings.ENCRYPTION_KEYS]
    assert reseal_secrets() == (1, [])
    settings.ENCRYPTION_KEYS = [new]
    webhook.refresh_from_db()
    assert unseal(bytes(webhook.sealed_secret)) == SECRET
    assert unseal(bytes(webhook.sealed_header_value)) == "for you only"


def test_the_command_names_a_webhook_whose_secret_no_key_opens(webhook: Webhook, settings: Settings) -> None:
    settings.ENCRYPTION_KEYS = [Fernet.generate_key().decode()]
    with pytest.raises(CommandError, match=f"webhook {webhook.pk.hex}"):
        call_command("rotate_keys")


def test_a_delivery_without_a_readable_secret_is_not_sent(
    alice: Person, webhook: Webhook, receiver: Receiver, settings: Settings
) -> None:
    delivery = tell(alice)
    settings.ENCRYPTION_KEYS = [Fernet.generate_key().decode()]
    deliver_due(webhook.pk)
    delivery.refresh_from_db()
    assert (delivery.status, receiver.received) == ("failed", [])
    assert delivery.attempts[0]["error"] == "The secret cannot be read any more. Set a new one."
