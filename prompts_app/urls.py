"""Doors of prompts."""

from django.urls import path

from prompts_app import views

app_name = "prompts"
urlpatterns = [
    path("prompts", views.prompts_page, name="list"),
    path("prompts/new", views.create_page, name="create"),
    path("prompts/revisions/<str:prompt_revid>", views.revision_page, name="revision"),
    path("prompts/<str:prompt_id>", views.prompt_page, name="detail"),
    path("prompts/<str:prompt_id>/edit", views.edit_page, name="edit"),
    path("prompts/<str:prompt_id>/delete", views.delete_page, name="delete"),
]
