"""`manage.py demo FILE`: the main job in the terminal, on services and workers that run."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from core.errors import DomainError
from docrouter.terminal import main_job


class Command(BaseCommand):
    help = "Upload a document, let the agent set up its extraction, approve each card, print the fields."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)

    def handle(self, *_: Any, **options: Any) -> None:
        path: Path = options["file"]
        if not path.is_file():
            raise CommandError(f"There is no file {path}.")
        try:
            for line in main_job(path):
                self.stdout.write(line)
                self.stdout.flush()
        except DomainError as problem:
            raise CommandError(problem.detail) from problem
