"""Who asks: an access token, a signed session (JWT), or the browser session of our own pages.

A Bearer value wins over `X-Api-Key`; another `Authorization` scheme counts as absent. A token that is not for the
place it is used at cannot be told from a bad one.
"""

import uuid
from dataclasses import dataclass

from django.http import HttpRequest
from rest_framework.authentication import SessionAuthentication
from rest_framework.request import Request

from core.errors import Forbidden, Invalid
from organizations.errors import TokenInvalid
from organizations.models import AccessToken, User
from organizations.selectors import resolve_session, resolve_token


class CredentialsMissing(Forbidden):
    code = "credentials_missing"
    status = 401
    detail = "No authentication credentials provided"


class OrganizationNotNamed(Invalid):
    code = "organization_missing"
    detail = "Name the organization in the header X-Organization-Id, or use one of its own tokens."


@dataclass(frozen=True, slots=True)
class Caller:
    """A person, or a program with one of their tokens. `name` is written beside what they do."""

    user: User
    name: str
    token: AccessToken | None = None

    @property
    def is_system_admin(self) -> bool:
        return self.user.is_system_admin


def caller_of(request: HttpRequest, *, organization_id: uuid.UUID | None) -> Caller:
    """Who asks, at an organization's address or (None) at the account's.

    Raises: CredentialsMissing, TokenInvalid, TokenExpired; the framework's PermissionDenied for a forged request.
    """
    scheme, _, value = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() == "bearer" and value.strip():
        text = value.strip()
        return _of_session(text) if text.count(".") == 2 else _of_token(text, organization_id)
    if key := request.headers.get("X-Api-Key", "").strip():
        return _of_token(key, organization_id)
    if isinstance(request.user, User):
        SessionAuthentication().enforce_csrf(Request(request))
        return Caller(request.user, request.user.display_name)
    raise CredentialsMissing()


def caller_with_organization(request: HttpRequest, *, named: uuid.UUID | None) -> tuple[Caller, uuid.UUID]:
    """Who asks and for which organization, where the address names none: the token's, else the one that is named.

    Raises: as `caller_of`, and OrganizationNotNamed.
    """
    token_text = _token_text(request)
    token = resolve_token(token=token_text) if token_text else None
    if token is not None and token.organization_id is not None:
        if named not in (None, token.organization_id):
            raise TokenInvalid()
        return Caller(token.user, token.name, token), token.organization_id
    caller = Caller(token.user, token.name, token) if token is not None else caller_of(request, organization_id=None)
    if named is None:
        raise OrganizationNotNamed()
    return caller, named


def _token_text(request: HttpRequest) -> str:
    """The access token of a request, "" for a signed session, a browser's, or none."""
    scheme, _, value = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() == "bearer" and value.strip():
        return "" if value.strip().count(".") == 2 else value.strip()
    return request.headers.get("X-Api-Key", "").strip()


def _of_token(text: str, organization_id: uuid.UUID | None) -> Caller:
    token = resolve_token(token=text)
    if token.organization_id != organization_id:
        raise TokenInvalid()
    return Caller(token.user, token.name, token)


def _of_session(text: str) -> Caller:
    user = resolve_session(token=text)
    return Caller(user, user.display_name)
