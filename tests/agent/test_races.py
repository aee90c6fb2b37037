"""Races and kills with real processes against PostgreSQL: decided once, run once, whatever dies."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.db import connection
from django.utils import timezone

from agent.errors import TurnNotFound
from agent.models import Turn
from agent.processing import reap
from agent.services import Decision, cancel_turn, decide
from documents.models import Document
from organizations.models import AuditEntry
from tags_app.models import Tag
from tests.agent.staging import call_of, make_document, makes_tag, put_on_stage, says, waits_for
from tests.conftest import Person, make_person
from tests.fakes.provider import FakeProvider
from tests.fakes.steps import Step

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]
PLAYER = "import django; django.setup(); from tests.agent.player import main; main()"
ROOT = Path(__file__).resolve().parents[2]
Play = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def alice(transactional_db: None) -> Person:
    return make_person("alice@example.com")


@pytest.fixture
def document(alice: Person) -> Document:
    return make_document(alice.actor)


@pytest.fixture
def play(alice: Person, document: Document) -> Iterator[Play]:
    """Start a player process about alice's document; whatever still lives is killed at the end."""
    started: list[subprocess.Popen[str]] = []

    def start(scene: str, script: str, env: dict[str, str] | None = None, **arguments: Any) -> "subprocess.Popen[str]":
        database = connection.settings_dict
        at = f"{database['HOST']}:{database['PORT']}/{database['NAME']}"
        url = f"postgresql://{database['USER']}:{database['PASSWORD']}@{at}"
        given = {
            "email": alice.user.email,
            "organization": alice.organization.pk.hex,
            "document": document.pk.hex,
            **arguments,
        }
        process = subprocess.Popen(
            [sys.executable, "-c", PLAYER, scene, script, json.dumps(given)],
            cwd=ROOT,
            env={
                **os.environ,
                "DJANGO_SETTINGS_MODULE": "tests.settings",
                "DATABASE_URL": url,
                "REDIS_URL": settings.REDIS_URL,
                "DATABASE_POOL_SIZE": "30",
                **(env or {}),
            },
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe:
                pipe.close()


def heard(process: "subprocess.Popen[str]") -> Any:
    """The next line that the process tells; log lines are not for us."""
    assert process.stdout
    while line := process.stdout.readline():
        if line.startswith("{"):
            return json.loads(line)
    raise AssertionError(f"the player ended with {process.wait()}")


def approve(person: Person, turn: Turn) -> Any:
    decisions = [Decision(call_id="w", approved=True)]
    return decide(actor=person.actor, document_id=turn.document_id, turn_id=turn.pk, decisions=decisions)


def abandoned(turn: Turn) -> None:
    """As if half a minute had gone by since the process died."""
    Turn.objects.filter(pk=turn.pk).update(lease_until=timezone.now() - timedelta(seconds=1))


@pytest.mark.parametrize("posts", ["all", "half"])
def test_of_a_hundred_decisions_at_once_one_counts(play: Play, posts: str) -> None:
    asker = play("ask", "tag", until="waiting")
    turn = Turn.objects.get(pk=heard(asker)["turn"])
    players = [play("decide_at_once", "tag", turn=turn.pk.hex, threads=25, approve=posts) for _ in range(4)]
    for player in players:
        assert heard(player) == {"ready": True}
    for player in players:
        assert player.stdin
        player.stdin.write("go\n")
        player.stdin.flush()
    told = [heard(player) for player in players]
    answers = [answer for one in told for answer in one["answers"]]
    assert len(answers) == 100
    assert sum(answer["accepted"] for answer in answers) == 1
    assert len({(answer["decision"], answer["at"]) for answer in answers}) == 1
    assert {one["status"] for one in told} == {"done"}
    runs = 1 if answers[0]["decision"] == "approved" else 0
    assert Tag.objects.count() == AuditEntry.objects.filter(action="tag.created").count() == runs
    assert AuditEntry.objects.filter(action="turn.decided").count() == 1


def test_a_card_survives_the_death_of_the_process_that_showed_it(alice: Person, play: Play, monkeypatch: Any) -> None:
    web = play("ask", "tag", until="waiting")
    turn = Turn.objects.get(pk=heard(web)["turn"])
    web.kill()
    web.wait()
    assert reap() == 0
    put_on_stage(monkeypatch, makes_tag(), says("Done"))
    assert approve(alice, turn).answers[0].accepted
    assert waits_for(turn.pk, "done").outcome["text"] == "Done"
    assert Tag.objects.count() == 1


@pytest.mark.parametrize(("script", "tool"), [("tag", "create_tag"), ("extract", "run_extraction")])
def test_a_process_that_dies_during_a_write_leaves_it_interrupted_and_unrepeated(
    alice: Person, play: Play, script: str, tool: str, monkeypatch: Any
) -> None:
    web = play("ask", script, until="waiting")
    turn = Turn.objects.get(pk=heard(web)["turn"])
    other = play("approve_and_hang", script, turn=turn.pk.hex, tool=tool)
    assert heard(other) == {"hangs": True}
    other.kill()
    other.wait()
    put_on_stage(monkeypatch, makes_tag(), says("Done"))
    time.sleep(0.3)
    assert call_of(turn).status == "started"
    assert reap() == 0
    abandoned(turn)
    assert reap() == 1
    turn.refresh_from_db()
    assert (turn.status, call_of(turn).status) == ("interrupted", "interrupted")
    assert Tag.objects.count() == 0
    with pytest.raises(TurnNotFound):
        approve(alice, turn)


def test_stop_reaches_a_turn_in_another_process_within_a_second(alice: Person, play: Play) -> None:
    web = play("ask", "chatter", until="running")
    turn = Turn.objects.get(pk=heard(web)["turn"])
    time.sleep(1)
    cancel_turn(actor=alice.actor, document_id=turn.document_id, turn_id=turn.pk)
    turn = waits_for(turn.pk, "cancelled", seconds=1.5)
    assert turn.messages.get(role="assistant").content.startswith("word word")


@pytest.mark.parametrize("model", ["gpt-4o-mini", "claude-sonnet-4-5"])
def test_stop_from_another_process_hangs_up_on_the_provider_within_a_second(
    alice: Person, play: Play, fake_provider: FakeProvider, model: str
) -> None:
    fake_provider.add(Step(text="word " * 2000, piece=5, delay=0.02))
    env = {
        "DEFAULT_CHAT_MODEL": model,
        "OPENAI_API_KEY": "sk-test",
        "OPENAI_API_BASE": fake_provider.openai_base,
        "ANTHROPIC_API_KEY": "sk-test",
        "ANTHROPIC_API_BASE": fake_provider.anthropic_base,
    }
    web = play("ask", "provider", env=env, until="running")
    turn = Turn.objects.get(pk=heard(web)["turn"])
    assert fake_provider.wait_asked(timeout=60)
    time.sleep(0.5)
    cancel_turn(actor=alice.actor, document_id=turn.document_id, turn_id=turn.pk)
    assert fake_provider.wait_gone(timeout=1.0)
    turn = waits_for(turn.pk, "cancelled", seconds=1.5)
    assert turn.messages.get(role="assistant").content.startswith("word word")


def test_a_process_that_shuts_down_hands_its_turns_over_as_interrupted(play: Play) -> None:
    process = play("drain", "chatter")
    turn = Turn.objects.get(pk=heard(process)["turn"])
    assert (turn.status, turn.error_code, turn.retryable) == ("interrupted", "interrupted", True)
    assert turn.messages.filter(role="assistant").exists()
    assert process.wait(timeout=10) == 0
