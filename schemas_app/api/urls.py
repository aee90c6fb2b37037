"""Addresses of schemas, below an organization's. That of one schema is in `prompts_app`: deleting looks there."""

from django.urls import path

from schemas_app.api import views

urlpatterns = [
    path("schemas", views.SchemasView.as_view(), name="schemas"),
    path("schemas/<str:schema_id>/versions", views.SchemaVersionsView.as_view(), name="schema_versions"),
    path("schemas/<str:schema_revid>/validate", views.SchemaValidateView.as_view(), name="schema_validate"),
]
