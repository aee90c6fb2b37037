"""The worker application: queues, the beat schedule, what runs when a lower floor says something is ready."""

import os
from typing import Any

from celery import Celery
from celery.signals import worker_ready

from llm.runtime import start_warming

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "docrouter.settings")

app = Celery("docrouter")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()

app.conf.task_routes = {
    "documents.tasks.*": {"queue": "ingest"},
    "documents.tasks.queue_prompts": {"queue": "llm"},
    "documents.tasks.admit_runs": {"queue": "llm"},
    "documents.tasks.reap_runs": {"queue": "llm"},
    "documents.tasks.extract": {"queue": "llm"},
    "documents.tasks.spread": {"queue": "llm"},
    "agent.tasks.*": {"queue": "llm"},
    "organizations.tasks.*": {"queue": "llm"},
    "docrouter.tasks.*": {"queue": "llm"},
}
app.conf.run_tasks = {  # who works on a run of which kind; each is sent the run's id (documents/admission.py)
    "parse": "documents.tasks.parse",
    "extract": "documents.tasks.extract",
    "propose": "agent.tasks.propose",
}
app.conf.document_ready_tasks = ("documents.tasks.queue_prompts",)  # each is sent the document's id
app.conf.beat_schedule = {
    # Mending what a crash left is asked of both pools: one of them may be busy with long work, or gone.
    "reap-runs": {"task": "documents.tasks.reap_runs", "schedule": 10.0, "options": {"queue": "llm", "expires": 10}},
    "reap-too": {"task": "documents.tasks.reap_runs", "schedule": 10.0, "options": {"queue": "ingest", "expires": 10}},
    "admit-runs": {"task": "documents.tasks.admit_runs", "schedule": 3.0, "options": {"queue": "llm", "expires": 3}},
    "reap-turns": {"task": "agent.tasks.reap_turns", "schedule": 10.0, "options": {"queue": "llm", "expires": 10}},
    "deliver-webhooks": {"task": "webhooks.tasks.deliver_all", "schedule": 5.0, "options": {"expires": 5}},
    "purge-deliveries": {"task": "webhooks.tasks.purge", "schedule": 3600.0},
    "purge": {"task": "docrouter.tasks.purge", "schedule": 24 * 3600.0},
    "forget-old-requests": {"task": "organizations.tasks.forget_old_requests", "schedule": 3600.0},
}


@worker_ready.connect
def _warm_models(sender: Any = None, **_: object) -> None:
    """A worker that calls models imports litellm when it starts, in a thread, and not within its first task."""
    queues = sender.task_consumer.queues if sender is not None else []
    if any(queue.name == "llm" for queue in queues):
        start_warming()
