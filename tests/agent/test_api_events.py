"""Following a turn: from any cursor, after losses, to its end; nothing lost, nothing twice."""

import asyncio
import json
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.utils import timezone
from redis import Redis

from agent import runner
from agent.api import frames, views, waiting
from agent.events import AssistantTextChunk
from agent.models import Turn
from agent.processing import reap
from agent.selectors import turn_events
from agent.streams import Numbered, append_now, stored_events, stream_key
from documents.models import Document
from organizations.models import AuditEntry, Membership
from tests.agent.rows import make_thread, make_turn
from tests.agent.staging import make_document, makes_tag, put_on_stage, says, waits_for
from tests.agent.wire import decision, question, stream
from tests.api import Api, api_of
from tests.conftest import Person, make_person

pytestmark = pytest.mark.django_db(transaction=True)
TALK = "one two three four five six seven eight nine ten"


@pytest.fixture
def alice(transactional_db: None) -> Person:
    return make_person("alice@example.com")


@pytest.fixture
def document(alice: Person) -> Document:
    return make_document(alice.actor)


@pytest.fixture
def api(alice: Person) -> Api:
    return api_of(alice)


@pytest.fixture
def chat(document: Document) -> str:
    return f"documents/{document.pk.hex}/chat"


def test_a_chat_begins_with_the_words_that_its_runner_keeps(api: Api, chat: str, monkeypatch: Any) -> None:
    put_on_stage(monkeypatch, says("Fine"))
    told = stream(api, "post", chat, question(stream=True))
    kept = stored_events(Turn.objects.get().pk)
    assert told.ids == list(range(1, len(kept) + 1))
    assert told.events[0] == json.loads(kept[0].text)


def test_who_was_told_of_the_start_hears_of_the_end_of_a_turn_that_nobody_ran(
    api: Api, chat: str, monkeypatch: Any
) -> None:
    monkeypatch.setattr(runner, "launch_new", lambda _begun: None)
    reaper = later(lambda: Turn.objects.update(lease_until=timezone.now() - timedelta(seconds=1)) and reap())
    told = stream(api, "post", chat, question(stream=True))
    reaper.join()
    assert (told.ids, told.types) == ([1, 2], ["turn_started", "error"])
    assert told.last["code"] == "interrupted"


def later(work: Callable[[], Any], seconds: float = 0.3) -> threading.Thread:
    """Something that happens while a stream is read."""

    def run() -> None:
        time.sleep(seconds)
        work()

    thread = threading.Thread(target=run)
    thread.start()
    return thread


def test_who_was_cut_off_gets_the_rest_and_only_the_rest(api: Api, chat: str, monkeypatch: Any) -> None:
    put_on_stage(monkeypatch, says(TALK), pause=0.06)
    first = stream(api, "post", chat, question(stream=True), parts=3)
    turn_id = first.events[0]["turn_id"]
    ids, events = list(first.ids), list(first.events)
    while events[-1]["type"] != "done":
        part = stream(api, "get", f"{chat}/turns/{turn_id}/events", parts=3, Last_Event_ID=str(ids[-1]))
        ids, events = ids + part.ids, events + part.events
    whole = stream(api, "get", f"{chat}/turns/{turn_id}/events")
    assert (ids, events) == (whole.ids, whole.events)
    assert ids == list(range(1, len(ids) + 1))
    assert "".join(event.get("chunk", "") for event in events).split() == TALK.split()
    over = stream(api, "get", f"{chat}/turns/{turn_id}/events?after={ids[-1]}")
    assert (over.events, over.comments) == ([], [": keepalive"])


def test_a_reader_who_knows_of_the_pause_hears_what_is_decided(api: Api, chat: str, monkeypatch: Any) -> None:
    put_on_stage(monkeypatch, makes_tag(), says("Done"))
    first = stream(api, "post", chat, question(stream=True))
    turn_id = first.last["result"]["turn_id"]
    again = stream(api, "get", f"{chat}/turns/{turn_id}/events?after=1")
    assert (again.ids, again.types) == ([2, 3], ["approval_required", "done"])
    body = {"turn_id": turn_id, "approvals": [decision()]}
    deciding = later(lambda: api.post(f"{chat}/approve", body))
    rest = stream(api, "get", f"{chat}/turns/{turn_id}/events", Last_Event_ID="3")
    deciding.join()
    assert rest.ids[0] == 4
    assert rest.last["result"]["text"] == "Done"
    whole = stream(api, "get", f"{chat}/turns/{turn_id}/events")
    assert whole.events == first.events + rest.events, "a pause in the middle does not end a replay"


def test_a_lost_stream_is_one_snapshot_and_then_live(api: Api, chat: str, monkeypatch: Any) -> None:
    put_on_stage(monkeypatch, makes_tag(), says("Done"))
    turn_id = api.post(chat, question())["turn_id"]
    forget(turn_id)
    told = stream(api, "get", f"{chat}/turns/{turn_id}/events")
    assert (told.types, told.ids) == (["snapshot", "approval_required", "done"], [3, 3, 3])
    assert told.events[0]["rounds"][0]["tool_calls"][0]["status"] == "waiting"
    assert told.last["result"]["tool_calls"][0]["id"] == "w"
    api.post(f"{chat}/approve", {"turn_id": turn_id, "approvals": [decision()]})
    rest = stream(api, "get", f"{chat}/turns/{turn_id}/events", Last_Event_ID="3")
    assert (rest.ids[0], rest.types[0], rest.last["result"]["text"]) == (4, "turn_started", "Done")
    forget(turn_id)
    ended = stream(api, "get", f"{chat}/turns/{turn_id}/events?after=1")
    assert ended.types == ["snapshot", "done"]
    assert ended.events[0]["status"] == "done"
    future = stream(api, "get", f"{chat}/turns/{turn_id}/events?after=999")
    assert future.types == ["snapshot", "done"]


def test_a_stream_that_is_lost_in_the_middle_goes_on_after_a_snapshot(api: Api, chat: str, monkeypatch: Any) -> None:
    put_on_stage(monkeypatch, says(TALK), pause=0.08)
    monkeypatch.setattr(frames, "KEEPALIVE_SECONDS", 0.2)
    first = stream(api, "post", chat, question(stream=True), parts=3)
    forget(first.events[0]["turn_id"])
    rest = stream(api, "get", f"{chat}/turns/{first.events[0]['turn_id']}/events?after=1")
    assert "snapshot" in rest.types
    assert rest.last["result"]["text"].split() == TALK.split()
    assert rest.ids == sorted(rest.ids)


def test_who_keeps_up_while_it_is_told_never_needs_a_snapshot(alice: Person, document: Document) -> None:
    thread = make_thread(alice.actor, document)
    turn = make_turn(thread, alice.actor, status="running", epoch=1)
    told = [Numbered(seq, AssistantTextChunk(chunk="x", round_index=0)) for seq in range(1, 301)]
    append_now(turn.pk, None, told[0])

    def tell() -> None:
        for numbered in told[1:]:
            append_now(turn.pk, None, numbered)

    telling = later(tell, 0.0)
    cursor, seen = 0, []
    while cursor < len(told):
        replay = turn_events(actor=alice.actor, turn_id=turn.pk, document_id=document.pk, after=cursor)
        assert replay.snapshot is None
        seen += [stored.seq for stored in replay.stored]
        cursor = replay.seq
    telling.join()
    assert seen == list(range(1, 301))


def test_nothing_said_is_a_comment_now_and_then(api: Api, chat: str, monkeypatch: Any) -> None:
    put_on_stage(monkeypatch, says("slow answer"), pause=0.5)
    monkeypatch.setattr(frames, "KEEPALIVE_SECONDS", 0.15)
    told = stream(api, "post", chat, question(stream=True))
    assert told.comments.count(": keepalive") >= 2
    assert told.last["result"]["text"] == "slow answer"


def test_a_slow_reader_is_dropped_and_comes_back(api: Api, chat: str, monkeypatch: Any) -> None:
    put_on_stage(monkeypatch, says(TALK), pause=0.05)
    monkeypatch.setattr(frames, "SLOW_SECONDS", -1.0)
    told = stream(api, "post", chat, question(stream=True))
    assert (told.last["type"], told.last["code"], told.last["retryable"]) == ("error", "slow_consumer", True)
    assert told.ids[-1] == told.ids[-2], "its id is the last event that arrived"
    turn_id = told.events[0]["turn_id"]
    monkeypatch.setattr(frames, "SLOW_SECONDS", 30.0)
    rest = stream(api, "get", f"{chat}/turns/{turn_id}/events", Last_Event_ID=str(told.ids[-1]))
    assert rest.ids[0] == told.ids[-1] + 1
    assert rest.last["type"] == "done"


def test_who_loses_the_membership_hears_no_more(
    api: Api, chat: str, alice: Person, document: Document, monkeypatch: Any
) -> None:
    put_on_stage(monkeypatch, makes_tag())
    monkeypatch.setattr(frames, "KEEPALIVE_SECONDS", 0.15)
    monkeypatch.setattr(views, "FRESH_SECONDS", 0.0)
    turn_id = api.post(chat, question())["turn_id"]
    leaving = later(lambda: Membership.objects.filter(user=alice.user).delete())
    told = stream(api, "get", f"{chat}/turns/{turn_id}/events?after=3")
    leaving.join()
    assert (told.last["type"], told.last["error"]) == ("error", "You are not a member of this organization")


def test_a_bug_in_the_middle_is_an_error_frame_without_its_words(api: Api, chat: str, monkeypatch: Any) -> None:
    def burst(*_: Any) -> Any:
        raise RuntimeError("secret of the document")

    put_on_stage(monkeypatch, says("Fine"))
    monkeypatch.setattr(frames, "finish_text", burst)
    told = stream(api, "post", chat, question(stream=True))
    assert (told.last["code"], told.last["error"]) == (
        "internal_error", "Something went wrong on our side. Try again.",
    )  # fmt: skip


@pytest.mark.parametrize("cursor", ["x", "-1", "1.5", "9" * 30, "٣"])
def test_a_cursor_that_is_no_number_is_refused(api: Api, chat: str, cursor: str, monkeypatch: Any) -> None:
    put_on_stage(monkeypatch, makes_tag())
    turn_id = api.post(chat, question())["turn_id"]
    assert api.raw("get", f"{chat}/turns/{turn_id}/events?after={cursor}").status_code == 422
    if cursor.isascii():
        assert api.raw("get", f"{chat}/turns/{turn_id}/events", Last_Event_ID=cursor).status_code == 400


def test_a_turn_is_read_with_what_waits_and_what_was_decided(api: Api, chat: str, monkeypatch: Any) -> None:
    put_on_stage(monkeypatch, makes_tag(), says("Done"))
    turn_id = api.post(chat, question())["turn_id"]
    turn = api.get(f"{chat}/turns/{turn_id}")
    assert (turn["status"], turn["result"]["turn_id"], turn["tool_calls"][0]["id"]) == ("waiting", turn_id, "w")
    assert (turn["decisions"], turn["last_event_id"]) == ([], 3)
    assert turn["expires_at"].endswith("Z")
    edited = decision(arguments={"name": "Settled"}, reason="")
    api.post(f"{chat}/approve", {"turn_id": turn_id, "approvals": [edited]})
    turn = api.get(f"{chat}/turns/{turn_id}")
    assert (turn["status"], turn["result"]["text"], turn["tool_calls"]) == ("done", "Done", [])
    assert turn["decisions"][0]["decision"] == "edited"
    (call,) = turn["executed_rounds"][0]["tool_calls"]
    assert (call["arguments"], call["success"], call["decided_by"]) == (
        '{"name": "Settled"}', True, "Alice's program",
    )  # fmt: skip
    assert turn["usage"]["prompt_tokens"] == 20


def test_a_turn_of_a_private_thread_is_there_for_its_author_and_audited_for_admins(
    alice: Person, document: Document, monkeypatch: Any
) -> None:
    put_on_stage(monkeypatch, makes_tag(), says("Done"))
    bob = api_of(make_person("bob@example.com", organization=alice.organization))
    chat = f"documents/{document.pk.hex}/chat"
    dora = api_of(make_person("dora@example.com", organization=alice.organization))
    thread = bob.post(f"{chat}/threads")["thread_id"]
    turn_id = bob.post(chat, question(thread_id=thread))["turn_id"]
    assert dora.error("get", f"{chat}/turns/{turn_id}") == (404, "Turn not found")
    assert dora.error("get", f"{chat}/turns/{turn_id}/events") == (404, "Turn not found")
    assert dora.error("post", f"{chat}/cancel", {"turn_id": turn_id})[0] == 400
    assert dora.error("get", f"{chat}/threads/{thread}") == (404, "Thread not found")
    assert dora.get(f"{chat}/threads") == []
    admin = api_of(alice)
    assert not AuditEntry.objects.filter(action="turn.opened_by_admin").exists()
    assert admin.get(f"{chat}/turns/{turn_id}")["status"] == "waiting"
    assert AuditEntry.objects.filter(action="turn.opened_by_admin").count() == 1
    bob.raw("patch", f"{chat}/threads/{thread}", {"shared": True})
    assert dora.get(f"{chat}/turns/{turn_id}")["status"] == "waiting"


def test_who_waits_long_enough_is_told_that_it_still_runs(api: Api, chat: str, monkeypatch: Any) -> None:
    put_on_stage(monkeypatch, makes_tag(), says("Done at last"), pause=0.4)
    monkeypatch.setattr(views, "APPROVE_SECONDS", 0.2)
    turn_id = api.post(chat, question())["turn_id"]
    early = api.post(f"{chat}/approve", {"turn_id": turn_id, "approvals": [decision()]})
    assert (early["status"], early["turn_id"], early["decisions"][0]["accepted"]) == ("running", turn_id, True)
    waits_for(turn_id, "done")


def test_an_answer_comes_even_when_the_stream_is_away(api: Api, chat: str, monkeypatch: Any) -> None:
    put_on_stage(monkeypatch, says("From the rows"), pause=0.1)

    async def away(*_: Any, **__: Any) -> Any:
        raise OSError("no stream")
        yield  # type: ignore[unreachable]  # makes it an asynchronous generator

    monkeypatch.setattr(waiting, "watch", away)
    assert api.post(chat, question())["text"] == "From the rows"


def test_many_who_wait_hold_neither_threads_nor_connections(
    api: Api, chat: str, alice: Person, document: Document, monkeypatch: Any
) -> None:
    put_on_stage(monkeypatch, makes_tag())
    turn = Turn.objects.get(pk=api.post(chat, question())["turn_id"])
    Turn.objects.filter(pk=turn.pk).update(status="running", epoch=9)
    turn.status = "running"

    async def wait_all() -> None:
        await asyncio.gather(*(waiting.end_of_run(turn, after=3, seconds=0.5) for _ in range(60)))

    begun, threads = time.monotonic(), threading.active_count()
    asyncio.run(wait_all())
    assert time.monotonic() - begun < 5
    assert threading.active_count() - threads <= 9


def forget(turn_id: str) -> None:
    """The stream is gone, as after an hour or a crash of Redis."""
    with Redis.from_url(settings.REDIS_URL) as redis:
        redis.delete(stream_key(Turn.objects.get(pk=turn_id).pk))
