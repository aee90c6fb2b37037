"""Writing documents: upload, rename and tag, trash, read again, cancel."""

import contextlib
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Literal

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Max
from django.utils import timezone

from core.errors import Invalid
from core.ids import new_id, show_id
from documents import admission, auto_create, files, tasks
from documents.announcing import announce_uploaded
from documents.auto_create import is_wanted, request, stop_proposal
from documents.clearing import restore_proposed, trash_proposed
from documents.errors import (
    DocumentChanged,
    DocumentNotFound,
    ProposalWaits,
    ReadingImpossible,
    RunActive,
    RunEnded,
    TextNotReady,
    TooManyFiles,
)
from documents.events import append_event
from documents.extraction import cancel_extraction, queue_extraction
from documents.incoming import CheckedFile, UploadedFile, check, checked_metadata, on_disk
from documents.ingest.names import clean_name
from documents.models import Document, DocumentVersion, EventHead, Run
from documents.processing import end_cancelled, lock_latest_read, lock_run
from documents.reading import can_be_read
from documents.selectors import find_duplicate, get_document, get_run
from documents.states import refresh_state
from organizations.actor import Actor
from organizations.gate import owned
from organizations.services import record
from tags_app.services import lock_tags

__all__ = ["UploadedFile"]  # for the doors; the other names are public where they stand

RunKind = Literal["parse", "reparse", "extract", "propose"]


@dataclass(frozen=True, slots=True)
class UploadResult:
    """A new document, and the earlier one with the same bytes."""

    document: Document
    duplicate_of: Document | None


def upload_documents(
    *, actor: Actor, files: Sequence[UploadedFile], auto_create: bool | None = None
) -> list[UploadResult]:
    """Make a document of each file; all of them or none. Reading them begins after the commit.

    `auto_create`: the agent sets them up by itself once they are read; None leaves it to the organization's setting.
    Raises: TooManyFiles, FileTooLarge, EmptyFile, UnsupportedFile, TooManyPages, TooManyPixels, UnknownTags, Invalid.
    """
    if len(files) > settings.MAX_UPLOAD_FILES:
        raise TooManyFiles(f"At most {settings.MAX_UPLOAD_FILES} files at once.")
    with contextlib.ExitStack() as stack:
        checked = [check(actor=actor, file=file, path=stack.enter_context(on_disk(file))) for file in files]
        return _save_all(actor, checked, auto_create)


def _save_all(actor: Actor, checked: Sequence[CheckedFile], auto_create: bool | None) -> list[UploadResult]:
    stored: list[str] = []
    try:
        with transaction.atomic():
            results = [_save(actor, one, stored) for one in checked]
            _attach_tags(actor, checked, results)
            if is_wanted(actor=actor, asked=auto_create):
                for result in results:
                    request(actor=actor, document=result.document)
            for result in results:
                announce_uploaded(result.document)
            return results
    except BaseException:
        for key in stored:
            files.discard(key)
        raise


def _attach_tags(actor: Actor, checked: Sequence[CheckedFile], results: Sequence[UploadResult]) -> None:
    """Last, and all in one order: tags are held for a moment only, and two uploads never wait for each other."""
    wanted = sorted({key for one in checked for key in one.tag_ids})
    held = {tag.pk: tag for tag in lock_tags(actor=actor, tag_ids=wanted)}
    for one, result in zip(checked, results, strict=True):
        result.document.tags.set([held[key] for key in one.tag_ids])


def _save(actor: Actor, one: CheckedFile, stored: list[str]) -> UploadResult:
    duplicate = find_duplicate(actor=actor, sha256=one.sha256)
    document = Document.objects.create(
        organization_id=actor.organization_id,
        name=one.name,
        uploaded_by_id=actor.user_id,
        uploaded_by_name=actor.name,
        metadata=one.metadata,
        never_send=one.never_send,
    )
    _keep_version(document, 1, one, stored)
    EventHead.objects.create(document=document)
    record(actor=actor, action="document.uploaded", target=("document", document.pk), data={"bytes": one.size})
    _record_mark(actor, document, was=False)
    data = {"version": 1, "bytes": one.size, "duplicateOf": show_id(duplicate.pk) if duplicate else None}
    append_event(document_id=document.pk, type="document.uploaded", actor=actor, data=data)
    _start_parse(actor, document)
    document.refresh_from_db()
    return UploadResult(document, duplicate)


def _keep_version(document: Document, number: int, one: CheckedFile, stored: list[str]) -> DocumentVersion:
    """Store the bytes and make them the current version; what was stored is noted for when this comes to nothing."""
    version = DocumentVersion(
        id=new_id(),
        organization_id=document.organization_id,
        document=document,
        number=number,
        file_name=one.name,
        sha256=one.sha256,
        size_bytes=one.size,
        mime_type=one.type.mime,
        page_count=one.page_count,
    )
    version.file_key = files.original_key(version)
    version.pdf_key = version.file_key if one.type.kind == "pdf" else ""
    files.keep(version.file_key, one.path)
    stored.append(version.file_key)
    version.save(force_insert=True)
    document.current_version = version
    document.save(update_fields=["current_version"])
    return version


def _start_parse(actor: Actor, document: Document, *, ocr_only: bool = False) -> Run:
    """Make the run and put it into the queue when the transaction commits. Raises: RunActive."""
    if document.current_version is None:
        raise DocumentNotFound
    try:
        with transaction.atomic():
            run = Run.objects.create(
                organization_id=document.organization_id,
                document=document,
                version=document.current_version,
                kind=Run.Kind.PARSE,
                ocr_only=ocr_only,
            )
    except IntegrityError as problem:
        raise _run_active(document, Run.Kind.PARSE) from problem
    admission.enqueue(run)
    refresh_state(document_id=document.pk)
    append_event(document_id=document.pk, type="run.queued", actor=actor, run=run, data={"kind": run.kind})
    return run


def lock_document(*, actor: Actor, document_id: object) -> Document:
    """The document's row, locked until the transaction ends. Raises: DocumentNotFound."""
    document = get_document(actor=actor, document_id=document_id)
    locked = owned(Document, actor).select_for_update(no_key=True).filter(pk=document.pk).first()
    if locked is None:
        raise DocumentNotFound
    return locked


@transaction.atomic
def update_document(
    *,
    actor: Actor,
    document_id: object,
    name: str | None = None,
    tag_ids: Sequence[object] | None = None,
    metadata: Mapping[str, str] | None = None,
    never_send: bool | None = None,
    unchanged_since: datetime | None = None,
) -> Document:
    """Change what is given; what is given replaces the whole value.

    Raises: DocumentNotFound, UnknownTags, Invalid, DocumentChanged when it was written after `unchanged_since`.
    """
    document = lock_document(actor=actor, document_id=document_id)
    if unchanged_since not in (None, document.updated_at):
        raise DocumentChanged(document_name=document.name, metadata=document.metadata)
    changed: list[str] = []
    if name is not None:
        if not name.strip():
            raise Invalid("A document needs a name.", fields={"document_name": "needs a name"})
        document.name = clean_name(name)
        changed.append("name")
    if metadata is not None:
        document.metadata = checked_metadata(metadata)
        changed.append("metadata")
    if tag_ids is not None:
        document.tags.set(lock_tags(actor=actor, tag_ids=tag_ids))
        changed.append("tags")
    if never_send not in (None, was := document.never_send):
        document.never_send = bool(never_send)
        changed.append("never_send")
    if not changed:
        return document
    document.save(update_fields=["name", "metadata", "never_send", "updated_at"])
    record(actor=actor, action="document.updated", target=("document", document.pk), data={"changed": changed})
    _record_mark(actor, document, was=was)
    append_event(document_id=document.pk, type="document.updated", actor=actor, data={"changed": changed})
    return document


def _record_mark(actor: Actor, document: Document, *, was: bool) -> None:
    """Who decided that the document stays here, or may leave again."""
    if document.never_send != was:
        action = "document.never_send_set" if document.never_send else "document.never_send_lifted"
        record(actor=actor, action=action, target=("document", document.pk))


@transaction.atomic
def delete_document(*, actor: Actor, document_id: object) -> Document:
    """Move a document to the trash with what is proposed for it, and stop what runs on it. Raises: DocumentNotFound."""
    document = lock_document(actor=actor, document_id=document_id)
    Run.objects.filter(document=document).exclude(phase__in=Run.ENDED).update(cancel_requested=True)
    document.deleted_at = timezone.now()
    document.save(update_fields=["deleted_at", "updated_at"])
    trash_proposed(actor=actor, document=document)
    record(actor=actor, action="document.deleted", target=("document", document.pk))
    append_event(document_id=document.pk, type="document.deleted", actor=actor)
    return document


@transaction.atomic
def restore_document(*, actor: Actor, document_id: uuid.UUID) -> Document:
    """Take a document back out of the trash; what was not stopped yet goes on. Raises: DocumentNotFound."""
    rows = Document.objects.select_for_update(no_key=True).filter(organization_id=actor.organization_id, pk=document_id)
    document = rows.filter(deleted_at__isnull=False).first()
    if document is None:
        raise DocumentNotFound
    Run.objects.filter(document=document).exclude(phase__in=Run.ENDED).update(cancel_requested=False)
    restore_proposed(actor=actor, document=document)
    document.deleted_at = None
    document.save(update_fields=["deleted_at", "updated_at"])
    record(actor=actor, action="document.restored", target=("document", document.pk))
    append_event(document_id=document.pk, type="document.restored", actor=actor)
    return document


@transaction.atomic
def reparse(*, actor: Actor, document_id: object, ocr_only: bool = False) -> Run:
    """Read a document again, from its first page; its prompts run afterwards unless `ocr_only`.

    Raises: DocumentNotFound, RunActive.
    """
    document = lock_document(actor=actor, document_id=document_id)
    run = _start_parse(actor, document, ocr_only=ocr_only)
    record(actor=actor, action="document.reparsed", target=("document", document.pk), data={"run_id": show_id(run.pk)})
    return run


@transaction.atomic
def read_again(*, actor: Actor, document_id: object, force: bool, ocr_only: bool) -> Document:
    """Read a document as a program asks for it: from its first page with `force`, or where reading failed.

    What was read already then only has its prompts run, unless `ocr_only`.
    Raises: DocumentNotFound, ReadingImpossible, RunActive.
    """
    document = lock_document(actor=actor, document_id=document_id)
    if document.current_version is None or not can_be_read(document.current_version):
        raise ReadingImpossible
    read = lock_latest_read(document.pk)
    if force or read is None or read.phase in (Run.Phase.ERROR, Run.Phase.CANCELLED):
        reparse(actor=actor, document_id=document_id, ocr_only=ocr_only)
    elif read.phase != Run.Phase.COMPLETE:
        raise RunActive
    elif not ocr_only:
        read.ocr_only, read.prompts_queued_at = False, None
        read.save(update_fields=["ocr_only", "prompts_queued_at", "updated_at"])
        record(actor=actor, action="document.prompts_run", target=("document", document.pk))
        transaction.on_commit(partial(tasks.send, tasks.queue_prompts, show_id(document.pk)))  # or the clock finds it
    return document


def start_run(
    *,
    actor: Actor,
    document_id: object,
    kind: RunKind = "reparse",
    file: UploadedFile | None = None,
    prompt_revid: str | None = None,
) -> Run:
    """Begin work on a document for workers: read it again (new bytes are a new version), run a prompt, propose.

    Raises: DocumentNotFound, RunActive with the id of the run that is in the way, PromptNotFound, TextNotReady, and
    what checking a file raises.
    """
    if file is not None:
        return add_version(actor=actor, document_id=document_id, file=file)
    if kind == "extract":
        return queue_extraction(actor=actor, document_id=document_id, prompt_revid=prompt_revid)
    if kind == "propose":
        return _start_proposal(actor, document_id)
    return reparse(actor=actor, document_id=document_id)


@transaction.atomic
def _start_proposal(actor: Actor, document_id: object) -> Run:
    document = lock_document(actor=actor, document_id=document_id)
    if document.state in ("uploaded", "ocr_processing", "ocr_failed"):
        raise TextNotReady
    if document.auto_create_status in ("pending", "running"):
        raise _run_active(document, Run.Kind.PROPOSE)
    attempt = auto_create.request(actor=actor, document=document)
    attempt.refresh_from_db()
    if attempt.run is None or attempt.run.phase in Run.ENDED:
        raise ProposalWaits
    return attempt.run


def add_version(*, actor: Actor, document_id: object, file: UploadedFile) -> Run:
    """Give a document new bytes and read them. What was read and extracted of the bytes before stays as it is.

    Raises: DocumentNotFound, RunActive, and what checking a file raises.
    """
    get_document(actor=actor, document_id=document_id)
    stored: list[str] = []
    try:
        with on_disk(file) as path:
            return _save_version(actor, document_id, check(actor=actor, file=file, path=path), stored)
    except BaseException:
        for key in stored:
            files.discard(key)
        raise


@transaction.atomic
def _save_version(actor: Actor, document_id: object, one: CheckedFile, stored: list[str]) -> Run:
    document = lock_document(actor=actor, document_id=document_id)
    if Run.objects.filter(document=document, kind=Run.Kind.PARSE).exclude(phase__in=Run.ENDED).exists():
        raise _run_active(document, Run.Kind.PARSE)
    newest = DocumentVersion.objects.filter(document=document).aggregate(Max("number"))["number__max"] or 0
    version = _keep_version(document, newest + 1, one, stored)
    data = {"version": version.number, "bytes": one.size}
    record(actor=actor, action="document.version_added", target=("document", document.pk), data=data)
    append_event(document_id=document.pk, type="document.version_added", actor=actor, data=data)
    return _start_parse(actor, document)


def _run_active(document: Document, kind: Run.Kind) -> RunActive:
    active = Run.objects.filter(document=document, kind=kind).exclude(phase__in=Run.ENDED).values_list("pk", flat=True)
    run_id = active.first()
    return RunActive(run_id=show_id(run_id) if run_id else None)


@transaction.atomic
def cancel_run(*, actor: Actor, run_id: object) -> Run:
    """Stop a run: it ends at once. Whoever works on it finds out before the next page, or within half a second while a
    model is asked, and writes nothing more. A proposal that is worked on ends at the agent's next step.

    Raises: RunNotFound, RunEnded.
    """
    run = lock_run(get_run(actor=actor, run_id=run_id).pk)
    if run.phase in Run.ENDED:
        raise RunEnded
    run.cancel_requested = True
    run.save(update_fields=["cancel_requested", "updated_at"])
    record(actor=actor, action="run.cancelled", target=("run", run.pk))
    if run.kind == Run.Kind.EXTRACT:
        cancel_extraction(actor=actor, run=run)
    elif run.kind == Run.Kind.PROPOSE:
        stop_proposal(run=run)
    elif run.kind == Run.Kind.PARSE:
        end_cancelled(run)
    elif auto_create.claim_proposal(run_id=run.pk) is None:  # nobody works on it: it ends instead of being claimed
        run.refresh_from_db()
    return run
