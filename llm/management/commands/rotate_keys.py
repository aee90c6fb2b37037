"""`manage.py rotate_keys`: put everything that is sealed under the first of ENCRYPTION_KEYS."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from llm.services import reseal_keys
from organizations.idempotency import reseal_answers
from webhooks.services import reseal_secrets


class Command(BaseCommand):
    help = (
        "Seal the providers' keys, the webhooks' secrets and remembered answers with the first of ENCRYPTION_KEYS; "
        "afterwards the others can be removed."
    )

    def handle(self, *_: Any, **__: Any) -> None:
        keys, of_providers = reseal_keys()
        secrets, of_webhooks = reseal_secrets()
        answers = reseal_answers()
        self.stdout.write(f"{keys + secrets + answers} sealed anew")
        if unreadable := [*of_providers, *(f"webhook {webhook_id}" for webhook_id in of_webhooks)]:
            raise CommandError(f"No key of ENCRYPTION_KEYS opens the one of: {', '.join(unreadable)}. Set it again.")
