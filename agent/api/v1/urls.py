"""Addresses of questions, below `/v1/`, and the older one below `/document/`."""

from django.urls import path

from agent.api.v1.aliases import CompletionAlias
from agent.api.v1.views import ResponsesStreamView, ResponsesView, ResponseView, SharedResponsesView

urlpatterns = [
    path("documents/<str:document_id>/responses", ResponsesView.as_view(), name="v1_responses"),
    path("documents/<str:document_id>/responses/<str:response_id>", ResponseView.as_view(), name="v1_response"),
    path("documents/<str:document_id>/responses:stream", ResponsesStreamView.as_view(), name="v1_responses_stream"),
    path("shares/<str:share_id>/responses", SharedResponsesView.as_view(), name="v1_shared_responses"),
]

alias_urlpatterns = [path("<str:document_id>/completion", CompletionAlias.as_view(), name="v1_alias_completion")]
