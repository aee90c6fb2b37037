"""Webhooks and deliveries, the short way."""

from datetime import timedelta
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID
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


def make_certificate(folder: Path, name: str) -> tuple[Path, Path]:
    """A certificate for `name` that signs itself, and its key, as files."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = timezone.now()
    certificate = (
        x509.CertificateBuilder(subject, subject, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    files = folder / "cert.pem", folder / "key.pem"
    files[0].write_bytes(certificate.public_bytes(Encoding.PEM))
    files[1].write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    return files
