"""Celery shells around the agent's periodic work, and around documents that it sets up by itself."""

import uuid

from celery import shared_task

from agent import auto_create
from agent.answers.reaping import end_lost_responses
from agent.processing import reap
from documents.auto_create import queue_forgotten


@shared_task(name="agent.tasks.reap_turns", ignore_result=True)
def reap_turns() -> None:
    """Every ten seconds: end abandoned and overdue turns, and questions that nobody answers any more."""
    reap()
    end_lost_responses()
    queue_forgotten()


@shared_task(name="agent.tasks.propose", ignore_result=True)
def propose(run_id: str) -> None:
    """Set up one document. What goes wrong stands on its attempt; the reaper brings back what is lost."""
    auto_create.propose(uuid.UUID(run_id))
