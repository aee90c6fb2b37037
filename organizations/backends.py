"""Sign-in by e-mail, compared without case."""

from typing import Any

from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.base_user import AbstractBaseUser
from django.http import HttpRequest

from organizations.models import User


class EmailBackend(ModelBackend):
    """Django's model backend with the e-mail address as the user name."""

    def authenticate(
        self, request: HttpRequest | None, username: str | None = None, password: str | None = None, **kwargs: Any
    ) -> AbstractBaseUser | None:
        email = username or kwargs.get("email")
        if not email or password is None:
            return None
        user = User.objects.filter(email__iexact=email).first()
        if user is None:
            User().set_password(password)  # the same time for a known and an unknown address
            return None
        return user if user.check_password(password) and self.user_can_authenticate(user) else None
