"""The address of the list of prompts, below an organization's."""

from django.urls import path

from documents.api import prompts

urlpatterns = [path("prompts", prompts.DocumentPromptsView.as_view(), name="prompts")]
