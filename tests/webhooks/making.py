"""Webhooks and deliveries, the short way."""

from datetime import timedelta
from typing import Any

from django.utils import timezone

from tests.conftest import Person
from webhooks.models import Delivery, Webhook
from webhooks.processing import deliver_due
from webhooks.services import WebhookChanges, announce, create_webhook

SECRET = "whs_a secret for the tests"


def make_webhook(person: Person, url: str, **changes: Any) -> Webhook:
    webhook, _ = create_webhook(actor=person.actor, changes=WebhookChanges(url=url, secret=SECRET, **changes))
    return webhook


def tell(person: Person, event: str = "document.uploaded", **data: Any) -> Delivery:
    """Announce an event that somebody listens to; the newest delivery."""
    data = data or {"document": {"document_id": "1" * 32, "document_name": "Rechnung März.pdf"}}
    announce(organization_id=person.organization.pk, event=event, data=data)
    return Delivery.objects.latest("created_at", "id")


def send_now(webhook: Webhook) -> None:
    """Whatever waits is due, and the webhook has rested."""
    past = timezone.now() - timedelta(seconds=1)
    Delivery.objects.filter(webhook=webhook, status="pending").update(next_attempt_at=past)
    Webhook.objects.filter(pk=webhook.pk).update(rests_until=None)
    deliver_due(webhook.pk)
