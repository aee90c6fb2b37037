"""Django's entry to this app."""

from django.apps import AppConfig


class WebhooksConfig(AppConfig):
    name = "webhooks"
