"""Celery shells around the periodic work of accounts."""

from celery import shared_task

from organizations.idempotency import forget_old


@shared_task(name="organizations.tasks.forget_old_requests", ignore_result=True)
def forget_old_requests() -> None:
    """Every hour: requests whose `Idempotency-Key` is a day old."""
    forget_old()
