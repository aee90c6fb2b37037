"""An accepted prompt on the other documents of a tag: first counted, then run, each once."""

import uuid
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Count, Exists, OuterRef, QuerySet
from django.db.models.functions import Upper

from documents.extraction import queue_extractions
from documents.models import AutoCreate, Document, Extraction, Run
from documents.processing import lock_latest_read
from documents.results import CURRENT
from organizations.actor import Actor
from organizations.gate import owned
from prompts_app.errors import PromptNotFound
from prompts_app.models import PromptRevision
from prompts_app.running import prompt_to_run
from prompts_app.selectors import get_version
from tags_app.models import Tag
from tags_app.selectors import get_tags

_MOST_TAGS = 200
_UNREAD = (Document.State.UPLOADED, Document.State.OCR_PROCESSING, Document.State.OCR_FAILED)


@dataclass(frozen=True, slots=True)
class TagPreview:
    """What tagging would set in motion: `prompt` runs on `count` other documents. None: the prompt is gone."""

    tag: Tag
    prompt: PromptRevision | None
    count: int


def preview_tag(*, actor: Actor, attempt: AutoCreate, tag_id: object) -> TagPreview:
    """Count before anything runs. Raises: UnknownTags."""
    (tag,) = get_tags(actor=actor, tag_ids=[tag_id])
    revision = attempt.prompt_revision
    if revision is None or revision.prompt.deleted_at is not None:
        return TagPreview(tag, None, 0)
    latest = get_version(actor=actor, prompt_id=revision.prompt_id)
    others = _to_do(actor, latest, tag.pk).exclude(pk=attempt.document_id)
    return TagPreview(tag, latest, others.count())


def tag_previews(*, actor: Actor, attempt: AutoCreate) -> list[TagPreview]:
    """The same for every tag of the organization, by name, in one count."""
    tags = owned(Tag, actor).order_by(Upper("name"), "pk")[:_MOST_TAGS]
    revision = attempt.prompt_revision
    if revision is None or revision.prompt.deleted_at is not None:
        return [TagPreview(tag, None, 0) for tag in tags]
    latest = get_version(actor=actor, prompt_id=revision.prompt_id)
    others = _to_do(actor, latest).exclude(pk=attempt.document_id)
    counts = dict(others.filter(tags__isnull=False).values_list("tags").annotate(Count("pk")))
    return [TagPreview(tag, latest, counts.get(tag.pk, 0)) for tag in tags]


def spread(*, actor: Actor, prompt_revid: uuid.UUID, tag_id: uuid.UUID) -> int:
    """Queue the prompt for every document of the tag that has no result of it. Safe to repeat. Returns: how many.

    Documents that are being read get it when they are read, as every prompt of their tags.
    """
    try:
        prompt = prompt_to_run(actor=actor, prompt_revid=prompt_revid.hex)
    except PromptNotFound:  # somebody deleted it since
        return 0
    if prompt.revision is None:
        return 0
    waiting = list(_to_do(actor, prompt.revision, tag_id).order_by("created_at").values_list("pk", flat=True))
    queued = 0
    for document_id in waiting:
        with transaction.atomic():
            read = lock_latest_read(document_id)
            if read is not None and read.phase == Run.Phase.COMPLETE:
                queued += len(queue_extractions(actor=actor, read=read, prompts=[prompt]))
    return queued


def _to_do(actor: Actor, prompt: PromptRevision, tag_id: uuid.UUID | None = None) -> QuerySet[Document]:
    """Documents of the tag (of any) that are read and have no result of the prompt, in any version."""
    results = Extraction.objects.filter(CURRENT, document=OuterRef("pk"), prompt_revision__prompt_id=prompt.prompt_id)
    rows = owned(Document, actor).exclude(state__in=_UNREAD).filter(~Exists(results))
    return rows if tag_id is None else rows.filter(tags=tag_id)
