"""Two people at once, a chat that works on what is being rejected, and a worker that is killed."""

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.db import connections

from agent import auto_create as worker
from agent.models import Turn
from agent.reviewing import reject
from agent.services import start_turn
from documents import reviewing
from documents.models import AutoCreate, Document, Event, Extraction, Run
from documents.reaping import requeue_dead_runs
from prompts_app.models import Prompt
from schemas_app.models import Schema
from tests.agent.staging import waits_for
from tests.auto_create.making import asked_for, attempt_of
from tests.auto_create.scripts import SETS_UP, calls, on_stage, says
from tests.conftest import Person
from tests.documents.conftest import ROOT, StartWorker, start_worker, worker_environment

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("warm_litellm")]
PLAYER = "import django; django.setup(); from tests.auto_create.player import main; main()"
__all__ = ["start_worker"]


def at_once(*deeds: Callable[[], Any]) -> list[Any]:
    """Each in a thread of its own, all let go at the same moment."""
    gate, told = threading.Barrier(len(deeds)), [None] * len(deeds)

    def do(place: int) -> None:
        gate.wait()
        try:
            told[place] = deeds[place]()
        finally:
            connections.close_all()

    threads = [threading.Thread(target=do, args=(place,)) for place in range(len(deeds))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return told


def decided_events(document: Document) -> list[str]:
    kinds = ("document.auto_create.accepted", "document.auto_create.rejected")
    return list(Event.objects.filter(document=document, type__in=kinds).values_list("type", flat=True))


def is_whole(document: Document) -> bool:
    """Accepted: schema and prompt are ordinary. Rejected: both are gone, and the extraction with them."""
    attempt = attempt_of(document)
    made = [*Schema.objects.filter(made_by_run=attempt.run_id), *Prompt.objects.filter(made_by_run=attempt.run_id)]
    assert len(made) == 2
    withdrawn = [row.withdrawn_at is not None for row in Extraction.objects.filter(document=document)]
    if attempt.status == "accepted":
        return not any(one.pending_review or one.deleted_at for one in made) and not any(withdrawn)
    return all(one.deleted_at for one in made) and all(withdrawn)


def test_of_many_presses_at_once_one_counts_and_all_are_told(
    alice: Person, bob: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    document, run = asked_for(alice)
    on_stage(monkeypatch, *SETS_UP, says("Done."))
    worker.propose(run.pk)
    assert attempt_of(document).status == "proposed"

    told = at_once(
        *[lambda: reviewing.accept(actor=alice.actor, document_id=document.pk)] * 3,
        *[lambda: reject(actor=bob.actor, document_id=document.pk)] * 3,
    )

    assert [outcome.counted for outcome in told].count(True) == 1
    assert len({(outcome.attempt.status, outcome.attempt.decided_by_name) for outcome in told}) == 1
    assert decided_events(document) == [f"document.auto_create.{told[0].attempt.status}"]
    assert is_whole(document)


def test_rejecting_while_somebody_refines_has_one_outcome_and_stops_the_turn(
    alice: Person, bob: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    document, run = asked_for(alice)
    on_stage(monkeypatch, *SETS_UP, says("Done."))
    worker.propose(run.pk)
    attempt = attempt_of(document)
    assert attempt.schema_revision is not None
    schema_id = attempt.schema_revision.schema_id.hex
    on_stage(monkeypatch, calls("update_schema", {"schema_id": schema_id, "name": "Better"}))
    turn = start_turn(actor=bob.actor, document_id=document.pk, text="Call it Better", thread_id=attempt.thread_id)
    waits_for(turn.pk, "waiting")

    outcome = reject(actor=alice.actor, document_id=document.pk)

    assert outcome.counted
    assert waits_for(turn.pk, "cancelled").status == "cancelled"
    assert is_whole(document)

    again = reviewing.try_again(actor=alice.actor, document_id=document.pk)
    on_stage(monkeypatch, *SETS_UP, says("Done."))
    assert again.run_id is not None or AutoCreate.objects.get(pk=again.pk).run_id
    worker.propose(Run.objects.get(document=document, kind="propose", phase="queued").pk)
    attempt = attempt_of(document)
    on_stage(monkeypatch, says("Thinking "), hangs=True)
    monkeypatch.setattr("agent.driving.client", on_stage(monkeypatch, hangs=True))
    turn = start_turn(actor=bob.actor, document_id=document.pk, text="And more", thread_id=attempt.thread_id)
    while Turn.objects.get(pk=turn.pk).epoch == 0:
        time.sleep(0.02)
    reject(actor=alice.actor, document_id=document.pk)
    assert waits_for(turn.pk, "cancelled").status == "cancelled"
    assert is_whole(document)


@pytest.fixture
def players(transactional_db: None) -> Iterator[list["subprocess.Popen[str]"]]:
    started = [
        subprocess.Popen(
            [sys.executable, "-c", PLAYER],
            cwd=ROOT,
            env={**os.environ, **worker_environment()},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    for process in started:
        heard(process)
    yield started
    for process in started:
        process.kill()
        process.communicate()


def heard(process: "subprocess.Popen[str]") -> Any:
    assert process.stdout
    while line := process.stdout.readline():
        if line.startswith("{"):
            return json.loads(line)
    raise AssertionError(f"the player ended with {process.wait()}")


@pytest.mark.slow
def test_accept_and_reject_from_two_processes_at_the_same_moment(
    alice: Person, bob: Person, players: list["subprocess.Popen[str]"], monkeypatch: pytest.MonkeyPatch
) -> None:
    counted: list[str] = []
    for _ in range(10):
        document, run = asked_for(alice)
        on_stage(monkeypatch, *SETS_UP, says("Done."))
        worker.propose(run.pk)
        orders = zip(players, (alice, bob), ("accept", "reject"), strict=True)
        for process, person, decide in orders:
            place = {"organization": person.organization.pk.hex, "document": document.pk.hex}
            assert process.stdin
            process.stdin.write(json.dumps({"email": person.user.email, "decide": decide, **place}) + "\n")
        for process in players:
            assert process.stdin
            process.stdin.flush()
        told = [heard(process) for process in players]
        assert sorted(one["counted"] for one in told) == [False, True]
        assert (told[0]["status"], told[0]["by"]) == (told[1]["status"], told[1]["by"])
        assert is_whole(document)
        counted.append(told[0]["status"])
    assert set(counted) <= {"accepted", "rejected"}


@pytest.mark.slow
def test_a_worker_that_is_killed_leaves_no_orphan_and_another_one_proposes(
    alice: Person, start_worker: StartWorker
) -> None:
    slow = {"RUN_LEASE_SECONDS": "2", "OFFLINE_CHUNK_DELAY_MS": "60"}
    killed = start_worker("llm", **slow)
    document, run = asked_for(alice)
    wait_until(lambda: Schema.objects.filter(made_by_run=run.pk).exists())
    killed.kill()
    killed.wait()
    assert attempt_of(document).status == "running"

    start_worker("llm", RUN_LEASE_SECONDS="2", OFFLINE_CHUNK_DELAY_MS="0")
    wait_until(lambda: bool(requeue_dead_runs()))
    wait_until(lambda: attempt_of(document).status == "proposed")

    live = Schema.objects.filter(made_by_run=run.pk, deleted_at=None)
    assert (live.count(), Schema.objects.filter(made_by_run=run.pk).count()) == (1, 2)
    assert Prompt.objects.filter(made_by_run=run.pk, deleted_at=None).count() == 1
    turns = Turn.objects.filter(document=document).order_by("created_at")
    assert [turn.status for turn in turns] == ["interrupted", "done"]


def wait_until(is_so: Callable[[], bool], *, seconds: float = 240) -> None:
    deadline = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < deadline, "it did not come to that"
        time.sleep(0.05)
