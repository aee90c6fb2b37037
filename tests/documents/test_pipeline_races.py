"""The pipeline between real processes: the same message twice at once, and a worker that is killed while it waits."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import pytest

from documents import pipeline, tasks
from documents.models import Event, Extraction, Run
from documents.services import delete_document, restore_document
from tags_app.services import create_tag
from tests.conftest import Person, make_person
from tests.documents.conftest import ROOT, StartWorker, wait_for, worker_environment
from tests.documents.test_pipeline_prompts import read_document, tagged_prompt
from tests.fakes.provider import FakeProvider
from tests.fakes.steps import Fault, Step

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]
PLAYER = "import django; django.setup(); from tests.documents.pipeline_player import main; main()"
PLAYERS, ROUNDS, PROMPTS = 3, 5, 3


@pytest.fixture
def alice(transactional_db: None) -> Person:
    return make_person("alice@example.com")


@pytest.fixture
def players(alice: Person) -> Iterator[list["subprocess.Popen[str]"]]:
    started = [
        subprocess.Popen(
            [sys.executable, "-c", PLAYER],
            cwd=ROOT,
            env={**os.environ, **worker_environment()},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(PLAYERS)
    ]
    yield started
    for process in started:
        process.kill()
        process.communicate()


def heard(process: "subprocess.Popen[str]") -> Any:
    """The next line that the process tells; log lines are not for us."""
    assert process.stdout
    while line := process.stdout.readline():
        if line.startswith("{"):
            return json.loads(line)
    raise AssertionError(f"the player ended with {process.wait()}")


def tell_all(players: list["subprocess.Popen[str]"], **order: Any) -> list[Any]:
    for process in players:
        assert process.stdin
        process.stdin.write(json.dumps(order) + "\n")
        process.stdin.flush()
    return [heard(process) for process in players]


def test_a_message_that_comes_to_three_workers_at_once_runs_nothing_twice(
    alice: Person, players: list["subprocess.Popen[str]"]
) -> None:
    tag = create_tag(actor=alice.actor, name="Invoices")
    for number in range(PROMPTS):
        tagged_prompt(alice, f"Prompt {number}", [tag])
    assert [heard(process) for process in players] == [{"ready": True}] * PLAYERS
    winners = set()
    for _ in range(ROUNDS):
        document = read_document(alice, tag)
        made = [answer["made"] for answer in tell_all(players, document=document.pk.hex)]
        assert sorted(map(len, made)) == [0] * (PLAYERS - 1) + [PROMPTS]
        winners.add(next(number for number, ids in enumerate(made) if ids))
        runs = list(Run.objects.filter(document=document, kind="extract"))
        assert len(runs) == PROMPTS

        tell_all(players, runs=[run.pk.hex for run in runs])

        wait_for(document, "llm_completed", seconds=20)
        assert Extraction.objects.filter(document=document).count() == PROMPTS
        started = Event.objects.filter(document=document, type="extraction.started")
        assert sorted(event.run_id for event in started) == sorted(run.pk for run in runs)
    assert len(winners) > 1, "one process always won: this was no race"


def test_a_run_whose_worker_is_killed_while_the_model_is_asked_is_done_by_the_next_one(
    alice: Person, start_worker: StartWorker
) -> None:
    tag = create_tag(actor=alice.actor, name="Invoices")
    tagged_prompt(alice, "Receipt", [tag], model="gpt-4o-mini")
    document = read_document(alice, tag)
    with FakeProvider([Step(text="{}", structured=True, fault=Fault("slow_headers", seconds=30))]) as fake:
        where = {"OPENAI_API_KEY": "none", "OPENAI_API_BASE": fake.openai_base, "RUN_LEASE_SECONDS": "2"}
        worker = start_worker("llm", **where)
        tasks.queue_prompts.delay(document.pk.hex)
        assert fake.wait_asked(timeout=60)
        worker.kill()
        worker.wait()
        lost = Run.objects.get(kind="extract")
        assert (lost.phase, lost.attempts, lost.epoch) == ("extracting", 1, 1)
        fake.add(Step(text=json.dumps({"number": "2468"}), structured=True))
        start_worker("llm", **where)
        deadline = time.monotonic() + 10
        while Run.objects.get(pk=lost.pk).phase == "extracting" and time.monotonic() < deadline:
            tasks.reap_runs()
            time.sleep(0.2)

        wait_for(document, "llm_completed")

    run = Run.objects.get(kind="extract")
    assert (run.pk, run.attempts, run.epoch, run.phase) == (lost.pk, 2, 2, "complete")
    assert Extraction.objects.get().llm_result == {"number": "2468"}
    assert pipeline._claim(run.pk)[1] is None


def test_documents_that_are_deleted_while_their_runs_end_hold_nobody_up(
    alice: Person, players: list["subprocess.Popen[str]"]
) -> None:
    tag = create_tag(actor=alice.actor, name="Invoices")
    for number in range(PROMPTS):
        tagged_prompt(alice, f"Prompt {number}", [tag])
    assert [heard(process) for process in players] == [{"ready": True}] * PLAYERS
    for number in range(ROUNDS):
        document = read_document(alice, tag)
        runs = [run_id.hex for run_id in pipeline.queue_prompts(document.pk)]
        for process, run_id in zip(players, runs, strict=True):
            assert process.stdin
            process.stdin.write(json.dumps({"runs": [run_id]}) + "\n")
            process.stdin.flush()
        time.sleep(number * 0.05)
        for _ in range(3):
            delete_document(actor=alice.actor, document_id=document.pk)
            restore_document(actor=alice.actor, document_id=document.pk)
        delete_document(actor=alice.actor, document_id=document.pk)
        assert [heard(process) for process in players] == [{"made": []}] * PLAYERS
        left = Run.objects.filter(document=document, kind="extract").exclude(phase__in=Run.ENDED)
        assert not left.exists()
