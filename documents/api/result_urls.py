"""Addresses of running prompts and of their results, below an organization's."""

from django.urls import path

from documents.api import results

urlpatterns = [
    path("llm/run/<str:document_id>", results.RunView.as_view(), name="llm_run_document"),
    path("llm/result/<str:document_id>", results.ResultView.as_view(), name="llm_result"),
    path("llm/results/<str:document_id>/download", results.DownloadView.as_view(), name="llm_results_download"),
    path("llm/bulk-analyze", results.BulkView.as_view(), name="llm_bulk_analyze"),
]
