"""Addresses of prompts, below an organization's. The one of the list is in `documents`: it can ask for a document's."""

from django.urls import path

from prompts_app.api import views

urlpatterns = [
    path("prompts/<str:prompt_id>", views.PromptView.as_view(), name="prompt"),
    path("prompts/<str:prompt_id>/versions", views.PromptVersionsView.as_view(), name="prompt_versions"),
]
