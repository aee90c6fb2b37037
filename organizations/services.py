"""Writing who: organizations, members, users, tokens, sessions, and the audit log of everybody's writes.

Who asks at the account's own addresses acts in no organization: those services take the person, as `by`.
"""

import secrets
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import IntegrityError, transaction
from django.utils import timezone

from core.errors import Forbidden, Invalid
from core.ids import parse_id
from organizations.actor import Actor, Role, Via
from organizations.errors import (
    AdminRequired,
    EmailInvalid,
    EmailTaken,
    LastAdmin,
    NotAMember,
    OrganizationNameTaken,
    OrganizationNotFound,
    OrganizationTypeRefused,
    TokenNotFound,
    TooManyOrganizations,
    TooManyUsers,
    UserNotFound,
)
from organizations.models import AccessToken, ApiSession, AuditEntry, Membership, Organization, User
from organizations.news import tell_membership_changed
from organizations.selectors import is_admin_of, list_tokens, token_digest
from organizations.signing import sign_session

MAX_ORGANIZATIONS = 10_000
MAX_ORGANIZATIONS_OF_A_USER = 25
MAX_USERS = 10_000
_UPGRADES = {
    "individual": {"individual", "team", "enterprise"},
    "team": {"team", "enterprise"},
    "enterprise": {"enterprise"},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class OrganizationChanges:
    """What an update asks for; None leaves a thing as it is. `members` replaces all of them: user id → role."""

    name: str | None = None
    type: str | None = None
    members: Mapping[uuid.UUID, Role] | None = None
    default_prompt_enabled: bool | None = None
    auto_create_enabled: bool | None = None
    experimental_features: bool | None = None
    flow_log_level: str | None = None
    ocr_config: dict[str, Any] | None = None


def record(
    *, actor: Actor, action: str, target: tuple[str, uuid.UUID | str], data: dict[str, Any] | None = None
) -> AuditEntry:
    """Write one audit row: who, through which door, what. `data` carries ids and counts, never document text."""
    kind, target_id = target
    return AuditEntry.objects.create(
        organization_id=actor.organization_id,
        user_id=actor.user_id,
        actor_name=actor.name,
        via=actor.via,
        action=action,
        target_type=kind,
        target_id=target_id.hex if isinstance(target_id, uuid.UUID) else target_id,
        data=data or {},
    )


def record_for_deployment(
    *, user_id: uuid.UUID, name: str, action: str, target: tuple[str, str], data: dict[str, Any]
) -> AuditEntry:
    """The same for what an administrator of the deployment sets over the API for all organizations."""
    kind, target_id = target
    return AuditEntry.objects.create(
        user_id=user_id,
        actor_name=name,
        via="api",
        action=action,
        target_type=kind,
        target_id=target_id,
        data=data,
    )


@transaction.atomic
def create_user(*, email: str, password: str | None = None, name: str = "", is_system_admin: bool = False) -> User:
    """Make a person. Without a password nobody can sign in until one is set.

    Raises: EmailInvalid, EmailTaken, TooManyUsers.
    """
    email = email.strip().lower()
    try:
        validate_email(email)
    except ValidationError as problem:
        raise EmailInvalid() from problem
    if len(email) > 254 or len(name.strip()) > 200:
        raise EmailInvalid() if len(email) > 254 else Invalid("A name has at most 200 characters.")
    if User.objects.filter(email__iexact=email).exists():
        raise EmailTaken()
    if User.objects.filter(deleted_at__isnull=True).count() >= MAX_USERS:
        raise TooManyUsers(f"System limit reached: Cannot have more than {MAX_USERS} users")
    user = User(email=email, name=name.strip(), is_system_admin=is_system_admin, is_staff=is_system_admin)
    user.is_superuser = is_system_admin
    user.set_password(password)
    try:
        with transaction.atomic():
            user.save()
    except IntegrityError as problem:  # somebody with this address came at the same moment
        raise EmailTaken() from problem
    return user


def acting(*, by: User, organization: Organization, via: Via = "api") -> Actor:
    """The actor of somebody who may run the organization, for the audit log."""
    return Actor(user_id=by.pk, organization_id=organization.pk, role="admin", via=via, name=by.display_name)


def lock_user(*, user_id: uuid.UUID) -> User:
    """Hold one user's row. Raises: UserNotFound."""
    user = User.objects.select_for_update(no_key=True).filter(pk=user_id, deleted_at__isnull=True).first()
    if user is None:
        raise UserNotFound()
    return user


def lock_organization(*, organization_id: object) -> Organization:
    """Hold an organization's row: whoever changes its members does. Raises: OrganizationNotFound."""
    rows = Organization.objects.select_for_update(no_key=True).filter(deleted_at__isnull=True)
    organization = rows.filter(pk=parse_id(organization_id, error=OrganizationNotFound)).first()
    if organization is None:
        raise OrganizationNotFound()
    return organization


@transaction.atomic
def create_organization(
    *,
    name: str,
    owner: User,
    type: str = Organization.Type.TEAM,
    changes: OrganizationChanges | None = None,
    via: Via = "task",
) -> Organization:
    """Make a tenant; its owner becomes its first admin. `changes` says what else differs from the defaults.

    Raises: Invalid, OrganizationNameTaken, TooManyOrganizations, Forbidden.
    """
    lock_user(user_id=owner.pk)
    if type == Organization.Type.ENTERPRISE and not owner.is_system_admin:
        raise Forbidden("Only system administrators can create enterprise organizations")
    if Organization.objects.filter(deleted_at__isnull=True).count() >= MAX_ORGANIZATIONS:
        raise TooManyOrganizations(f"System limit reached: Cannot have more than {MAX_ORGANIZATIONS} organizations")
    if owner.memberships.filter(organization__deleted_at__isnull=True).count() >= MAX_ORGANIZATIONS_OF_A_USER:
        limit = MAX_ORGANIZATIONS_OF_A_USER
        raise TooManyOrganizations(f"User limit reached: Cannot be member of more than {limit} organizations")
    organization = Organization(type=type)
    _set_plain(organization, changes or OrganizationChanges())
    _save_named(organization, name)
    add_member(organization=organization, user=owner, role="admin")
    record(
        actor=acting(by=owner, organization=organization, via=via),
        action="organization.created",
        target=("organization", organization.pk),
    )
    return organization


@transaction.atomic
def update_organization(*, by: User, organization_id: object, changes: OrganizationChanges) -> Organization:
    """Change an organization; for its admins and the deployment's.

    Raises: OrganizationNotFound, Forbidden, Invalid, OrganizationNameTaken, OrganizationTypeRefused, LastAdmin.
    """
    organization = _lock_for_admin(by=by, organization_id=organization_id)
    if changes.type is not None and changes.type not in _UPGRADES[organization.type]:
        raise OrganizationTypeRefused(
            f"Invalid organization type upgrade. Cannot change from {organization.type} to {changes.type}"
        )
    actor = acting(by=by, organization=organization)
    organization.type = changes.type or organization.type
    _set_plain(organization, changes)
    _save_named(organization, organization.name if changes.name is None else changes.name)
    if changes.members is not None:
        _replace_members(actor, organization, changes.members)
    record(actor=actor, action="organization.updated", target=("organization", organization.pk))
    return organization


@transaction.atomic
def delete_organization(*, by: User, organization_id: object) -> None:
    """Close an organization at once, for everybody; its rows wait for the purge.

    Raises: OrganizationNotFound, Forbidden.
    """
    close_organization(by=by, organization=_lock_for_admin(by=by, organization_id=organization_id))


def close_organization(*, by: User, organization: Organization) -> None:
    """What deleting means; the caller holds the row."""
    organization.deleted_at = timezone.now()
    organization.save(update_fields=["deleted_at", "updated_at"])
    organization.invitations.all().delete()
    actor = acting(by=by, organization=organization)
    record(actor=actor, action="organization.deleted", target=("organization", organization.pk))
    tell_membership_changed(organization_id=organization.pk)


def add_member(*, organization: Organization, user: User, role: Role = "user") -> Membership:
    """Make the user a member, or change the role of one."""
    membership, created = Membership.objects.update_or_create(
        organization=organization, user=user, defaults={"role": role}
    )  # fmt: skip
    if not created:
        tell_membership_changed(organization_id=organization.pk)
    return membership


def end_membership(*, actor: Actor, membership: Membership) -> None:
    """Take somebody out of the actor's organization; their tokens for it end with it."""
    user_id = membership.user_id
    AccessToken.objects.filter(user_id=user_id, organization_id=membership.organization_id).delete()
    membership.delete()
    record(actor=actor, action="member.removed", target=("user", user_id))
    tell_membership_changed(organization_id=actor.organization_id)


@transaction.atomic
def create_token(
    *, user: User, name: str, organization: Organization | None = None, lifetime_days: int = 0
) -> tuple[AccessToken, str]:
    """Make an access token and return the row with its text, which is shown this once.

    Raises: NotAMember, Invalid.
    """
    if lifetime_days < 0 or lifetime_days > 36_500:
        raise Invalid("A lifetime is 0 (never ends) to 36500 days.", fields={"lifetime": "0 to 36500"})
    if len(name) > 200 or "\0" in name:
        raise Invalid("A name has at most 200 characters.", fields={"name": "At most 200 characters"})
    is_free_to = organization is None or user.is_system_admin
    if not is_free_to and not Membership.objects.filter(user=user, organization=organization).exists():
        raise NotAMember()
    text = ("org_" if organization else "acc_") + secrets.token_urlsafe(32)
    row = AccessToken.objects.create(
        user=user,
        organization=organization,
        name=name or "token",
        prefix=text[:10],
        digest=token_digest(token=text),
        lifetime_days=lifetime_days,
        expires_at=timezone.now() + timedelta(days=lifetime_days) if lifetime_days else None,
    )
    if organization is not None:
        record(actor=acting(by=user, organization=organization), action="token.created", target=("token", row.pk))
    return row, text


@transaction.atomic
def delete_token(*, user: User, token_id: object, organization_id: uuid.UUID | None = None) -> None:
    """End one of the user's own tokens: an account-level one, or one for the organization. Raises: TokenNotFound."""
    rows = list_tokens(user=user, organization_id=organization_id).select_related("organization")
    row = rows.filter(pk=parse_id(token_id, error=TokenNotFound)).first()
    if row is None:
        raise TokenNotFound()
    if row.organization is not None:
        actor = acting(by=user, organization=row.organization)
        record(actor=actor, action="token.deleted", target=("token", row.pk))
    row.delete()


@transaction.atomic
def open_session(*, user: User) -> str:
    """Return the token of a new signed session; the user's dead ones are swept."""
    now = timezone.now()
    user.api_sessions.filter(expires_at__lte=now).delete()
    expires_at = now + timedelta(seconds=settings.API_SESSION_SECONDS)
    session = ApiSession.objects.create(user=user, stamp=user.get_session_auth_hash(), expires_at=expires_at)
    return sign_session(
        session_id=session.pk, user_id=user.pk, name=user.display_name, email=user.email, expires_at=expires_at
    )


def revoke_sessions(*, user: User) -> int:
    """End all signed sessions of a user at once. Returns: how many there were."""
    return user.api_sessions.filter(revoked_at__isnull=True).update(revoked_at=timezone.now())


def require_admin(*, actor: Actor) -> None:
    """Raises: AdminRequired."""
    if not actor.is_admin:
        raise AdminRequired()


def _lock_for_admin(*, by: User, organization_id: object) -> Organization:
    organization = lock_organization(organization_id=organization_id)
    if not by.is_system_admin and not is_admin_of(user=by, organization_id=organization.pk):
        raise Forbidden("Not authorized to change this organization")
    return organization


def _set_plain(organization: Organization, changes: OrganizationChanges) -> None:
    for field in (
        "default_prompt_enabled",
        "auto_create_enabled",
        "experimental_features",
        "flow_log_level",
        "ocr_config",
    ):
        value = getattr(changes, field)
        if value is not None:
            setattr(organization, field, value)


def _save_named(organization: Organization, name: str) -> None:
    name = name.strip()
    if not name or len(name) > 200 or "\0" in name:
        raise Invalid("A name needs 1 to 200 characters.", fields={"name": "1 to 200 characters"})
    organization.name = name
    try:
        with transaction.atomic():
            organization.save()
    except IntegrityError as problem:
        raise OrganizationNameTaken(f"An organization named '{name}' already exists") from problem


def _replace_members(actor: Actor, organization: Organization, wanted: Mapping[uuid.UUID, Role]) -> None:
    """The caller holds the organization's row, so that of two removals the second sees the first."""
    if "admin" not in wanted.values():
        raise LastAdmin()
    users = User.objects.select_for_update(no_key=True).order_by("pk").filter(pk__in=wanted, is_active=True)
    known = {user.pk: user for user in users}
    if unknown := [user_id.hex for user_id in wanted if user_id not in known]:
        raise Invalid(f"User not found: {', '.join(unknown[:5])}")
    present = {row.user_id: row for row in organization.memberships.all()}
    for user_id in present.keys() - wanted.keys():
        end_membership(actor=actor, membership=present[user_id])
    for user_id, role in wanted.items():
        if user_id not in present or present[user_id].role != role:
            add_member(organization=organization, user=known[user_id], role=role)
            action = "member.role_changed" if user_id in present else "member.added"
            record(actor=actor, action=action, target=("user", user_id), data={"role": role})
