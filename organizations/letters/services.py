"""Writing letters: asking whether an address is somebody's, inviting people, and what their links do."""

import secrets
import uuid
from datetime import timedelta

from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from core.errors import Forbidden, Invalid
from core.ids import parse_id
from organizations.actor import Actor, Role
from organizations.errors import (
    AdminRequired,
    AlreadyAMember,
    EmailInvalid,
    EmailTaken,
    EmailVerified,
    InvitationNotFound,
    UserNotFound,
    VerificationInvalid,
)
from organizations.letters.mail import send_letter
from organizations.letters.selectors import get_invitation
from organizations.models import EmailVerification, Invitation, Organization, User
from organizations.people.selectors import get_user
from organizations.people.services import check_password_rules, make_person
from organizations.selectors import is_admin_of, token_digest
from organizations.services import acting, add_member, create_user, lock_organization, record

VERIFICATION_LASTS = timedelta(days=1)
INVITATION_LASTS = timedelta(days=7)


def send_verification(*, by: User, user_id: object, site: str) -> None:
    """Ask the user, by a letter, whether the address is theirs; earlier letters' links end. `site`: our root URL.

    Raises: Forbidden, UserNotFound, EmailVerified, LetterNotSent.
    """
    if not by.is_system_admin and by.pk != parse_id(user_id, error=UserNotFound):
        raise Forbidden("Not authorized to send this e-mail")
    user = get_user(user_id=user_id)
    if user.email_verified:
        raise EmailVerified()
    token = secrets.token_urlsafe(32)
    with transaction.atomic():
        user.email_verifications.all().delete()
        EmailVerification.objects.create(
            user=user,
            email=user.email,
            digest=token_digest(token=token),
            expires_at=timezone.now() + VERIFICATION_LASTS,
        )
    send_letter(
        to=user.email,
        subject=_("Confirm your e-mail address"),
        template="verification",
        context={"link": site.rstrip("/") + reverse("organizations:verify_email", args=[token])},
    )


@transaction.atomic
def verify_email(*, token: str) -> bool:
    """What the link of a verification letter does. Returns: False when that had been done before.

    Raises: VerificationInvalid.
    """
    rows = EmailVerification.objects.select_related("user").filter(digest=token_digest(token=token))
    letter = rows.filter(expires_at__gt=timezone.now(), user__is_active=True).first()
    if letter is None or letter.user.email != letter.email:
        raise VerificationInvalid()
    is_first = EmailVerification.objects.filter(pk=letter.pk, used_at__isnull=True).update(used_at=timezone.now())
    if is_first:
        User.objects.filter(pk=letter.user_id).update(email_verified=True)
    return bool(is_first)


def invite(*, by: User, email: str, organization_id: object, role: Role, site: str) -> Invitation:
    """Offer a membership by a letter, or (without an organization; the deployment's admin only) an account.

    Inviting again sends a new letter; the link of the earlier one ends. `site`: our root URL.
    Raises: EmailInvalid, OrganizationNotFound, Forbidden, AdminRequired, AlreadyAMember, EmailTaken, LetterNotSent.
    """
    email = email.strip().lower()
    try:
        validate_email(email)
    except ValidationError as problem:
        raise EmailInvalid() from problem
    token = secrets.token_urlsafe(32)
    with transaction.atomic():
        organization = _invited_to(by, organization_id, email, role)
        letter = {
            "role": role,
            "invited_by": by,
            "digest": token_digest(token=token),
            "created_at": timezone.now(),
            "expires_at": timezone.now() + INVITATION_LASTS,
        }
        invitation, _is_new = Invitation.objects.update_or_create(
            email=email, organization=organization, defaults=letter
        )
        if organization is not None:
            target = ("invitation", invitation.pk)
            record(actor=acting(by=by, organization=organization), action="member.invited", target=target)
    context = {
        "link": site.rstrip("/") + reverse("organizations:invitation", args=[token]),
        "organization": organization,
        "by": by,
    }
    send_letter(to=email, subject=_("You are invited to DocRouter"), template="invitation", context=context)
    return invitation


@transaction.atomic
def accept_invitation(*, token: str, name: str | None = None, password: str | None = None) -> User:
    """What the link of an invitation does: a new person needs a name and a password; a known one only joins.

    Who holds the link reads the mail of that address, so the address counts as verified.
    Raises: InvitationNotFound, InvitationExpired, Invalid, PasswordRefused, TooManyUsers, OrganizationNameTaken.
    """
    invitation = lock_invitation(invitation_id=get_invitation(token=token).pk)
    organization = invitation.organization
    if organization is not None:
        lock_organization(organization_id=organization.pk)
    user = User.objects.filter(email__iexact=invitation.email, is_active=True).first()
    if user is None:
        user = _invited_person(invitation, name, password)
    if not user.email_verified:
        user.email_verified = True
        user.save(update_fields=["email_verified"])
    if organization is not None and not organization.memberships.filter(user=user).exists():
        role: Role = "admin" if invitation.role == "admin" else "user"
        add_member(organization=organization, user=user, role=role)
        actor = Actor(user_id=user.pk, organization_id=organization.pk, role=role, via="api", name=user.display_name)
        record(actor=actor, action="member.joined", target=("user", user.pk), data={"role": role})
    invitation.delete()
    return user


def lock_invitation(*, invitation_id: uuid.UUID) -> Invitation:
    """Hold an invitation, so that it is accepted once. Raises: InvitationNotFound."""
    invitation = Invitation.objects.select_for_update().filter(pk=invitation_id).first()
    if invitation is None:
        raise InvitationNotFound()
    return invitation


def _invited_to(by: User, organization_id: object, email: str, role: Role) -> Organization | None:
    known = User.objects.filter(email__iexact=email).first()
    if not organization_id:
        if not by.is_system_admin:
            raise AdminRequired()
        if role == "admin":
            raise Invalid("An invitation as admin needs an organization_id.")
        if known is not None:
            raise EmailTaken()
        return None
    organization = lock_organization(organization_id=organization_id)
    if not by.is_system_admin and not is_admin_of(user=by, organization_id=organization.pk):
        raise AdminRequired()
    if known is not None and organization.memberships.filter(user=known).exists():
        raise AlreadyAMember()
    return organization


def _invited_person(invitation: Invitation, name: str | None, password: str | None) -> User:
    if not (name or "").strip() or not password:
        raise Invalid("A new account needs a name and a password.", fields={"name": "Required", "password": "Required"})
    if invitation.organization is None:
        return make_person(email=invitation.email, name=name or "", password=password)
    check_password_rules(password=password, user=User(email=invitation.email, name=name or ""))
    return create_user(email=invitation.email, password=password, name=name or "")
