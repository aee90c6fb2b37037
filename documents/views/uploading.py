"""The upload door: many files, each with its own outcome; the same bytes twice are offered, not stored."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.core.files.uploadedfile import TemporaryUploadedFile
from django.core.files.uploadedfile import UploadedFile as PostedFile
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_POST

from core.errors import DomainError
from documents.errors import TooManyFiles
from documents.models import Document
from documents.selectors import find_duplicate
from documents.services import UploadedFile, upload_documents
from documents.views.listing import upload_context
from organizations.actor import Actor
from organizations.doors import MemberRequest, member_page


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one file: a document, an earlier document with the same bytes, or a reason."""

    name: str
    document: Document | None = None
    duplicate_of: Document | None = None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class _Chosen:
    """What holds for all files of a form."""

    tag_ids: Sequence[str]
    auto_create: bool


@require_POST
@member_page
def upload(request: MemberRequest) -> HttpResponse:
    """Take files. A script gets one line for each file, a plain form a page with all of them."""
    posted = request.FILES.getlist("files")
    again = request.POST.get("again") == "1"
    chosen = _Chosen(request.POST.getlist("tag_ids"), request.POST.get("auto_create") == "1")
    outcomes = [_store(request.actor, file, chosen, again=again) for file in posted]
    if request.htmx:
        return HttpResponse("".join(_line(request, outcome) for outcome in outcomes))
    if not outcomes:
        raise TooManyFiles("No file came with that. Choose at least one.", code="no_file")
    return render(request, "documents/uploaded.html", {"outcomes": outcomes, **upload_context(request)})


def _line(request: MemberRequest, outcome: Outcome) -> str:
    return render(request, "documents/_uploaded.html", {"outcome": outcome}).content.decode()


def _store(actor: Actor, file: "PostedFile[Any]", chosen: _Chosen, *, again: bool) -> Outcome:
    name = file.name or "file"
    earlier = None if again else find_duplicate(actor=actor, sha256=_sha256(file))
    if earlier is not None:
        return Outcome(name, duplicate_of=earlier)
    try:
        upload = _as_upload(name, file, chosen.tag_ids)
        (stored,) = upload_documents(actor=actor, files=[upload], auto_create=chosen.auto_create)
    except DomainError as problem:
        return Outcome(name, problem=problem.detail)
    return Outcome(name, document=stored.document)


def _as_upload(name: str, file: "PostedFile[Any]", tag_ids: Sequence[str]) -> UploadedFile:
    if isinstance(file, TemporaryUploadedFile):
        return UploadedFile(name=name, path=Path(file.temporary_file_path()), tag_ids=tag_ids)
    return UploadedFile(name=name, data=file.read(), tag_ids=tag_ids)


def _sha256(file: "PostedFile[Any]") -> str:
    digest = hashlib.sha256()
    for chunk in file.chunks():
        digest.update(chunk)
    file.seek(0)
    return digest.hexdigest()
