"""Django's entry to this app."""

from django.apps import AppConfig


class LlmConfig(AppConfig):
    name = "llm"
