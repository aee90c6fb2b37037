"""`manage.py create_organization --name N --owner E`: print the id of the new organization."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from core.errors import DomainError
from core.ids import show_id
from organizations import selectors, services


class Command(BaseCommand):
    help = "Create an organization; its owner (an existing user's e-mail) becomes its first admin. Prints the id."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--name", required=True)
        parser.add_argument("--owner", required=True, metavar="EMAIL")

    def handle(self, *_: Any, **options: Any) -> None:
        try:
            owner = selectors.get_user_by_email(email=options["owner"])
            organization = services.create_organization(name=options["name"], owner=owner)
        except DomainError as problem:
            raise CommandError(problem.detail) from problem
        self.stdout.write(show_id(organization.id))
