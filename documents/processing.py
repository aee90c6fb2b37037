"""The parse run: file → pages with words. Page by page, resumable, fenced by the run's epoch."""

import contextlib
import tempfile
import threading
import time
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import structlog
from django.conf import settings
from django.db import connections, transaction
from django.utils import timezone

from core.errors import DomainError, Unavailable
from core.ids import show_id
from documents import admission, files
from documents.errors import ParserCrashed, TooManyPages
from documents.events import append_event, append_events
from documents.ingest import sandbox
from documents.ingest.sniff import sniff_path
from documents.ingest.wire import page_columns
from documents.models import DocumentVersion, Page, Run
from documents.readers import current_limits, worker_ocr
from documents.states import lock_state, refresh_state
from llm.content import PageContent

log = structlog.get_logger(__name__)

_TOLD_AGAIN_AFTER = timedelta(seconds=30)
_REAPED_AT_ONCE = 100
_COMMIT_EVERY_SECONDS = 0.25


class RunLost(Exception):
    """This process may not write for the run any more."""


@dataclass(frozen=True, slots=True)
class Claim:
    """The right to work on a run until the lease ends; `epoch` is checked by every write."""

    run_id: uuid.UUID
    epoch: int
    version_id: uuid.UUID
    pages_done: int


def parse_document(run_id: uuid.UUID) -> uuid.UUID | None:
    """Work on a parse run until it ends. Safe to call twice, and after a crash: pages that are done stay done.

    Returns: the document's id when its text is ready now. Raises: Unavailable, OSError: worth another try.
    """
    claim = claim_run(run_id)
    if claim is None:
        return None
    started = time.monotonic()
    try:
        with _lease_kept(claim):
            _read_version(claim, started)
        return _complete(claim)
    except RunLost:
        log.info("run.lost", run_id=show_id(run_id))
        return None
    except (Unavailable, OSError) as problem:
        _release(claim, getattr(problem, "error_code", "storage_failed"))
        raise
    except DomainError as error:
        _fail(claim, error.error_code, error.detail)
        return None


def lock_run(run_id: uuid.UUID) -> Run:
    """The run's row, locked until the transaction ends, and before it the state of its document."""
    _lock_state_of(run_id)
    return Run.objects.select_for_update().get(pk=run_id)


def _lock_state_of(run_id: uuid.UUID) -> None:
    document_id = Run.objects.filter(pk=run_id).values_list("document_id", flat=True).first()
    if document_id is not None:
        lock_state(document_id)


def find_run(run_id: uuid.UUID) -> Run | None:
    """For workers: the run with its document and organization, None when it was purged."""
    return Run.objects.select_related("document__organization").filter(pk=run_id).first()


def lock_latest_read(document_id: uuid.UUID) -> Run | None:
    """The newest parse run of a document, locked until the transaction ends."""
    lock_state(document_id)
    reads = Run.objects.select_for_update(of=("self",)).filter(document_id=document_id, kind=Run.Kind.PARSE)
    return reads.select_related("document__organization").order_by("-created_at", "-id").first()


@transaction.atomic
def claim_run(run_id: uuid.UUID) -> Claim | None:
    """Take a run that nobody works on; None when it has ended or somebody holds its lease."""
    _lock_state_of(run_id)
    run = Run.objects.select_for_update().filter(pk=run_id, kind=Run.Kind.PARSE).first()
    if run is None or run.phase in Run.ENDED or (run.lease_until and run.lease_until > timezone.now()):
        return None
    if run.cancel_requested:
        _end(run, Run.Phase.CANCELLED)
        return None
    if run.attempts >= settings.RUN_ATTEMPTS:
        _end(run, Run.Phase.ERROR, "gave_up", f"Reading stopped {run.attempts} times without an end.", retryable=True)
        return None
    run.epoch += 1
    run.attempts += 1
    run.phase = Run.Phase.PARSING
    run.lease_until = _lease()
    run.started_at, run.admitted_at = run.started_at or timezone.now(), run.admitted_at or timezone.now()
    run.save()
    _tell(run, "run.started", {"attempt": run.attempts, "pagesDone": run.pages_done})
    return Claim(run.pk, run.epoch, run.version_id, run.pages_done)


def _read_version(claim: Claim, started: float) -> None:
    version = DocumentVersion.objects.get(pk=claim.version_id)
    with contextlib.closing(_Reader()) as reader:
        key = version.pdf_key or _make_rendition(claim, version)
        with files.local_copy(key) as path:
            total = sandbox.count_pages(reader.child(), path)
            if total > settings.MAX_PAGES:
                raise TooManyPages(f"This file has {total:,} pages; at most {settings.MAX_PAGES:,} are allowed.")
            _count(claim, version, total)
            _read_pages(claim, reader, path, range(claim.pages_done + 1, total + 1), started)


def _read_pages(claim: Claim, reader: "_Reader", path: Path, numbers: range, started: float) -> None:
    """Read pages in order; quick ones are committed together, so that text does not wait for the database."""
    ready: list[PageContent] = []
    committed = time.monotonic()
    try:
        for number in numbers:
            if time.monotonic() - started > settings.PARSE_SECONDS_PER_DOCUMENT:
                raise ParserCrashed("Reading this document took too long and was stopped.")
            ready.append(reader.read_page(path, number))
            if time.monotonic() - committed > _COMMIT_EVERY_SECONDS:
                commit_pages(claim, ready)
                ready, committed = [], time.monotonic()
    finally:
        if ready:
            commit_pages(claim, ready)


class _Reader:
    """The child process of one document; a fresh one when it died."""

    def __init__(self) -> None:
        self._child: sandbox.Child | None = None

    def child(self) -> sandbox.Child:
        if self._child is None or not self._child.is_alive:
            self.close()
            self._child = sandbox.reader(current_limits())
        return self._child

    def read_page(self, path: Path, number: int) -> PageContent:
        """Read a page, a second time in a fresh child: what was read before may have used up its memory."""
        try:
            return sandbox.read_page(self.child(), worker_ocr(), path, number)
        except ParserCrashed:
            self.close()
        try:
            return sandbox.read_page(self.child(), worker_ocr(), path, number)
        except ParserCrashed as error:
            raise ParserCrashed(f"Page {number}: {error.detail}") from error

    def close(self) -> None:
        if self._child is not None:
            self._child.close()
        self._child = None


def _make_rendition(claim: Claim, version: DocumentVersion) -> str:
    """Make and keep the PDF of a file of another format."""
    key = files.rendition_key(version)
    with tempfile.TemporaryDirectory(prefix="docrouter-") as folder, files.local_copy(version.file_key) as path:
        target = Path(folder) / "rendition.pdf"
        kind = sniff_path(path, version.file_name).kind
        with contextlib.closing(sandbox.converter(current_limits())) as child:
            notes = sandbox.convert(child, path, kind, target)
        files.keep(key, target)
    with _writing(claim):
        DocumentVersion.objects.filter(pk=version.pk).update(pdf_key=key, notes=notes)
    return key


def commit_pages(claim: Claim, pages: Sequence[PageContent]) -> None:
    """Store pages with their events and the run's progress, all or nothing. Raises: RunLost."""
    with _writing(claim) as run:
        numbers = [page.number for page in pages]
        before = dict(Page.objects.filter(version_id=run.version_id, number__in=numbers).values_list("number", "reads"))
        Page.objects.bulk_create(
            [_page_row(run, page, reads=before.get(page.number, 0) + 1) for page in pages],
            update_conflicts=True,
            unique_fields=["version", "number"],
            update_fields=["width", "height", "rotation", "source", "text", "words", "reads"],
        )
        run.pages_done = pages[-1].number
        run.lease_until = _lease()
        run.save(update_fields=["pages_done", "lease_until", "updated_at"])
        entries = [("page.parsed", _page_news(run, page)) for page in pages]
        append_events(document_id=run.document_id, entries=entries, run=run)


def _page_row(run: Run, page: PageContent, *, reads: int) -> Page:
    return Page(
        organization_id=run.organization_id,
        version_id=run.version_id,
        number=page.number,
        width=page.width,
        height=page.height,
        rotation=page.rotation,
        source=page.source,
        text=page.text.replace("\0", ""),
        words=page_columns(page),
        reads=reads,
    )


def _page_news(run: Run, page: PageContent) -> dict[str, Any]:
    return {"page": page.number, "pages": run.pages_total, "words": len(page.words), "source": page.source}


@contextlib.contextmanager
def _writing(claim: Claim) -> Iterator[Run]:
    """A transaction that holds only while the claim does; a wish to cancel is fulfilled here. Raises: RunLost."""
    cancelled = False
    with transaction.atomic():
        run = lock_run(claim.run_id)
        if run.epoch != claim.epoch or run.phase in Run.ENDED:
            raise RunLost
        if run.cancel_requested:
            _end(run, Run.Phase.CANCELLED)
            cancelled = True
        else:
            yield run
    if cancelled:
        raise RunLost


def _count(claim: Claim, version: DocumentVersion, total: int) -> None:
    with _writing(claim) as run:
        DocumentVersion.objects.filter(pk=version.pk).update(page_count=total)
        run.pages_total = total
        run.save(update_fields=["pages_total", "updated_at"])


def _complete(claim: Claim) -> uuid.UUID:
    with _writing(claim) as run:
        Page.objects.filter(version_id=claim.version_id, number__gt=run.pages_total or 0).delete()
        _end(run, Run.Phase.COMPLETE)
        return run.document_id


def _fail(claim: Claim, code: str, message: str) -> None:
    log.info("run.failed", run_id=show_id(claim.run_id), code=code)
    with contextlib.suppress(RunLost), _writing(claim) as run:
        _end(run, Run.Phase.ERROR, code, message)


def _release(claim: Claim, code: str) -> None:
    """Give the run back, so that another try need not wait for the lease to end; say why it is tried again."""
    with contextlib.suppress(RunLost), _writing(claim) as run:
        run.lease_until, run.admitted_at = None, timezone.now()
        run.save(update_fields=["lease_until", "admitted_at", "updated_at"])
        if run.attempts < settings.RUN_ATTEMPTS:
            data = {"attempt": run.attempts + 1, "code": code, "kind": run.kind}
            append_event(document_id=run.document_id, type="run.retried", run=run, data=data)


def _end(run: Run, phase: Run.Phase, code: str = "", message: str = "", *, retryable: bool = False) -> None:
    run.phase, run.error_code, run.error_message, run.retryable = phase, code, message[:500], retryable
    run.completed_at, run.lease_until = timezone.now(), None
    run.save()
    admission.admit_soon(run.pool)
    names = {Run.Phase.COMPLETE: "run.completed", Run.Phase.CANCELLED: "run.cancelled"}
    data: dict[str, Any] = {"pages": run.pages_done}
    if code:
        data["error"] = {"code": code, "message": message[:500], "retryable": retryable}
    _tell(run, names.get(phase, "run.failed"), data)


def _tell(run: Run, event: str, data: dict[str, Any]) -> None:
    state, phase = refresh_state(document_id=run.document_id)
    shown = {**data, "kind": run.kind, "state": state, "phase": phase}
    append_event(document_id=run.document_id, type=event, run=run, data=shown)


@transaction.atomic
def end_cancelled(run: Run) -> None:
    """End a locked run that nobody works on as cancelled."""
    _end(run, Run.Phase.CANCELLED)


@contextlib.contextmanager
def _lease_kept(claim: Claim) -> Iterator[None]:
    """Renew the lease from a thread while a long page is read; it stops with the process."""
    ended = threading.Event()

    def renew() -> None:
        while not ended.wait(settings.RUN_LEASE_SECONDS / 3):
            rows = Run.objects.filter(pk=claim.run_id, epoch=claim.epoch).exclude(phase__in=Run.ENDED)
            rows.update(lease_until=_lease())
            connections.close_all()

    thread = threading.Thread(target=renew, name="run-lease", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _lease() -> Any:
    return timezone.now() + timedelta(seconds=settings.RUN_LEASE_SECONDS)


@transaction.atomic
def take_reads_without_prompts() -> list[uuid.UUID]:
    """Documents whose worker died between the end of reading and the message that it has ended."""
    now = timezone.now()
    reads = Run.objects.select_for_update(skip_locked=True, of=("self",)).filter(
        kind=Run.Kind.PARSE,
        phase=Run.Phase.COMPLETE,
        ocr_only=False,
        prompts_queued_at__isnull=True,
        completed_at__lt=now - _TOLD_AGAIN_AFTER,
        updated_at__lt=now - _TOLD_AGAIN_AFTER,
        document__deleted_at__isnull=True,
    )
    found = {run.pk: run.document_id for run in reads.order_by("completed_at")[:_REAPED_AT_ONCE]}
    Run.objects.filter(pk__in=found).update(updated_at=now)
    return list(dict.fromkeys(found.values()))
