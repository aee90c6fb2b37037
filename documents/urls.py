"""Doors of documents."""

from django.urls import path

from documents.consumers import DocumentConsumer, DocumentsConsumer
from documents.views import extraction, giving, listing, uploading, viewer, workspace

app_name = "documents"
urlpatterns = [
    path("documents", listing.documents_page, name="list"),
    path("documents/upload", uploading.upload, name="upload"),
    path("documents/<str:document_id>", workspace.workspace, name="detail"),
    path("documents/<str:document_id>/delete", listing.delete_page, name="delete"),
    path("documents/<str:document_id>/rename", workspace.rename, name="rename"),
    path("documents/<str:document_id>/tags", workspace.set_tags, name="tags"),
    path("documents/<str:document_id>/never-send", workspace.never_send, name="never_send"),
    path("documents/<str:document_id>/read-again", workspace.read_again, name="read_again"),
    path("documents/<str:document_id>/share", giving.share, name="share"),
    path("documents/<str:document_id>/share/<str:share_id>/revoke", giving.revoke_share, name="revoke_share"),
    path("documents/<str:document_id>/publish", giving.publish_result, name="publish"),
    path("documents/<str:document_id>/unpublish", giving.withdraw, name="unpublish"),
    path("documents/<str:document_id>/review", workspace.review, name="review"),
    path("documents/<str:document_id>/viewer", workspace.viewer, name="viewer"),
    path("documents/<str:document_id>/file", viewer.original_file, name="file"),
    path("documents/<str:document_id>/text", viewer.text_panel, name="text"),
    path("documents/<str:document_id>/find", viewer.find, name="find"),
    path("documents/<str:document_id>/pages/<int:number>/image", viewer.page_picture, name="page_image"),
    path("documents/<str:document_id>/pages/<int:number>/words", viewer.page_words, name="page_words"),
    path("documents/<str:document_id>/extraction", extraction.panel, name="extraction"),
    path("documents/<str:document_id>/extraction/run", extraction.run, name="extract"),
    path("documents/<str:document_id>/extractions/<str:extraction_id>/fields", extraction.save_fields, name="fields"),
    path("documents/<str:document_id>/extractions/<str:extraction_id>/rows", extraction.change_rows, name="rows"),
    path("documents/<str:document_id>/extractions/<str:extraction_id>/verify", extraction.verify, name="verify"),
    path("documents/<str:document_id>/extractions/<str:extraction_id>/export", extraction.export, name="export"),
]
websocket_urlpatterns = [
    path("ws/documents", DocumentsConsumer.as_asgi()),
    path("ws/documents/<str:document_id>", DocumentConsumer.as_asgi()),
]
