"""Django's entry to this app."""

from django.apps import AppConfig


class AgentConfig(AppConfig):
    name = "agent"
