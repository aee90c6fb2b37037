"""Users, organizations, memberships, access tokens and the audit log."""

from typing import ClassVar

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.contrib.auth.models import PermissionsMixin
from django.db import models
from django.db.models.functions import Lower
from django.utils import timezone

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
    """A person who signs in. A system admin runs the deployment; organization roles are memberships."""

    email = models.EmailField(unique=True)
    name = models.CharField(max_length=200, blank=True)
    is_active = models.BooleanField(default=True)
    is_staff = models.BooleanField(default=False)
    is_system_admin = models.BooleanField(default=False)

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
        return self.name or self.email


class Organization(BaseModel):
    """The tenant: everything belongs to exactly one."""

    class Type(models.TextChoices):
        INDIVIDUAL = "individual"
        TEAM = "team"
        ENTERPRISE = "enterprise"

    name = models.CharField(max_length=200)
    type = models.CharField(max_length=20, choices=Type.choices, default=Type.INDIVIDUAL)
    default_prompt_enabled = models.BooleanField(default=False)
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


class AuditEntry(TenantModel):
    """One write: who did what to which thing, through which door. Never changed, never deleted."""

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
