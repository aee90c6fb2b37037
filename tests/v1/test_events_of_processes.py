"""The log while several processes write to it, one of which is killed: gapless, and told to readers elsewhere."""

import asyncio
import json
import os
import subprocess
import sys
import time
from collections import defaultdict
from typing import Any

import pytest

from documents.models import Document
from tests.conftest import Person, make_person
from tests.documents.conftest import ROOT, worker_environment
from tests.documents.making import make_document
from tests.v1.calling import v1_of
from tests.v1.test_events import everything, read

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]
WRITER = "import django; django.setup(); from tests.v1.writer import main; main()"


@pytest.fixture
def alice(transactional_db: None) -> Person:
    return make_person("alice@example.com")


def writer(document: Document, name: str, count: int) -> "subprocess.Popen[str]":
    given = json.dumps({"document": document.pk.hex, "name": name, "count": count})
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, given],
        cwd=ROOT,
        env={**os.environ, **worker_environment()},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout
    assert process.stdout.readline() == "ready\n"
    return process


def test_processes_write_one_sequence_though_one_is_killed(alice: Person) -> None:
    document = make_document(alice, "Total: 5")
    v1, place = v1_of(alice), f"documents/{document.pk.hex}/events"
    writers = [writer(document, str(number), 40) for number in range(2)] + [writer(document, "killed", 10_000)]
    for process in writers:
        assert process.stdin
        process.stdin.write("go\n")
        process.stdin.flush()
    began = time.monotonic()
    told = asyncio.run(read(v1, place, until=60))
    assert time.monotonic() - began < 15, "news of other processes wake the reader"
    writers[-1].kill()
    for process in writers:
        process.communicate(timeout=60)
    assert [process.returncode for process in writers] == [0, 0, -9]
    found = everything(v1, place)
    assert [event["seq"] for event in found] == list(range(1, len(found) + 1))
    assert told.events == found[: len(told.events)]
    steps: dict[str, list[Any]] = defaultdict(list)
    for event in found:
        steps[event["data"]["kind"]].append(event["data"]["attempt"])
    assert steps["0"] == steps["1"] == list(range(40))
    assert steps["killed"] == list(range(len(steps["killed"]))), "nothing of it is lost, doubled or out of order"
