"""Writing who: users, organizations, memberships, tokens, and the audit log of everybody's writes."""

import secrets
import uuid
from datetime import timedelta
from typing import Any

from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import IntegrityError, transaction
from django.utils import timezone

from core.errors import Invalid
from organizations.actor import Actor, Role
from organizations.errors import AdminRequired, EmailInvalid, EmailTaken, NotAMember, OrganizationNameTaken
from organizations.models import AccessToken, AuditEntry, Membership, Organization, User
from organizations.selectors import token_digest


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


@transaction.atomic
def create_user(*, email: str, password: str | None = None, name: str = "", is_system_admin: bool = False) -> User:
    """Make a person. Without a password nobody can sign in until one is set.

    Raises: EmailInvalid, EmailTaken.
    """
    email = email.strip().lower()
    try:
        validate_email(email)
    except ValidationError as problem:
        raise EmailInvalid() from problem
    if User.objects.filter(email__iexact=email).exists():
        raise EmailTaken()
    user = User(email=email, name=name.strip(), is_system_admin=is_system_admin, is_staff=is_system_admin)
    user.is_superuser = is_system_admin
    user.set_password(password)
    user.save()
    return user


@transaction.atomic
def create_organization(*, name: str, owner: User, type: str = Organization.Type.TEAM) -> Organization:
    """Make a tenant; its owner becomes its first admin.

    Raises: Invalid, OrganizationNameTaken.
    """
    name = name.strip()
    if not name or len(name) > 200 or "\0" in name:
        raise Invalid("A name needs 1 to 200 characters.", fields={"name": "1 to 200 characters"})
    try:
        with transaction.atomic():
            organization = Organization.objects.create(name=name, type=type)
    except IntegrityError as problem:
        raise OrganizationNameTaken(f"An organization named '{name}' already exists") from problem
    add_member(organization=organization, user=owner, role="admin")
    return organization


def add_member(*, organization: Organization, user: User, role: Role = "user") -> Membership:
    """Make the user a member, or change the role of one."""
    membership, _ = Membership.objects.update_or_create(
        organization=organization, user=user, defaults={"role": role}
    )  # fmt: skip
    return membership


@transaction.atomic
def create_token(
    *, user: User, name: str, organization: Organization | None = None, lifetime_days: int = 0
) -> tuple[AccessToken, str]:
    """Make an access token and return the row with its text, which is shown this once.

    Raises: NotAMember, Invalid.
    """
    if lifetime_days < 0 or lifetime_days > 36_500:
        raise Invalid("A lifetime is 0 (never ends) to 36500 days.", fields={"lifetime": "0 to 36500"})
    if organization and not Membership.objects.filter(user=user, organization=organization).exists():
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
    return row, text


def require_admin(*, actor: Actor) -> None:
    """Raises: AdminRequired."""
    if not actor.is_admin:
        raise AdminRequired()
