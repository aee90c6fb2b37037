"""Reading who: organizations, users, memberships, tokens, sessions."""

import hashlib
import uuid

from django.db.models import Prefetch, Q, QuerySet
from django.utils import timezone
from django.utils.crypto import constant_time_compare

from core.errors import Forbidden, Invalid, NotFound
from core.ids import parse_id
from core.listing import containing
from organizations.actor import Actor, Via
from organizations.errors import (
    NotAMember,
    OrganizationNotFound,
    SignedUserUnknown,
    TokenExpired,
    TokenInvalid,
    UserNotFound,
)
from organizations.models import AccessToken, ApiSession, AuditEntry, Membership, Organization, User
from organizations.signing import session_id_of

MAX_SEARCH_CHARS = 200


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
    named = Organization.objects.filter(deleted_at__isnull=True, name__iexact=name_or_id).first()
    return named or get_organization(organization_id=name_or_id)


def get_organization(*, organization_id: object) -> Organization:
    """Raises: OrganizationNotFound."""
    pk = parse_id(organization_id, error=OrganizationNotFound)
    organization = Organization.objects.filter(pk=pk, deleted_at__isnull=True).first()
    if organization is None:
        raise OrganizationNotFound()
    return organization


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
        AccessToken.objects.select_related("user")
        .filter(digest=token_digest(token=token), user__is_active=True)
        .first()
    )
    if row is None:
        raise TokenInvalid()
    if row.is_expired:
        raise TokenExpired()
    return row


def resolve_session(*, token: str) -> User:
    """The person whose signed session this is. Raises: TokenInvalid, whatever ended it."""
    session = (
        ApiSession.objects.select_related("user")
        .filter(pk=session_id_of(token=token), revoked_at__isnull=True, expires_at__gt=timezone.now())
        .filter(user__is_active=True)
        .first()
    )
    if session is None or not constant_time_compare(session.stamp, session.user.get_session_auth_hash()):
        raise TokenInvalid()
    return session.user


def get_signed_user(*, user_id: str, email: str) -> User:
    """The person that a front end vouches for: by id, else by address. Raises: SignedUserUnknown."""
    rows = User.objects.filter(is_active=True)
    try:
        user = rows.filter(pk=parse_id(user_id)).first()
    except NotFound:
        user = None
    user = user or rows.filter(email__iexact=email.strip()).first()
    if user is None:
        raise SignedUserUnknown()
    return user


def is_admin_of(*, user: User, organization_id: uuid.UUID) -> bool:
    return Membership.objects.filter(
        user=user, organization_id=organization_id, role=Membership.Role.ADMIN, user__is_active=True
    ).exists()


def list_tokens(*, user: User, organization_id: uuid.UUID | None = None) -> QuerySet[AccessToken]:
    """The user's own tokens for the organization, or (None) for the account; newest first."""
    rows = AccessToken.objects.filter(user=user).order_by("-created_at", "-id")
    return rows.filter(organization_id=organization_id) if organization_id else rows.filter(organization__isnull=True)


def list_organizations(
    *,
    by: User,
    user_id: str | None = None,
    organization_id: str | None = None,
    name_search: str | None = None,
    member_search: str | None = None,
) -> QuerySet[Organization]:
    """What `by` may see of all organizations, newest first, with their members.

    Raises: Invalid, OrganizationNotFound, Forbidden.
    """
    if user_id and organization_id:
        raise Invalid("Cannot specify both user_id and organization_id")
    rows = Organization.objects.filter(deleted_at__isnull=True).order_by("-created_at", "-id")
    rows = rows.prefetch_related(Prefetch("memberships", Membership.objects.order_by("created_at", "id")))
    if organization_id:
        rows = rows.filter(pk=_visible_organization(by, organization_id).pk)
    elif user_id:
        rows = rows.filter(pk__in=_organization_ids_of(_self_or_any(by, user_id)))
    elif not by.is_system_admin:
        rows = rows.filter(pk__in=_organization_ids_of(by.pk))
    rows = containing(rows, lookup="name", text=short_search(name_search, "name_search"))
    if text := short_search(member_search, "member_search"):
        found = Q(user__name__icontains=text) | Q(user__email__icontains=text)
        rows = rows.filter(pk__in=Membership.objects.filter(found).values("organization_id"))
    return rows


def _visible_organization(by: User, organization_id: str) -> Organization:
    organization = get_organization(organization_id=organization_id)
    if not by.is_system_admin and not organization.memberships.filter(user=by).exists():
        raise Forbidden("Not authorized to view this organization")
    return organization


def _organization_ids_of(user_id: uuid.UUID) -> QuerySet[Membership, uuid.UUID]:
    return Membership.objects.filter(user_id=user_id).values_list("organization_id", flat=True)


def _self_or_any(by: User, user_id: str) -> uuid.UUID:
    """The id of whose organizations are asked for; a malformed one is nobody's."""
    try:
        asked = parse_id(user_id)
    except NotFound:
        asked = uuid.UUID(int=0)
    if not by.is_system_admin and asked != by.pk:
        raise Forbidden("Not authorized to view organizations of this user")
    return asked


def short_search(text: str | None, name: str) -> str | None:
    """Raises: Invalid for a search text of more than 200 characters."""
    if text and len(text) > MAX_SEARCH_CHARS:
        raise Invalid(f"{name} must be at most {MAX_SEARCH_CHARS} characters")
    return text


def list_audit(*, actor: Actor) -> QuerySet[AuditEntry]:
    """The organization's audit log, newest first."""
    return AuditEntry.objects.filter(organization_id=actor.organization_id).order_by("-created_at", "-id")
