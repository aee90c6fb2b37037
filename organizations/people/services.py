"""Writing people: the admin makes them, everybody may change and delete themselves."""

import uuid
from dataclasses import dataclass

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from core.errors import Forbidden
from core.ids import parse_id
from organizations.actor import Role
from organizations.errors import AdminRequired, LastAdmin, NothingToChange, PasswordRefused, UserNotFound
from organizations.models import Membership, Organization, User
from organizations.services import (
    acting,
    close_organization,
    create_organization,
    create_user,
    end_membership,
    revoke_sessions,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class UserChanges:
    """What an update asks for; None leaves a thing as it is. `role` and `email_verified` are the admin's to set."""

    name: str | None = None
    password: str | None = None
    has_seen_tour: bool | None = None
    role: Role | None = None
    email_verified: bool | None = None


def check_password_rules(*, password: str, user: User) -> None:
    """The same rules as on the pages. Raises: PasswordRefused."""
    try:
        validate_password(password, user)
    except ValidationError as problem:
        raise PasswordRefused(" ".join(problem.messages), fields={"password": " ".join(problem.messages)}) from problem


@transaction.atomic
def register_user(*, by: User, email: str, name: str, password: str) -> User:
    """Make a person with an organization of their own, named by the address; for the deployment's admin.

    Raises: AdminRequired, PasswordRefused, EmailInvalid, EmailTaken, TooManyUsers, OrganizationNameTaken.
    """
    if not by.is_system_admin:
        raise AdminRequired()
    return make_person(email=email, name=name, password=password)


def make_person(*, email: str, name: str, password: str) -> User:
    """A user who can sign in, and an individual organization of theirs. The caller has a transaction."""
    check_password_rules(password=password, user=User(email=email, name=name))
    user = create_user(email=email, password=password, name=name)
    create_organization(name=user.email, owner=user, type=Organization.Type.INDIVIDUAL, via="api")
    return user


@transaction.atomic
def update_user(*, by: User, user_id: object, changes: UserChanges) -> User:
    """Change oneself, or as the deployment's admin anybody.

    Raises: Forbidden, UserNotFound, NothingToChange, PasswordRefused, LastAdmin.
    """
    _require_own_or_any(by, user_id, "Not authorized to update this user")
    user, admins = lock_user_and_system_admins(user_id=parse_id(user_id, error=UserNotFound))
    allowed = ["name", "password", "has_seen_tour", *(["role", "email_verified"] if by.is_system_admin else [])]
    given = {field: getattr(changes, field) for field in allowed if getattr(changes, field) is not None}
    if not given:
        raise NothingToChange()
    if "password" in given:
        check_password_rules(password=given["password"], user=user)
        user.set_password(given.pop("password"))
        revoke_sessions(user=user)
    if "role" in given:
        _set_role(user, given.pop("role"), admins)
    if "name" in given:
        given["name"] = given["name"].strip()
    for field, value in given.items():
        setattr(user, field, value)
    user.save()
    return user


@transaction.atomic
def delete_user(*, by: User, user_id: object) -> None:
    """End a person here: memberships, tokens, sessions and letters at once. The name stays on what they did.

    Their own individual organization goes with them when nobody else is in it.
    Raises: Forbidden, UserNotFound, LastAdmin.
    """
    _require_own_or_any(by, user_id, "Not authorized to delete this user")
    pk = parse_id(user_id, error=UserNotFound)
    lock_organizations_of(user_id=pk)
    user, admins = lock_user_and_system_admins(user_id=pk)
    if admins == [user]:
        raise LastAdmin("Cannot delete the last system admin user")
    for membership in user.memberships.filter(organization__deleted_at__isnull=True).select_related("organization"):
        _leave(by, membership)
    user.memberships.all().delete()
    user.access_tokens.all().delete()
    user.email_verifications.all().delete()
    revoke_sessions(user=user)
    user.deleted_at = timezone.now()
    user.is_active = user.is_system_admin = user.is_staff = user.is_superuser = False
    user.email = f"{user.pk.hex}@deleted.invalid"
    user.set_unusable_password()
    user.save()


def lock_organizations_of(*, user_id: uuid.UUID) -> list[Organization]:
    """Hold the rows of all organizations that the user belongs to; before any user's row."""
    rows = Organization.objects.select_for_update(no_key=True, of=("self",))
    return list(rows.filter(memberships__user=user_id, deleted_at__isnull=True).order_by("pk"))


def lock_user_and_system_admins(*, user_id: uuid.UUID) -> tuple[User, list[User]]:
    """Hold the user's row and those of all who run the deployment, so that two of them cannot step down at once.

    In the order of ids, as everywhere. Raises: UserNotFound.
    """
    rows = User.objects.select_for_update(no_key=True).filter(Q(is_system_admin=True) | Q(pk=user_id))
    held = list(rows.filter(deleted_at__isnull=True).order_by("pk"))
    user = next((one for one in held if one.pk == user_id), None)
    if user is None:
        raise UserNotFound()
    return user, [one for one in held if one.is_system_admin and one.is_active]


def _set_role(user: User, role: Role, admins: list[User]) -> None:
    if role != "admin" and admins == [user]:
        raise LastAdmin("Cannot remove admin role from the last admin user")
    user.is_system_admin = user.is_staff = user.is_superuser = role == "admin"


def _leave(by: User, membership: Membership) -> None:
    organization = membership.organization
    others = organization.memberships.exclude(pk=membership.pk)
    is_alone = not others.exists()
    if is_alone and organization.type == Organization.Type.INDIVIDUAL:
        close_organization(by=by, organization=organization)
        return
    if membership.role == Membership.Role.ADMIN and not others.filter(role=Membership.Role.ADMIN).exists():
        raise LastAdmin(f"Cannot delete user: they are the last admin of organization '{organization.name}'")
    end_membership(actor=acting(by=by, organization=organization), membership=membership)


def _require_own_or_any(by: User, user_id: object, words: str) -> None:
    """Before anything is looked up: who may not, learns nothing about who exists."""
    if not by.is_system_admin and by.pk != parse_id(user_id, error=UserNotFound):
        raise Forbidden(words)
