"""The product for journeys in a browser: one person in one organization."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.live import ROOT, Site, running

__all__ = ["EMAIL", "PASSWORD", "ROOT", "Site", "running_site"]

EMAIL, PASSWORD = "ada@example.com", "a long enough secret"


@contextmanager
def running_site(folder: Path) -> Iterator[Site]:
    """Start everything, with one person in one organization; afterwards nothing is left."""
    commands = (
        ("create_user", "--email", EMAIL, "--password", PASSWORD),
        ("create_organization", "--name", "Ada's organization", "--owner", EMAIL),
    )
    with running(folder, "browser", *commands) as (site, _):
        yield site
