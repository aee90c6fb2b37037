"""Doors of tags. They are put together up here because deleting a tag looks at documents."""

from django.urls import path

from documents import tag_pages
from tags_app import views

app_name = "tags"
urlpatterns = [
    path("tags", views.tags_page, name="list"),
    path("tags/new", views.create_page, name="create"),
    path("tags/<str:tag_id>", views.tag_page, name="detail"),
    path("tags/<str:tag_id>/edit", views.edit_page, name="edit"),
    path("tags/<str:tag_id>/delete", tag_pages.delete_page, name="delete"),
]
