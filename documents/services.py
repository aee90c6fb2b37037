"""Writing documents: upload, rename and tag, trash, read again, cancel."""

import contextlib
import tempfile
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path, PurePath
from typing import IO

from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils import timezone

from core.errors import Invalid
from core.ids import new_id, show_id
from documents import admission, files, tasks
from documents.announcing import announce_uploaded
from documents.errors import (
    DocumentChanged,
    DocumentNotFound,
    FileTooLarge,
    ParserCrashed,
    ReadingImpossible,
    RunActive,
    RunEnded,
    TooManyFiles,
    UnsupportedFile,
)
from documents.events import append_event
from documents.extraction import cancel_extraction
from documents.ingest import sandbox
from documents.ingest.names import clean_name
from documents.ingest.sniff import ACCEPTED_EXTENSIONS, FileType, sniff_path
from documents.models import Document, DocumentVersion, EventHead, Run
from documents.processing import end_cancelled, lock_latest_read, lock_run
from documents.readers import web_readers
from documents.reading import can_be_read
from documents.selectors import find_duplicate, get_document, get_run
from documents.states import refresh_state
from organizations.actor import Actor
from organizations.gate import owned
from organizations.services import record
from tags_app.selectors import get_tags
from tags_app.services import lock_tags

TEXT_KINDS = ("txt", "md", "csv")
MAX_METADATA_PAIRS, MAX_METADATA_CHARS = 100, 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class UploadedFile:
    """A file to become a document: its bytes, a path of this machine where they are, or what writes them to a file."""

    name: str
    data: bytes | None = None
    path: Path | None = None
    write: Callable[[IO[bytes]], object] | None = None
    tag_ids: Sequence[object] = ()
    metadata: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class UploadResult:
    """A new document, and the earlier one with the same bytes."""

    document: Document
    duplicate_of: Document | None


@dataclass(frozen=True, slots=True)
class _Checked:
    """A file that passed every check and may be stored."""

    name: str
    path: Path
    size: int
    sha256: str
    type: FileType
    page_count: int | None
    tag_ids: Sequence[uuid.UUID]
    metadata: dict[str, str]


def upload_documents(*, actor: Actor, files: Sequence[UploadedFile]) -> list[UploadResult]:
    """Make a document of each file; all of them or none. Reading them begins after the commit.

    Raises: TooManyFiles, FileTooLarge, EmptyFile, UnsupportedFile, TooManyPages, TooManyPixels, UnknownTags, Invalid.
    """
    if len(files) > settings.MAX_UPLOAD_FILES:
        raise TooManyFiles(f"At most {settings.MAX_UPLOAD_FILES} files at once.")
    with contextlib.ExitStack() as stack:
        checked = [_check(actor, file, stack.enter_context(_on_disk(file))) for file in files]
        return _save_all(actor, checked)


@contextlib.contextmanager
def _on_disk(file: UploadedFile) -> Iterator[Path]:
    """The bytes as a local file, for hashing and for the child process that looks at them."""
    if file.path is not None:
        yield file.path
        return
    data = file.data or b""
    _check_size(len(data), clean_name(file.name))
    with tempfile.NamedTemporaryFile(prefix="docrouter-upload-") as spooled:
        if file.write is not None:
            file.write(spooled)
        spooled.write(data)
        spooled.flush()
        yield Path(spooled.name)


def _check(actor: Actor, file: UploadedFile, path: Path) -> _Checked:
    name = clean_name(file.name)
    size = path.stat().st_size
    _check_size(size, name)
    kind = sniff_path(path, name)
    _check_ending(kind, name)
    return _Checked(
        name=name,
        path=path,
        size=size,
        sha256=files.sha256_of(path),
        type=kind,
        page_count=_look_inside(path, kind),
        tag_ids=[tag.pk for tag in get_tags(actor=actor, tag_ids=file.tag_ids)],
        metadata=_checked_metadata(file.metadata),
    )


def _check_size(size: int, name: str) -> None:
    if size > settings.MAX_UPLOAD_BYTES:
        raise FileTooLarge(f"{name} is larger than {settings.MAX_UPLOAD_BYTES // 1_048_576} MB.")


def _check_ending(kind: FileType, name: str) -> None:
    """Text is told by its name only: one that stands for something else is not taken for text."""
    ending = PurePath(name).suffix.lower()
    if kind.kind in TEXT_KINDS and ending and ending[1:] not in ACCEPTED_EXTENSIONS:
        raise UnsupportedFile(f"Unsupported file extension {ending}: {name}")


def _look_inside(path: Path, kind: FileType) -> int | None:
    """Pages and pixels are checked before a file is accepted; one that crashes the reader fails its run instead."""
    if kind.kind != "pdf" and not kind.is_image:
        return None
    try:
        with web_readers().lease() as child:
            return sandbox.inspect(child, path, kind.kind)
    except ParserCrashed:
        return None


def _checked_metadata(metadata: Mapping[str, str]) -> dict[str, str]:
    pairs = dict(metadata)
    if len(pairs) > MAX_METADATA_PAIRS:
        raise Invalid(f"At most {MAX_METADATA_PAIRS} metadata entries.", fields={"metadata": "too many"})
    for key, value in pairs.items():
        if not isinstance(key, str) or not isinstance(value, str):
            raise Invalid("Metadata maps text to text.", fields={"metadata": "text to text"})
        if "\0" in key + value or len(key) + len(value) > MAX_METADATA_CHARS:
            raise Invalid("A metadata entry is too long or has a NUL.", fields={"metadata": "too long"})
    return pairs


def _save_all(actor: Actor, checked: Sequence[_Checked]) -> list[UploadResult]:
    stored: list[str] = []
    try:
        with transaction.atomic():
            results = [_save(actor, one, stored) for one in checked]
            _attach_tags(actor, checked, results)
            for result in results:
                announce_uploaded(result.document)
            return results
    except BaseException:
        for key in stored:
            files.discard(key)
        raise


def _attach_tags(actor: Actor, checked: Sequence[_Checked], results: Sequence[UploadResult]) -> None:
    """Last, and all in one order: tags are held for a moment only, and two uploads never wait for each other."""
    wanted = sorted({key for one in checked for key in one.tag_ids})
    held = {tag.pk: tag for tag in lock_tags(actor=actor, tag_ids=wanted)}
    for one, result in zip(checked, results, strict=True):
        result.document.tags.set([held[key] for key in one.tag_ids])


def _save(actor: Actor, one: _Checked, stored: list[str]) -> UploadResult:
    duplicate = find_duplicate(actor=actor, sha256=one.sha256)
    document = Document.objects.create(
        organization_id=actor.organization_id,
        name=one.name,
        uploaded_by_id=actor.user_id,
        uploaded_by_name=actor.name,
        metadata=one.metadata,
    )
    version = DocumentVersion(
        id=new_id(),
        organization_id=actor.organization_id,
        document=document,
        number=1,
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
    EventHead.objects.create(document=document)
    record(actor=actor, action="document.uploaded", target=("document", document.pk), data={"bytes": one.size})
    data = {"version": 1, "bytes": one.size, "duplicateOf": show_id(duplicate.pk) if duplicate else None}
    append_event(document_id=document.pk, type="document.uploaded", actor=actor, data=data)
    _start_parse(actor, document)
    document.refresh_from_db()
    return UploadResult(document, duplicate)


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
        raise RunActive from problem
    admission.enqueue(run)
    refresh_state(document_id=document.pk)
    append_event(document_id=document.pk, type="run.queued", actor=actor, run=run, data={"kind": run.kind})
    return run


def lock_document(*, actor: Actor, document_id: object) -> Document:
    """The document's row, locked until the transaction ends. Raises: DocumentNotFound."""
    document = get_document(actor=actor, document_id=document_id)
    locked = owned(Document, actor).select_for_update().filter(pk=document.pk).first()
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
        document.metadata = _checked_metadata(metadata)
        changed.append("metadata")
    if tag_ids is not None:
        document.tags.set(lock_tags(actor=actor, tag_ids=tag_ids))
        changed.append("tags")
    if not changed:
        return document
    document.save(update_fields=["name", "metadata", "updated_at"])
    record(actor=actor, action="document.updated", target=("document", document.pk), data={"changed": changed})
    append_event(document_id=document.pk, type="document.updated", actor=actor, data={"changed": changed})
    return document


@transaction.atomic
def delete_document(*, actor: Actor, document_id: object) -> Document:
    """Move a document to the trash and stop what runs on it. Raises: DocumentNotFound."""
    document = lock_document(actor=actor, document_id=document_id)
    Run.objects.filter(document=document).exclude(phase__in=Run.ENDED).update(cancel_requested=True)
    document.deleted_at = timezone.now()
    document.save(update_fields=["deleted_at", "updated_at"])
    record(actor=actor, action="document.deleted", target=("document", document.pk))
    append_event(document_id=document.pk, type="document.deleted", actor=actor)
    return document


@transaction.atomic
def restore_document(*, actor: Actor, document_id: uuid.UUID) -> Document:
    """Take a document back out of the trash; what was not stopped yet goes on. Raises: DocumentNotFound."""
    rows = Document.objects.select_for_update().filter(organization_id=actor.organization_id, pk=document_id)
    document = rows.filter(deleted_at__isnull=False).first()
    if document is None:
        raise DocumentNotFound
    Run.objects.filter(document=document).exclude(phase__in=Run.ENDED).update(cancel_requested=False)
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
        transaction.on_commit(partial(tasks.queue_prompts.delay, show_id(document.pk)))
    return document


@transaction.atomic
def cancel_run(*, actor: Actor, run_id: object) -> Run:
    """Stop a run. Extractions end at once, reading ends at the next page, or at once when nobody works on it.

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
    elif run.lease_until is None or run.lease_until <= timezone.now():
        end_cancelled(run)
    return run
