"""Users, organizations, memberships, access tokens, signed sessions, letters with links, and the audit log."""

from typing import ClassVar

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.contrib.auth.models import PermissionsMixin
from django.db import models
from django.db.models.functions import Lower
from django.utils import timezone
from django.utils.translation import gettext as _

from core.fields import OrderedJSONField
from core.models import BaseModel, TenantModel


class UserManager(BaseUserManager["User"]):
    """Users are known by their e-mail address, compared without case."""

    def get_by_natural_key(self, username: str | None) -> "User":
        return self.get(email__iexact=username)

    def create_superuser(self, email: str, password: str, **fields: object) -> "User":
        """Used by Django's own `createsuperuser`."""
        user = self.model(email=email.lower(), is_staff=True, is_superuser=True, is_system_admin=True, **fields)
        user.set_password(password)
        user.save(using=self._db)
        return user


class User(AbstractBaseUser, PermissionsMixin, BaseModel):
    """A person who signs in. A system admin runs the deployment; organization roles are memberships.

    A deleted user has `deleted_at`, no memberships and no address; the name stays on what they did.
    """

    email = models.EmailField(unique=True)
    name = models.CharField(max_length=200, blank=True)
    is_active = models.BooleanField(default=True)
    is_staff = models.BooleanField(default=False)
    is_system_admin = models.BooleanField(default=False)
    email_verified = models.BooleanField(default=False)
    has_seen_tour = models.BooleanField(default=False)
    deleted_at = models.DateTimeField(null=True, blank=True, editable=False)

    objects: ClassVar[UserManager] = UserManager()

    USERNAME_FIELD = "email"
    EMAIL_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = []

    class Meta:
        constraints = [models.UniqueConstraint(Lower("email"), name="user_email_unique")]

    def __str__(self) -> str:
        return self.email

    @property
    def display_name(self) -> str:
        if self.deleted_at is None:
            return self.name or self.email
        return _("%(name)s (former member)") % {"name": self.name} if self.name else _("Former member")


class Organization(BaseModel):
    """The tenant: everything belongs to exactly one.

    `auto_create_enabled`: uploads are set up by the agent unless the upload says otherwise.

    `experimental_features`, `flow_log_level` and `ocr_config` are kept for clients of the API and steer nothing here.
    """

    class Type(models.TextChoices):
        INDIVIDUAL = "individual"
        TEAM = "team"
        ENTERPRISE = "enterprise"

    class FlowLogLevel(models.TextChoices):
        ERROR = "ERROR"
        INFO = "INFO"
        TRACE = "TRACE"

    name = models.CharField(max_length=200)
    type = models.CharField(max_length=20, choices=Type.choices, default=Type.INDIVIDUAL)
    default_prompt_enabled = models.BooleanField(default=False)
    auto_create_enabled = models.BooleanField(default=False)
    experimental_features = models.BooleanField(default=False)
    flow_log_level = models.CharField(max_length=5, choices=FlowLogLevel.choices, default=FlowLogLevel.ERROR)
    ocr_config = models.JSONField(default=dict)
    updated_at = models.DateTimeField(auto_now=True)
    deleted_at = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                Lower("name"), condition=models.Q(deleted_at__isnull=True), name="organization_name_unique"
            )
        ]

    def __str__(self) -> str:
        return self.name


class Membership(BaseModel):
    """A user's role in one organization."""

    class Role(models.TextChoices):
        ADMIN = "admin"
        USER = "user"

    organization = models.ForeignKey(Organization, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=10, choices=Role.choices, default=Role.USER)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["organization", "user"], name="membership_unique")]


class AccessToken(BaseModel):
    """A program's key. The text is shown once; its SHA-256 (of 256 random bits) is what we keep.

    `organization` is None for an account-level token. Units: `lifetime_days`, 0 = never expires.
    """

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="access_tokens")
    organization = models.ForeignKey(Organization, null=True, blank=True, on_delete=models.CASCADE, related_name="+")
    name = models.CharField(max_length=200)
    prefix = models.CharField(max_length=10)
    digest = models.BinaryField(max_length=32, unique=True)
    lifetime_days = models.PositiveIntegerField(default=0)
    expires_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes = [models.Index(fields=["user", "organization", "-created_at"], name="token_by_user")]

    @property
    def is_expired(self) -> bool:
        return self.expires_at is not None and self.expires_at <= timezone.now()


class ApiSession(BaseModel):
    """A signed session (JWT) that was given out; without a living row its token opens nothing. The id is its `jti`.

    `stamp` changes with the password, however that is set: a new password ends all sessions.
    """

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="api_sessions")
    stamp = models.CharField(max_length=128)
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True, blank=True)


class EmailVerification(BaseModel):
    """A letter that asks whether the address is the user's. The token of its link is kept as a digest only."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="email_verifications")
    email = models.EmailField()
    digest = models.BinaryField(max_length=32, unique=True)
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True, blank=True)


class Invitation(BaseModel):
    """A letter that offers a membership, or (without an organization) an account. A later one replaces it."""

    email = models.EmailField()
    organization = models.ForeignKey(
        Organization, null=True, blank=True, on_delete=models.CASCADE, related_name="invitations"
    )
    role = models.CharField(max_length=10, choices=Membership.Role.choices, default=Membership.Role.USER)
    invited_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    digest = models.BinaryField(max_length=32, unique=True)
    expires_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(Lower("email"), "organization", nulls_distinct=False, name="invitation_unique")
        ]


class AuditEntry(BaseModel):
    """One write: who did what to which thing, through which door. Never changed, never deleted.

    Without an organization it is of the whole deployment: what its administrators set for everybody.
    """

    organization = models.ForeignKey(Organization, null=True, on_delete=models.CASCADE, related_name="+")
    user = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    actor_name = models.CharField(max_length=200)
    via = models.CharField(max_length=10)
    action = models.CharField(max_length=60)
    target_type = models.CharField(max_length=40)
    target_id = models.CharField(max_length=64)
    data = models.JSONField(default=dict)

    class Meta:
        indexes = [
            models.Index(fields=["organization", "-created_at"], name="audit_by_time"),
            models.Index(fields=["organization", "target_type", "target_id"], name="audit_by_target"),
        ]


class IdempotentRequest(TenantModel):
    """A request that was done under a person's `Idempotency-Key`, and its answer. Kept for a day."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    key = models.CharField(max_length=200)
    digest = models.BinaryField(max_length=32)
    answer = OrderedJSONField(default=dict)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["organization", "user", "key"], name="idempotent_request_unique")
        ]
        indexes = [models.Index(fields=["created_at"], name="idempotent_request_by_time")]
