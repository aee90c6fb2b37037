"""What there is to do for many documents at once: which prompts on which, which to read. Only counted and listed."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from django.db.models import QuerySet

from core.errors import LimitReached
from documents.listing import found, with_metadata, with_tags
from documents.models import Document, Extraction, Run
from organizations.actor import Actor
from organizations.gate import owned
from prompts_app.models import PromptRevision
from prompts_app.selectors import prompts_for_tags
from tags_app.selectors import get_tags

Mode = Literal["all", "missing", "outdated"]
MOST_DOCUMENTS = 10_000
_UNREAD = (Document.State.UPLOADED, Document.State.OCR_PROCESSING, Document.State.OCR_FAILED)
_BEING_READ = (Document.State.UPLOADED, Document.State.OCR_PROCESSING)
_WITHOUT_OCR = (".csv", ".xls", ".xlsx", ".txt", ".md")


class TooManyDocuments(LimitReached):
    code = "too_many_documents"
    status = 400
    detail = f"More than {MOST_DOCUMENTS:,} documents match. Narrow the filters."


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentFilters:
    """Which documents; the names are those of the document list."""

    name_search: str | None = None
    metadata_search: str | None = None
    tag_ids: Sequence[str] = ()
    filters: str | None = None


@dataclass(frozen=True, slots=True)
class ToDo:
    """One document to work on, and why."""

    document_id: uuid.UUID
    name: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class PromptToDo:
    """A prompt with the documents to run it on."""

    prompt: PromptRevision
    documents: list[ToDo]


def prompts_to_do(*, actor: Actor, tag_id: object, mode: Mode, filters: DocumentFilters) -> list[PromptToDo]:
    """For each prompt of a tag, in its latest version: the tag's documents, those without any result of the prompt, or
    those whose results are of earlier versions. Only documents that can be read.

    Raises: UnknownTags, InvalidQuery, ListQueryInvalid, TooManyDocuments.
    """
    rows = _documents(actor, filters, [tag_id]).exclude(state__in=_UNREAD)
    documents = _few(rows)
    (tag,) = get_tags(actor=actor, tag_ids=[tag_id])
    prompts = list(prompts_for_tags(actor=actor, tag_ids=[tag.pk]))
    results = owned(Extraction, actor).filter(
        withdrawn_at__isnull=True,
        document__in=rows.order_by().values("pk"),
        prompt_revision__prompt__in=[prompt.prompt_id for prompt in prompts],
    )
    latest = set(results.values_list("document_id", "prompt_revision_id").distinct())
    of_any = set(results.values_list("document_id", "prompt_revision__prompt_id").distinct())

    def is_to_do(document_id: uuid.UUID, prompt: PromptRevision) -> bool:
        if mode == "missing":
            return (document_id, prompt.prompt_id) not in of_any
        if mode == "outdated":
            return (document_id, prompt.prompt_id) in of_any and (document_id, prompt.pk) not in latest
        return True

    groups = [
        PromptToDo(prompt, [ToDo(key, name) for key, name, _, _ in documents if is_to_do(key, prompt)])
        for prompt in prompts
    ]
    return [group for group in groups if group.documents]


def reads_to_do(*, actor: Actor, tag_id: object | None, mode: Mode, filters: DocumentFilters) -> list[ToDo]:
    """Documents to read again: all, those without text, or those whose text is older than a read that failed.

    Not those that are being read, or that have no need of it (tables and plain text).
    Raises: UnknownTags, InvalidQuery, ListQueryInvalid, TooManyDocuments.
    """
    rows = _documents(actor, filters, [tag_id] if tag_id else []).exclude(state__in=_BEING_READ)
    reads = owned(Run, actor).filter(
        kind=Run.Kind.PARSE, phase=Run.Phase.COMPLETE, document__in=rows.order_by().values("pk")
    )
    read = set(reads.values_list("version_id", flat=True).distinct())
    versions = dict(rows.order_by().values_list("pk", "current_version_id"))
    listed = []
    for key, name, file_name, state in _few(rows):
        has_text, failed = versions.get(key) in read, state == Document.State.OCR_FAILED
        wanted = {"all": True, "missing": not has_text, "outdated": has_text and failed}[mode]
        if wanted and not file_name.lower().endswith(_WITHOUT_OCR):
            listed.append(ToDo(key, name, _reason(has_text=has_text, failed=failed)))
    return listed


def _reason(*, has_text: bool, failed: bool) -> str:
    if not has_text:
        return "Reading it failed" if failed else "It was not read yet"
    return "Reading it again failed" if failed else "It has text; reading replaces it"


def _documents(actor: Actor, filters: DocumentFilters, tag_ids: Sequence[object]) -> QuerySet[Document]:
    tags = get_tags(actor=actor, tag_ids=[*tag_ids, *filters.tag_ids])
    rows = with_metadata(with_tags(owned(Document, actor), tags), filters.metadata_search)
    return found(rows, name_search=filters.name_search, filters=filters.filters)


def _few(rows: QuerySet[Document]) -> list[tuple[uuid.UUID, str, str, str]]:
    """Id, name, file name and state of each, newest first. Raises: TooManyDocuments."""
    wanted = rows.order_by("-created_at", "-id").values_list("pk", "name", "current_version__file_name", "state")
    listed = list(wanted[: MOST_DOCUMENTS + 1])
    if len(listed) > MOST_DOCUMENTS:
        raise TooManyDocuments
    return [(key, name, file_name or name, state) for key, name, file_name, state in listed]
