"""Addresses of documents and of what was read of them, below an organization's."""

from django.urls import path

from documents.api import documents, ocr

urlpatterns = [
    path("documents", documents.DocumentsView.as_view(), name="documents"),
    path("documents/multipart", documents.DocumentFormView.as_view(), name="documents_multipart"),
    path("documents/<str:document_id>", documents.DocumentView.as_view(), name="document"),
    path("documents/<str:document_id>/file", documents.DocumentFileView.as_view(), name="document_file"),
    path("ocr/download/blocks/<str:document_id>", ocr.BlocksView.as_view(), name="ocr_blocks"),
    path("ocr/download/json/<str:document_id>", ocr.DocumentJsonView.as_view(), name="ocr_json"),
    path("ocr/download/text/<str:document_id>", ocr.TextView.as_view(), name="ocr_text"),
    path("ocr/download/metadata/<str:document_id>", ocr.MetadataView.as_view(), name="ocr_metadata"),
    path("ocr/run/<str:document_id>", ocr.RunView.as_view(), name="ocr_run"),
    path("ocr/export/markdown/<str:document_id>", ocr.MarkdownView.as_view(), name="ocr_export_markdown"),
    path("ocr/export/html/<str:document_id>", ocr.HtmlView.as_view(), name="ocr_export_html"),
    path("ocr/export/tables.xlsx/<str:document_id>", ocr.TablesView.as_view(), name="ocr_export_tables"),
    path("ocr/bulk-analyze", ocr.BulkAnalyzeView.as_view(), name="ocr_bulk_analyze"),
]
