"""Reading letters: by the token of a link, or those that somebody may see."""

import uuid

from django.db.models import QuerySet
from django.utils import timezone

from organizations.errors import InvitationExpired, InvitationNotFound
from organizations.models import Invitation, Membership, User
from organizations.selectors import token_digest

MOST_ADMINS = 20


def get_invitation(*, token: str) -> Invitation:
    """The open invitation of a link. Raises: InvitationNotFound, InvitationExpired."""
    rows = Invitation.objects.select_related("organization")
    invitation = rows.filter(digest=token_digest(token=token)).first()
    if invitation is None:
        raise InvitationNotFound()
    if invitation.expires_at <= timezone.now():
        raise InvitationExpired()
    return invitation


def list_invitations(*, by: User) -> QuerySet[Invitation]:
    """The open ones, newest first: all for the deployment's admin, else those of organizations that `by` runs."""
    rows = Invitation.objects.select_related("organization").filter(expires_at__gt=timezone.now())
    rows = rows.order_by("-created_at", "-id")
    if by.is_system_admin:
        return rows
    mine = Membership.objects.filter(user=by, role=Membership.Role.ADMIN, organization__deleted_at__isnull=True)
    return rows.filter(organization_id__in=mine.values("organization_id"))


def registered(*, emails: list[str]) -> set[str]:
    """Which of these addresses (in lower case) belong to somebody."""
    return set(User.objects.filter(email__in=[email.lower() for email in emails]).values_list("email", flat=True))


def emails_of_admins(*, organization_id: uuid.UUID) -> list[str]:
    """Whom to write about what only admins can mend: the first MOST_ADMINS, longest members first."""
    rows = Membership.objects.filter(
        organization_id=organization_id,
        organization__deleted_at__isnull=True,
        role=Membership.Role.ADMIN,
        user__is_active=True,
    )
    return list(rows.order_by("pk").values_list("user__email", flat=True)[:MOST_ADMINS])
