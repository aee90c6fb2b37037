"""Turns with a database: started, decided, stopped, ended; in one process."""

import asyncio
import time
from datetime import timedelta
from itertools import groupby
from typing import Any

import pytest
from django.conf import settings
from django.utils import timezone
from redis import Redis

from agent import driving, runner
from agent.errors import ArgumentsChanged, ThreadNotFound, TurnNotFound, TurnOpen, UnknownCall
from agent.events import AssistantTextChunk
from agent.models import ToolCall, Turn
from agent.processing import reap
from agent.selectors import (
    branches,
    get_turn,
    newest_of_branch,
    thread_turns,
    turn_events,
    waiting_turns,
    what_was_sent,
)
from agent.services import (
    Decision,
    cancel_turn,
    create_standing_rule,
    create_thread,
    decide,
    delete_thread,
    open_thread,
    share_thread,
    start_turn,
    undo_tool_call,
)
from agent.streams import Numbered, follow, stream_key
from agent.toolbox import ArgumentsRefused
from documents.models import Document
from llm.errors import ModelStreamBroken
from organizations.models import AuditEntry
from tags_app.models import Tag
from tests.agent.staging import StagedClient, asks, call_of, make_document, makes_tag, put_on_stage, says, waits_for
from tests.conftest import Person, make_person

pytestmark = pytest.mark.django_db(transaction=True)
ENDED = ("done", "failed", "cancelled", "interrupted", "expired")


@pytest.fixture
def alice(transactional_db: None) -> Person:
    return make_person("alice@example.com")


@pytest.fixture
def document(alice: Person) -> Document:
    return make_document(alice.actor)


def ask(person: Person, document: Document, text: str = "Tag it", **more: Any) -> Turn:
    return start_turn(actor=person.actor, document_id=document.pk, text=text, **more)


def approve(person: Person, turn: Turn, call_id: str = "w", **more: Any) -> Any:
    decision = Decision(call_id=call_id, **{"approved": True, **more})
    return decide(actor=person.actor, document_id=turn.document_id, turn_id=turn.pk, decisions=[decision])


def live_tags() -> list[str]:
    return list(Tag.objects.filter(deleted_at__isnull=True).values_list("name", flat=True))


def until_asked(client: StagedClient) -> None:
    end = time.monotonic() + 10
    while not client.sent and time.monotonic() < end:
        time.sleep(0.02)


def test_a_question_is_answered_kept_and_told(alice: Person, document: Document, monkeypatch: Any) -> None:
    client = put_on_stage(monkeypatch, says("It is an invoice", thinking="hm", thinking_blocks=({"signature": "s"},)))
    turn = waits_for(ask(alice, document, "What is this?").pk, *ENDED)
    assert (turn.status, turn.outcome["text"]) == ("done", "It is an invoice")
    assert turn.usage == {"prompt_tokens": 10, "completion_tokens": 5}
    assert float(turn.cost_usd) == 0.01
    question, answer = turn.messages.order_by("position")
    assert (question.content, answer.content) == ("What is this?", "It is an invoice")
    assert answer.thinking_blocks == [{"signature": "s"}]
    assert [message["role"] for message in client.sent[0]] == ["system", "user", "user"]
    sent = what_was_sent(actor=alice.actor, message_id=answer.pk)
    assert sent["messages"] == client.sent[0]
    replay = turn_events(actor=alice.actor, turn_id=turn.pk, document_id=document.pk)
    assert [numbered.seq for numbered in replay.events] == list(range(1, len(replay.events) + 1))
    assert [kind for kind, _ in groupby(numbered.event.type for numbered in replay.events)] == [
        "turn_started", "thinking_chunk", "assistant_text_chunk", "thinking_done", "assistant_text_done", "done",
    ]  # fmt: skip
    rest = turn_events(actor=alice.actor, turn_id=turn.pk, document_id=document.pk, after=3)
    assert [numbered.seq for numbered in rest.events] == [4, 5, 6]


def test_a_write_waits_runs_once_approved_and_can_be_taken_back(
    alice: Person, document: Document, monkeypatch: Any
) -> None:
    put_on_stage(monkeypatch, makes_tag(), says("Done"))
    turn = waits_for(ask(alice, document).pk, "waiting")
    call = call_of(turn)
    assert (call.status, call.summary, live_tags()) == ("waiting", "Create tag “Paid”", [])
    assert list(waiting_turns(actor=alice.actor)) == [turn]
    assert (turn.expires_at or timezone.now()) > timezone.now() + timedelta(days=6)
    outcome = approve(alice, turn, arguments_hash=call.arguments_hash)
    assert [(answer.decision, answer.accepted) for answer in outcome.answers] == [("approved", True)]
    turn = waits_for(turn.pk, *ENDED)
    assert (turn.status, turn.outcome["text"], live_tags()) == ("done", "Done", ["Paid"])
    call = call_of(turn)
    assert (call.status, call.success, call.decided_by_name) == ("done", True, "Alice")
    assert AuditEntry.objects.filter(action="turn.decided", target_id=turn.pk.hex).count() == 1
    assert AuditEntry.objects.get(action="tag.created").via == "agent"
    undo_tool_call(actor=alice.actor, call_row_id=call.pk)
    assert live_tags() == []
    late = approve(alice, turn)
    assert [(answer.decision, answer.accepted) for answer in late.answers] == [("approved", False)]


def test_edits_are_checked_and_are_what_runs(alice: Person, document: Document, monkeypatch: Any) -> None:
    client = put_on_stage(monkeypatch, makes_tag(), says("Done"))
    turn = waits_for(ask(alice, document).pk, "waiting")
    for wrong in ({}, {"name": ""}, {"name": "a", "force": 1}, {"name": float("nan")}):
        with pytest.raises(ArgumentsRefused):
            approve(alice, turn, arguments=wrong)
    with pytest.raises(ArgumentsChanged):
        approve(alice, turn, arguments_hash="0" * 64)
    with pytest.raises(UnknownCall):
        approve(alice, turn, "other")
    assert call_of(turn).status == "waiting"
    outcome = approve(alice, turn, arguments={"name": "Settled"})
    assert outcome.answers[0].decision == "edited"
    waits_for(turn.pk, "done")
    assert live_tags() == ["Settled"]
    assert client.sent[1][-2]["tool_calls"][0]["function"]["arguments"] == '{"name": "Settled"}'


def test_a_partly_decided_batch_stays_open_and_writes_nothing(
    alice: Person, document: Document, monkeypatch: Any
) -> None:
    calls = (("a", "create_tag", '{"name": "A"}'), ("b", "create_tag", '{"name": "B"}'), ("r", "list_tags", "{}"))
    client = put_on_stage(monkeypatch, asks(*calls), says("Done"))
    turn = waits_for(ask(alice, document).pk, "waiting")
    assert call_of(turn, "r").status == "done"
    outcome = approve(alice, turn, "b")
    assert ([row.call_id for row in outcome.pending], outcome.status, live_tags()) == (["a"], "waiting", [])
    approve(alice, turn, "a", approved=False, reason="too many tags")
    waits_for(turn.pk, "done")
    assert live_tags() == ["B"]
    assert "too many tags" in client.sent[1][-3]["content"]
    assert [call_of(turn, one).status for one in "abr"] == ["rejected", "done", "done"]


def test_who_may_decide(alice: Person, document: Document, monkeypatch: Any) -> None:
    put_on_stage(monkeypatch, makes_tag(), says("Done"))
    bob = make_person("bob@example.com", organization=alice.organization)
    charlie = make_person("charlie@example.com")
    other = make_document(alice.actor, name="other.pdf")
    thread = create_thread(actor=alice.actor, document_id=document.pk)
    turn = waits_for(ask(alice, document, thread_id=thread.pk).pk, "waiting")
    for stranger in (bob, charlie):
        with pytest.raises(TurnNotFound):
            approve(stranger, turn)
        assert list(waiting_turns(actor=stranger.actor)) == []
    with pytest.raises(TurnNotFound):
        decide(actor=alice.actor, document_id=other.pk, turn_id=turn.pk, decisions=[])
    with pytest.raises(TurnNotFound):
        decide(actor=alice.actor, document_id=document.pk, turn_id="nonsense", decisions=[])
    share_thread(actor=alice.actor, document_id=document.pk, thread_id=thread.pk)
    assert list(waiting_turns(actor=bob.actor)) == [turn]
    assert approve(bob, turn).answers[0].accepted
    waits_for(turn.pk, "done")
    assert call_of(turn).decided_by_name == "Bob"


def test_a_thread_has_one_open_turn_and_its_turns_are_the_context(
    alice: Person, document: Document, monkeypatch: Any
) -> None:
    thread = create_thread(actor=alice.actor, document_id=document.pk)
    client = put_on_stage(monkeypatch, makes_tag(), says("Done"))
    turn = waits_for(ask(alice, document, "First question", thread_id=thread.pk).pk, "waiting")
    with pytest.raises(TurnOpen) as refused:
        ask(alice, document, thread_id=thread.pk)
    assert refused.value.extra == {"turn_id": turn.pk.hex}
    client.answers = (says("Fine"),)
    second = waits_for(ask(alice, document, "Something else", thread_id=thread.pk, reject_waiting=True).pk, *ENDED)
    assert second.status == "done"
    assert Turn.objects.get(pk=turn.pk).status == "cancelled"
    roles = [message["role"] for message in client.sent[-1]]
    assert roles == ["system", "user", "user", "assistant", "tool", "user"]
    assert "User rejected this action." in client.sent[-1][4]["content"]
    thread.refresh_from_db()
    assert thread.title == "First question"
    third = waits_for(ask(alice, document, "Better first", thread_id=thread.pk, instead_of=turn.pk).pk, *ENDED)
    assert third.parent_id is None
    assert [message["role"] for message in client.sent[-1]] == ["system", "user", "user"]
    assert thread_turns(thread=thread) == [third]
    assert thread_turns(thread=thread, head=second) == [turn, second]
    assert branches(turn=third) == branches(turn=turn) == [turn, third]
    assert newest_of_branch(turn=turn) == second


def test_a_private_thread_is_its_authors_and_an_admin_who_opens_it_is_noted(alice: Person, document: Document) -> None:
    bob = make_person("bob@example.com", organization=alice.organization)
    eve = make_person("eve@example.com", organization=alice.organization)
    thread = create_thread(actor=bob.actor, document_id=document.pk)
    where = {"document_id": document.pk, "thread_id": thread.pk}
    with pytest.raises(ThreadNotFound):
        open_thread(actor=eve.actor, **where)
    with pytest.raises(ThreadNotFound):
        ask(alice, document, thread_id=thread.pk)
    open_thread(actor=bob.actor, **where)
    assert not AuditEntry.objects.filter(action="thread.opened_by_admin").exists()
    open_thread(actor=alice.actor, **where)
    assert AuditEntry.objects.get(action="thread.opened_by_admin").actor_name == "Alice"


def test_a_reader_follows_a_turn_to_its_end(alice: Person, document: Document, monkeypatch: Any) -> None:
    put_on_stage(monkeypatch, says("one two three four"), pause=0.03)
    turn = ask(alice, document)

    async def read() -> list[Numbered]:
        return [numbered async for numbered in follow(turn.pk, seconds=5)]

    told = asyncio.run(read())
    assert [numbered.seq for numbered in told] == list(range(1, len(told) + 1))
    assert told[-1].event.type == "done"
    chunks = [numbered.event.chunk for numbered in told if isinstance(numbered.event, AssistantTextChunk)]
    assert ("".join(chunks).split(), len(chunks) > 1) == (["one", "two", "three", "four"], True)
    waits_for(turn.pk, "done")


def test_stop_ends_a_running_turn_at_once(alice: Person, document: Document, monkeypatch: Any) -> None:
    client = put_on_stage(monkeypatch, says("word " * 200), pause=0.02)
    turn = ask(alice, document)
    until_asked(client)
    cancel_turn(actor=alice.actor, document_id=document.pk, turn_id=turn.pk)
    turn = waits_for(turn.pk, *ENDED, seconds=1)
    assert (turn.status, client.closed) == ("cancelled", 1)
    with pytest.raises(TurnNotFound):
        approve(alice, turn)


def test_stop_pressed_just_before_a_turn_would_wait_still_counts(
    alice: Person, document: Document, monkeypatch: Any
) -> None:
    def press(*_arguments: Any, **_more: Any) -> bool:
        Turn.objects.update(cancel_requested=True)
        return False

    put_on_stage(monkeypatch, makes_tag())
    monkeypatch.setattr(driving, "may_run_unasked", press)
    monkeypatch.setattr(runner, "LOOK_SECONDS", 60)
    turn = waits_for(ask(alice, document).pk, "waiting", *ENDED)
    assert (turn.status, call_of(turn).status) == ("cancelled", "cancelled")


def test_a_reader_whose_cursor_is_too_old_gets_one_snapshot(
    alice: Person, document: Document, monkeypatch: Any
) -> None:
    put_on_stage(monkeypatch, makes_tag(), says("Done"))
    turn = waits_for(ask(alice, document).pk, "waiting")
    with Redis.from_url(settings.REDIS_URL) as redis:
        redis.delete(stream_key(turn.pk))
    replay = turn_events(actor=alice.actor, turn_id=turn.pk, document_id=document.pk)
    assert (list(replay.events), replay.is_open) == ([], True)
    assert replay.snapshot is not None
    assert replay.snapshot["rounds"][0]["tool_calls"][0]["status"] == "waiting"
    approve(alice, turn)
    waits_for(turn.pk, "done")
    rest = turn_events(actor=alice.actor, turn_id=turn.pk, document_id=document.pk, after=replay.seq)
    assert [numbered.event.type for numbered in rest.events][-1] == "done"
    assert next(numbered.seq for numbered in rest.events) == replay.seq + 1


def test_stop_ends_a_waiting_turn(alice: Person, document: Document, monkeypatch: Any) -> None:
    put_on_stage(monkeypatch, makes_tag())
    turn = waits_for(ask(alice, document).pk, "waiting")
    assert cancel_turn(actor=alice.actor, document_id=document.pk, turn_id=turn.pk).status == "cancelled"
    assert call_of(turn).result == {"error": "Cancelled by the user.", "code": "cancelled"}
    with pytest.raises(TurnNotFound):
        approve(alice, turn)
    replay = turn_events(actor=alice.actor, turn_id=turn.pk, document_id=document.pk)
    assert replay.events[-1].event.type == "done"
    assert [numbered.seq for numbered in replay.events] == list(range(1, len(replay.events) + 1))


def test_a_model_that_fails_ends_the_turn_with_its_words_kept(
    alice: Person, document: Document, monkeypatch: Any
) -> None:
    put_on_stage(monkeypatch, ModelStreamBroken())
    turn = waits_for(ask(alice, document).pk, *ENDED)
    assert (turn.status, turn.error_code, turn.retryable) == ("failed", "model_stream_broken", True)
    assert turn.messages.get(role="assistant").content == "half an "
    replay = turn_events(actor=alice.actor, turn_id=turn.pk, document_id=document.pk)
    assert replay.events[-1].event.type == "error"


def test_a_bug_ends_the_turn_without_telling_its_details(alice: Person, document: Document, monkeypatch: Any) -> None:
    put_on_stage(monkeypatch, RuntimeError("secret of the document"))
    turn = waits_for(ask(alice, document).pk, *ENDED)
    assert (turn.status, turn.error_code) == ("failed", "internal_error")
    assert "secret" not in turn.error_message


def test_a_turn_that_nobody_decides_expires(alice: Person, document: Document, monkeypatch: Any) -> None:
    put_on_stage(monkeypatch, makes_tag())
    turn = waits_for(ask(alice, document).pk, "waiting")
    assert reap() == 0
    Turn.objects.filter(pk=turn.pk).update(expires_at=timezone.now() - timedelta(seconds=1))
    with pytest.raises(TurnNotFound):
        approve(alice, turn)
    assert reap() == 1
    assert Turn.objects.get(pk=turn.pk).status == "expired"
    assert call_of(turn).success is False
    with pytest.raises(TurnNotFound):
        approve(alice, turn)


def test_a_turn_whose_lease_ran_out_is_interrupted_and_its_runner_writes_nothing_more(
    alice: Person, document: Document, monkeypatch: Any
) -> None:
    client = put_on_stage(monkeypatch, says("word " * 40), pause=0.02)
    turn = ask(alice, document)
    waits_for(turn.pk, "running")
    until_asked(client)
    Turn.objects.filter(pk=turn.pk).update(lease_until=timezone.now() - timedelta(seconds=1))
    assert reap() == 1
    runner.launch(turn.pk).result(timeout=10)
    turn.refresh_from_db()
    assert (turn.status, turn.error_code, turn.messages.count()) == ("interrupted", "interrupted", 1)
    assert client.closed == 1


def test_a_started_write_without_a_result_is_reported_and_not_run_again(
    alice: Person, document: Document, monkeypatch: Any
) -> None:
    put_on_stage(monkeypatch, makes_tag(), says("Done"))
    turn = waits_for(ask(alice, document).pk, "waiting")
    past = timezone.now() - timedelta(seconds=1)
    Turn.objects.filter(pk=turn.pk).update(status="running", lease_until=past, expires_at=None)
    ToolCall.objects.filter(turn=turn).update(status="started", decision="approved")
    assert reap() == 1
    assert call_of(turn).status == "interrupted"
    assert "may or may not" in call_of(turn).result["error"]
    assert live_tags() == []


def test_rules_cover_what_they_say_and_never_text_of_the_document(
    alice: Person, document: Document, monkeypatch: Any
) -> None:
    until = timezone.now() + timedelta(days=1)
    create_standing_rule(actor=alice.actor, tool="create_tag", until=until, document_id=document.pk)
    put_on_stage(monkeypatch, makes_tag(), says("Done"))
    assert waits_for(ask(alice, document).pk, "waiting", *ENDED).status == "done"
    copied = "twelve arc reactors, payable within THIRTY days of receipt"
    arguments = f'{{"name": "x", "description": "{copied}"}}'
    put_on_stage(monkeypatch, asks(("w", "create_tag", arguments)), says("Done"))
    turn = waits_for(ask(alice, document).pk, "waiting", *ENDED)
    assert (turn.status, call_of(turn).tainted) == ("waiting", True)
    other = make_document(alice.actor, name="other.pdf")
    put_on_stage(monkeypatch, makes_tag(name="Other"), says("Done"))
    assert waits_for(ask(alice, other).pk, "waiting", *ENDED).status == "waiting"


def test_the_ceiling_wins_over_auto_approve(alice: Person, document: Document, monkeypatch: Any) -> None:
    put_on_stage(monkeypatch, makes_tag(), asks(("d", "delete_document", "{}")), says("Done"))
    names = ["create_tag", "delete_document"]
    turn = waits_for(ask(alice, document, auto_approve=True, auto_approved_tools=names).pk, "waiting", *ENDED)
    assert (turn.status, live_tags()) == ("waiting", ["Paid"])
    assert call_of(turn, "d").status == "waiting"


def test_deleting_a_thread_stops_what_waits_in_it(alice: Person, document: Document, monkeypatch: Any) -> None:
    put_on_stage(monkeypatch, makes_tag())
    thread = create_thread(actor=alice.actor, document_id=document.pk)
    turn = waits_for(ask(alice, document, thread_id=thread.pk).pk, "waiting")
    delete_thread(actor=alice.actor, document_id=document.pk, thread_id=thread.pk)
    assert Turn.objects.get(pk=turn.pk).status == "cancelled"
    with pytest.raises(TurnNotFound):
        get_turn(actor=alice.actor, turn_id=turn.pk)


@pytest.mark.slow
def test_fifty_turns_at_once_each_with_database_work(alice: Person, document: Document, monkeypatch: Any) -> None:
    names = iter(range(50))
    put_on_stage(monkeypatch, lambda: makes_tag(name=f"T{next(names)}"), asks(("r", "list_tags", "{}")), says("Done"))
    turns = [ask(alice, document, auto_approve=True) for _ in range(50)]
    for turn in turns:
        runner.launch(turn.pk).result(timeout=30)
    assert set(Turn.objects.values_list("status", flat=True)) == {"done"}
    assert len(live_tags()) == 50
