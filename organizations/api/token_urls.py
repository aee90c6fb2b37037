"""Addresses of tokens, below an organization's."""

from django.urls import path

from organizations.api import tokens

urlpatterns = [
    path("access_tokens", tokens.OrganizationTokensView.as_view(), name="organization_tokens"),
    path("access_tokens/<str:token_id>", tokens.OrganizationTokenView.as_view(), name="organization_token"),
]
