"""Tools for documents: read the text, find documents, change or delete the one at hand."""

from typing import Annotated, Any
from urllib.parse import quote

from django.conf import settings
from pydantic import Field

from agent.messages import cut_result
from agent.toolbox import ToolContext, toolbox
from agent.tools import seen
from agent.tools.arguments import Json, NameSearch, Skip, TagIds, quoted
from agent.tools.refusals import NothingGiven, OtherDocument
from core.ids import parse_id, show_id
from documents import selectors, services
from documents.errors import DocumentNotFound
from documents.leaving import marked_among
from documents.tagging import show_document, tag_ids_of_document
from llm.errors import NeverSendToModel

_MORE = "Call get_ocr_text with page_num for one page at a time."
WITHHELD: Json = {"document_name": "(kept from models outside this server)", "metadata": {}, "withheld": True}
DocumentId = Annotated[str | None, Field(description="Id of the document; the current one when left out.")]


@toolbox.tool(writes=False, summary="Read the text", more=_MORE)
def get_ocr_text(
    ctx: ToolContext,
    page_num: Annotated[int | None, Field(ge=1, description="One page, from 1; all pages when left out.")] = None,
) -> Json:
    """Read the text of the current document, of one page or of all pages."""
    text = selectors.page_text(actor=ctx.actor, document_id=ctx.document_id, number=page_num)
    if page_num is not None:
        return {"text": text}
    return cut_result({"text": text}, cap=settings.AGENT_RESULT_CHARS, hint=_MORE)


@toolbox.tool(writes=False, summary="Look through documents", more="Use skip and a smaller limit, or name_search.")
def list_documents(
    ctx: ToolContext,
    skip: Skip = 0,
    limit: Annotated[int, Field(description="How many to return, at most 1000.")] = 10,
    name_search: NameSearch = None,
    tag_ids: TagIds = None,
    metadata_search: Annotated[
        dict[str, str] | None, Field(description="Keys and values that the metadata must have, all of them.")
    ] = None,
) -> Json:
    """List the organization's documents, newest first."""
    pairs = (f"{quote(key, safe='')}={quote(value, safe='')}" for key, value in (metadata_search or {}).items())
    found = selectors.list_documents(
        actor=ctx.actor,
        skip=skip,
        limit=min(max(limit, 1), 1000),
        name_search=name_search,
        tag_ids=tag_ids or (),
        metadata_search=",".join(pairs),
        for_remote_model=ctx.is_remote and bool(name_search or tag_ids or metadata_search),
    )
    held = marked_among(document.pk for document in found.documents) if ctx.is_remote else set()
    rows = [show_document(document) | (WITHHELD if document.pk in held else {}) for document in found.documents]
    return {"documents": rows, "total_count": found.total_count, "skip": found.skip}


def _update_summary(arguments: Json) -> str:
    parts = []
    if arguments.get("document_name") is not None:
        parts.append(f"name it {quoted(arguments['document_name'])}")
    if arguments.get("tag_ids") is not None:
        number = len(arguments["tag_ids"])
        parts.append("take its tags away" if not number else f"set its tags ({number})")
    if arguments.get("metadata") is not None:
        parts.append("set its metadata")
    which = "another document" if arguments.get("document_id") else "this document"
    return f"Change {which}: {', '.join(parts) or 'nothing'}"


@toolbox.tool(writes=True, summary=_update_summary, sees=seen.document)
def update_document(
    ctx: ToolContext,
    document_id: DocumentId = None,
    document_name: Annotated[str | None, Field(description="The new name.")] = None,
    tag_ids: Annotated[list[str] | None, Field(description="Ids of all tags that it has afterwards.")] = None,
    metadata: Annotated[dict[str, str] | None, Field(description="The whole new metadata, text to text.")] = None,
) -> Json:
    """Change a document's name, tags or metadata. What is given replaces the whole value."""
    if document_name is None and tag_ids is None and metadata is None:
        raise NothingGiven()
    which = document_id or ctx.document_id
    document = selectors.get_document(actor=ctx.actor, document_id=which)
    if ctx.is_remote and marked_among([document.pk]):
        raise NeverSendToModel
    before = _state(document)
    document = services.update_document(
        actor=ctx.actor,
        document_id=which,
        name=document_name,
        tag_ids=tag_ids,
        metadata=metadata,
        unchanged_since=seen.moment_seen(ctx, "document", which),
    )
    after = _state(document)
    ctx.record_undo("document_updated", document_id=show_id(document.pk), before=before, after=after)
    return {"message": "Document updated successfully", "document_id": show_id(document.pk), **after}


@toolbox.tool(writes=True, summary="Delete this document")
def delete_document(ctx: ToolContext, document_id: DocumentId = None) -> Json:
    """Delete the current document. It stays in the trash for 30 days. Other documents cannot be deleted from here."""
    current = parse_id(ctx.document_id, error=DocumentNotFound)
    if document_id is not None and parse_id(document_id, error=DocumentNotFound) != current:
        raise OtherDocument()
    services.delete_document(actor=ctx.actor, document_id=current)
    ctx.record_undo("document_deleted", document_id=show_id(current))
    return {"message": "Document deleted successfully", "document_id": show_id(current)}


def _state(document: Any) -> Json:
    """What `update_document` can change."""
    tags = tag_ids_of_document(document=document)
    return {"document_name": document.name, "tag_ids": tags, "metadata": dict(document.metadata)}
