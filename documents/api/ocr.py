"""What was read of a document over JSON: blocks, text, facts, files made of it; reading again; what to read."""

import zlib
from collections.abc import Iterator
from pathlib import PurePath

from django.http import HttpResponse, HttpResponseBase
from django.utils.cache import patch_cache_control
from rest_framework.request import Request

from core.api.operations import operation
from core.ids import show_id
from documents import bulk, services
from documents.api.bodies import (
    DownloadQuery,
    OcrBulkAnalyze,
    OcrBulkAnswer,
    OcrRunQuery,
    ReadingMetadata,
    ReadingQueued,
    ReadingToDo,
    TablesQuery,
    TextQuery,
)
from documents.api.result_bodies import BulkFilters
from documents.blocks import document_as_json, list_as_json
from documents.errors import ReadingNotFound
from documents.exports import html_of, markdown_of, tables_of, workbook_of
from documents.reading import Reading, facts_of, get_reading, text_of
from documents.serving import guarded, pieces_answer
from organizations.api.doors import OrganizationView

TAG = "OCR"
ERRORS = (404,)
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
BLOCKS = {"type": "array", "items": {"type": "object"}}
TEXTRACT = {
    "type": "object",
    "required": ["DocumentMetadata", "Blocks"],
    "properties": {
        "DocumentMetadata": {"type": "object", "properties": {"Pages": {"type": "integer"}}},
        "Blocks": BLOCKS,
    },
}
TEXT = {"type": "string"}
BYTES = {"type": "string", "format": "binary"}
BULK = {"tag_id": None, "mode": "missing", "document_filters": {"name_search": "2026"}}


class OcrView(OrganizationView):
    """Something that is made of a document's pages."""

    def reading(self, document_id: str) -> Reading:
        """A document that is read and has pages. Raises: what get_reading does."""
        reading = get_reading(actor=self.actor, document_id=document_id)
        if not reading.pages.exists():
            raise ReadingNotFound
        return reading

    def send(self, reading: Reading, pieces: Iterator[bytes], content_type: str) -> HttpResponseBase:
        """Pieces as JSON or text, packed when the client asks for it in the address."""
        packed = self.query(DownloadQuery).format == "gzip"
        answer = pieces_answer(gzipped(pieces) if packed else pieces, content_type=content_type, small=reading.is_short)
        if packed:
            answer["Content-Encoding"] = "gzip"
        patch_cache_control(answer, private=True, max_age=3600)
        return answer


class BlocksView(OcrView):
    """Blocks as the published clients read them."""

    @operation(
        "get_ocr_blocks", "Read pages, lines and words with their boxes", tag=TAG, answer=BLOCKS, query=DownloadQuery,
        errors=ERRORS,
    )  # fmt: skip
    def get(self, request: Request, document_id: str) -> HttpResponseBase:
        reading = self.reading(document_id)
        return self.send(reading, list_as_json(reading.each_page()), "application/json")


class DocumentJsonView(OcrView):
    """The same in the frame that later clients read."""

    @operation(
        "get_ocr_json", "Read the whole as Textract answers it", tag=TAG, answer=TEXTRACT, query=DownloadQuery,
        errors=ERRORS,
    )  # fmt: skip
    def get(self, request: Request, document_id: str) -> HttpResponseBase:
        reading = self.reading(document_id)
        pieces = document_as_json(reading.each_page(), page_count=reading.pages.count())
        return self.send(reading, pieces, "application/json")


class TextView(OrganizationView):
    """The text."""

    @operation(
        "get_ocr_text", "Read the text of a page, or of all", tag=TAG, answer=TEXT, query=TextQuery, errors=ERRORS,
        media_type="text/plain",
    )  # fmt: skip
    def get(self, request: Request, document_id: str) -> HttpResponse:
        number = self.query(TextQuery).page_num
        text = text_of(actor=self.actor, document_id=document_id, page_number=number)
        return HttpResponse(text, content_type="text/plain; charset=utf-8")


class MetadataView(OrganizationView):
    """How it was read."""

    @operation(
        "get_ocr_metadata", "Read how many pages were read, and when", tag=TAG, answer=ReadingMetadata, errors=ERRORS
    )  # fmt: skip
    def get(self, request: Request, document_id: str) -> ReadingMetadata:
        facts = facts_of(actor=self.actor, document_id=document_id)
        return ReadingMetadata(n_pages=facts.page_count, ocr_date=facts.ended_at, ocr_type=facts.source)


class RunView(OrganizationView):
    """Reading again."""

    @operation(
        "run_ocr", "Read a document again", tag=TAG, answer=ReadingQueued, query=OcrRunQuery, errors=(400, 404, 409)
    )  # fmt: skip
    def post(self, request: Request, document_id: str) -> ReadingQueued:
        asked = self.query(OcrRunQuery)
        document = services.read_again(
            actor=self.actor, document_id=document_id, force=asked.force, ocr_only=asked.ocr_only
        )
        return ReadingQueued(status="queued", document_id=show_id(document.pk))


class MarkdownView(OcrView):
    """Text and tables as Markdown."""

    @operation(
        "export_ocr_markdown", "Download as Markdown", tag=TAG, answer=TEXT, errors=ERRORS, media_type="text/markdown"
    )  # fmt: skip
    def get(self, request: Request, document_id: str) -> HttpResponseBase:
        reading = self.reading(document_id)
        kind = "text/markdown; charset=utf-8"
        answer = pieces_answer(markdown_of(reading.each_page()), content_type=kind, small=reading.is_short)
        return guarded(answer, name=_name(reading, ".md"))


class HtmlView(OcrView):
    """Text and tables as HTML, which no browser runs as a page of ours."""

    @operation("export_ocr_html", "Download as HTML", tag=TAG, answer=TEXT, errors=ERRORS, media_type="text/html")
    def get(self, request: Request, document_id: str) -> HttpResponseBase:
        reading = self.reading(document_id)
        pieces = html_of(reading.each_page(), title=reading.document.name)
        answer = pieces_answer(pieces, content_type="text/html; charset=utf-8", small=reading.is_short)
        return guarded(answer, name=_name(reading, ".html"))


class TablesView(OcrView):
    """Tables as a workbook."""

    @operation(
        "export_ocr_tables", "Download the tables as a workbook", tag=TAG, answer=BYTES, query=TablesQuery,
        errors=ERRORS, media_type=XLSX,
    )  # fmt: skip
    def get(self, request: Request, document_id: str) -> HttpResponseBase:
        only = self.query(TablesQuery).table_index
        reading = self.reading(document_id)
        answer = HttpResponse(workbook_of(tables_of(reading.each_page()), only=only), content_type=XLSX)
        return guarded(answer, name=_name(reading, ".xlsx"))


class BulkAnalyzeView(OrganizationView):
    """What there is to read."""

    @operation(
        "bulk_analyze_ocr", "List which documents are to be read", tag=TAG, answer=OcrBulkAnswer, body=OcrBulkAnalyze,
        errors=(400,), example=BULK,
    )  # fmt: skip
    def post(self, request: Request) -> OcrBulkAnswer:
        body = self.body(OcrBulkAnalyze)
        filters = (body.document_filters or BulkFilters()).as_filters()
        found = bulk.reads_to_do(actor=self.actor, tag_id=body.tag_id, mode=body.mode, filters=filters)
        shown = [
            ReadingToDo(document_id=show_id(one.document_id), document_name=one.name, reason=one.reason)
            for one in found
        ]
        return OcrBulkAnswer(total_executions=len(shown), executions=shown)


def gzipped(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """The pieces packed as one gzip file."""
    packer = zlib.compressobj(wbits=31)
    for piece in pieces:
        if packed := packer.compress(piece):
            yield packed
    yield packer.flush()


def _name(reading: Reading, ending: str) -> str:
    return PurePath(reading.document.name).stem + ending
