"""Folders for the tests of the embedded services."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that everybody may enter (pytest's own are private)."""
    folder = Path(tempfile.mkdtemp(prefix="docrouter-test-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)
