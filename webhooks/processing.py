"""Sending what is due: claim one delivery of a webhook, send it, write down what came of it, until none is left.

A webhook has one sender at a time. Who dies in between leaves a lease that runs out; the delivery then goes out again,
under the same id (at least once).
"""

import json
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from time import monotonic
from typing import Any

import structlog
from django.conf import settings
from django.db import transaction
from django.db.models import Count, F, Min, Q
from django.utils import timezone

from core.ids import show_id
from core.sealing import SealBroken, unseal
from organizations.actor import Actor
from organizations.services import record
from webhooks.addresses import read_url
from webhooks.errors import WebhookInvalid
from webhooks.events import TEST
from webhooks.letters import tell_switched_off
from webhooks.models import Delivery, Webhook
from webhooks.signing import signature
from webhooks.wire import Outcome, post

log = structlog.get_logger(__name__)

ROUND_SECONDS = 5.0
"""After this a sender lets others of its worker go first."""
MAX_CLAIMS = 20
"""A delivery that was begun so often and never ended has killed its workers."""
LONGEST_REST_SECONDS = 300.0
PURGE_BATCH = 5000


@dataclass(frozen=True, slots=True, kw_only=True)
class Parcel:
    """A claimed delivery with what sending takes."""

    webhook_id: uuid.UUID
    delivery_id: uuid.UUID
    epoch: int
    url: str
    event: str
    event_id: uuid.UUID
    payload: Mapping[str, Any]
    auth_type: str
    sealed_secrets: Sequence[bytes]
    header_name: str
    sealed_header_value: bytes


@dataclass(frozen=True, slots=True)
class Figures:
    """What waits to be sent to webhooks that are switched on."""

    count: int
    oldest_seconds: float


def figures() -> Figures:
    """For the metrics."""
    rows = Delivery.objects.filter(
        status=Delivery.Status.PENDING, webhook__enabled=True, webhook__deleted_at__isnull=True
    )
    found = rows.aggregate(count=Count("pk"), oldest=Min("created_at"))
    oldest = found["oldest"]
    return Figures(found["count"], (timezone.now() - oldest).total_seconds() if oldest else 0.0)


def due_webhooks(*, limit: int = 500) -> list[uuid.UUID]:
    """Webhooks with something to send now that nobody is sending."""
    now = timezone.now()
    due = Delivery.objects.filter(_is_due(now), webhook__enabled=True, webhook__deleted_at__isnull=True)
    return list(
        due.filter(_is_free(now, "webhook__")).order_by().values_list("webhook_id", flat=True).distinct()[:limit]
    )


def max_attempts() -> int:
    """How often a delivery is tried."""
    return len(settings.WEBHOOK_RETRY_SECONDS) + 1


def deliver_due(webhook_id: uuid.UUID) -> bool:
    """Send what is due, oldest first. Returns: whether the time was over before the work was."""
    until = monotonic() + ROUND_SECONDS
    while parcel := take_next(webhook_id):
        finish(parcel, send(parcel))
        if monotonic() > until:
            return True
    return False


@transaction.atomic
def take_next(webhook_id: uuid.UUID) -> Parcel | None:
    """Claim the webhook and its oldest due delivery; None when there is none, or somebody else is at it."""
    webhook = lock_free_webhook(webhook_id)
    if webhook is None:
        return None
    now = timezone.now()
    delivery = None if _is_crowded(webhook, now) else _oldest_due(webhook, now)
    if delivery is None:
        return None
    webhook.epoch += 1
    leased_until = now + timedelta(seconds=settings.WEBHOOK_LEASE_SECONDS)
    Webhook.objects.filter(pk=webhook_id).update(epoch=webhook.epoch, leased_until=leased_until)
    Delivery.objects.filter(pk=delivery.pk).update(claims=F("claims") + 1)
    return _parcel(webhook, delivery, now)


def send(parcel: Parcel) -> Outcome:
    """One attempt. Whatever happens is an outcome."""
    now = int(time.time())
    body = json.dumps({**parcel.payload, "timestamp": now}, separators=(",", ":")).encode()
    try:
        return post(read_url(parcel.url), headers=_headers(parcel, now, body), body=body)
    except SealBroken:
        return Outcome(error="The secret cannot be read any more. Set a new one.", refused=True)
    except WebhookInvalid as problem:  # the rules for addresses became stricter since
        return Outcome(error=problem.detail, refused=True)


@transaction.atomic
def finish(parcel: Parcel, outcome: Outcome) -> None:
    """Write down what came of it, unless the lease ran out and the delivery is somebody else's."""
    webhook = lock_held_webhook(parcel)
    if webhook is None:
        log.warning("delivery.lease_lost", delivery_id=show_id(parcel.delivery_id))
        return
    delivery = Delivery.objects.get(pk=parcel.delivery_id)
    now = timezone.now()
    delivery.attempts = [*delivery.attempts, _attempt(outcome, now)]
    if outcome.has_arrived:
        _end(delivery, Delivery.Status.DELIVERED, now)
    elif delivery.status == Delivery.Status.PENDING:
        _fail_or_postpone(delivery, outcome, now)
    delivery.save(update_fields=["attempts", "status", "next_attempt_at", "ended_at"])
    _free(webhook, delivery, outcome, now)
    log.info(
        "delivery.attempted",
        delivery_id=show_id(delivery.pk),
        webhook_id=show_id(webhook.pk),
        attempt=len(delivery.attempts),
        status=delivery.status,
        status_code=outcome.status_code,
        duration_ms=outcome.duration_ms,
    )


def end_pending(webhook_id: uuid.UUID) -> int:
    """Nothing more goes to this webhook: end what waits. Returns: how many."""
    waiting = Delivery.objects.filter(webhook_id=webhook_id, status=Delivery.Status.PENDING)
    return waiting.update(status=Delivery.Status.FAILED, next_attempt_at=None, ended_at=timezone.now())


def purge(*, now: datetime | None = None) -> int:
    """Forget deliveries of long ago, and webhooks that were long in the trash. Returns: how many rows."""
    before = (now or timezone.now()) - timedelta(days=settings.WEBHOOK_KEEP_DAYS)
    count = 0
    while True:
        old = Delivery.objects.filter(created_at__lt=before)
        deleted, _ = Delivery.objects.filter(pk__in=list(old.values_list("pk", flat=True)[:PURGE_BATCH])).delete()
        count += deleted
        if deleted < PURGE_BATCH:
            break
    deleted, _ = Webhook.objects.filter(deleted_at__lt=before).delete()
    return count + deleted


def lock_free_webhook(webhook_id: uuid.UUID) -> Webhook | None:
    """Hold the row unless it is switched off, somebody sends to it, somebody holds it, or it rests."""
    rows = Webhook.objects.select_for_update(skip_locked=True, no_key=True)
    return rows.filter(_is_free(timezone.now()), pk=webhook_id, enabled=True, deleted_at__isnull=True).first()


def lock_held_webhook(parcel: Parcel) -> Webhook | None:
    """Hold the row while it is still ours."""
    return Webhook.objects.select_for_update(no_key=True).filter(pk=parcel.webhook_id, epoch=parcel.epoch).first()


def _is_free(now: datetime, way: str = "") -> Q:
    free = Q()
    for field in ("leased_until", "rests_until"):
        free &= Q(**{f"{way}{field}__isnull": True}) | Q(**{f"{way}{field}__lte": now})
    return free


def _is_due(now: datetime) -> Q:
    return Q(status=Delivery.Status.PENDING, next_attempt_at__lte=now)


def _is_crowded(webhook: Webhook, now: datetime) -> bool:
    """Whether enough is being sent at this moment: slow servers of one organization hold up neither those of others,
    nor the models' work, which the same workers do."""
    others = Webhook.objects.filter(leased_until__gt=now).exclude(pk=webhook.pk)
    own = Count("pk", filter=Q(organization_id=webhook.organization_id))
    busy = others.aggregate(all=Count("pk"), own=own)
    most = settings.WEBHOOK_SENDERS
    return bool(busy["all"] >= most or busy["own"] >= max(most // 2, 1))


def _oldest_due(webhook: Webhook, now: datetime) -> Delivery | None:
    for delivery in webhook.deliveries.filter(_is_due(now)).order_by("created_at", "id")[:1]:
        if delivery.claims < MAX_CLAIMS:
            return delivery
        _end(delivery, Delivery.Status.FAILED, now)
        delivery.save(update_fields=["status", "next_attempt_at", "ended_at"])
    return None


def _parcel(webhook: Webhook, delivery: Delivery, now: datetime) -> Parcel:
    secrets = [bytes(webhook.sealed_secret)]
    if webhook.sealed_former_secret and webhook.former_secret_until and webhook.former_secret_until > now:
        secrets.append(bytes(webhook.sealed_former_secret))
    return Parcel(
        webhook_id=webhook.pk,
        delivery_id=delivery.pk,
        epoch=webhook.epoch,
        url=webhook.url,
        event=delivery.event,
        event_id=delivery.event_id,
        payload=delivery.payload,
        auth_type=webhook.auth_type,
        sealed_secrets=secrets,
        header_name=webhook.header_name,
        sealed_header_value=bytes(webhook.sealed_header_value),
    )


def _headers(parcel: Parcel, timestamp: int, body: bytes) -> dict[str, str]:
    """Raises: SealBroken."""
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "DocRouter-Webhooks/1",
        "Accept-Encoding": "identity",
        "X-DocRouter-Event": parcel.event,
        "X-DocRouter-Event-Id": show_id(parcel.event_id),
        "X-DocRouter-Delivery": show_id(parcel.delivery_id),
        "X-DocRouter-Timestamp": str(timestamp),
    }
    if parcel.auth_type == Webhook.Auth.HEADER:
        headers[parcel.header_name] = unseal(parcel.sealed_header_value)
        return headers
    names = ("X-DocRouter-Signature", "X-DocRouter-Signature-Former")
    for name, sealed in zip(names, parcel.sealed_secrets, strict=False):
        headers[name] = signature(secret=unseal(sealed), timestamp=timestamp, body=body)
    return headers


def _attempt(outcome: Outcome, now: datetime) -> dict[str, Any]:
    return {
        "at": now.isoformat(),
        "duration_ms": outcome.duration_ms,
        "status_code": outcome.status_code,
        "error": outcome.error,
        "answer": outcome.answer,
    }


def _end(delivery: Delivery, status: Delivery.Status, now: datetime) -> None:
    delivery.status, delivery.next_attempt_at, delivery.ended_at = status, None, now


def _fail_or_postpone(delivery: Delivery, outcome: Outcome, now: datetime) -> None:
    waits = settings.WEBHOOK_RETRY_SECONDS
    number = len(delivery.attempts)
    if outcome.may_pass and number <= len(waits):
        delivery.next_attempt_at = now + timedelta(seconds=max(waits[number - 1], outcome.retry_after))
    else:
        _end(delivery, Delivery.Status.FAILED, now)


def _free(webhook: Webhook, delivery: Delivery, outcome: Outcome, now: datetime) -> None:
    """Let go of the webhook; after a failure it rests, after many lost deliveries it is switched off."""
    webhook.leased_until = webhook.rests_until = None
    if outcome.has_arrived:
        webhook.failed_in_a_row = webhook.lost_in_a_row = 0
    elif outcome.may_pass:
        webhook.failed_in_a_row += 1
        webhook.rests_until = now + timedelta(seconds=max(_rest(webhook.failed_in_a_row), outcome.retry_after))
    if delivery.status == Delivery.Status.FAILED and delivery.event != TEST and webhook.enabled:
        webhook.lost_in_a_row += 1
        if webhook.lost_in_a_row >= settings.WEBHOOK_GIVE_UP_AFTER:
            _switch_off(webhook, now)
    names = ["leased_until", "rests_until", "failed_in_a_row", "lost_in_a_row", "enabled", "switched_off_at"]
    webhook.save(update_fields=names)


def _rest(failures: int) -> float:
    """Seconds; never longer than a single delivery would wait anyway, unless the server asks for more."""
    waits = settings.WEBHOOK_RETRY_SECONDS or [LONGEST_REST_SECONDS]
    return float(min(waits[0] * 2 ** min(failures - 1, 20), waits[-1], LONGEST_REST_SECONDS))


def _switch_off(webhook: Webhook, now: datetime) -> None:
    """What waits is kept, and sent once somebody switches it on again."""
    webhook.enabled, webhook.switched_off_at = False, now
    log.warning("webhook.switched_off", webhook_id=show_id(webhook.pk), lost=webhook.lost_in_a_row)
    transaction.on_commit(partial(tell_switched_off, webhook), robust=True)
    if webhook.created_by_id is None:
        return
    actor = Actor(
        user_id=webhook.created_by_id,
        organization_id=webhook.organization_id,
        role="admin",
        via="task",
        name="DocRouter",
    )
    data = {"lost_in_a_row": webhook.lost_in_a_row}
    record(actor=actor, action="webhook.switched_off", target=("webhook", webhook.pk), data=data)
