"""The worker application: queues, the beat schedule, what runs when a lower floor says something is ready."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "docrouter.settings")

app = Celery("docrouter")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()

app.conf.task_routes = {
    "documents.tasks.*": {"queue": "ingest"},
    "documents.tasks.extract": {"queue": "llm"},
    "agent.tasks.*": {"queue": "llm"},
}
app.conf.beat_schedule = {
    "reap-runs": {"task": "documents.tasks.reap_runs", "schedule": 10.0, "options": {"queue": "llm", "expires": 10}},
    "reap-turns": {"task": "agent.tasks.reap_turns", "schedule": 10.0, "options": {"queue": "llm", "expires": 10}},
}
