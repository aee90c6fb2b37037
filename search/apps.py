"""Django's entry to this app."""

from django.apps import AppConfig


class SearchConfig(AppConfig):
    name = "search"
