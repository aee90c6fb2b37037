"""Addresses of documents and of what was read of them, below an organization's."""

from django.urls import path

from documents.api import documents

urlpatterns = [
    path("documents", documents.DocumentsView.as_view(), name="documents"),
    path("documents/multipart", documents.DocumentFormView.as_view(), name="documents_multipart"),
    path("documents/<str:document_id>", documents.DocumentView.as_view(), name="document"),
    path("documents/<str:document_id>/file", documents.DocumentFileView.as_view(), name="document_file"),
]
