"""Documents: versions of their bytes, pages, runs, events, extractions, proposals, what is shared."""

from documents.models.auto_create import AutoCreate
from documents.models.documents import Document, DocumentTally, DocumentVersion, Page, name_pieces
from documents.models.extractions import Extraction, ExtractionEdit
from documents.models.runs import Admission, Event, EventHead, Run
from documents.models.sharing import Publication, ShareLink

__all__ = [
    "Admission",
    "AutoCreate",
    "Document",
    "DocumentTally",
    "DocumentVersion",
    "Event",
    "EventHead",
    "Extraction",
    "ExtractionEdit",
    "Page",
    "Publication",
    "Run",
    "ShareLink",
    "name_pieces",
]
