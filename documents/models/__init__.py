"""Documents: versions of their bytes, pages, runs, events, extractions, proposals."""

from documents.models.auto_create import AutoCreate
from documents.models.documents import Document, DocumentTally, DocumentVersion, Page
from documents.models.extractions import Extraction, ExtractionEdit
from documents.models.runs import Event, EventHead, Run

__all__ = [
    "AutoCreate",
    "Document",
    "DocumentTally",
    "DocumentVersion",
    "Event",
    "EventHead",
    "Extraction",
    "ExtractionEdit",
    "Page",
    "Run",
]
