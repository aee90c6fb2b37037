"""How the bytes of uploads come in: base64 in JSON, or the parts of a form. Nothing is held in memory twice."""

import binascii
import hashlib
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import IO, Any, TypeVar

from django.conf import settings
from django.core.files.uploadedfile import TemporaryUploadedFile
from django.core.files.uploadedfile import UploadedFile as PostedFile
from django.http import HttpRequest
from django.http.multipartparser import MultiPartParserError
from pydantic import TypeAdapter, ValidationError

from core.api.bodies import Body, BodyInvalid, read_json, read_model, read_query
from core.api.views import BodyTooLarge
from core.errors import Invalid
from documents.api.bodies import DocumentForm, DocumentUpload
from documents.errors import ContentInvalid
from documents.ingest.names import clean_name
from documents.services import UploadedFile

SPARE = 1 << 20  # for what stands around the bytes
_PIECE = 1 << 20  # a multiple of four
F = TypeVar("F", bound=Body)
_TAG_IDS = TypeAdapter(list[str])
_METADATA = TypeAdapter(dict[str, str])


class FormInvalid(Invalid):
    code = "invalid_form"
    detail = "There was an error parsing the body"


def read_large(read: Callable[[], bytes], model: type[F]) -> tuple[bytes, F]:
    """A body and its fingerprint. Never more than two copies of it at a time: it may have a hundred megabytes.

    Raises: BodyInvalid, BodyTooLarge.
    """
    raw = read()
    fingerprint = hashlib.sha256(raw).digest()
    text = raw.decode("utf-8", "surrogateescape")  # what is no UTF-8 is refused below, as half characters are
    del raw
    return fingerprint, read_model(model, read_json(text), place="body")


def upload_of(document: DocumentUpload) -> UploadedFile:
    """A file of a JSON body."""
    return UploadedFile(
        name=document.name,
        write=partial(write_base64, document.content, name=document.name),
        tag_ids=document.tag_ids,
        metadata=document.metadata or {},
        never_send=document.never_send,
    )


def write_base64(text: str, target: IO[bytes], *, name: str) -> None:
    """Decode base64, or a `data:` URL of it, piece by piece. Raises: ContentInvalid."""
    at = _begin_of_base64(text, name)
    if (len(text) - at) % 4:
        raise _invalid(name, "it is not complete: its length is no multiple of four")
    while at < len(text):
        piece = text[at : at + _PIECE]
        at += _PIECE
        try:
            if at < len(text) and "=" in piece:
                raise _invalid(name, "its padding stands before its end")
            target.write(binascii.a2b_base64(piece, strict_mode=True))
        except ValueError as problem:
            raise _invalid(name, "it has characters that are not base64 (line breaks and blanks are not)") from problem


def _begin_of_base64(text: str, name: str) -> int:
    if not text.startswith("data:"):
        return 0
    comma = text.find(",", 0, 1000)
    if comma < 0 or not text[:comma].endswith(";base64"):
        raise _invalid(name, "the data URL does not say base64")
    return comma + 1


def _invalid(name: str, reason: str) -> ContentInvalid:
    return ContentInvalid(f"Invalid base64 content: {clean_name(name)}: {reason}")


def read_form(request: HttpRequest, model: type[F]) -> tuple[F, "PostedFile[Any]"]:
    """The parts of a form with one file. Raises: BodyInvalid, FormInvalid, BodyTooLarge."""
    form, file = read_form_without(request, model)
    if file is None:
        raise BodyInvalid([{"type": "missing", "loc": ["body", "file"], "msg": "Field required", "input": None}])
    return form, file


def read_form_without(request: HttpRequest, model: type[F]) -> tuple[F, "PostedFile[Any] | None"]:
    """The parts of a form that may have a file, which the framework has put on disk when it is large.

    Raises: BodyInvalid, FormInvalid, BodyTooLarge.
    """
    allowed = settings.MAX_UPLOAD_BYTES + SPARE
    given = request.META.get("CONTENT_LENGTH", "")
    if given.isdecimal() and int(given) > allowed:
        raise BodyTooLarge(f"A file here has at most {settings.MAX_UPLOAD_BYTES // 1_048_576} MB.")
    if not given:
        request.META["CONTENT_LENGTH"] = str(allowed)  # sent in chunks: the parser reads to the end
    try:
        fields, file = request.POST, request.FILES.get("file")
    except MultiPartParserError as problem:
        raise FormInvalid from problem
    try:
        return read_query(model, fields.dict()), file
    except BodyInvalid as problem:
        raise BodyInvalid([{**one, "loc": ["body", *one["loc"][1:]]} for one in problem.problems]) from problem


def upload_of_form(form: DocumentForm, file: "PostedFile[Any]") -> UploadedFile:
    """Raises: FormInvalid."""
    tag_ids = _from_json(form.tag_ids, _TAG_IDS, "Invalid tag_ids JSON: a list of ids is expected", [])
    metadata = _from_json(form.metadata, _METADATA, "Invalid metadata JSON: an object of texts is expected", {})
    name = form.name or file.name or "file"
    about: dict[str, Any] = {"name": name, "tag_ids": tag_ids, "metadata": metadata, "never_send": form.never_send}
    if isinstance(file, TemporaryUploadedFile):
        return UploadedFile(path=Path(file.temporary_file_path()), **about)
    return UploadedFile(data=file.read(), **about)


def fingerprint_of_form(form: Body, file: "PostedFile[Any]") -> bytes:
    """What two forms must have in common to be the same request."""
    digest = hashlib.sha256(json.dumps([form.model_dump(), file.name]).encode())
    for chunk in file.chunks():
        digest.update(chunk)
    file.seek(0)
    return digest.digest()


def _from_json(text: str | None, kind: TypeAdapter[Any], sentence: str, otherwise: Any) -> Any:
    if not text:
        return otherwise
    try:
        return kind.validate_python(read_json(text.encode()))
    except (ValidationError, BodyInvalid) as problem:
        raise FormInvalid(sentence) from problem
