"""Every other format becomes a PDF, so that pages, boxes and pictures exist for all. Runs in the child process."""

from pathlib import Path

from documents.errors import UnsupportedFile
from documents.ingest import office, pictures, texts
from documents.ingest.limits import Limits
from documents.ingest.sniff import IMAGE_KINDS, Kind


def to_pdf(path: Path, kind: Kind, target: Path, limits: Limits) -> list[str]:
    """Write a PDF of the file to `target`; returns notes on what it does not show.

    Raises: UnreadableFile, UnsupportedFile, TooManyPages, TooManyPixels.
    """
    if kind in IMAGE_KINDS:
        return pictures.to_pdf(path, target, limits)
    match kind:
        case "txt":
            return texts.plain_to_pdf(path, target, limits)
        case "md":
            return texts.markdown_to_pdf(path, target, limits)
        case "csv":
            return texts.csv_to_pdf(path, target, limits)
        case "docx":
            return office.docx_to_pdf(path, target, limits)
        case "xlsx":
            return office.xlsx_to_pdf(path, target, limits)
        case "doc" | "xls":
            return office.old_to_pdf(path, kind, target, limits)
        case _:
            raise UnsupportedFile
