"""Django's entry to this app."""

from django.apps import AppConfig


class OrganizationsConfig(AppConfig):
    name = "organizations"
