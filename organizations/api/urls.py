"""Addresses of the account, below `v0/account/`. The collection of organizations stands on the roof."""

from django.urls import path

from organizations.api import letters, organizations, tokens, users

urlpatterns = [
    path("auth/token", tokens.SessionsView.as_view(), name="auth_token"),
    path("access_tokens", tokens.AccountTokensView.as_view(), name="account_tokens"),
    path("access_tokens/<str:token_id>", tokens.AccountTokenView.as_view(), name="account_token"),
    path("token/organization", tokens.TokenOrganizationView.as_view(), name="token_organization"),
    path("organizations/<str:organization_id>", organizations.OrganizationDetailView.as_view(), name="organization"),
    path("users", users.UsersView.as_view(), name="users"),
    path("users/<str:user_id>", users.UserView.as_view(), name="user"),
    path(
        "email/verification/send/<str:user_id>",
        letters.VerificationSendView.as_view(),
        name="email_verification_send",
    ),
    path(
        "email/verification/register/<str:user_id>",
        letters.VerificationRegisterView.as_view(),
        name="email_verification_register",
    ),
    path("email/verification/<str:token>", letters.VerificationView.as_view(), name="email_verification"),
    path("email/invitations", letters.InvitationsView.as_view(), name="invitations"),
    path("email/invitations/<str:token>", letters.InvitationView.as_view(), name="invitation"),
    path("email/invitations/<str:token>/accept", letters.InvitationAcceptView.as_view(), name="invitation_accept"),
]
