"""Addresses of documents, runs and events below `/v1/`, and of the aliases below `/document/`."""

from django.urls import path

from documents.api.v1 import aliases, documents, events, runs

_RUNS = "documents/<str:document_id>/runs"

urlpatterns = [
    path("documents", documents.V1DocumentsView.as_view(), name="v1_documents"),
    path("documents/<str:document_id>", documents.V1DocumentView.as_view(), name="v1_document"),
    path("documents/<str:document_id>/events", events.V1EventsView.as_view(), name="v1_events"),
    path(_RUNS, runs.V1RunsView.as_view(), name="v1_runs"),
    path(f"{_RUNS}/<str:run_id>", runs.V1RunView.as_view(), name="v1_run"),
    path(f"{_RUNS}/<str:run_id>/cancel", runs.V1RunCancelView.as_view(), name="v1_run_cancel"),
]

alias_urlpatterns = [
    path("<str:document_id>/upload", aliases.UploadAlias.as_view(), name="v1_alias_upload"),
    path("<str:document_id>/status", aliases.StatusAlias.as_view(), name="v1_alias_status"),
    path("<str:document_id>/reparse", aliases.ReparseAlias.as_view(), name="v1_alias_reparse"),
]
