"""Addresses of questions, below `/v1/`."""

from django.urls import path

from agent.api.v1.views import ResponsesStreamView, ResponsesView, SharedResponsesView

urlpatterns = [
    path("documents/<str:document_id>/responses", ResponsesView.as_view(), name="v1_responses"),
    path("documents/<str:document_id>/responses:stream", ResponsesStreamView.as_view(), name="v1_responses_stream"),
    path("shares/<str:share_id>/responses", SharedResponsesView.as_view(), name="v1_shared_responses"),
]
