"""The sockets of documents: who may listen, what is sent, when they close."""

import pytest
from asgiref.sync import sync_to_async
from channels.auth import AuthMiddlewareStack
from channels.routing import URLRouter
from channels.security.websocket import AllowedHostsOriginValidator
from channels.testing import WebsocketCommunicator
from django.test import AsyncClient

from agent.services import start_turn
from documents import sockets
from documents.models import Document
from documents.services import delete_document, update_document
from documents.urls import websocket_urlpatterns
from organizations.models import Membership
from organizations.services import end_membership
from tests.conftest import Person
from tests.documents.making import RECEIPT, make_document

pytestmark = pytest.mark.django_db(transaction=True)
# As docrouter.asgi puts it together, without the rest of the application.
application = AllowedHostsOriginValidator(AuthMiddlewareStack(URLRouter(websocket_urlpatterns)))


async def socket_of(person: Person | None, path: str, origin: bytes = b"http://localhost") -> WebsocketCommunicator:
    """A websocket with the session of a signed-in person."""
    headers = [(b"origin", origin), (b"host", b"localhost")]
    if person is not None:
        client = AsyncClient()
        await client.aforce_login(person.user)
        cookies = "; ".join(f"{name}={morsel.value}" for name, morsel in client.cookies.items())
        headers.append((b"cookie", cookies.encode()))
    return WebsocketCommunicator(application, path, headers=headers)


@pytest.fixture
def receipt(alice: Person) -> Document:
    return make_document(alice, *RECEIPT)


async def test_a_member_sees_the_state_of_a_document_change(alice: Person, bob: Person, receipt: Document) -> None:
    listening = await socket_of(bob, "/ws/documents")
    assert (await listening.connect())[0]
    await sync_to_async(update_document)(actor=alice.actor, document_id=receipt.id, name="June.pdf")
    news, status = [await listening.receive_from(5) for _ in range(2)]
    assert 'data-changed="documents-changed"' in news
    assert f'id="status-{receipt.id.hex}" hx-swap-oob="true"' in status
    await listening.disconnect()


async def test_the_workspace_hears_of_its_own_document_only(alice: Person, receipt: Document) -> None:
    other = await sync_to_async(make_document)(alice, *RECEIPT)
    listening = await socket_of(alice, f"/ws/documents/{receipt.id.hex}")
    assert (await listening.connect())[0]
    await sync_to_async(update_document)(actor=alice.actor, document_id=other.id, name="Other.pdf")
    await sync_to_async(start_turn)(actor=alice.actor, document_id=receipt.id, text="What is it?", launch=False)
    await sync_to_async(update_document)(actor=alice.actor, document_id=receipt.id, name="June.pdf")
    html = await listening.receive_from(5)
    assert 'data-type="document.updated"' in html
    assert ">June.pdf</h1>" in html
    assert 'id="document-tags" hx-swap-oob="true"' in html
    assert other.id.hex not in html
    assert await listening.receive_nothing(0.1)
    await listening.disconnect()


async def test_nobody_foreigners_and_foreign_origins_are_refused(
    alice: Person, charlie: Person, receipt: Document
) -> None:
    address = f"/ws/documents/{receipt.id.hex}"
    for person, path, origin in (
        (None, "/ws/documents", b"http://localhost"),
        (None, address, b"http://localhost"),
        (charlie, address, b"http://localhost"),
        (alice, "/ws/documents/nonsense", b"http://localhost"),
        (alice, address, b"http://evil.example"),
    ):
        refused = await socket_of(person, path, origin)
        assert not (await refused.connect())[0], (person, path, origin)


async def test_other_tenants_hear_nothing(alice: Person, charlie: Person, receipt: Document) -> None:
    listening = await socket_of(charlie, "/ws/documents")
    assert (await listening.connect())[0]
    await sync_to_async(delete_document)(actor=alice.actor, document_id=receipt.id)
    assert await listening.receive_nothing(0.2)
    await listening.disconnect()


async def test_the_socket_of_a_removed_member_closes(
    alice: Person, bob: Person, receipt: Document, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sockets, "RECHECK_SECONDS", 0.0)
    listening = await socket_of(bob, "/ws/documents")
    assert (await listening.connect())[0]
    await Membership.objects.filter(user=bob.user).adelete()
    await sync_to_async(update_document)(actor=alice.actor, document_id=receipt.id, name="June.pdf")
    assert (await listening.receive_output(5))["type"] == "websocket.close"


async def test_the_socket_of_a_removed_member_closes_at_once(alice: Person, bob: Person, receipt: Document) -> None:
    listening = await socket_of(bob, "/ws/documents")
    assert (await listening.connect())[0]
    membership = await Membership.objects.aget(user=bob.user)
    await sync_to_async(end_membership)(actor=alice.actor, membership=membership)
    assert (await listening.receive_output(5)) == {"type": "websocket.close", "code": 4403}


async def test_what_a_browser_sends_is_ignored(alice: Person, receipt: Document) -> None:
    listening = await socket_of(alice, f"/ws/documents/{receipt.id.hex}")
    assert (await listening.connect())[0]
    await listening.send_to('{"type": "document.event", "event": {}}')
    assert await listening.receive_nothing(0.1)
    await listening.disconnect()
