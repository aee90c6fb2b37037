"""The socket of a conversation: outbound only. Each event of the thread becomes a fragment for this one viewer.

Who may not see the thread gets no socket; who loses the membership or signs out loses it. The page's own posts carry
every command. Origin is checked in `docrouter.asgi`.
"""

import asyncio
import contextlib
from typing import Any

from channels.generic.websocket import AsyncWebsocketConsumer
from django.contrib.auth import SESSION_KEY as USER_KEY
from django.template.loader import render_to_string

from agent.events import AssistantTextChunk, Event, ThinkingChunk, from_wire
from agent.render import decided_html, event_html, header, needs_turn, round_opened_html
from agent.selectors import count_waiting, get_thread, get_turn, may_open_thread
from agent.streams import last_seq, thread_group
from agent.turn_view import TurnView, turn_view
from core.errors import DomainError
from core.ids import parse_id, show_id
from core.threads import in_thread
from organizations.actor import Actor
from organizations.errors import NotAMember
from organizations.middleware import SESSION_KEY
from organizations.models import User
from organizations.news import members_group
from organizations.selectors import actor_for, memberships_of

NOT_ALLOWED = 4403
RECHECK_SECONDS = 20.0


class ThreadConsumer(AsyncWebsocketConsumer):  # type: ignore[misc]  # channels has no types
    """One open page that shows one thread."""

    actor: Actor
    thread_id: str
    groups: tuple[str, ...] = ()

    async def connect(self) -> None:
        """Joins the group first, then says how far each turn is: what comes in between is noticed as a gap."""
        self.opened: set[tuple[str, int]] = set()
        self._guard: asyncio.Task[None] | None = None
        try:
            await in_thread(self._check)
        except DomainError:
            await self.close(NOT_ALLOWED)
            return
        self.groups = (thread_group(parse_id(self.thread_id)), members_group(self.actor.organization_id))
        for group in self.groups:
            await self.channel_layer.group_add(group, self.channel_name)
        await self.accept()
        for turn_hex, seq in await in_thread(self._positions):
            await self.send(f"<!--at {turn_hex} {seq} {seq}-->")
        self._guard = asyncio.create_task(self._recheck())

    async def disconnect(self, code: int) -> None:
        if self._guard is not None:
            self._guard.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._guard
        for group in self.groups:
            await self.channel_layer.group_discard(group, self.channel_name)

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """Nothing is taken from a page over the socket."""

    async def turn_event(self, message: dict[str, Any]) -> None:
        """An event of a turn of this thread."""
        turn_hex, seq = str(message["turn_id"]), int(message["seq"])
        event = from_wire(message["event"])
        html = self._opened(turn_hex, event)
        if needs_turn(event):
            try:
                html += await in_thread(lambda: self._stored_html(turn_hex, event))
            except DomainError:
                await self.close(NOT_ALLOWED)
                return
        else:
            html += event_html(event, turn_hex=turn_hex)
        await self.send(header(turn_hex, seq, seq) + html)

    async def turn_decided(self, message: dict[str, Any]) -> None:
        """Some calls of a waiting turn were decided or undone, here or elsewhere."""

        def work() -> str:
            self._check()
            turn = self._view(str(message["turn_id"]))
            return decided_html(turn, [str(item) for item in message.get("call_ids", ())]) + self._count()

        try:
            await self.send(await in_thread(work))
        except DomainError:
            await self.close(NOT_ALLOWED)

    async def membership_changed(self, message: dict[str, Any]) -> None:
        """Somebody's membership changed: look whether it was this person's."""
        await self._close_if_gone()

    def _opened(self, turn_hex: str, event: Event) -> str:
        """The frame of a round before its first piece; a page that has it already ignores it."""
        index = getattr(event, "round_index", None)
        if not isinstance(index, int) or (turn_hex, index) in self.opened:
            return ""
        self.opened.add((turn_hex, index))
        is_piece = isinstance(event, AssistantTextChunk | ThinkingChunk) or not needs_turn(event)
        return round_opened_html(turn_hex, index) if is_piece else ""

    def _stored_html(self, turn_hex: str, event: Event) -> str:
        self._check()
        html = event_html(event, turn_hex=turn_hex, turn=self._view(turn_hex))
        return html + (self._count() if event.type in ("approval_required", "done", "error") else "")

    def _view(self, turn_hex: str) -> TurnView:
        turn = get_turn(actor=self.actor, turn_id=turn_hex)
        return turn_view(turn, actor=self.actor)

    def _count(self) -> str:
        waiting = count_waiting(actor=self.actor)
        return render_to_string("agent/_waiting_count.html", {"count": waiting, "oob": True})

    def _positions(self) -> list[tuple[str, int]]:
        thread = get_thread(actor=self.actor, document_id=self._path("document_id"), thread_id=self.thread_id)
        newest = thread.turns.order_by("-created_at", "-id").first()
        return [(show_id(newest.pk), max(last_seq(newest.pk), newest.event_seq))] if newest else []

    def _check(self) -> None:
        """Who this is, still signed in, still a member, still allowed to see the thread. Raises: DomainError."""
        self.actor = actor_of_scope(self.scope)
        thread = get_thread(actor=self.actor, document_id=self._path("document_id"), thread_id=self._path("thread_id"))
        may_open_thread(actor=self.actor, thread=thread)
        self.thread_id = show_id(thread.pk)

    def _path(self, name: str) -> str:
        return str(self.scope["url_route"]["kwargs"][name])

    async def _recheck(self) -> None:
        while True:
            await asyncio.sleep(RECHECK_SECONDS)
            await self._close_if_gone()

    async def _close_if_gone(self) -> None:
        try:
            await in_thread(self._check)
        except DomainError:
            await self.close(NOT_ALLOWED)


def actor_of_scope(scope: dict[str, Any]) -> Actor:
    """The actor behind a socket, read fresh: the session may have ended and the membership with it.

    Raises: NotAMember.
    """
    wrapped: Any = scope["session"]  # channels wraps it lazily
    session = type(getattr(wrapped, "_wrapped", wrapped))(wrapped.session_key)
    user = scope["user"]
    if not isinstance(user, User) or session.get(USER_KEY) != str(user.pk):
        raise NotAMember()
    memberships = list(memberships_of(user=user)[:50])
    chosen = session.get(SESSION_KEY)
    organizations = [membership.organization_id for membership in memberships]
    organization_id = next((item for item in organizations if item.hex == chosen), next(iter(organizations), None))
    if organization_id is None:
        raise NotAMember()
    return actor_for(user=user, organization_id=organization_id, via="page")
