"""`manage.py prepare`: bring the database up to date and make the demo when it is switched on (safe to repeat)."""

from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand

from docrouter.demo import ensure_demo


class Command(BaseCommand):
    help = "Migrate, and make the demo organization when DEMO is on."

    def handle(self, *_: Any, **__: Any) -> None:
        Path(settings.STATIC_ROOT).mkdir(parents=True, exist_ok=True)
        call_command("migrate", verbosity=1, interactive=False)
        if settings.DEMO:
            ensure_demo()
