"""One kill of every kind of process under uploads: web, workers, clock, Valkey, PostgreSQL. `make chaos` does fifty."""

import sys
from pathlib import Path

import pytest

from tests.chaos.site import KINDS, site
from tests.chaos.storm import show, storm

pytestmark = pytest.mark.slow


def test_whatever_is_killed_every_run_ends_and_nothing_is_done_or_told_twice(tmp_path: Path) -> None:
    with site(tmp_path / "data") as product:
        figures = storm(product, kills=len(KINDS), auto_create=True)

    sys.stdout.write(show(figures))
    assert set(figures.kills) == set(KINDS)
    assert figures.findings.broken == {}
    assert figures.findings.documents == len(figures.uploaded)
    ended = {(kind, phase) for kind, phase, _ in figures.findings.runs if kind != "extract"}
    assert ended <= {("parse", "complete"), ("propose", "complete")}
