"""Addresses of single schemas, below an organization's."""

from django.urls import path

from prompts_app.api import schemas

urlpatterns = [path("schemas/<str:schema_id>", schemas.DeletableSchemaView.as_view(), name="schema")]
