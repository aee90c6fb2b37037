"""Addresses of questions, below `/v1/`."""

from django.urls import path

from agent.api.v1.views import ResponsesStreamView, ResponsesView

urlpatterns = [
    path("documents/<str:document_id>/responses", ResponsesView.as_view(), name="v1_responses"),
    path("documents/<str:document_id>/responses:stream", ResponsesStreamView.as_view(), name="v1_responses_stream"),
]
