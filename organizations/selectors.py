"""Reading who: users, memberships, tokens."""

import hashlib
import uuid

from django.db.models import QuerySet

from core.ids import parse_id
from organizations.actor import Actor, Via
from organizations.errors import NotAMember, OrganizationNotFound, TokenExpired, TokenInvalid, UserNotFound
from organizations.models import AccessToken, AuditEntry, Membership, Organization, User


def get_user_by_email(*, email: str) -> User:
    user = User.objects.filter(email__iexact=email).first()
    if user is None:
        raise UserNotFound()
    return user


def memberships_of(*, user: User) -> QuerySet[Membership]:
    """Organizations the user belongs to, oldest membership first."""
    return (
        Membership.objects.filter(user=user, organization__deleted_at__isnull=True)
        .select_related("organization")
        .order_by("created_at", "id")
    )


def find_organization(*, name_or_id: str) -> Organization:
    """For operators' commands: by id, or by exact name without case."""
    rows = Organization.objects.filter(deleted_at__isnull=True)
    found = rows.filter(name__iexact=name_or_id).first()
    if found is None:
        found = rows.filter(pk=parse_id(name_or_id, error=OrganizationNotFound)).first()
    if found is None:
        raise OrganizationNotFound()
    return found


def actor_for(*, user: User, organization_id: uuid.UUID, via: Via, name: str = "") -> Actor:
    """The actor of a user in an organization.

    Raises: NotAMember, also for an organization that does not exist.
    """
    membership = Membership.objects.filter(
        user=user, user__is_active=True, organization_id=organization_id, organization__deleted_at__isnull=True
    ).first()
    if membership is None:
        raise NotAMember()
    return actor_of_membership(membership=membership, user=user, via=via, name=name)


def actor_of_membership(*, membership: Membership, user: User, via: Via, name: str = "") -> Actor:
    """The actor that a membership gives its user."""
    return Actor(
        user_id=user.id,
        organization_id=membership.organization_id,
        role="admin" if membership.role == Membership.Role.ADMIN else "user",
        via=via,
        name=name or user.display_name,
    )


def actor_of_system_admin(*, user: User, organization_id: uuid.UUID, via: Via, name: str = "") -> Actor:
    """The actor of somebody who runs the deployment, in an organization that they need not belong to.

    Raises: NotAMember for an organization that does not exist, and for anybody else.
    """
    if not user.is_system_admin or not user.is_active:
        raise NotAMember()
    if not Organization.objects.filter(pk=organization_id, deleted_at__isnull=True).exists():
        raise NotAMember()
    return Actor(
        user_id=user.id, organization_id=organization_id, role="admin", via=via, name=name or user.display_name
    )


def token_digest(*, token: str) -> bytes:
    """SHA-256 of a 256-bit random token is enough: there is nothing to guess."""
    return hashlib.sha256(token.encode()).digest()


def resolve_token(*, token: str) -> AccessToken:
    """Raises: TokenInvalid, TokenExpired."""
    row = (
        AccessToken.objects.select_related("user", "organization")
        .filter(digest=token_digest(token=token), user__is_active=True)
        .first()
    )
    if row is None:
        raise TokenInvalid()
    if row.is_expired:
        raise TokenExpired()
    return row


def list_audit(*, actor: Actor) -> QuerySet[AuditEntry]:
    """The organization's audit log, newest first."""
    return AuditEntry.objects.filter(organization_id=actor.organization_id).order_by("-created_at", "-id")
