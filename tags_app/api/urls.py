"""Addresses of tags, below an organization's."""

from django.urls import path

from tags_app.api import views

urlpatterns = [path("tags", views.TagsView.as_view(), name="tags")]
