"""`manage.py rotate_keys`: put everything that is sealed under the first of ENCRYPTION_KEYS."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from llm.services import reseal_keys


class Command(BaseCommand):
    help = "Seal the providers' keys anew with the first of ENCRYPTION_KEYS; afterwards the others can be removed."

    def handle(self, *_: Any, **__: Any) -> None:
        count, unreadable = reseal_keys()
        self.stdout.write(f"{count} sealed anew")
        if unreadable:
            raise CommandError(f"No key of ENCRYPTION_KEYS opens the one of: {', '.join(unreadable)}. Set it again.")
