"""What a run of tests has to tell at its very end: `python -m tests.run` names the file, tests add lines to it."""

import os
from pathlib import Path

VARIABLE = "TEST_NOTES"


def note(text: str) -> None:
    """Say something last; without a file to say it in, pytest's own summary has to do."""
    if path := os.environ.get(VARIABLE):
        with Path(path).open("a", encoding="utf-8") as notes:
            notes.write(text.replace("\n", " ") + "\n")


def read_notes(path: Path) -> list[str]:
    """Return each thing said, once."""
    if not path.is_file():
        return []
    return list(dict.fromkeys(path.read_text(encoding="utf-8").splitlines()))
