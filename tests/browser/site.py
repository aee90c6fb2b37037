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
    with running(folder, "browser") as site:
        site.manage("create_user", "--email", EMAIL, "--password", PASSWORD)
        site.manage("create_organization", "--name", "Ada's organization", "--owner", EMAIL)
        site.wait()
        yield site
