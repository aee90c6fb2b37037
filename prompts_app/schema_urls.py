"""Doors of schemas. They are put together up here because deleting a schema looks at prompts."""

from django.urls import path

from prompts_app import schema_pages
from schemas_app import views

app_name = "schemas"
urlpatterns = [
    path("schemas", views.schemas_page, name="list"),
    path("schemas/new", views.create_page, name="create"),
    path("schemas/revisions/<str:schema_revid>", views.revision_page, name="revision"),
    path("schemas/<str:schema_id>", views.schema_page, name="detail"),
    path("schemas/<str:schema_id>/edit", views.edit_page, name="edit"),
    path("schemas/<str:schema_id>/delete", schema_pages.delete_page, name="delete"),
]
