"""Documents of `/v1`: upload one, list them newest first, read one, delete one."""

import hashlib
from collections.abc import Callable
from typing import Any, ClassVar

from django.conf import settings
from django.http import HttpResponse, HttpResponseBase, HttpResponseNotModified, JsonResponse
from rest_framework.request import Request

from core.api.operations import operation
from core.api.v1 import V1Problem, respond
from core.ids import show_id
from documents import browsing, services
from documents.api.contents import SPARE, fingerprint_of_form, read_form, read_large, upload_of, upload_of_form
from documents.api.v1.bodies import (
    V1Document,
    V1DocumentForm,
    V1DocumentMade,
    V1Documents,
    V1DocumentsQuery,
    V1DocumentUpload,
)
from documents.services import UploadedFile
from organizations.api.v1_doors import ORGANIZATION_HEADER, V1View
from organizations.idempotency import once

TAG = "Documents (v1)"
KEY = "Idempotency-Key"
FORM = {
    "application/json": V1DocumentUpload,
    "multipart/form-data": {
        "type": "object",
        "required": ["file"],
        "properties": {
            "file": {"type": "string", "format": "binary"},
            "name": {"type": "string", "description": "Instead of the file's own name"},
            "tagIds": {"type": "string", "description": "A list of ids as JSON"},
            "metadata": {"type": "string", "description": "An object of texts as JSON"},
            "autoCreate": {"type": "boolean"},
            "neverSend": {"type": "boolean"},
        },
    },
}
EXAMPLE = {"name": "receipt.txt", "content": "VG90YWw6IDEyLjUwIEVVUg==", "metadata": {"source": "mail"}}
HEADERS = (ORGANIZATION_HEADER,)


class V1DocumentsView(V1View):
    """The organization's documents."""

    rates: ClassVar[dict[str, str]] = {"POST": "upload"}
    max_body_bytes = settings.MAX_UPLOAD_BYTES * 4 // 3 + SPARE

    @operation(
        "v1_list_documents", "List the documents, newest first", tag=TAG, answer=V1Documents, query=V1DocumentsQuery,
        errors=(400, 404), headers=HEADERS, problem=V1Problem,
    )  # fmt: skip
    def get(self, request: Request) -> V1Documents:
        asked = self.query(V1DocumentsQuery)
        found, has_more = browsing.browse_documents(actor=self.actor, after=asked.after, limit=asked.limit)
        shown = [V1Document.of(one) for one in found]
        return V1Documents(documents=shown, next_after=shown[-1].document_id if has_more else None)

    @operation(
        "v1_upload_document", "Upload a file, as a form or as JSON", tag=TAG, answer=V1DocumentMade, body=FORM,
        errors=(400, 409), example=EXAMPLE, headers=(KEY, *HEADERS), status=201, problem=V1Problem,
    )  # fmt: skip
    def post(self, request: Request) -> HttpResponse:
        fingerprint, upload, auto_create = self._upload()
        answer, _ = once(
            actor=self.actor,
            key=request.headers.get(KEY),
            route="v1_upload_document",
            fingerprint=fingerprint,
            work=self._work(upload, auto_create),
        )
        return JsonResponse(answer, status=201)

    def _upload(self) -> tuple[bytes, UploadedFile, bool | None]:
        if is_form(self.plain_request):
            form, file = read_form(self.plain_request, V1DocumentForm)
            return fingerprint_of_form(form, file), upload_of_form(form, file), form.auto_create
        fingerprint, body = read_large(self._read_body, V1DocumentUpload)
        return fingerprint, upload_of(body), body.auto_create

    def _work(self, upload: UploadedFile, auto_create: bool | None) -> Callable[[], dict[str, Any]]:
        """Storing the file, answering in the wire's words."""

        def work() -> dict[str, Any]:
            (made,) = services.upload_documents(actor=self.actor, files=[upload], auto_create=auto_create)
            found = browsing.browse_document(actor=self.actor, document_id=made.document.pk)
            run_id = show_id(found.active_run_id) if found.active_run_id else ""
            return V1DocumentMade(
                document_id=show_id(made.document.pk),
                run_id=run_id,
                workflow_id=run_id,
                phase=found.document.phase,
                updated_at=found.updated_at,
            ).model_dump(mode="json")

        return work


class V1DocumentView(V1View):
    """One document."""

    @operation(
        "v1_get_document", "Read a document's state", tag=TAG, answer=V1Document, errors=(400, 404),
        headers=("If-None-Match", *HEADERS), problem=V1Problem,
    )  # fmt: skip
    def get(self, request: Request, document_id: str) -> HttpResponseBase:
        found = browsing.browse_document(actor=self.actor, document_id=document_id)
        return with_etag(request, respond(V1Document.of(found), 200))

    @operation(
        "v1_delete_document", "Stop a document's runs and move it to the trash", tag=TAG, errors=(400, 404),
        headers=HEADERS, status=204, problem=V1Problem,
    )  # fmt: skip
    def delete(self, request: Request, document_id: str) -> HttpResponse:
        services.delete_document(actor=self.actor, document_id=document_id)
        return HttpResponse(status=204)


def is_form(request: Any) -> bool:
    """Whether a form was sent; anything else is read as JSON."""
    return bool(request.content_type == "multipart/form-data")


def with_etag(request: Request, answer: HttpResponse) -> HttpResponseBase:
    """304 when the client has exactly this answer."""
    etag = f'"{hashlib.sha256(answer.content).hexdigest()[:32]}"'
    given = {part.strip().removeprefix("W/") for part in request.headers.get("If-None-Match", "").split(",")}
    shown: HttpResponseBase = HttpResponseNotModified() if etag in given else answer
    shown["ETag"] = etag
    shown["Cache-Control"] = "private, no-cache"
    return shown
