"""How tests ask questions through `/v1`, and read the streams that answer."""

import json
from typing import Any

from asgiref.sync import async_to_sync

from agent.models import Response
from documents.ingest.wire import words_as_columns
from documents.models import Document, DocumentVersion, Page, Run
from documents.states import refresh_state
from tests.conftest import Person
from tests.documents.making import words_of
from tests.fakes.provider import FakeProvider
from tests.fakes.steps import Step
from tests.v1.calling import V1

Json = dict[str, Any]
FAKE = "openai/local"


def place(document: Document, more: str = "responses") -> str:
    return f"documents/{document.pk.hex}/{more}"


def ask(v1: V1, document: Document, question: object, **more: Any) -> Json:
    """The whole answer."""
    answer: Json = v1.post(place(document), {"input": question, **more}, status=200)
    return answer


def asked_of_fake(v1: V1, document: Document, fake: FakeProvider, step: Step, **more: Any) -> Json:
    """The whole answer of a scripted model."""
    fake.add(step)
    return ask(v1, document, more.pop("input", "What is the total?"), model=FAKE, **more)


def follow(v1: V1, document: Document, body: Json, *, more: str = "responses:stream") -> list[tuple[str, Json]]:
    """The events of a streamed answer; numbers and names are held to their rules."""
    answer = v1.raw("post", place(document, more), body)
    assert answer.status_code == 200, answer.content
    assert answer["Content-Type"].startswith("text/event-stream")
    return events_of(async_to_sync(streamed)(answer).decode())


def events_of(text: str) -> list[tuple[str, Json]]:
    found = []
    for number, frame in enumerate(part for part in text.split("\n\n") if part and not part.startswith(":")):
        fields = dict(line.split(": ", 1) for line in frame.split("\n"))
        data = json.loads(fields["data"])
        assert (fields["id"], fields["event"]) == (str(number), data["type"])
        assert data["sequence_number"] == number
        found.append((data["type"], data))
    return found


async def streamed(answer: Any) -> bytes:
    return b"".join([chunk async for chunk in answer.streaming_content])


def kept(answer: Json) -> Response:
    """The row of an answer."""
    return Response._default_manager.get(pk=answer["responseId"])


def add_version(person: Person, document: Document, *pages: tuple[str, ...]) -> Run:
    """New bytes that were read: a version with these pages, as if a worker had read it."""
    number = DocumentVersion._default_manager.filter(document=document).count() + 1
    version = DocumentVersion._default_manager.create(
        organization=person.organization,
        document=document,
        number=number,
        file_name=document.name,
        file_key=f"none/{document.pk.hex}/{number}",
        sha256=str(number) * 64,
        size_bytes=1,
        mime_type="application/pdf",
        page_count=len(pages),
    )
    for at, lines in enumerate(pages, 1):
        Page._default_manager.create(
            organization=person.organization,
            version=version,
            number=at,
            width=595,
            height=842,
            source="text_layer",
            text="\n".join(lines),
            words=words_as_columns(words_of(*lines)),
        )
    run = Run._default_manager.create(
        organization=person.organization, document=document, version=version, phase=Run.Phase.COMPLETE
    )
    document.current_version = version
    document.save()
    refresh_state(document_id=document.pk)
    document.refresh_from_db()
    return run


def use_fake(settings: Any) -> None:
    """Let the fake provider's model be used; the built-in one stays the default."""
    settings.CHAT_MODELS = ["docrouter/offline", FAKE]
    settings.DEFAULT_EXTRACTION_MODEL = settings.DEFAULT_CHAT_MODEL = "docrouter/offline"
    settings.MODEL_RETRIES = 0
