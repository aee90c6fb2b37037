"""Celery shells of what concerns the whole."""

from celery import shared_task

from docrouter import purging


@shared_task(name="docrouter.tasks.purge", ignore_result=True)
def purge() -> None:
    """Once a day: what was in the trash for long goes for good."""
    purging.purge()
