"""The base views of `/v1`: anybody, and a member of the organization that the token or a header names."""

import uuid
from typing import ClassVar

import structlog
from django.http import HttpRequest

from core.api.v1 import V1Dialect
from core.api.views import ApiView, AsyncApiView
from core.errors import NotFound
from core.ids import parse_id
from organizations.actor import Actor
from organizations.api.authentication import Caller, caller_with_organization
from organizations.api.doors import PublicView
from organizations.selectors import actor_for

ORGANIZATION_HEADER = "X-Organization-Id"


class V1PublicView(V1Dialect, PublicView):
    """For anybody. Counts against the network address."""


class AsyncV1PublicView(V1PublicView, AsyncApiView):
    """For anybody, where the answer waits for a model or streams."""


class V1View(V1Dialect, ApiView):
    """Members. `actor` is the first argument of every selector and service."""

    access: ClassVar[str] = "organization"
    caller: Caller
    actor: Actor

    def admit(self, request: HttpRequest) -> None:
        self.caller, organization_id = caller_with_organization(request, named=_named(request))
        self.actor = actor_for(user=self.caller.user, organization_id=organization_id, via="api", name=self.caller.name)
        structlog.contextvars.bind_contextvars(organization_id=organization_id.hex, user_id=self.actor.user_id.hex)

    def counted_as(self, request: HttpRequest) -> list[tuple[str, str]]:
        return [("person", self.actor.user_id.hex), ("organization", self.actor.organization_id.hex)]


class AsyncV1View(V1View, AsyncApiView):
    """Members, where the answer waits for a model or streams."""


def _named(request: HttpRequest) -> uuid.UUID | None:
    """The organization of the header. One that cannot be an id is nobody's: it goes the way of an unknown one."""
    text = request.headers.get(ORGANIZATION_HEADER, "").strip()
    if not text:
        return None
    try:
        return parse_id(text)
    except NotFound:
        return uuid.UUID(int=0)
