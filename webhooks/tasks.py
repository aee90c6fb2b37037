"""Celery shells around deliveries."""

import uuid

from celery import shared_task
from django.db import OperationalError

from core.ids import show_id
from webhooks import processing

WAITS_SECONDS = 60
"""A task of the clock that nobody has begun by then is forgotten; the clock comes again."""


@shared_task(name="webhooks.tasks.deliver", ignore_result=True, autoretry_for=(OperationalError,), max_retries=3)
def deliver(webhook_id: str) -> None:
    """Send what is due to one webhook."""
    if processing.deliver_due(uuid.UUID(webhook_id)):
        deliver.delay(webhook_id)


@shared_task(name="webhooks.tasks.deliver_all", ignore_result=True)
def deliver_all() -> None:
    """Every 5 seconds: retries whose time has come, and what a worker left behind."""
    for webhook_id in processing.due_webhooks():
        deliver.apply_async(args=(show_id(webhook_id),), expires=WAITS_SECONDS)


@shared_task(name="webhooks.tasks.purge", ignore_result=True)
def purge() -> None:
    """Every hour: deliveries that are older than is kept."""
    processing.purge()
