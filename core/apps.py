"""Django's entry to this app."""

from django.apps import AppConfig


class CoreConfig(AppConfig):
    name = "core"
