"""Webhooks and deliveries as the wire has them."""

from datetime import datetime
from typing import Any

from pydantic import Field

from core.api.bodies import Answer, Body, Paging
from core.ids import show_id
from organizations.actor import Actor
from webhooks.events import ONLY_FOR_ADMINS
from webhooks.models import Delivery, Webhook
from webhooks.processing import max_attempts
from webhooks.selectors import shown_url
from webhooks.services import WebhookChanges


class WebhookBody(Body):
    """What a webhook is made of; in a change, what is left out stays. An empty `secret` asks for a new one."""

    name: str | None = None
    url: str | None = None
    events: list[str] | None = Field(default=None, max_length=50)
    enabled: bool | None = None
    auth_type: str | None = None
    auth_header_name: str | None = None
    auth_header_value: str | None = None
    secret: str | None = None

    def changes(self) -> WebhookChanges:
        return WebhookChanges(**self.model_dump())


class NewWebhookBody(WebhookBody):
    url: str


class WebhookAnswer(Answer):
    """`generated_secret` is there once: in the answer to the request that made it."""

    id: str
    name: str
    enabled: bool
    url: str
    events: list[str]
    auth_type: str
    auth_header_name: str | None
    auth_header_set: bool
    auth_header_preview: str | None = None
    secret_set: bool
    secret_preview: str | None = None
    generated_secret: str | None = None
    switched_off_at: datetime | None
    created_at: datetime
    updated_at: datetime

    @classmethod
    def of(cls, webhook: Webhook, *, actor: Actor, generated_secret: str | None = None) -> "WebhookAnswer":
        """The row as an answer, with what this actor may see of it."""
        return cls(
            id=show_id(webhook.pk),
            name=webhook.name,
            enabled=webhook.enabled,
            url=shown_url(actor=actor, webhook=webhook),
            events=webhook.events,
            auth_type=webhook.auth_type,
            auth_header_name=webhook.header_name or None,
            auth_header_set=bool(webhook.sealed_header_value),
            secret_set=bool(webhook.sealed_secret),
            generated_secret=generated_secret,
            switched_off_at=webhook.switched_off_at,
            created_at=webhook.created_at,
            updated_at=webhook.updated_at,
        )


class WebhooksAnswer(Answer):
    webhooks: list[WebhookAnswer]
    total_count: int
    skip: int


class DeliveriesQuery(Paging):
    """Which deliveries."""

    limit: int = Field(default=25, ge=1, le=100)
    webhook_id: str | None = None
    status: str | None = None
    event_type: str | None = None


class DeliveryAnswer(Answer):
    """One event for one webhook."""

    id: str
    event_id: str
    event_type: str
    webhook_id: str
    status: str
    attempts: int
    max_attempts: int
    document_id: str | None
    prompt_revid: str | None
    prompt_id: str | None
    prompt_version: int | None
    last_http_status: int | None
    last_error: str | None
    replay_of: str | None
    created_at: datetime
    updated_at: datetime
    next_attempt_at: datetime | None
    delivered_at: datetime | None
    failed_at: datetime | None

    @classmethod
    def of(cls, delivery: Delivery) -> "DeliveryAnswer":
        """The row as an answer."""
        return cls(**_facts(delivery))


class AttemptAnswer(Answer):
    """One try. `answer` is what the server said, at most 4 KB of it; for admins."""

    at: datetime
    duration_ms: int
    status_code: int | None
    error: str
    answer: str | None


class DeliveryDetail(DeliveryAnswer):
    """With what is sent, and every try. Who is no admin does not see which approval waits."""

    payload: dict[str, Any]
    log: list[AttemptAnswer]

    @classmethod
    def shown_to(cls, actor: Actor, delivery: Delivery) -> "DeliveryDetail":
        """The row as this actor may see it."""
        log, payload = [AttemptAnswer(**attempt) for attempt in delivery.attempts], delivery.payload
        if not actor.is_admin:
            log = [attempt.model_copy(update={"answer": None}) for attempt in log]
            hidden = ONLY_FOR_ADMINS.get(delivery.event, ())
            payload = {name: value for name, value in payload.items() if name not in hidden}
        return cls(**_facts(delivery), payload=payload, log=log)


class DeliveriesAnswer(Answer):
    deliveries: list[DeliveryAnswer]
    total_count: int
    skip: int


class QueuedAnswer(Answer):
    """A delivery that is on its way."""

    status: str = "enqueued"
    delivery_id: str


def _facts(delivery: Delivery) -> dict[str, Any]:
    last = delivery.last_attempt
    document, prompt = delivery.payload.get("document") or {}, delivery.payload.get("prompt") or {}
    return {
        "id": show_id(delivery.pk),
        "event_id": show_id(delivery.event_id),
        "event_type": delivery.event,
        "webhook_id": show_id(delivery.webhook_id),
        "status": delivery.status,
        "attempts": len(delivery.attempts),
        "max_attempts": max_attempts(),
        "document_id": document.get("document_id"),
        "prompt_revid": prompt.get("prompt_revid"),
        "prompt_id": prompt.get("prompt_id"),
        "prompt_version": prompt.get("prompt_version"),
        "last_http_status": last.get("status_code"),
        "last_error": last.get("error") or None,
        "replay_of": show_id(delivery.replay_of_id) if delivery.replay_of_id else None,
        "created_at": delivery.created_at,
        "updated_at": last.get("at") or delivery.ended_at or delivery.created_at,
        "next_attempt_at": delivery.next_attempt_at,
        "delivered_at": delivery.ended_at if delivery.status == Delivery.Status.DELIVERED else None,
        "failed_at": delivery.ended_at if delivery.status == Delivery.Status.FAILED else None,
    }
