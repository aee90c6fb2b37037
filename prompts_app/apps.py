"""Django's entry to this app."""

from django.apps import AppConfig


class PromptsAppConfig(AppConfig):
    name = "prompts_app"
