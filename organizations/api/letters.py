"""E-mail verification and invitations over JSON."""

from typing import Any, ClassVar

from django.conf import settings
from rest_framework.request import Request

from core.api.bodies import Message, Paging
from core.api.operations import operation
from core.listing import page_of
from organizations.api.bodies import AcceptBody, InvitationAnswer, InvitationBody, InvitationsAnswer
from organizations.api.doors import AccountView, PublicView
from organizations.letters import selectors, services

SENT = Message(message="Verification email sent")


class LetterView(AccountView):
    """What sends a letter is counted as closely as signing in."""

    rates: ClassVar[dict[str, str]] = {"POST": "sign_in"}

    @property
    def site(self) -> str:
        """The root of the links in a letter. Units: URL."""
        return settings.PUBLIC_URL or self.plain_request.build_absolute_uri("/")


class TokenInAddressView(PublicView):
    """Who holds a letter's token may use it; its address is kept out of the log."""

    rates: ClassVar[dict[str, str]] = {"GET": "token_resolve", "POST": "sign_in"}

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        answer = super().finalize_response(request, response, *args, **kwargs)
        answer._has_been_logged = True  # Django writes the path of every refusal to the log, unless told it has
        answer["Referrer-Policy"] = "no-referrer"
        return answer


class VerificationSendView(LetterView):
    """A letter that asks whether the address is the user's."""

    @operation(
        "send_verification_email",
        "Send a verification e-mail",
        tag="E-mail",
        answer=Message,
        errors=(400, 404, 503),
    )
    def post(self, request: Request, user_id: str) -> Message:
        services.send_verification(by=self.caller.user, user_id=user_id, site=self.site)
        return SENT


class VerificationRegisterView(LetterView):
    """The same letter, under the address that clients use after registering somebody."""

    @operation(
        "send_registration_verification_email",
        "Send a verification e-mail after registering",
        tag="E-mail",
        answer=Message,
        errors=(400, 404, 503),
    )
    def post(self, request: Request, user_id: str) -> Message:
        services.send_verification(by=self.caller.user, user_id=user_id, site=self.site)
        return SENT


class VerificationView(TokenInAddressView):
    """What the link of a verification letter does."""

    @operation("verify_email", "Confirm an e-mail address", tag="E-mail", answer=Message, errors=(400,), public=True)
    def post(self, request: Request, token: str) -> Message:
        is_first = services.verify_email(token=token)
        return Message(message="Email verified successfully" if is_first else "Email already verified")


class InvitationsView(LetterView):
    """Invitations of the organizations that the caller runs."""

    @operation("list_invitations", "List open invitations", tag="E-mail", answer=InvitationsAnswer, query=Paging)
    def get(self, request: Request) -> InvitationsAnswer:
        asked = self.query(Paging)
        found = page_of(selectors.list_invitations(by=self.caller.user), skip=asked.skip, limit=asked.limit)
        known = selectors.registered(emails=[row.email for row in found.rows])
        return InvitationsAnswer(
            invitations=[InvitationAnswer.of(row, user_exists=row.email in known) for row in found.rows],
            total_count=found.total_count,
            skip=found.skip,
        )

    @operation(
        "create_invitation",
        "Invite somebody",
        tag="E-mail",
        answer=InvitationAnswer,
        body=InvitationBody,
        errors=(400, 404, 503),
        example={"email": "ann@example.com", "organization_id": "0190b2a4c1d27c3e8f4a5b6c7d8e9f00", "role": "user"},
    )
    def post(self, request: Request) -> InvitationAnswer:
        asked = self.body(InvitationBody)
        made = services.invite(by=self.caller.user, site=self.site, **asked.model_dump())
        return _shown(made)


class InvitationView(TokenInAddressView):
    """What an invitation offers."""

    @operation(
        "get_invitation", "Read an invitation", tag="E-mail", answer=InvitationAnswer, errors=(400, 404), public=True
    )
    def get(self, request: Request, token: str) -> InvitationAnswer:
        return _shown(selectors.get_invitation(token=token))


class InvitationAcceptView(TokenInAddressView):
    """Taking an invitation."""

    @operation(
        "accept_invitation",
        "Accept an invitation",
        tag="E-mail",
        answer=Message,
        body=AcceptBody,
        errors=(400, 403, 404),
        example={"name": "Ann", "password": "a long enough secret"},
        public=True,
    )
    def post(self, request: Request, token: str) -> Message:
        services.accept_invitation(token=token, **self.optional_body(AcceptBody).model_dump())
        return Message(message="Invitation accepted successfully")


def _shown(invitation: Any) -> InvitationAnswer:
    return InvitationAnswer.of(invitation, user_exists=bool(selectors.registered(emails=[invitation.email])))
