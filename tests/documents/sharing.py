"""Shared documents for tests: a read document with a real PDF, its result, and links to it."""

from io import BytesIO
from typing import Any

from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from reportlab.pdfgen.canvas import Canvas

from documents.grounding import ground
from documents.ingest.wire import words_as_columns
from documents.models import Document, Extraction, Page
from documents.selectors import page_content
from documents.sharing.services import MadeLink, create_share_link
from tests.conftest import Person
from tests.documents.making import make_document, make_prompt, words_of

PLAIN = "docrouter/offline"
ROW, SIZE = 842 / 50, 10.0


def paper_of(*pages: tuple[str, ...]) -> bytes:
    """A PDF whose words stand where `words_of` says: 100 columns, 50 rows."""
    buffer = BytesIO()
    canvas = Canvas(buffer, pagesize=(595, 842))
    for lines in pages:
        canvas.setFont("Courier", SIZE)
        for word in words_of(*lines):
            canvas.drawString(word.x0 * 595, 842 - word.y1 * 842 + 3, word.text)
        canvas.showPage()
    canvas.save()
    return buffer.getvalue()


def shared_document(person: Person, *pages: tuple[str, ...], name: str = "receipt.pdf") -> Document:
    """A document of these pages, as if a worker had read its file."""
    document = make_document(person, *pages[0], name=name)
    version = document.current_version
    assert version is not None
    for number, lines in enumerate(pages[1:], start=2):
        Page.objects.create(
            organization=person.organization, version=version, number=number, width=595, height=842,
            source="text_layer", text="\n".join(lines), words=words_as_columns(words_of(*lines)),
        )  # fmt: skip
    stored = default_storage.save(f"tests/{document.pk.hex}.pdf", ContentFile(paper_of(*pages)))
    version.file_key = version.pdf_key = stored
    version.page_count = len(pages)
    version.sha256 = document.pk.hex * 2
    version.save()
    return document


def result_of(person: Person, document: Document, data: dict[str, Any], *, prompt: Any = None) -> Extraction:
    """A result with its places looked up."""
    pages = [page_content(row) for row in Page.objects.filter(version=document.current_version).order_by("number")]
    return Extraction.objects.create(
        organization=person.organization,
        document=document,
        version_id=document.current_version_id,
        prompt_revision=prompt or make_prompt(person, name=f"Prompt {document.pk.hex}", model=PLAIN),
        llm_result=data,
        updated_llm_result=data,
        grounding={path: place.as_json() for path, place in ground(data=data, pages=pages).items()},
    )


def link_to(person: Person, document: Document, **options: Any) -> MadeLink:
    return create_share_link(actor=person.actor, document_id=document.pk, **options)
