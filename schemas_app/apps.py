"""Django's entry to this app."""

from django.apps import AppConfig


class SchemasAppConfig(AppConfig):
    name = "schemas_app"
