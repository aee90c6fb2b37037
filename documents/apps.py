"""Django's entry to this app."""

from django.apps import AppConfig


class DocumentsConfig(AppConfig):
    name = "documents"
