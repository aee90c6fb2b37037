"""Every other format becomes a PDF, so that pages, boxes and pictures exist for all. Runs in the child process."""

from pathlib import Path

from documents.errors import UnsupportedFile
from documents.ingest import pictures
from documents.ingest.limits import Limits
from documents.ingest.sniff import IMAGE_KINDS, Kind


def to_pdf(path: Path, kind: Kind, target: Path, limits: Limits) -> list[str]:
    """Write a PDF of the file to `target`; returns notes on what it does not show.

    Raises: UnreadableFile, UnsupportedFile, TooManyPages, TooManyPixels.
    """
    if kind in IMAGE_KINDS:
        return pictures.to_pdf(path, target, limits)
    raise UnsupportedFile
