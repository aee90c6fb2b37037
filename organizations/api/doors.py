"""The base views of the JSON API: anybody, a signed-in person, the deployment's admin, a member of an organization."""

import uuid
from typing import Any, ClassVar

import structlog
from django.http import HttpRequest

from core.api.views import ApiView, AsyncApiView
from core.errors import NotFound
from core.ids import parse_id
from organizations.actor import Actor
from organizations.api.authentication import Caller, caller_of
from organizations.errors import AdminRequired, NotAMember
from organizations.selectors import actor_for, actor_of_system_admin


class PublicView(ApiView):
    """For anybody. Counts against the network address."""

    access: ClassVar[str] = "public"


class AccountView(ApiView):
    """`/v0/account/…`: a browser session, a signed session, or an account-level token."""

    access: ClassVar[str] = "account"
    caller: Caller

    def admit(self, request: HttpRequest) -> None:
        self.caller = caller_of(request, organization_id=None)
        structlog.contextvars.bind_contextvars(user_id=self.caller.user.pk.hex)

    def counted_as(self, request: HttpRequest) -> list[tuple[str, str]]:
        return [("person", self.caller.user.pk.hex)]


class SystemAdminView(AccountView):
    """For those who run the deployment."""

    access: ClassVar[str] = "system_admin"

    def admit(self, request: HttpRequest) -> None:
        super().admit(request)
        if not self.caller.is_system_admin:
            raise AdminRequired()


class OrganizationView(ApiView):
    """`/v0/orgs/{organization_id}/…`: members. `actor` is the first argument of every selector and service.

    An organization that does not exist looks like one that the caller does not belong to.
    """

    access: ClassVar[str] = "organization"
    admits_system_admins: ClassVar[bool] = False
    caller: Caller
    actor: Actor

    def dispatch(self, request: Any, organization_id: str, **kwargs: Any) -> Any:
        """The organization of the address is ours; handlers get the rest of it."""
        self._organization_text = organization_id
        return super().dispatch(request, **kwargs)

    def admit(self, request: HttpRequest) -> None:
        organization_id = self._organization_id()
        self.caller = caller_of(request, organization_id=organization_id)
        self.actor = self._actor(organization_id)
        structlog.contextvars.bind_contextvars(organization_id=organization_id.hex, user_id=self.actor.user_id.hex)

    def counted_as(self, request: HttpRequest) -> list[tuple[str, str]]:
        return [("person", self.actor.user_id.hex), ("organization", self.actor.organization_id.hex)]

    def _organization_id(self) -> uuid.UUID:
        try:
            return parse_id(self._organization_text)
        except NotFound:
            return uuid.UUID(int=0)  # nobody's: goes the way of an unknown one

    def _actor(self, organization_id: uuid.UUID) -> Actor:
        user, name = self.caller.user, self.caller.name
        try:
            return actor_for(user=user, organization_id=organization_id, via="api", name=name)
        except NotAMember:
            if self.admits_system_admins and self.caller.is_system_admin:
                return actor_of_system_admin(user=user, organization_id=organization_id, via="api", name=name)
            raise


class OrganizationSystemAdminView(OrganizationView):
    """An organization's address that only those who run the deployment may use; they need not be members."""

    access: ClassVar[str] = "system_admin"
    admits_system_admins: ClassVar[bool] = True

    def admit(self, request: HttpRequest) -> None:
        super().admit(request)
        if not self.caller.is_system_admin:
            raise AdminRequired()


class AsyncAccountView(AccountView, AsyncApiView):
    """The account's addresses that wait for a model."""


class AsyncSystemAdminView(SystemAdminView, AsyncApiView):
    """The admin's addresses that wait for a model."""


class AsyncOrganizationView(OrganizationView, AsyncApiView):
    """An organization's addresses that wait for a model or stream."""


class AsyncOrganizationSystemAdminView(OrganizationSystemAdminView, AsyncApiView):
    """An organization's addresses for the deployment's admin that wait for a model."""
