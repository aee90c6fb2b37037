"""Access tokens and signed sessions over JSON."""

import hashlib
from typing import ClassVar

from django.http import HttpRequest
from rest_framework.request import Request

from core.api.bodies import BodyInvalid, Message, read_json, read_model
from core.api.operations import operation
from core.errors import DomainError, Forbidden, Invalid
from core.ids import show_id
from organizations import selectors, services
from organizations.api.bodies import (
    AccessTokenAnswer,
    AccessTokensAnswer,
    SessionAnswer,
    SignedUserBody,
    TokenBody,
    TokenOrganizationAnswer,
    TokenQuery,
)
from organizations.api.doors import AccountView, OrganizationView, PublicView
from organizations.errors import NotAMember, TokenExpired, TokenInvalid
from organizations.signing import check_request_signature

DELETED = Message(message="Token deleted successfully")
EXAMPLE = {"name": "nightly import", "lifetime": 30}


class JsonInvalid(Invalid):
    code = "invalid_json"


class TokensNotAllowed(Forbidden):
    code = "not_a_member"
    detail = "You are not authorized to create an organization-level API token"


class SessionsView(PublicView):
    """A front end that shares a key with this server signs its people in."""

    rates: ClassVar[dict[str, str]] = {"POST": "sign_in"}

    @operation(
        "create_session",
        "Open a signed session for a person",
        tag="Account",
        answer=SessionAnswer,
        body=SignedUserBody,
        errors=(400, 401, 500),
        headers=("X-Request-Signature",),
        example={"id": "0190b2a4c1d27c3e8f4a5b6c7d8e9f00", "name": "Ann", "email": "ann@example.com"},
        public=True,
    )
    def post(self, request: Request) -> SessionAnswer:
        self._check_signature()
        try:
            value = read_json(self.raw_body())
        except BodyInvalid as problem:
            raise JsonInvalid(f"Invalid JSON: {problem.problems[0]['msg']}") from problem
        asked = read_model(SignedUserBody, value, place="body")
        user = selectors.get_signed_user(user_id=asked.id, email=asked.email)
        return SessionAnswer(token=services.open_session(user=user))

    def counted_as(self, request: HttpRequest) -> list[tuple[str, str]]:
        """A front end signs in many people from one address: what it signed counts for each person."""
        try:
            self._check_signature()
        except DomainError:
            return super().counted_as(request)
        return [("person", hashlib.sha256(self.raw_body()).hexdigest())]

    def _check_signature(self) -> None:
        signature = self.plain_request.headers.get("X-Request-Signature")
        check_request_signature(raw=self.raw_body(), signature=signature)


class AccountTokensView(AccountView):
    """The caller's own account-level tokens."""

    @operation("list_account_tokens", "List your account tokens", tag="Tokens", answer=AccessTokensAnswer)
    def get(self, request: Request) -> AccessTokensAnswer:
        rows = selectors.list_tokens(user=self.caller.user)
        return AccessTokensAnswer(access_tokens=[AccessTokenAnswer.of(row) for row in rows])

    @operation(
        "create_account_token",
        "Make an account token",
        tag="Tokens",
        answer=AccessTokenAnswer,
        body=TokenBody,
        errors=(400,),
        example=EXAMPLE,
    )
    def post(self, request: Request) -> AccessTokenAnswer:
        asked = self.body(TokenBody)
        row, text = services.create_token(user=self.caller.user, name=asked.name, lifetime_days=asked.lifetime)
        return AccessTokenAnswer.of(row, text=text)


class AccountTokenView(AccountView):
    """One of the caller's own account-level tokens."""

    @operation("delete_account_token", "End an account token", tag="Tokens", answer=Message, errors=(404,))
    def delete(self, request: Request, token_id: str) -> Message:
        services.delete_token(user=self.caller.user, token_id=token_id)
        return DELETED


class _TokensOfAnOrganization(OrganizationView):
    """Members, and who runs the deployment."""

    admits_system_admins = True

    def admit(self, request: HttpRequest) -> None:
        try:
            super().admit(request)
        except NotAMember as problem:
            raise TokensNotAllowed() from problem


class OrganizationTokensView(_TokensOfAnOrganization):
    """The caller's own tokens for an organization."""

    @operation("list_organization_tokens", "List your organization tokens", tag="Tokens", answer=AccessTokensAnswer)
    def get(self, request: Request) -> AccessTokensAnswer:
        rows = selectors.list_tokens(user=self.caller.user, organization_id=self.actor.organization_id)
        return AccessTokensAnswer(access_tokens=[AccessTokenAnswer.of(row) for row in rows])

    @operation(
        "create_organization_token",
        "Make an organization token",
        tag="Tokens",
        answer=AccessTokenAnswer,
        body=TokenBody,
        errors=(400,),
        example=EXAMPLE,
    )
    def post(self, request: Request) -> AccessTokenAnswer:
        asked = self.body(TokenBody)
        row, text = services.create_token(
            user=self.caller.user,
            name=asked.name,
            organization=selectors.get_organization(organization_id=self.actor.organization_id),
            lifetime_days=asked.lifetime,
        )
        return AccessTokenAnswer.of(row, text=text)


class OrganizationTokenView(_TokensOfAnOrganization):
    """One of the caller's own tokens for an organization."""

    @operation("delete_organization_token", "End an organization token", tag="Tokens", answer=Message, errors=(404,))
    def delete(self, request: Request, token_id: str) -> Message:
        services.delete_token(user=self.caller.user, token_id=token_id, organization_id=self.actor.organization_id)
        return DELETED


class TokenOrganizationView(PublicView):
    """What a token is for; who holds it may know."""

    rates: ClassVar[dict[str, str]] = {"GET": "token_resolve"}

    @operation(
        "get_organization_of_token",
        "Find the organization of a token",
        tag="Tokens",
        answer=TokenOrganizationAnswer,
        query=TokenQuery,
        errors=(401,),
        public=True,
    )
    def get(self, request: Request) -> TokenOrganizationAnswer:
        try:
            token = selectors.resolve_token(token=self.query(TokenQuery).token)
        except (TokenInvalid, TokenExpired) as problem:
            raise TokenInvalid("Invalid token") from problem
        organization = token.organization
        if organization is None or organization.deleted_at is not None:
            return TokenOrganizationAnswer(organization_id=organization and show_id(organization.pk))
        return TokenOrganizationAnswer.model_validate(
            {
                "organization_id": show_id(organization.pk),
                "organization_name": organization.name,
                "organization_type": organization.type,
            }
        )
