"""What the workers do: each task carries only "work on run X", or "document X is ready"."""

import uuid
from typing import Any

import structlog
from celery import Task, current_app, shared_task
from django.conf import settings
from django.db import OperationalError
from kombu.exceptions import OperationalError as BrokerAway

from core.errors import Unavailable
from core.ids import show_id
from documents import admission, auto_create, pipeline, processing, spreading
from documents.extraction import interrupt_lost_extractions
from documents.reaping import requeue_dead_runs
from organizations.actor import Actor

log = structlog.get_logger(__name__)

_LIMIT = settings.PARSE_SECONDS_PER_DOCUMENT + 120


def send(task: "Task[Any, Any]", *args: Any) -> bool:
    """Give a task to workers after a commit. Returns: whether a broker took it; what was committed stands anyway."""
    try:
        task.delay(*args)
    except (BrokerAway, OSError) as problem:
        log.warning("task.not_sent", task=task.name, problem=type(problem).__name__)
        return False
    return True


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
    if ready is not None:
        _tell_ready(ready)
    else:
        auto_create.after_read(run_id=uuid.UUID(run_id))


def _tell_ready(document_id: uuid.UUID) -> None:
    for name in current_app.conf.get("document_ready_tasks", ()):
        current_app.send_task(name, args=[show_id(document_id)])


@shared_task(
    name="documents.tasks.queue_prompts",
    autoretry_for=(OperationalError,),
    retry_backoff=2,
    max_retries=5,
)
def queue_prompts(document_id: str) -> None:
    """A document's text is ready: run the prompts of its tags."""
    pipeline.queue_prompts(uuid.UUID(document_id))


@shared_task(name="documents.tasks.extract")
def extract(run_id: str) -> None:
    """Run one prompt on one document. What goes wrong stands on the run; the reaper brings back what is lost."""
    pipeline.extract(uuid.UUID(run_id))


@shared_task(name="documents.tasks.spread", autoretry_for=(OperationalError,), retry_backoff=2, max_retries=5)
def spread(prompt_revid: str, tag_id: str, who: dict[str, str]) -> None:
    """Run an accepted prompt on the other documents of a tag."""
    actor = Actor(
        user_id=uuid.UUID(who["user_id"]),
        organization_id=uuid.UUID(who["organization_id"]),
        role="user",
        via="task",
        name=who["name"],
    )
    spreading.spread(actor=actor, prompt_revid=uuid.UUID(prompt_revid), tag_id=uuid.UUID(tag_id))


@shared_task(name="documents.tasks.admit_runs", ignore_result=True)
def admit_runs() -> None:
    """Every few seconds: hand out what waits although nobody has looked since there was room."""
    admission.admit_all()


@shared_task(name="documents.tasks.reap_runs", ignore_result=True)
def reap_runs() -> None:
    """Every ten seconds: runs of dead workers and of lost messages wait again; those by hand end as interrupted."""
    requeue_dead_runs()
    if lost := admission.take_back_unclaimed():
        log.info("admission.taken_back", runs=lost)
    for document_id in processing.take_reads_without_prompts():
        log.info("document.told_again", document_id=show_id(document_id))
        queue_prompts.delay(show_id(document_id))
    interrupt_lost_extractions()
    admission.admit_all()
