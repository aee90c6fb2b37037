"""Races of documents between real processes: tags that are deleted while they are attached, runs that are stopped."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from documents.models import Document, Run
from documents.services import cancel_run, delete_document
from documents.tagging import delete_tag
from tags_app.errors import TagInUse
from tags_app.services import create_tag
from tests.conftest import Person, make_person
from tests.documents.conftest import ROOT, worker_environment
from tests.documents.making import RECEIPT, make_document

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]
PLAYER = "import django; django.setup(); from tests.documents.player import main; main()"
ROUNDS = 40
Play = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def alice(transactional_db: None) -> Person:
    return make_person("alice@example.com")


@pytest.fixture
def document(alice: Person) -> Document:
    return make_document(alice, *RECEIPT)


@pytest.fixture
def play(alice: Person, document: Document) -> Iterator[Play]:
    """Start a player process about alice's document; whatever still lives is killed at the end."""
    started: list[subprocess.Popen[str]] = []

    def start(scene: str, **more: Any) -> "subprocess.Popen[str]":
        given = {"email": alice.user.email, "organization": alice.organization.pk.hex, "document": document.pk.hex}
        process = subprocess.Popen(
            [sys.executable, "-c", PLAYER, scene, json.dumps(given | more)],
            cwd=ROOT,
            env={**os.environ, **worker_environment()},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        return process

    yield start
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


def test_a_tag_that_is_deleted_while_it_is_attached_is_either_gone_or_attached(
    alice: Person, document: Document, play: Play
) -> None:
    tags = [create_tag(actor=alice.actor, name=f"Tag {number}") for number in range(ROUNDS)]
    other = play("attach", tags=[tag.pk.hex for tag in tags])
    assert other.stdin
    assert heard(other) == {"ready": True}
    outcomes = set()
    for number, tag in enumerate(tags):
        other.stdin.write("go\n")
        other.stdin.flush()
        time.sleep(number % 8 * 0.001)
        try:
            delete_tag(actor=alice.actor, tag_id=tag.pk)
            deleted = True
        except TagInUse:
            deleted = False
        attached = heard(other)["attached"]
        assert attached != deleted
        assert document.tags.filter(pk=tag.pk).exists() == attached
        outcomes.add(attached)
    assert outcomes == {True, False}, "the race went one way only: widen the pauses"


@pytest.mark.parametrize("way", [cancel_run, delete_document])
def test_an_extraction_in_another_process_is_stopped_within_a_second(
    alice: Person, document: Document, play: Play, way: Any
) -> None:
    other = play("extract")
    assert heard(other) == {"asked": True}
    run = Run.objects.get(kind="extract")
    begun = time.monotonic()
    if way is cancel_run:
        cancel_run(actor=alice.actor, run_id=run.pk)
    else:
        delete_document(actor=alice.actor, document_id=document.pk)
    assert heard(other) == {"hung_up": True}
    assert heard(other) == {"ended": "cancelled"}
    assert time.monotonic() - begun < 1
    run.refresh_from_db()
    assert run.phase == "cancelled"
