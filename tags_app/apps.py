"""Django's entry to this app."""

from django.apps import AppConfig


class TagsAppConfig(AppConfig):
    name = "tags_app"
