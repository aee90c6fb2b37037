"""The older addresses below `/document/`: each is the same view as its original, under another name."""

from typing import Any

from django.core.files.uploadedfile import UploadedFile as PostedFile
from django.http import HttpResponse, HttpResponseBase
from rest_framework.request import Request

from core.api.operations import operation
from core.api.v1 import V1Problem
from documents.api.contents import read_form
from documents.api.v1.bodies import V1Document, V1Run, V1RunStart
from documents.api.v1.documents import HEADERS, KEY, V1DocumentView
from documents.api.v1.runs import EXAMPLE, FORM, V1RunsView

FILE_FORM = {
    "multipart/form-data": {
        "type": "object",
        "required": ["file"],
        "properties": {"file": {"type": "string", "format": "binary", "description": "A new version of the document"}},
    }
}
TAG = "Aliases (v1)"
READ, WRITE = ["get", "head", "options"], ["post", "options"]


class StatusAlias(V1DocumentView):
    """`GET /v1/documents/{document_id}`."""

    http_method_names = READ

    @operation(
        "v1_alias_status", "The same as v1_get_document", tag=TAG, answer=V1Document, errors=(400, 404),
        headers=("If-None-Match", *HEADERS), problem=V1Problem,
    )  # fmt: skip
    def get(self, request: Request, document_id: str) -> HttpResponseBase:
        return super().get(request, document_id)


class ReparseAlias(V1RunsView):
    """`POST /v1/documents/{document_id}/runs`."""

    http_method_names = WRITE

    @operation(
        "v1_alias_reparse", "The same as v1_start_run", tag=TAG, answer=V1Run, body=FORM, errors=(400, 404, 409),
        example=EXAMPLE, headers=(KEY, *HEADERS), status=202, problem=V1Problem,
    )  # fmt: skip
    def post(self, request: Request, document_id: str) -> HttpResponse:
        return super().post(request, document_id)


class UploadAlias(V1RunsView):
    """`POST /v1/documents/{document_id}/runs` with a file."""

    http_method_names = WRITE

    @operation(
        "v1_alias_upload", "The same as v1_start_run, with a file", tag=TAG, answer=V1Run, body=FILE_FORM,
        errors=(400, 404, 409), headers=(KEY, *HEADERS), status=202, problem=V1Problem,
    )  # fmt: skip
    def post(self, request: Request, document_id: str) -> HttpResponse:
        return super().post(request, document_id)

    def _asked(self) -> "tuple[V1RunStart, PostedFile[Any] | None]":
        return read_form(self.plain_request, V1RunStart)
