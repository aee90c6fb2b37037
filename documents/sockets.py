"""Who is at the other end of a websocket: the same person, session and membership as on the pages."""

import time
from typing import Any

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncWebsocketConsumer
from django.contrib.auth.models import AnonymousUser

from organizations.actor import Actor
from organizations.errors import NotAMember
from organizations.middleware import SESSION_KEY
from organizations.models import User
from organizations.news import members_group
from organizations.selectors import actor_for, actor_of_membership, memberships_of

RECHECK_SECONDS = 15.0


class MemberConsumer(AsyncWebsocketConsumer):  # type: ignore[misc]  # channels has no types
    """A socket that only sends. Nobody and people without a membership are refused; a removed member's socket closes.

    The origin was checked in front of it (docrouter.asgi).
    """

    actor: Actor
    _checked_at = 0.0

    async def connect(self) -> None:
        """Let members in and join the groups of `watched`."""
        actor = await database_sync_to_async(self._resolve)()
        if actor is None:
            await self.close(4401)
            return
        self.actor, self._checked_at = actor, time.monotonic()
        watched = await self.watched()
        if not watched:
            await self.close(4404)
            return
        self.joined = (*watched, members_group(actor.organization_id))
        for group in self.joined:
            await self.channel_layer.group_add(group, self.channel_name)
        await self.accept()

    async def disconnect(self, _code: int) -> None:
        """Leave the groups."""
        for group in getattr(self, "joined", ()):
            await self.channel_layer.group_discard(group, self.channel_name)

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """Commands are form posts; what comes in here is ignored."""

    async def watched(self) -> tuple[str, ...]:
        """The groups to join; none refuses the socket."""
        raise NotImplementedError

    async def still_member(self) -> bool:
        """Ask again from time to time; close the socket of who is no member any more."""
        if time.monotonic() - self._checked_at < RECHECK_SECONDS:
            return True
        return await self._check_membership()

    async def membership_changed(self, message: dict[str, Any]) -> None:
        """Memberships of the organization changed: look at once whether it was this person's."""
        await self._check_membership()

    async def _check_membership(self) -> bool:
        if not await database_sync_to_async(self._is_member)():
            await self.close(4403)
            return False
        self._checked_at = time.monotonic()
        return True

    def _resolve(self) -> Actor | None:
        user: Any = self.scope.get("user", AnonymousUser())
        if not isinstance(user, User) or not user.is_active:
            return None
        rows = list(memberships_of(user=user)[:50])
        chosen = self.scope["session"].get(SESSION_KEY) if "session" in self.scope else None
        mine = next((row for row in rows if row.organization_id.hex == chosen), rows[0] if rows else None)
        return actor_of_membership(membership=mine, user=user, via="page") if mine else None

    def _is_member(self) -> bool:
        try:
            actor_for(user=self.scope["user"], organization_id=self.actor.organization_id, via="page")
        except NotAMember:
            return False
        return True
