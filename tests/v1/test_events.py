"""The log of a document over `/v1`: gapless pages from any cursor while many write, and the same as a stream."""

import asyncio
import json
import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing
from typing import Any

import pytest
from django.db import connection, transaction
from django.test import AsyncClient

from core import wakeups
from documents.api.v1 import following
from documents.events import append_event
from documents.models import Document
from documents.services import delete_document, update_document
from organizations.models import AccessToken, Membership
from organizations.services import end_membership
from tests.conftest import Person, make_person
from tests.documents.making import make_document
from tests.v1.calling import V1, address, v1_of

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def alice(transactional_db: None) -> Person:
    return make_person("alice@example.com")


@pytest.fixture
def document(alice: Person) -> Document:
    return make_document(alice, "Total: 5")


@pytest.fixture
def events(document: Document) -> str:
    return f"documents/{document.pk.hex}/events"


def write(document: Document, count: int, name: str = "w") -> None:
    """Some events, a third of them rolled back."""
    for step in range(count):
        try:
            with transaction.atomic():
                data = {"kind": name, "attempt": step}
                append_event(document_id=document.pk, type="run.started", data=data)
                if step % 3 == 1:
                    raise InterruptedError
        except InterruptedError:
            continue


def everything(v1: V1, events: str) -> list[Any]:
    page = v1.get(f"{events}?limit=1000")
    assert page["nextAfter"] == page["headSeq"]
    found: list[Any] = page["events"]
    return found


def test_an_event_says_what_happened_when_and_by_whom(v1: V1, alice: Person, document: Document, events: str) -> None:
    assert v1.get(events) == {"events": [], "nextAfter": 0, "headSeq": 0}
    began = time.time() * 1000
    update_document(actor=alice.actor, document_id=document.pk, name="b.pdf")
    page = v1.get(events)
    (event,) = page["events"]
    assert began - 1 <= event.pop("at") <= time.time() * 1000 + 1
    assert event == {
        "seq": 1,
        "type": "document.updated",
        "runId": None,
        "turnId": None,
        "actor": {"userId": alice.user.pk.hex, "name": "Alice", "via": "page"},
        "data": {"changed": ["name"]},
    }
    assert (page["nextAfter"], page["headSeq"]) == (1, 1)
    assert v1.get(f"{events}?after=999") == {"events": [], "nextAfter": 999, "headSeq": 1}


def test_readers_with_any_cursors_see_the_same_gapless_sequence_while_many_write(
    v1: V1, document: Document, events: str
) -> None:
    writers = [threading.Thread(target=own_connection, args=(write, document, 12, str(n))) for n in range(5)]

    def follow(seed: int) -> list[Any]:
        dice, cursor, seen = random.Random(seed), 0, list[Any]()
        while cursor < 40:
            page = v1.get(f"{events}?after={cursor}&limit={dice.randrange(1, 8)}")
            assert page["headSeq"] >= page["nextAfter"]
            seen += page["events"]
            cursor = page["nextAfter"]
        return seen

    with ThreadPoolExecutor(2) as readers:
        reading = [readers.submit(own_connection, follow, seed) for seed in range(2)]
        for writer in writers:
            writer.start()
        seen = [one.result(60) for one in reading]
    for writer in writers:
        writer.join()
    assert seen[0] == seen[1] == everything(v1, events)
    assert [event["seq"] for event in seen[0]] == list(range(1, 41))
    dice = random.Random(7)
    for _ in range(10):
        after, limit = dice.randrange(41), dice.randrange(1, 20)
        page = v1.get(f"{events}?after={after}&limit={limit}")
        assert page["events"] == seen[0][after : after + limit]


def own_connection(work: Any, *args: Any) -> Any:
    try:
        return work(*args)
    finally:
        connection.close()


def test_a_page_of_events_or_a_cursor_that_cannot_be_is_refused(v1: V1, events: str) -> None:
    for after in ("-1", "x", "1.5", str(10**30), "%00"):
        assert v1.error("get", f"{events}?after={after}")[0] == 422
    for limit in ("0", "1001", "", "x"):
        assert v1.error("get", f"{events}?limit={limit}")[0] == 422
    for cursor in ("x", "-1", "1.5", "9" * 30):
        refused = v1.error("get", events, Accept="text/event-stream", Last_Event_ID=cursor)
        assert refused == (400, "cursor_invalid")


def test_events_of_what_is_not_ours_are_not_found(v1: V1, document: Document) -> None:
    charlie = make_person("charlie@example.com")
    for place in ("nonsense", "0" * 32, make_document(charlie).pk.hex):
        for accept in ("application/json", "text/event-stream"):
            assert v1.error("get", f"documents/{place}/events", Accept=accept) == (404, "document_not_found")
    assert v1_of(charlie).error("get", f"documents/{document.pk.hex}/events")[0] == 404


# --- The stream -----------------------------------------------------------------------------------------------------


class Stream:
    """What a stream told: events with their ids, comments, and the last frame."""

    def __init__(self) -> None:
        self.events: list[Any] = []
        self.keepalives = 0
        self.error = ""
        self.headers: dict[str, str] = {}

    def take(self, text: str) -> None:
        for frame in text.split("\n\n")[:-1]:
            if frame == ": keepalive":
                self.keepalives += 1
                continue
            lines = dict(line.split(": ", 1) for line in frame.split("\n"))
            if lines.get("event") == "error":
                self.error = json.loads(lines["data"])["error"]["code"]
                continue
            event = json.loads(lines["data"])
            assert int(lines["id"]) == event["seq"]
            self.events.append(event)


async def read(
    v1: V1, path: str, *, until: int = 10**9, seconds: float = 20.0, parts: int = 10**9, after: str = ""
) -> Stream:
    """Read until the stream ends, has told so many events or parts, or so much time has passed."""
    sent = {"Authorization": f"Bearer {v1.token}", "Accept": "text/event-stream"} | (
        {"Last-Event-ID": after} if after else {}
    )
    answer: Any = await AsyncClient().get(address(path), headers=sent)
    assert answer.status_code == 200, answer.content
    told = Stream()
    told.headers = dict(answer.items())
    try:
        async with asyncio.timeout(seconds), aclosing(aiter(answer.streaming_content)) as pieces:
            async for piece in pieces:
                told.take(piece.decode())
                parts -= 1
                if len(told.events) >= until or not parts:
                    break
    except TimeoutError:
        pass
    answer.close()
    del answer, pieces
    await asyncio.sleep(0.02)  # as on a server, the loop goes on and what told us ends in its own order
    return told


def later(work: Any, *args: Any, seconds: float = 0.3) -> threading.Thread:
    def run() -> None:
        time.sleep(seconds)
        own_connection(work, *args)

    thread = threading.Thread(target=run)
    thread.start()
    return thread


def test_the_stream_tells_what_was_and_then_what_comes(v1: V1, alice: Person, document: Document, events: str) -> None:
    write(document, 3)
    writing = later(write, document, 6)
    began = time.monotonic()
    told = asyncio.run(read(v1, f"{events}?after=1", until=5))
    writing.join()
    assert time.monotonic() - began < 5, "it is woken, it does not wait for the next look"
    assert told.events == everything(v1, events)[1:]
    assert told.headers["Content-Type"].startswith("text/event-stream")
    assert (told.headers["Cache-Control"], told.headers["X-Accel-Buffering"]) == ("no-cache", "no")


@pytest.mark.parametrize("wanted", [20, pytest.param(100, marks=pytest.mark.slow)])
def test_cut_connections_lose_nothing_and_tell_nothing_twice(
    v1: V1, document: Document, events: str, wanted: int
) -> None:
    writing = later(write, document, wanted * 3 // 2, seconds=0.0)
    dice, seen, cuts = random.Random(3), list[Any](), 0

    async def follow() -> None:
        nonlocal cuts
        while len(seen) < wanted:
            last = str(seen[-1]["seq"]) if seen else ""
            until = min(dice.randrange(1, 3), wanted - len(seen))
            told = await read(v1, events, until=until, parts=dice.randrange(2, 4), after=last)
            seen.extend(told.events)
            cuts += 1
        while cuts < wanted:
            after = dice.randrange(wanted)
            told = await read(v1, events, parts=2, after=str(after))
            assert told.events == seen[after:wanted]
            cuts += 1

    asyncio.run(follow())
    writing.join()
    assert seen == everything(v1, events)
    assert [event["seq"] for event in seen] == list(range(1, wanted + 1))


def test_nothing_new_is_a_comment_now_and_then(v1: V1, events: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(following, "KEEPALIVE_SECONDS", 0.1)
    told = asyncio.run(read(v1, events, seconds=0.6))
    assert told.keepalives >= 4
    assert told.events == []


def test_a_reader_who_waits_holds_no_connection(v1: V1, document: Document, events: str) -> None:
    async def follow() -> int:
        readers = [asyncio.create_task(read(v1, events, until=1)) for _ in range(30)]
        await asyncio.sleep(1.0)
        held: int = await asyncio.to_thread(own_connection, other_connections)
        await asyncio.to_thread(own_connection, write, document, 1)
        told = await asyncio.gather(*readers)
        assert [len(one.events) for one in told] == [1] * 30
        return held

    before = other_connections()
    assert asyncio.run(follow()) <= before + 10, "as many as there are threads, not as there are readers"


def other_connections() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state IS NOT NULL")
        (count,) = cursor.fetchone()
    return int(count)


def test_without_redis_the_stream_looks_by_itself(
    v1: V1, document: Document, events: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away() -> Any:
        raise OSError

    monkeypatch.setattr(wakeups, "SECONDS_WITHOUT_LAYER", 0.2)
    monkeypatch.setattr(wakeups, "get_channel_layer", lambda: type("Away", (), {"new_channel": staticmethod(away)}))
    writing = later(write, document, 1)
    told = asyncio.run(read(v1, events, until=1))
    writing.join()
    assert [event["seq"] for event in told.events] == [1]


def leave(alice: Person, document: Document) -> None:
    admin = make_person("admin@example.com", organization=alice.organization)
    end_membership(actor=admin.actor, membership=Membership.objects.get(user=alice.user))


def revoke(alice: Person, document: Document) -> None:
    AccessToken.objects.filter(user=alice.user).delete()


def trash(alice: Person, document: Document) -> None:
    delete_document(actor=alice.actor, document_id=document.pk)


def test_who_leaves_the_organization_is_shown_out_at_once(
    v1: V1, alice: Person, document: Document, events: str
) -> None:
    going = later(leave, alice, document)
    began = time.monotonic()
    told = asyncio.run(read(v1, events))
    going.join()
    assert told.error == "token_invalid"
    assert time.monotonic() - began < 5


@pytest.mark.parametrize(("ending", "code"), [(revoke, "token_invalid"), (trash, "document_not_found")])
def test_a_reader_who_may_not_read_any_more_is_told_so_and_shown_out(
    v1: V1, alice: Person, document: Document, events: str, ending: Any, code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(following, "KEEPALIVE_SECONDS", 0.2)
    monkeypatch.setattr(following, "FRESH_SECONDS", 0.0)
    going = later(ending, alice, document)
    told = asyncio.run(read(v1, events))
    going.join()
    assert told.error == code
