"""Writing webhooks, and the one call by which the floors above tell that something happened."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from core.ids import new_id, parse_id, show_id
from core.sealing import SealBroken, reseal, seal
from organizations.actor import Actor
from organizations.gate import owned
from organizations.services import record, require_admin
from webhooks import tasks
from webhooks.addresses import check_header, read_url
from webhooks.errors import TooManyWebhooks, WebhookInvalid, WebhookNotFound, WebhookOff
from webhooks.events import EVENTS, TEST
from webhooks.models import Delivery, Webhook
from webhooks.processing import end_pending
from webhooks.selectors import get_delivery
from webhooks.signing import new_secret

MAX_WEBHOOKS = 20
FORMER_SECRET = timedelta(hours=24)
_LENGTHS = (16, 200)

Facts = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookChanges:
    """What a webhook is to be; None leaves a thing as it is. An empty `secret` asks for a new one of ours."""

    name: str | None = None
    url: str | None = None
    events: Sequence[str] | None = None
    enabled: bool | None = None
    auth_type: str | None = None
    auth_header_name: str | None = None
    auth_header_value: str | None = None
    secret: str | None = None


def announce(*, organization_id: UUID, event: str, data: Facts | Callable[[], Facts]) -> None:
    """Tell every webhook that listens for `event`, once the surrounding transaction commits; nothing if it does not.

    Call it inside the transaction that makes the event true: the deliveries are rows of it. `data` are ids, names and
    states (`{"document": {…}, "prompt": {…}, "error": {…}}`), never a document's text; as a function it is called
    only when somebody listens. Costs one query on a small index when nobody does.
    """
    listening = Webhook.objects.filter(organization_id=organization_id, enabled=True, deleted_at__isnull=True)
    webhook_ids = list(listening.filter(events__contains=[event]).values_list("pk", flat=True))
    if webhook_ids:
        _queue(organization_id, webhook_ids, event, data() if callable(data) else data)


@transaction.atomic
def create_webhook(*, actor: Actor, changes: WebhookChanges) -> tuple[Webhook, str]:
    """Make a webhook; returns it with its secret, which is shown this once.

    Raises: AdminRequired, WebhookInvalid, TooManyWebhooks.
    """
    require_admin(actor=actor)
    if owned(Webhook, actor).count() >= MAX_WEBHOOKS:
        raise TooManyWebhooks(f"An organization has at most {MAX_WEBHOOKS} webhooks.")
    webhook = Webhook(organization_id=actor.organization_id, created_by_id=actor.user_id, events=list(EVENTS))
    if changes.url is None:
        raise WebhookInvalid("A webhook needs an address.", fields={"url": "required"})
    _set_plain(webhook, changes)
    _set_auth(webhook, changes)
    secret = _checked_secret(changes.secret) if changes.secret else new_secret()
    webhook.sealed_secret = seal(secret)
    webhook.save()
    record(actor=actor, action="webhook.created", target=("webhook", webhook.pk))
    return webhook, secret


@transaction.atomic
def update_webhook(*, actor: Actor, webhook_id: object, changes: WebhookChanges) -> tuple[Webhook, str | None]:
    """Change what is given; returns the webhook, and the secret if a new one was made here.

    The former secret signs as well for a day. What was lost is forgotten when a webhook is switched on.
    Raises: AdminRequired, WebhookNotFound, WebhookInvalid.
    """
    require_admin(actor=actor)
    webhook = lock_webhook(actor=actor, webhook_id=webhook_id)
    _set_plain(webhook, changes)
    _set_auth(webhook, changes)
    made = None
    if changes.secret is not None:
        made = None if changes.secret else new_secret()
        webhook.sealed_former_secret = webhook.sealed_secret
        webhook.former_secret_until = timezone.now() + FORMER_SECRET
        webhook.sealed_secret = seal(made or _checked_secret(changes.secret))
    webhook.rests_until = None
    if webhook.enabled:
        webhook.switched_off_at, webhook.failed_in_a_row, webhook.lost_in_a_row = None, 0, 0
    else:
        end_pending(webhook.pk)
    webhook.updated_at = timezone.now()
    webhook.save()
    action = "webhook.secret_rotated" if changes.secret is not None else "webhook.updated"
    record(actor=actor, action=action, target=("webhook", webhook.pk))
    return webhook, made


@transaction.atomic
def delete_webhook(*, actor: Actor, webhook_id: object) -> None:
    """Move a webhook to the trash; what waits for it is not sent any more. Raises: AdminRequired, WebhookNotFound."""
    require_admin(actor=actor)
    webhook = lock_webhook(actor=actor, webhook_id=webhook_id)
    webhook.deleted_at = timezone.now()
    webhook.save(update_fields=["deleted_at"])
    end_pending(webhook.pk)
    record(actor=actor, action="webhook.deleted", target=("webhook", webhook.pk))


@transaction.atomic
def send_test(*, actor: Actor, webhook_id: object) -> Delivery:
    """Send a `webhook.test` now. Raises: AdminRequired, WebhookNotFound, WebhookOff."""
    require_admin(actor=actor)
    webhook = _awake(actor, webhook_id)
    data = {"webhook": {"webhook_id": show_id(webhook.pk), "name": webhook.name}}
    [delivery] = _queue(actor.organization_id, [webhook.pk], TEST, data)
    record(actor=actor, action="webhook.tested", target=("webhook", webhook.pk))
    return delivery


@transaction.atomic
def retry_delivery(*, actor: Actor, delivery_id: object) -> Delivery:
    """Send a delivery's event once more, as a new delivery. Raises: AdminRequired, DeliveryNotFound, WebhookOff."""
    require_admin(actor=actor)
    first = get_delivery(actor=actor, delivery_id=delivery_id)
    webhook = _awake(actor, first.webhook_id)
    again = Delivery.objects.create(
        organization_id=actor.organization_id,
        webhook=webhook,
        event_id=first.event_id,
        event=first.event,
        payload=first.payload,
        replay_of_id=first.replay_of_id or first.pk,
    )
    _deliver_on_commit(webhook.pk)
    record(actor=actor, action="delivery.retried", target=("delivery", first.pk))
    return again


@transaction.atomic
def reseal_secrets() -> tuple[int, list[str]]:
    """Put every secret under the first of ENCRYPTION_KEYS. Returns: how many, and the webhooks that none opens."""
    count, unreadable = 0, []
    for webhook in Webhook.objects.select_for_update(no_key=True).order_by("pk"):
        try:
            for field in ("sealed_secret", "sealed_former_secret", "sealed_header_value"):
                if sealed := getattr(webhook, field):
                    setattr(webhook, field, reseal(bytes(sealed)))
        except SealBroken:
            unreadable.append(show_id(webhook.pk))
            continue
        webhook.save(update_fields=["sealed_secret", "sealed_former_secret", "sealed_header_value"])
        count += 1
    return count, unreadable


def lock_webhook(*, actor: Actor, webhook_id: object) -> Webhook:
    """Raises: WebhookNotFound."""
    rows = owned(Webhook, actor).select_for_update(no_key=True)
    webhook = rows.filter(pk=parse_id(webhook_id, error=WebhookNotFound)).first()
    if webhook is None:
        raise WebhookNotFound()
    return webhook


def _awake(actor: Actor, webhook_id: object) -> Webhook:
    """The webhook, held, and no longer resting: a person waits. Raises: WebhookNotFound, WebhookOff."""
    webhook = lock_webhook(actor=actor, webhook_id=webhook_id)
    if not webhook.enabled:
        raise WebhookOff()
    webhook.rests_until = None
    webhook.save(update_fields=["rests_until"])
    return webhook


def _queue(organization_id: UUID, webhook_ids: Sequence[UUID], event: str, data: Facts) -> list[Delivery]:
    now, event_id = timezone.now(), new_id()
    payload = {
        "event_id": show_id(event_id),
        "event_type": event,
        "timestamp": int(now.timestamp()),
        "created_at": now.isoformat().replace("+00:00", "Z"),
        "organization_id": show_id(organization_id),
        **data,
    }
    made = Delivery.objects.bulk_create(
        Delivery(
            organization_id=organization_id, webhook_id=webhook_id, event_id=event_id, event=event, payload=payload
        )
        for webhook_id in webhook_ids
    )
    for webhook_id in webhook_ids:
        _deliver_on_commit(webhook_id)
    return made


def _deliver_on_commit(webhook_id: UUID) -> None:
    """When the broker is away, the clock finds the row."""

    def enqueue() -> None:
        tasks.deliver.delay(show_id(webhook_id))

    transaction.on_commit(enqueue, robust=True)


def _set_plain(webhook: Webhook, changes: WebhookChanges) -> None:
    if changes.name is not None:
        webhook.name = changes.name.strip()
        if len(webhook.name) > 200 or not (webhook.name.isprintable() or not webhook.name):
            message = "at most 200 printable characters"
            raise WebhookInvalid(f"A name has {message}.", fields={"name": message})
    if changes.events is not None:
        if unknown := [event for event in changes.events if event not in EVENTS and event != TEST]:
            raise WebhookInvalid(f"There is no event “{unknown[0][:60]}”.", fields={"events": "unknown"})
        webhook.events = [event for event in EVENTS if event in changes.events] or list(EVENTS)
    if changes.enabled is not None:
        webhook.enabled = changes.enabled


def _set_auth(webhook: Webhook, changes: WebhookChanges) -> None:
    """A header's value goes to the server that it was given for, never to a later one."""
    moved = False
    if changes.url is not None and (changes.url != webhook.url or not changes.url):
        moved = bool(webhook.url) and read_url(changes.url).origin != read_url(webhook.url).origin
        read_url(changes.url)
        webhook.url = changes.url
    if changes.auth_type is not None:
        if changes.auth_type not in Webhook.Auth.values:
            raise WebhookInvalid("Authentication is hmac or header.", fields={"auth_type": "hmac or header"})
        webhook.auth_type = changes.auth_type
    if changes.auth_header_name is not None:
        webhook.header_name = changes.auth_header_name.strip()
    if changes.auth_header_value:
        check_header(webhook.header_name, changes.auth_header_value)
        webhook.sealed_header_value = seal(changes.auth_header_value)
    elif moved or changes.auth_header_value == "":
        webhook.sealed_header_value = b""
    if webhook.auth_type == Webhook.Auth.HEADER:
        if not webhook.sealed_header_value:
            message = "Give the header's value, also together with the address of another server."
            raise WebhookInvalid(message, fields={"auth_header_value": message})
        check_header(webhook.header_name, "kept")


def _checked_secret(secret: str) -> str:
    low, high = _LENGTHS
    if not low <= len(secret) <= high or not (secret.isascii() and secret.isprintable()):
        message = f"{low} to {high} visible ASCII characters"
        raise WebhookInvalid(f"A secret has {message}.", fields={"secret": message})
    return secret
