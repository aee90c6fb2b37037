"""`manage.py create_user --email E [--password P] [--admin]`: print the id of the new person."""

import getpass
import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from core.errors import DomainError
from core.ids import show_id
from organizations import services


class Command(BaseCommand):
    help = "Create a user and print the id. Without --password it is asked for; --password - reads standard input."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--email", required=True)
        parser.add_argument("--password", help="'-' reads it from standard input")
        parser.add_argument("--name", default="")
        parser.add_argument("--admin", action="store_true", help="administrator of the whole deployment")

    def handle(self, *_: Any, **options: Any) -> None:
        try:
            user = services.create_user(
                email=options["email"],
                password=_password(options["password"]),
                name=options["name"],
                is_system_admin=options["admin"],
            )
        except DomainError as problem:
            raise CommandError(problem.detail) from problem
        self.stdout.write(show_id(user.id))


def _password(given: str | None) -> str | None:
    """The password; none when nobody is there to be asked: such a user cannot sign in until one is set."""
    if given == "-":
        return sys.stdin.readline().rstrip("\n") or None
    if given is None and sys.stdin.isatty():
        return getpass.getpass("Password: ") or None
    return given
