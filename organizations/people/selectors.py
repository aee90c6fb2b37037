"""Reading people: whom somebody may see of all users."""

import uuid

from django.db.models import Q, QuerySet

from core.errors import Forbidden, Invalid
from core.ids import parse_id
from organizations.errors import UserNotFound
from organizations.models import Membership, User
from organizations.selectors import get_organization, is_admin_of, short_search


def list_users(
    *, by: User, organization_id: str | None = None, user_id: str | None = None, search_name: str | None = None
) -> QuerySet[User]:
    """Whom `by` may see, newest first: everybody for the deployment's admin, else the people of the organizations
    that `by` administers, and `by`.

    Raises: Invalid, OrganizationNotFound, UserNotFound, Forbidden.
    """
    if user_id and organization_id:
        raise Invalid("Cannot specify both user_id and organization_id")
    rows = User.objects.filter(deleted_at__isnull=True).order_by("-created_at", "-id")
    if user_id:
        rows = rows.filter(pk=_visible_user(by, user_id).pk)
    elif organization_id:
        rows = rows.filter(pk__in=_members_of(by, organization_id))
    elif not by.is_system_admin:
        rows = rows.filter(Q(pk=by.pk) | Q(pk__in=_administered_people(by)))
    if text := short_search(search_name, "search_name"):
        rows = rows.filter(Q(name__icontains=text) | Q(email__icontains=text))
    return rows


def get_user(*, user_id: object) -> User:
    """Raises: UserNotFound."""
    user = User.objects.filter(pk=parse_id(user_id, error=UserNotFound), deleted_at__isnull=True).first()
    if user is None:
        raise UserNotFound()
    return user


def _visible_user(by: User, user_id: str) -> User:
    user = get_user(user_id=user_id)
    if by.is_system_admin or user.pk == by.pk or _administered_people(by).filter(user=user).exists():
        return user
    raise Forbidden("Not authorized to view this user")


def _members_of(by: User, organization_id: str) -> QuerySet[Membership, uuid.UUID]:
    pk = get_organization(organization_id=organization_id).pk
    if not by.is_system_admin and not is_admin_of(user=by, organization_id=pk):
        raise Forbidden("Not authorized to view the users of this organization")
    return Membership.objects.filter(organization_id=pk).values_list("user_id", flat=True)


def _administered_people(by: User) -> QuerySet[Membership, uuid.UUID]:
    """The users of every organization that `by` administers."""
    mine = Membership.objects.filter(user=by, role=Membership.Role.ADMIN, organization__deleted_at__isnull=True).values(
        "organization_id"
    )
    return Membership.objects.filter(organization_id__in=mine).values_list("user_id", flat=True)
