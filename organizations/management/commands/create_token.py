"""`manage.py create_token --email E [--organization NAME_OR_ID]`: print nothing but the new access token."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from core.errors import DomainError
from organizations import selectors, services


class Command(BaseCommand):
    help = "Create an access token (org_… with an organization, else acc_…) and print it, this once."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--email", required=True)
        parser.add_argument("--organization", metavar="NAME_OR_ID")
        parser.add_argument("--name", default="command line")
        parser.add_argument("--days", type=int, default=0, help="0: never ends")

    def handle(self, *_: Any, **options: Any) -> None:
        wanted = options["organization"]
        try:
            _row, token = services.create_token(
                user=selectors.get_user_by_email(email=options["email"]),
                name=options["name"],
                organization=selectors.find_organization(name_or_id=wanted) if wanted else None,
                lifetime_days=options["days"],
            )
        except DomainError as problem:
            raise CommandError(problem.detail) from problem
        self.stdout.write(token)
