"""Addresses of models below an organization's."""

from django.urls import path

from llm.api import views

urlpatterns = [
    path("llm/models", views.OrganizationModelsView.as_view(), name="llm_models"),
    path("llm/run", views.OrganizationRunView.as_view(), name="organization_llm_run"),
]
