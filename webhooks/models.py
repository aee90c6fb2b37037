"""Webhook: an address that is told of events. Delivery: one event for one of them, and what came of it."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils import timezone

from core.fields import OrderedJSONField
from core.models import TenantModel, TrashableModel


class Webhook(TrashableModel):
    """An address with its secret. One delivery at a time goes out to it: whoever sends holds `leased_until`.

    `epoch` counts the holders, so that one that was taken for dead writes nothing any more. After a failed attempt the
    address rests until `rests_until`. `lost_in_a_row`: deliveries given up since the last that arrived.
    """

    class Auth(models.TextChoices):
        HMAC = "hmac", "Signature"
        HEADER = "header", "Header"

    name = models.CharField(max_length=200, blank=True)
    url = models.CharField(max_length=2000)
    events = ArrayField(models.CharField(max_length=60))
    enabled = models.BooleanField(default=True)
    auth_type = models.CharField(max_length=10, choices=Auth.choices, default=Auth.HMAC)
    sealed_secret = models.BinaryField()
    sealed_former_secret = models.BinaryField(null=True)
    former_secret_until = models.DateTimeField(null=True, blank=True)
    header_name = models.CharField(max_length=100, blank=True)
    sealed_header_value = models.BinaryField(default=bytes)
    created_by = models.ForeignKey("organizations.User", null=True, on_delete=models.SET_NULL, related_name="+")
    updated_at = models.DateTimeField(default=timezone.now, editable=False)
    leased_until = models.DateTimeField(null=True, blank=True, editable=False)
    rests_until = models.DateTimeField(null=True, blank=True, editable=False)
    epoch = models.PositiveIntegerField(default=0, editable=False)
    failed_in_a_row = models.PositiveIntegerField(default=0, editable=False)
    lost_in_a_row = models.PositiveIntegerField(default=0, editable=False)
    switched_off_at = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta:
        indexes = [
            models.Index(
                fields=["organization"], condition=Q(enabled=True, deleted_at__isnull=True), name="webhook_listening"
            ),
            models.Index(fields=["organization", "-created_at"], name="webhook_by_time"),
            models.Index(fields=["leased_until"], condition=Q(leased_until__isnull=False), name="webhook_busy"),
        ]

    def __str__(self) -> str:
        return self.name or self.id.hex


class Delivery(TenantModel):
    """One event for one webhook; written in the transaction that made the event true.

    `attempts`: `{"at", "duration_ms", "status_code", "error", "answer"}` each. `claims` counts those that began too.
    """

    class Status(models.TextChoices):
        PENDING = "pending"
        DELIVERED = "delivered"
        FAILED = "failed"

    webhook = models.ForeignKey(Webhook, on_delete=models.CASCADE, related_name="deliveries")
    event_id = models.UUIDField()
    event = models.CharField(max_length=60)
    payload = OrderedJSONField(default=dict)
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.PENDING)
    attempts = models.JSONField(default=list)
    claims = models.PositiveSmallIntegerField(default=0)
    next_attempt_at = models.DateTimeField(null=True, blank=True, default=timezone.now)
    ended_at = models.DateTimeField(null=True, blank=True)
    replay_of = models.ForeignKey("self", null=True, blank=True, on_delete=models.SET_NULL, related_name="+")

    class Meta:
        verbose_name_plural = "deliveries"
        indexes = [
            models.Index(fields=["next_attempt_at"], condition=Q(status="pending"), name="delivery_due"),
            models.Index(fields=["webhook", "created_at"], condition=Q(status="pending"), name="delivery_next"),
            models.Index(fields=["organization", "-created_at"], name="delivery_by_time"),
            models.Index(fields=["webhook", "-created_at"], name="delivery_by_webhook"),
            models.Index(fields=["created_at"], name="delivery_purge"),
        ]
        constraints = [
            models.CheckConstraint(
                condition=Q(status="pending", next_attempt_at__isnull=False, ended_at__isnull=True)
                | (~Q(status="pending") & Q(next_attempt_at__isnull=True, ended_at__isnull=False)),
                name="delivery_is_due_until_it_ends",
            )
        ]

    @property
    def last_attempt(self) -> dict[str, object]:
        return self.attempts[-1] if self.attempts else {}
