"""The socket of a conversation, over the real channel layer: who gets it, what it says, when it ends."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from channels.auth import AuthMiddlewareStack
from channels.db import database_sync_to_async
from channels.routing import URLRouter
from channels.security.websocket import AllowedHostsOriginValidator
from channels.testing import WebsocketCommunicator
from django.conf import settings
from django.contrib.sessions.models import Session

from agent.services import Decision, cancel_turn, decide, start_turn
from agent.streams import last_seq
from docrouter.urls import websocket_urlpatterns
from documents.models import Document
from organizations.models import Membership
from organizations.services import end_membership
from tests.agent.rows import make_thread, waiting_turn
from tests.agent.staging import make_document, makes_tag, put_on_stage, says, waits_for
from tests.conftest import Person, make_person

pytestmark = pytest.mark.django_db(transaction=True)
NOT_ALLOWED = 4403
application = AllowedHostsOriginValidator(AuthMiddlewareStack(URLRouter(websocket_urlpatterns)))


@pytest.fixture
def alice(transactional_db: None) -> Person:
    return make_person("alice@example.com")


@pytest.fixture
def document(alice: Person) -> Document:
    return make_document(alice.actor)


def socket(person: Person | None, document: Document, thread_id: str, *, origin: str = "http://localhost") -> Any:
    headers = [(b"origin", origin.encode()), (b"host", b"localhost")]
    if person is not None:
        session = person.client().cookies[settings.SESSION_COOKIE_NAME].value
        headers.append((b"cookie", f"{settings.SESSION_COOKIE_NAME}={session}".encode()))
    path = f"/ws/documents/{document.pk.hex}/threads/{thread_id}"
    return WebsocketCommunicator(application, path, headers=headers)


@asynccontextmanager
async def watching(person: Person | None, document: Document, thread_id: str, **more: Any) -> AsyncIterator[Any]:
    """A connected page; closed afterwards."""
    page = await database_sync_to_async(socket)(person, document, thread_id, **more)
    connected, _ = await page.connect(timeout=10)
    page.connected_well = connected
    try:
        yield page
    finally:
        await page.disconnect()


async def said_until(page: Any, words: str) -> list[str]:
    """Everything that came up to the message that has these words."""
    messages: list[str] = []
    while not messages or words not in messages[-1]:
        messages.append(await page.receive_from(timeout=10))
    return messages


async def test_a_turn_is_told_as_fragments_numbered_without_gaps(
    alice: Person, document: Document, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_on_stage(monkeypatch, says("It is an **invoice** of twelve reactors.", thinking="Let me see."), pause=0.01)
    thread = await database_sync_to_async(make_thread)(alice.actor, document)
    async with watching(alice, document, thread.pk.hex) as page:
        turn = await database_sync_to_async(start_turn)(
            actor=alice.actor, document_id=document.pk, text="What is it?", thread_id=thread.pk
        )
        messages = await said_until(page, "Show what was sent")
    numbers = [message.split("-->")[0].split()[2] for message in messages]
    assert numbers == [str(number) for number in range(1, len(messages) + 1)]
    assert len(messages) == await database_sync_to_async(last_seq)(turn.pk)
    whole = "".join(messages)
    assert whole.count(f'id="round-{turn.pk.hex}-0"') == 1, "the frame of a round is sent once"
    assert "What is it?" in messages[0]
    assert "<strong>invoice</strong>" in whole
    assert "Working…" in messages[0]


async def test_a_decision_elsewhere_is_seen_within_a_second(
    alice: Person, document: Document, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_on_stage(monkeypatch, makes_tag(), says("Done."))
    thread = await database_sync_to_async(make_thread)(alice.actor, document)
    turn = await database_sync_to_async(start_turn)(
        actor=alice.actor, document_id=document.pk, text="Tag", thread_id=thread.pk
    )
    await database_sync_to_async(waits_for)(turn.pk, "waiting")
    async with watching(alice, document, thread.pk.hex) as page:
        first = await page.receive_from(timeout=5)
        assert first.startswith(f"<!--at {turn.pk.hex} "), "the page learns how far the turn is"
        await database_sync_to_async(decide)(
            actor=alice.actor,
            document_id=document.pk,
            turn_id=turn.pk,
            decisions=[Decision(call_id="w", approved=True)],
        )
        decided = await page.receive_from(timeout=1)
        assert "Approved" in decided
        assert 'id="waiting-count"' in decided
        assert "Created tag" in "".join(await said_until(page, "Show what was sent"))


async def test_nothing_sent_to_the_socket_does_anything(alice: Person, document: Document) -> None:
    turn = await database_sync_to_async(waiting_turn)(alice.actor, document)
    async with watching(alice, document, turn.thread.pk.hex) as page:
        await page.receive_from(timeout=5)
        await page.send_to(text_data='{"decision": "approve"}')
        assert await page.receive_nothing(timeout=0.2)


async def test_an_admin_may_watch_and_a_member_may_not(alice: Person, document: Document) -> None:
    bob = await database_sync_to_async(make_person)("bob@example.com", organization=alice.organization)
    mine = await database_sync_to_async(make_thread)(alice.actor, document)
    bobs = await database_sync_to_async(make_thread)(bob.actor, document)
    for person, thread, welcome in ((bob, mine, False), (alice, bobs, True), (bob, bobs, True)):
        async with watching(person, document, thread.pk.hex) as page:
            assert page.connected_well is welcome


async def test_strangers_nobody_and_wrong_addresses_get_no_socket(alice: Person, document: Document) -> None:
    charlie = await database_sync_to_async(make_person)("charlie@example.com")
    thread = await database_sync_to_async(make_thread)(alice.actor, document)
    other = await database_sync_to_async(make_document)(alice.actor, name="other.pdf")
    for person, where, thread_id in (
        (None, document, thread.pk.hex),
        (charlie, document, thread.pk.hex),
        (alice, other, thread.pk.hex),
        (alice, document, "nonsense"),
        (alice, document, "0" * 32),
    ):
        async with watching(person, where, thread_id) as page:
            assert not page.connected_well


async def test_another_sites_page_gets_no_socket(alice: Person, document: Document) -> None:
    thread = await database_sync_to_async(make_thread)(alice.actor, document)
    async with watching(alice, document, thread.pk.hex, origin="https://evil.example") as page:
        assert not page.connected_well


async def test_a_removed_members_socket_closes(alice: Person, document: Document) -> None:
    bob = await database_sync_to_async(make_person)("bob@example.com", organization=alice.organization)
    turn = await database_sync_to_async(waiting_turn)(bob.actor, document)
    async with watching(bob, document, turn.thread.pk.hex) as page:
        await page.receive_from(timeout=5)
        membership = await database_sync_to_async(Membership.objects.get)(user=bob.user)
        await database_sync_to_async(end_membership)(actor=alice.actor, membership=membership)
        assert (await page.receive_output(timeout=5)) == {"type": "websocket.close", "code": NOT_ALLOWED}


async def test_a_signed_out_persons_socket_closes_at_the_next_event(alice: Person, document: Document) -> None:
    turn = await database_sync_to_async(waiting_turn)(alice.actor, document)
    async with watching(alice, document, turn.thread.pk.hex) as page:
        await page.receive_from(timeout=5)
        session = page.scope["headers"][-1][1].decode().split("=")[1]
        await database_sync_to_async(sign_out)(session)
        await database_sync_to_async(cancel_turn)(actor=alice.actor, document_id=document.pk, turn_id=turn.pk)
        assert (await page.receive_output(timeout=5))["type"] == "websocket.close"


def sign_out(session_key: str) -> None:
    Session.objects.get(session_key=session_key).delete()


async def test_a_reader_that_left_stops_nothing(
    alice: Person, document: Document, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_on_stage(monkeypatch, says("word " * 20), pause=0.01)
    thread = await database_sync_to_async(make_thread)(alice.actor, document)
    async with watching(alice, document, thread.pk.hex) as page:
        turn = await database_sync_to_async(start_turn)(
            actor=alice.actor, document_id=document.pk, text="Talk", thread_id=thread.pk
        )
        await page.receive_from(timeout=5)
    await asyncio.sleep(0)
    assert (await database_sync_to_async(waits_for)(turn.pk, "done")).status == "done"
