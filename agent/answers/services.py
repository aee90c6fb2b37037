"""The rows of answers: begun before the model is asked, finished once it has answered. No model in here."""

import uuid
from dataclasses import asdict, replace
from decimal import Decimal
from typing import Any

import structlog
from django.conf import settings
from django.db import transaction
from django.utils import timezone

from agent.answers.asked import Asked, Draft, Job, Source
from agent.answers.choosing import choose_pages
from agent.answers.costing import highest_cost
from agent.models import Response
from core.errors import DomainError
from core.ids import show_id
from documents.errors import RunNotFound, TextNotReady
from documents.events import append_event
from documents.leaving import sources_of
from documents.models import Document, DocumentVersion, Page, Run
from documents.selectors import get_document, get_run, page_content
from documents.sharing.selectors import link_of
from documents.sharing.services import book_answer, reserve_answer, return_answer
from documents.sharing.shown import SharedView
from llm import catalog, registry
from llm.content import DocumentContent
from llm.sources import Sources, require_allowed
from organizations.actor import Actor
from organizations.services import record

log = structlog.get_logger(__name__)

_UNREAD = (Document.State.UPLOADED, Document.State.OCR_PROCESSING, Document.State.OCR_FAILED)
_CHARS_PER_TOKEN = 2
"""Fewer than a language has: instructions and answer need room too."""
_QUESTION_KEPT = 10_000
_SPARE = Decimal("0.8")


def begin_response(*, actor: Actor, document_id: object, asked: Asked) -> Job:
    """Choose text and model, and write down that the question is asked. Pages are chosen before the transaction.

    Raises: DocumentNotFound, RunNotFound, TextNotReady, UnknownModel, NeverSendToModel.
    """
    document = get_document(actor=actor, document_id=document_id)
    about = sources_of(document.pk)
    model = choose_model(asked.model, about=about)
    version, run = _pinned(actor, document, asked.run_id) if asked.run_id else _current(document)
    source = _source(document, version, run, asked, model)
    with transaction.atomic():
        row = Response.objects.create(
            organization_id=actor.organization_id,
            document=document,
            version=version,
            run=run,
            author_id=actor.user_id,
            actor_name=actor.name,
            via=actor.via,
            **_facts(asked, source, model),
        )
        record(actor=actor, action="response.asked", target=("response", row.pk), data={"document_id": document.pk.hex})
    return _job(row, source, asked, _cost_cap())


def begin_shared_response(*, view: SharedView, asked: Asked) -> Job:
    """The same for somebody with a link: of its masked pages, by the default model (or the built-in one: see there).

    Raises: ShareAnswersUsedUp when what is left of the link does not pay for the answer.
    """
    about = sources_of(view.document_id)
    model = choose_model("", about=about)
    source, booked = _affordable(view, asked, model)
    with transaction.atomic():
        reserve_answer(share_id=view.share_id, cost_usd=booked)
        row = Response.objects.create(
            organization_id=view.organization_id,
            document_id=view.document_id,
            version_id=source.version_id,
            share_id=view.share_id,
            via="share",
            **_facts(asked, source, model),
        )
        data = {"share_id": view.share_id.hex, "response_id": row.pk.hex}
        append_event(document_id=view.document_id, type="share.asked", data=data)
    return _job(row, source, asked, min(_cost_cap(), view.cost_left_usd), booked)


@transaction.atomic
def finish_response(*, job: Job, draft: Draft) -> Response:
    """Keep the answer. Returns: the row as it is now."""
    row = lock_response(job.response_id)
    row.status = Response.Status.COMPLETED
    _keep(row, draft)
    if job.share_id is not None:
        book_answer(share_id=job.share_id, cost_usd=(draft.cost_usd or Decimal(0)) - job.booked)
    return row


@transaction.atomic
def fail_response(*, job: Job, draft: Draft, problem: DomainError | None) -> Response:
    """Keep what was said and what it cost until it broke; without a problem the question was given up."""
    row = lock_response(job.response_id)
    row.status = Response.Status.FAILED if problem else Response.Status.CANCELLED
    row.error_code = problem.error_code if problem else "cancelled"
    row.error_message = problem.detail[:500] if problem else "Stopped."
    _keep(row, draft)
    if job.share_id is not None:
        book_answer(share_id=job.share_id, cost_usd=(draft.cost_usd or Decimal(0)) - job.booked)
        return_answer(share_id=job.share_id)
    log.info("response.failed", response_id=row.pk.hex, code=row.error_code)
    return row


def lock_response(response_id: uuid.UUID) -> Response:
    """The row, locked until the transaction ends."""
    return Response.objects.select_for_update(of=("self",)).get(pk=response_id)


def choose_model(name: str, *, about: Sources) -> str:
    """The model that answers: the named one, the default where it cannot be used, or none was named.

    Raises: UnknownModel for a name that nobody knows, NeverSendToModel.
    """
    known = catalog.require_known_model(name) if name else ""
    used = catalog.usable_extraction_model(known)[1] if known else catalog.default_extraction_model()
    if about.local_only and used != known:
        return catalog.OFFLINE_MODEL
    require_allowed(model=used, about=about)
    return used


def room_for(model: str) -> int:
    """How much text of a document a model is shown. Units: characters."""
    tokens = registry.described(model).max_input_tokens
    room = int(settings.ANSWER_TEXT_CHARS)
    return min(room, tokens * _CHARS_PER_TOKEN) if tokens else room


def _job(row: Response, source: Source, asked: Asked, cost_cap: Decimal, booked: Decimal = Decimal(0)) -> Job:
    return Job(
        response_id=row.pk,
        created_at=row.created_at,
        source=source,
        asked=asked,
        document_id=row.document_id,
        model=row.model_used,
        cost_cap=cost_cap,
        share_id=row.share_id,
        booked=booked,
    )


def _facts(asked: Asked, source: Source, model: str) -> dict[str, Any]:
    return {
        "question": asked.text[:_QUESTION_KEPT],
        "pages_shown": len(source.content.pages),
        "model_requested": asked.model,
        "model_used": model,
    }


def _cost_cap() -> Decimal:
    return Decimal(str(settings.AGENT_MAX_COST_PER_TURN))


def _keep(row: Response, draft: Draft) -> None:
    row.answer = draft.text
    row.citations = [citation.as_json() for citation in draft.citations]
    row.citations_dropped = draft.dropped
    row.usage, row.cost_usd = asdict(draft.usage), draft.cost_usd
    row.completed_at = timezone.now()
    row.save()


def _current(document: Document) -> tuple[DocumentVersion, Run | None]:
    """The version that is shown now, and the read that its text comes from."""
    version = document.current_version
    if version is None or document.state in _UNREAD:
        raise TextNotReady
    reads = Run.objects.filter(version=version, kind=Run.Kind.PARSE, phase=Run.Phase.COMPLETE)
    return version, reads.order_by("-created_at", "-id").first()


def _pinned(actor: Actor, document: Document, run_id: str) -> tuple[DocumentVersion, Run]:
    """The version that a run worked on. Raises: RunNotFound, also for a run of another document."""
    run = get_run(actor=actor, run_id=run_id)
    if run.document_id != document.pk:
        raise RunNotFound
    if run.kind == Run.Kind.PARSE and run.phase != Run.Phase.COMPLETE:
        raise TextNotReady
    return run.version, run


def _affordable(view: SharedView, asked: Asked, model: str) -> tuple[Source, Decimal]:
    """The pages to show, fewer where the link has little left, and what an answer made of them may cost."""
    version_id = link_of(share_id=view.share_id).version_id
    source = _shared_source(view, asked, room_for(model), version_id)
    highest = highest_cost(asked, source, model=model)
    if highest > view.cost_left_usd:
        without = replace(source, content=replace(source.content, pages=()))
        fixed = highest_cost(asked, without, model=model)
        share = (view.cost_left_usd - fixed) / (highest - fixed) * _SPARE
        room = int(sum(len(page.text) for page in source.content.pages) * max(share, Decimal(0)))
        source = _shared_source(view, asked, room, version_id)
        highest = highest_cost(asked, source, model=model)
    return source, highest


def _shared_source(view: SharedView, asked: Asked, room: int, version_id: uuid.UUID) -> Source:
    texts = [(page.number, page.text) for page in view.content.pages]
    numbers = set(choose_pages(texts, question=asked.text, room=room))
    pages = tuple(page for page in view.content.pages if page.number in numbers)
    content = DocumentContent(view.content.document_id, view.content.name, pages)
    return Source(content=content, page_count=len(texts), version_id=version_id, run_id=None)


def _source(document: Document, version: DocumentVersion, run: Run | None, asked: Asked, model: str) -> Source:
    """The pages to show: texts of all are looked through, words are loaded of the chosen ones only."""
    rows = Page.objects.filter(version=version).order_by("number")
    texts: list[tuple[int, str]] = list(rows.values_list("number", "text"))
    if not texts:
        raise TextNotReady
    numbers = choose_pages(texts, question=asked.text, room=room_for(model))
    chosen: Any = rows if len(numbers) == len(texts) else rows.filter(number__in=numbers)
    content = DocumentContent(show_id(document.pk), document.name, tuple(page_content(row) for row in chosen))
    return Source(
        content=content, page_count=len(texts), version_id=version.pk, run_id=run.pk if run is not None else None
    )
