"""Make documents that are read already, without files and workers: for tests of what comes after reading."""

from typing import Any

from documents.ingest.wire import words_as_columns
from documents.models import Document, DocumentVersion, Page, Run
from documents.states import refresh_state
from llm.content import Word
from prompts_app.config import PromptConfig
from prompts_app.models import PromptRevision
from prompts_app.services import create_prompt
from schemas_app.services import create_schema
from tests.conftest import Person

RECEIPT = ("Contoso Ltd", "Receipt No.: 2468", "Date: 8/20/2020", "Subtotal: $4,500.00", "Total: $4,950.00")


def words_of(*lines: str) -> tuple[Word, ...]:
    """Words of text lines, each at its character's column: 100 columns wide, 50 lines high."""
    words = []
    for row, line in enumerate(lines):
        column = 0
        for piece in line.split(" "):
            if piece:
                box = (column / 100, row / 50, (column + len(piece)) / 100, row / 50 + 0.015)
                words.append(Word(piece, *box, line=row))
            column += len(piece) + 1
    return tuple(words)


def make_document(person: Person, *lines: str, name: str = "receipt.pdf", phase: str = "complete") -> Document:
    """A document of one page that holds these lines, as if a worker had read it."""
    document = Document.objects.create(organization=person.organization, name=name, uploaded_by_name=person.user.name)
    version = DocumentVersion.objects.create(
        organization=person.organization,
        document=document,
        number=1,
        file_name=name,
        file_key=f"none/{document.id.hex}",
        sha256="0" * 64,
        size_bytes=1,
        mime_type="application/pdf",
        page_count=1,
    )
    document.current_version = version
    document.save()
    Run.objects.create(organization=person.organization, document=document, version=version, phase=phase)
    if phase == "complete":
        Page.objects.create(
            organization=person.organization,
            version=version,
            number=1,
            width=595,
            height=842,
            source="text_layer",
            text="\n".join(lines),
            words=words_as_columns(words_of(*lines)),
        )
    refresh_state(document_id=document.id)
    document.refresh_from_db()
    return document


def response_format(properties: dict[str, Any], name: str = "receipt") -> dict[str, Any]:
    """A strict response format of these properties."""
    schema = {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
    return {"type": "json_schema", "json_schema": {"name": name, "strict": True, "schema": schema}}


RECEIPT_FIELDS = {
    "number": {"type": "string"},
    "date": {"type": "string"},
    "total": {"type": "number"},
    "iban": {"type": "string"},
}


def make_prompt(
    person: Person, properties: dict[str, Any] | None = None, *, name: str = "Receipt", model: str = "gpt-4o-mini"
) -> PromptRevision:
    """A prompt with a schema of these properties."""
    saved = create_schema(actor=person.actor, name=name, response_format=response_format(properties or RECEIPT_FIELDS))
    config = PromptConfig(
        name=name, content="Read the receipt.", schema_id=saved.revision.schema_id.hex, model=model
    )  # fmt: skip
    return create_prompt(actor=person.actor, config=config).revision
