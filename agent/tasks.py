"""Celery shells around the agent's periodic work."""

from celery import shared_task

from agent.processing import reap


@shared_task(name="agent.tasks.reap_turns", ignore_result=True)
def reap_turns() -> None:
    """Every ten seconds: end abandoned and overdue turns."""
    reap()
