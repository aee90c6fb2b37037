"""Documents: versions of their bytes, pages, runs, events, extractions, proposals, what is shared."""

from documents.models.auto_create import AutoCreate
from documents.models.documents import Document, DocumentTally, DocumentVersion, Page
from documents.models.extractions import Extraction, ExtractionEdit
from documents.models.letters import DocumentLetters
from documents.models.runs import Admission, Event, EventHead, Run
from documents.models.sharing import Publication, ShareLink

__all__ = [
    "Admission",
    "AutoCreate",
    "Document",
    "DocumentLetters",
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
]
