"""`manage.py revoke_sessions --email E`: end all signed sessions (JWT) of a person; print how many there were."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from core.errors import DomainError
from organizations import selectors, services


class Command(BaseCommand):
    help = "End all signed API sessions of a person at once. A new password does so too. Prints how many there were."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--email", required=True)

    def handle(self, *_: Any, **options: Any) -> None:
        try:
            user = selectors.get_user_by_email(email=options["email"])
        except DomainError as problem:
            raise CommandError(problem.detail) from problem
        self.stdout.write(str(services.revoke_sessions(user=user)))
