"""Addresses of single tags, below an organization's."""

from django.urls import path

from documents.api import tags

urlpatterns = [path("tags/<str:tag_id>", tags.DeletableTagView.as_view(), name="tag")]
