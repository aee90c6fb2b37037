"""Real workers, files on disk, and the children that read them."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.conf import settings
from django.db import connection

from docrouter.celery import app
from documents.ingest import sandbox
from documents.ingest.limits import Limits
from documents.models import Document, Run

app.set_default()  # whoever puts work into the queue does it through our application
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def readers() -> Iterator[sandbox.ChildPool]:
    pool = sandbox.reader_pool(Limits(), size=1)
    yield pool
    pool.close()


@pytest.fixture(scope="session")
def ocr() -> Iterator[sandbox.ChildPool]:
    pool = sandbox.ocr_pool(Limits(), size=1)
    yield pool
    pool.close()


StartWorker = Callable[..., "subprocess.Popen[bytes]"]


@pytest.fixture
def start_worker(transactional_db: None) -> Iterator[StartWorker]:
    """Start real Celery workers against the test's database; they end with the test."""
    started: list[subprocess.Popen[bytes]] = []

    def start(*queues: str, **environment: str) -> "subprocess.Popen[bytes]":
        quiet = ("--without-gossip", "--without-mingle", "--without-heartbeat", "--loglevel", "ERROR", "--quiet")
        process = subprocess.Popen(
            [sys.executable, "-m", "celery", "-A", "docrouter.celery:app", *quiet[-1:], "worker", "--pool", "solo",
             "--queues", ",".join(queues or ("ingest",)), *quiet[:-1]],
            cwd=ROOT,
            env={**os.environ, **worker_environment(), **environment},
        )  # fmt: skip
        started.append(process)
        return process

    yield start
    for process in started:
        process.terminate()
    for process in started:
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def worker_environment() -> dict[str, str]:
    """What points a worker at the database, the queue and the files of this test process."""
    base, _, _ = os.environ["DATABASE_URL"].rpartition("/")
    return {
        "DJANGO_SETTINGS_MODULE": "tests.settings",
        "DATABASE_URL": f"{base}/{connection.settings_dict['NAME']}",
        "TEST_DATA_DIR": str(settings.DATA_DIR.parent),
        "PYTHONWARNINGS": "ignore",
    }


def wait_for(document: Document, *states: str, seconds: float = 60) -> Document:
    """Wait until the document is in one of these states."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        document.refresh_from_db()
        if document.state in states:
            return document
        time.sleep(0.05)
    run = Run.objects.filter(document=document).last()
    raise AssertionError(f"{document.state}, {run and (run.phase, run.pages_done, run.error_message)}")
