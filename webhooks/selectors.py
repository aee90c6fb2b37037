"""Reading webhooks and deliveries."""

from dataclasses import dataclass
from datetime import datetime

from core.ids import parse_id
from core.listing import Listing, page_of
from organizations.actor import Actor
from organizations.gate import get_owned, owned
from webhooks.addresses import read_url
from webhooks.errors import DeliveryNotFound, WebhookInvalid, WebhookNotFound
from webhooks.models import Delivery, Webhook


@dataclass(frozen=True, slots=True, kw_only=True)
class Try:
    """One attempt to deliver. `answer` is a stranger's text."""

    at: datetime
    duration_ms: int
    status_code: int | None
    error: str
    answer: str


def get_webhook(*, actor: Actor, webhook_id: object) -> Webhook:
    """Raises: WebhookNotFound."""
    return get_owned(Webhook, actor, webhook_id, error=WebhookNotFound)


def list_webhooks(*, actor: Actor, skip: int = 0, limit: int = 100) -> Listing[Webhook]:
    """Newest first."""
    return page_of(owned(Webhook, actor).order_by("-created_at", "-id"), skip=skip, limit=limit)


def get_delivery(*, actor: Actor, delivery_id: object) -> Delivery:
    """Raises: DeliveryNotFound."""
    delivery = get_owned(Delivery, actor, delivery_id, error=DeliveryNotFound)
    if not owned(Webhook, actor).filter(pk=delivery.webhook_id).exists():
        raise DeliveryNotFound()
    return delivery


def list_deliveries(
    *,
    actor: Actor,
    webhook_id: object = None,
    status: str | None = None,
    event: str | None = None,
    skip: int = 0,
    limit: int = 25,
) -> Listing[Delivery]:
    """Newest first, of webhooks that exist. What no delivery can have finds none."""
    rows = owned(Delivery, actor).filter(webhook__deleted_at__isnull=True)
    if webhook_id is not None:
        rows = rows.filter(webhook_id=parse_id(webhook_id, error=WebhookNotFound))
    if status:
        rows = rows.filter(status=status)
    if event:
        rows = rows.filter(event=event)
    return page_of(rows.order_by("-created_at", "-id"), skip=skip, limit=limit)


def shown_url(*, actor: Actor, webhook: Webhook) -> str:
    """An address may be a secret itself: who is no admin sees only the server."""
    return webhook.url if actor.is_admin else server_of(webhook)


def server_of(webhook: Webhook) -> str:
    """The address without what may be secret in it."""
    try:
        return f"{read_url(webhook.url).origin}/…"
    except WebhookInvalid:
        return "…"


def tries(delivery: Delivery) -> list[Try]:
    """Every attempt of a delivery, for a page; the first one first."""
    return [Try(**{**attempt, "at": datetime.fromisoformat(attempt["at"])}) for attempt in delivery.attempts]
