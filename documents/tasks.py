"""What the `ingest` workers do: each task carries only "work on run X"."""

import uuid
from typing import Any

import structlog
from celery import Task, current_app, shared_task
from django.conf import settings
from django.db import OperationalError

from core.errors import Unavailable
from core.ids import show_id
from documents import processing
from documents.extraction import interrupt_lost_extractions

log = structlog.get_logger(__name__)

_LIMIT = settings.PARSE_SECONDS_PER_DOCUMENT + 120


@shared_task(
    bind=True,
    name="documents.tasks.parse",
    autoretry_for=(Unavailable, OSError, OperationalError),
    retry_backoff=2,
    retry_backoff_max=60,
    max_retries=5,
    soft_time_limit=_LIMIT,
    time_limit=_LIMIT + 30,
)
def parse(_task: "Task[Any, Any]", run_id: str) -> None:
    """Read a document; then tell the pipeline of the roof that its text is ready."""
    ready = processing.parse_document(uuid.UUID(run_id))
    for name in current_app.conf.get("document_ready_tasks", ()):
        if ready is not None:
            current_app.send_task(name, args=[show_id(ready)])


@shared_task(name="documents.tasks.reap_runs", ignore_result=True)
def reap_runs() -> None:
    """Put parse runs whose worker died into the queue again; end extractions whose process died."""
    for run_id in processing.take_stale_runs():
        log.info("run.requeued", run_id=show_id(run_id))
        parse.delay(show_id(run_id))
    interrupt_lost_extractions()
