"""A worker that is killed at each step of its work: the next one ends the run, and nothing is done or told twice."""

import contextlib
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection

from agent.reviewing import reject
from agent.tasks import reap_turns
from documents import pipeline, processing, services, tasks
from documents.models import Document, Event, Run
from documents.services import UploadedFile
from tags_app.services import create_tag
from tests.chaos.audit import look
from tests.chaos.paper import scan
from tests.conftest import Person, make_person
from tests.data import make
from tests.documents.conftest import StartWorker, wait_for, worker_environment
from tests.documents.making import RECEIPT
from tests.documents.test_pipeline_prompts import tagged_prompt

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]
HANG_SECONDS = 4


@dataclass(frozen=True)
class Step:
    """A write of the worker, which hangs there in its transaction until it is killed."""

    name: str
    queue: str
    table: str
    when: str
    on: str = "UPDATE"


_READ, _EXTRACT = "NEW.kind = 'parse' AND ", "NEW.kind = 'extract' AND "
STEPS = (
    Step("takes the run", "ingest", "documents_run", _READ + "NEW.phase = 'parsing' AND NEW.epoch = 1"),
    Step("counts the pages", "ingest", "documents_run", _READ + "OLD.pages_total IS NULL AND NEW.pages_total > 0"),
    Step("stores the first page", "ingest", "documents_page", "NEW.number = 1", "INSERT"),
    Step("stores the last page", "ingest", "documents_page", "NEW.number = 40", "INSERT"),
    Step("completes the read", "ingest", "documents_run", _READ + "NEW.phase = 'complete'"),
    Step("makes the runs of the prompts", "llm", "documents_run", _EXTRACT + "true", "INSERT"),
    Step("admits a run", "llm", "documents_run", _EXTRACT + "NEW.admitted_at > NEW.created_at AND NEW.epoch = 0"),
    Step("takes the run of a prompt", "llm", "documents_run", _EXTRACT + "NEW.phase = 'extracting' AND NEW.epoch = 1"),
    Step("stores the result", "llm", "documents_extraction", "true", "INSERT"),
)

_PROPOSE = "NEW.kind = 'propose' AND "
STEPS_OF_THE_AGENT = (
    Step("takes the run", "llm", "documents_run", _PROPOSE + "NEW.phase = 'proposing' AND NEW.epoch = 1"),
    Step("begins its turn", "llm", "agent_turn", "true", "INSERT"),
    Step("makes the schema", "llm", "schemas_app_schema", "true", "INSERT"),
    Step("makes the prompt", "llm", "prompts_app_prompt", "true", "INSERT"),
    Step("stores what it extracted", "llm", "documents_extraction", "true", "INSERT"),
    Step("proposes", "llm", "documents_autocreate", "NEW.status = 'proposed'"),
)


@contextlib.contextmanager
def hanging_at(step: Step) -> Iterator[None]:
    """The database keeps whoever comes to this step waiting."""
    with connection.cursor() as cursor:
        cursor.execute(
            "CREATE FUNCTION hang() RETURNS trigger LANGUAGE plpgsql AS"
            f" $$ BEGIN PERFORM pg_sleep({HANG_SECONDS}); RETURN NEW; END $$"
        )
        cursor.execute(
            f"CREATE TRIGGER hang BEFORE {step.on} ON {step.table} FOR EACH ROW WHEN ({step.when})"
            " EXECUTE FUNCTION hang()"
        )
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute("DROP FUNCTION hang CASCADE")


def wait_until_somebody_hangs(step: Step) -> None:
    deadline = time.monotonic() + 90
    with connection.cursor() as cursor:
        while time.monotonic() < deadline:
            cursor.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND datname = current_database()"
            )
            if cursor.fetchone()[0]:
                return
            time.sleep(0.05)
    raise AssertionError(f"nobody came to this step: {step.name}")


def mend_until_ended(document: Document, *states: str, seconds: float = 90) -> None:
    """Do the clock's part until the document is done."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        tasks.reap_runs()
        reap_turns()
        with contextlib.suppress(AssertionError):
            wait_for(document, *states, seconds=0.5)
            return
    run = Run.objects.filter(document=document).last()
    raise AssertionError(f"{document.state}: {run and (run.kind, run.phase, run.attempts, run.lease_until)}")


@pytest.fixture
def alice(transactional_db: None) -> Person:
    return make_person("alice@example.com")


@pytest.fixture(autouse=True)
def _short_leases(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.RUN_LEASE_SECONDS = 2
    monkeypatch.setattr(processing, "_TOLD_AGAIN_AFTER", timedelta(seconds=1))


def database_url() -> str:
    return str({**os.environ, **worker_environment()}["DATABASE_URL"])


def test_a_worker_may_be_killed_at_any_step(alice: Person, start_worker: StartWorker) -> None:
    tag = create_tag(actor=alice.actor, name="Receipts")
    tagged_prompt(alice, "Receipt", [tag])
    lines = [("Page", str(number)) for number in range(39)]
    upload = UploadedFile(name="a.pdf", data=make.pdf(RECEIPT, *lines), tag_ids=[tag.pk])
    workers = {queue: start_worker(queue, RUN_LEASE_SECONDS="5") for queue in ("ingest", "llm")}
    for step in STEPS:
        with hanging_at(step):
            document = services.upload_documents(actor=alice.actor, files=[upload])[0].document
            wait_until_somebody_hangs(step)
            workers[step.queue].kill()
            workers[step.queue].wait()
        workers[step.queue] = start_worker(step.queue, RUN_LEASE_SECONDS="5")

        mend_until_ended(document, "llm_completed")

        assert look(database_url()).broken == {}, step.name
        runs = Run.objects.filter(document=document)
        assert {run.kind: run.phase for run in runs} == {"parse": "complete", "extract": "complete"}, step.name


def test_an_agent_that_is_killed_at_any_step_proposes_in_the_end_and_leaves_no_orphan(
    alice: Person, start_worker: StartWorker
) -> None:
    upload = UploadedFile(name="a.pdf", data=make.pdf(RECEIPT))
    start_worker("ingest")
    worker = start_worker("llm", RUN_LEASE_SECONDS="5")
    for step in STEPS_OF_THE_AGENT:
        with hanging_at(step):
            document = services.upload_documents(actor=alice.actor, files=[upload], auto_create=True)[0].document
            wait_until_somebody_hangs(step)
            worker.kill()
            worker.wait()
        worker = start_worker("llm", RUN_LEASE_SECONDS="5")

        mend_until_ended(document, "llm_completed")

        assert look(database_url()).broken == {}, step.name
        assert document.auto_create_status == "proposed", step.name
        reject(actor=alice.actor, document_id=document.pk)  # so that the next document gets a schema of its own


def test_a_worker_that_is_killed_twice_in_the_middle_of_a_scan_of_thirty_pages(
    alice: Person, start_worker: StartWorker
) -> None:
    worker = start_worker("ingest", RUN_LEASE_SECONDS="5")
    upload = UploadedFile(name="scan.pdf", data=scan(30))
    document = services.upload_documents(actor=alice.actor, files=[upload])[0].document
    for least in (4, 15):
        deadline = time.monotonic() + 240
        while Run.objects.get().pages_done < least:
            tasks.reap_runs()
            assert time.monotonic() < deadline
            time.sleep(0.1)
        worker.kill()
        worker.wait()
        assert Run.objects.get().pages_done < 30
        worker = start_worker("ingest", RUN_LEASE_SECONDS="5")

    mend_until_ended(document, "ocr_completed", seconds=240)
    assert pipeline.queue_prompts(document.pk) == []

    findings = look(database_url())
    assert findings.broken == {}
    assert (findings.pages, findings.pages_told) == (30, 30)
    run = Run.objects.get()
    assert run.attempts == 3
    told = list(Event.objects.filter(type="run.retried").order_by("seq").values_list("data", flat=True))
    assert [(news["attempt"], news["code"]) for news in told] == [(2, "worker_lost"), (3, "worker_lost")]
