"""Documents over JSON: upload, list, read with or without bytes, change, delete."""

import base64
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

from django.conf import settings
from django.http import HttpResponseBase
from rest_framework.request import Request

from core.api.bodies import Message
from core.api.operations import operation
from core.ids import parse_id, show_id
from documents import files, selectors, services
from documents.api.bodies import (
    NEVER_SEND,
    DocumentForm,
    DocumentMetadata,
    DocumentQuery,
    DocumentResponse,
    DocumentsAnswer,
    DocumentsQuery,
    DocumentsUpload,
    DocumentsUploaded,
    DocumentUpdate,
    DocumentUploaded,
    FileQuery,
    OneDocumentUploaded,
)
from documents.api.contents import SPARE, fingerprint_of_form, read_form, read_large, upload_of, upload_of_form
from documents.errors import DocumentNotFound
from documents.models import DocumentVersion
from documents.proposals import auto_create_facts
from documents.services import UploadedFile
from documents.serving import CHUNK, StoredFile, file_answer, is_small, original_of, pdf_of, pieces_answer
from organizations.actor import Actor
from organizations.api.doors import OrganizationView
from organizations.idempotency import once

KEY = "Idempotency-Key"
EXAMPLE = {
    "documents": [
        {"name": "receipt.txt", "content": "VG90YWw6IDEyLjUwIEVVUg==", "tag_ids": [], "metadata": {"source": "mail"}}
    ]
}
FORM = {
    "multipart/form-data": {
        "type": "object",
        "required": ["file"],
        "properties": {
            "file": {"type": "string", "format": "binary"},
            "name": {"type": "string", "description": "Instead of the file's own name"},
            "tag_ids": {"type": "string", "description": "A list of ids as JSON"},
            "metadata": {"type": "string", "description": "An object of texts as JSON"},
            "auto_create": {"type": "boolean"},
            "never_send": {"type": "boolean", "description": NEVER_SEND},
        },
    }
}
BYTES = {"type": "string", "format": "binary"}


class DocumentsView(OrganizationView):
    """The organization's documents."""

    rates: ClassVar[dict[str, str]] = {"POST": "upload"}
    max_body_bytes = settings.MAX_UPLOAD_BYTES * 4 // 3 + SPARE

    @operation(
        "list_documents", "List the documents", tag="Documents", answer=DocumentsAnswer, query=DocumentsQuery,
        errors=(400,),
    )  # fmt: skip
    def get(self, request: Request) -> DocumentsAnswer:
        asked = self.query(DocumentsQuery).model_dump()
        tag_ids = [part.strip() for part in (asked.pop("tag_ids") or "").split(",") if part.strip()]
        found = selectors.list_documents(actor=self.actor, tag_ids=tag_ids, **asked)
        facts = auto_create_facts(actor=self.actor, documents=found.documents)
        shown = [DocumentMetadata.of(document, facts[document.pk]) for document in found.documents]
        return DocumentsAnswer(documents=shown, total_count=found.total_count, skip=found.skip)

    @operation(
        "upload_documents", "Upload files: all of them or none", tag="Documents", answer=DocumentsUploaded,
        body=DocumentsUpload, errors=(400, 409), example=EXAMPLE, headers=(KEY,),
    )  # fmt: skip
    def post(self, request: Request) -> DocumentsUploaded:
        fingerprint, body = read_large(self._read_body, DocumentsUpload)
        uploads = [upload_of(document) for document in body.documents]
        answer, _ = once(
            actor=self.actor,
            key=request.headers.get(KEY),
            route="upload_documents",
            fingerprint=fingerprint,
            work=upload_work(self.actor, uploads, auto_create=body.auto_create),
        )
        return DocumentsUploaded.model_validate(answer)


class DocumentFormView(OrganizationView):
    """A file as a form sends it."""

    rates: ClassVar[dict[str, str]] = {"POST": "upload"}

    @operation(
        "upload_document_form", "Upload a file as a form", tag="Documents", answer=OneDocumentUploaded, body=FORM,
        errors=(400, 409), headers=(KEY,),
    )  # fmt: skip
    def post(self, request: Request) -> OneDocumentUploaded:
        form, file = read_form(self.plain_request, DocumentForm)
        answer, _ = once(
            actor=self.actor,
            key=request.headers.get(KEY),
            route="upload_document_form",
            fingerprint=fingerprint_of_form(form, file),
            work=upload_work(self.actor, [upload_of_form(form, file)], auto_create=form.auto_create),
        )
        return OneDocumentUploaded(document=DocumentUploaded.model_validate(answer["documents"][0]))


def upload_work(actor: Actor, uploads: list[UploadedFile], *, auto_create: bool | None) -> Callable[[], dict[str, Any]]:
    """Storing the files, answering in the wire's words."""

    def work() -> dict[str, Any]:
        results = services.upload_documents(actor=actor, files=uploads, auto_create=auto_create)
        shown = [
            DocumentUploaded(
                document_name=result.document.name,
                document_id=show_id(result.document.pk),
                tag_ids=[show_id(parse_id(tag_id)) for tag_id in upload.tag_ids],
                metadata=dict(upload.metadata),
            )
            for upload, result in zip(uploads, results, strict=True)
        ]
        return DocumentsUploaded(documents=shown).model_dump()

    return work


class DocumentView(OrganizationView):
    """One document."""

    @operation(
        "get_document", "Read a document, with its bytes as base64", tag="Documents", answer=DocumentResponse,
        query=DocumentQuery, errors=(404,),
    )  # fmt: skip
    def get(self, request: Request, document_id: str) -> DocumentResponse | HttpResponseBase:
        asked = self.query(DocumentQuery)
        document = selectors.get_document(actor=self.actor, document_id=document_id)
        if document.current_version is None:
            raise DocumentNotFound
        facts = auto_create_facts(actor=self.actor, documents=[document])[document.pk]
        shown = DocumentMetadata.of(document, facts, type=document.current_version.mime_type)
        if not asked.include_content:
            return DocumentResponse(**shown.model_dump(), content=None)
        key = _file(document.current_version, asked.file_type).key
        with files.open_key(key) as file:
            small = is_small(file.seek(0, 2))
        return pieces_answer(with_content(shown, key), content_type="application/json", small=small)

    @operation(
        "update_document", "Change name, tags, metadata or the mark", tag="Documents", answer=Message,
        body=DocumentUpdate, errors=(400, 404), example={"document_name": "June.pdf", "metadata": {"month": "2026-06"}},
    )  # fmt: skip
    def put(self, request: Request, document_id: str) -> Message:
        body = self.body(DocumentUpdate)
        given: dict[str, Any] = body.model_dump()
        given["name"] = given.pop("document_name")
        services.update_document(actor=self.actor, document_id=document_id, **given)
        changed = any(value is not None for value in given.values())
        return Message(message="Document updated successfully" if changed else "No updates provided")

    @operation("delete_document", "Move a document to the trash", tag="Documents", answer=Message, errors=(404,))
    def delete(self, request: Request, document_id: str) -> Message:
        services.delete_document(actor=self.actor, document_id=document_id)
        return Message(message="Document deleted successfully")


class DocumentFileView(OrganizationView):
    """A document's bytes."""

    @operation(
        "download_document", "Download the file, or a range of it", tag="Documents", answer=BYTES, query=FileQuery,
        errors=(404,), media_type="*/*", ranges=True, headers=("Range", "If-Range", "If-None-Match"),
    )  # fmt: skip
    def get(self, request: Request, document_id: str) -> HttpResponseBase:
        version = selectors.current_version(actor=self.actor, document_id=document_id)
        return file_answer(self.plain_request, _file(version, self.query(FileQuery).file_type))


def with_content(shown: DocumentMetadata, key: str) -> Iterator[bytes]:
    """The answer as JSON, the file's bytes encoded as they are read."""
    with files.open_key(key) as file:
        yield shown.model_dump_json().encode()[:-1] + b',"content":"'
        while chunk := file.read(CHUNK):
            yield base64.b64encode(chunk)
        yield b'"}'


def _file(version: DocumentVersion, file_type: str) -> StoredFile:
    return pdf_of(version) if file_type == "pdf" else original_of(version)
