"""Give each signed-in request its actor: the membership chosen in the session, else the oldest one."""

import structlog
from django.http import HttpRequest, HttpResponseBase
from django.utils.deprecation import MiddlewareMixin

from organizations.doors import PageRequest, page_request
from organizations.models import Membership, User
from organizations.selectors import actor_of_membership, memberships_of

SESSION_KEY = "organization_id"


class ActorMiddleware(MiddlewareMixin):
    """Sets `request.actor`, `.organization` and `.memberships` (None and () for nobody)."""

    def process_request(self, request: HttpRequest) -> None:
        """Runs before the view; two queries for a signed-in person, none for nobody."""
        page = page_request(request)
        page.actor, page.organization, page.memberships = None, None, ()
        user = request.user
        if not isinstance(user, User):
            return
        page.memberships = tuple(memberships_of(user=user)[:50])
        membership = self._chosen(page)
        if membership is None:
            return
        page.organization = membership.organization
        page.actor = actor_of_membership(membership=membership, user=user, via="page")
        structlog.contextvars.bind_contextvars(
            organization_id=membership.organization_id.hex, user_id=membership.user_id.hex
        )

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """What a member was shown is kept by no proxy, and not shown again by Back after signing out."""
        if getattr(request, "actor", None) is not None and not response.has_header("Cache-Control"):
            response["Cache-Control"] = "private, no-store"
        return response

    @staticmethod
    def _chosen(page: PageRequest) -> Membership | None:
        chosen = page.session.get(SESSION_KEY)
        oldest = page.memberships[0] if page.memberships else None
        return next((m for m in page.memberships if m.organization_id.hex == chosen), oldest)
