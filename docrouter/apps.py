"""Django's entry to the roof: with it the Celery application exists in every process, so that tasks find the broker."""

from django.apps import AppConfig

from docrouter.celery import app as celery_app

__all__ = ["DocrouterConfig", "celery_app"]


class DocrouterConfig(AppConfig):
    name = "docrouter"
