"""A document with text, and a scripted model in the place of the client: for turns that run with a database."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from typing import Any

import pytest

from agent import driving
from agent.models import ToolCall, Turn
from agent.streams import last_seq
from documents.models import Document, DocumentVersion, Page
from llm.types import Completion, Delta
from organizations.actor import Actor
from tests.agent.scripted import asks, says

Json = dict[str, Any]
TEXT = "Invoice 4711 of Stark Industries for twelve arc reactors, payable within thirty days of receipt.\nTotal 12.00"


def make_document(actor: Actor, *, text: str = TEXT, name: str = "invoice.pdf") -> Document:
    """A readable document of one page, without a file."""
    document = Document.objects.create(
        organization_id=actor.organization_id, name=name, uploaded_by_name=actor.name, state="ocr_completed"
    )
    version = DocumentVersion.objects.create(
        organization_id=actor.organization_id,
        document=document,
        number=1,
        file_name=name,
        file_key="k",
        sha256="0" * 64,
        size_bytes=1,
        mime_type="application/pdf",
        page_count=1,
    )
    page = {"number": 1, "width": 1, "height": 1, "source": "text_layer", "text": text}
    Page.objects.create(organization_id=actor.organization_id, version=version, **page)
    document.current_version = version
    document.save()
    return document


class StagedClient:
    """In the place of `llm.client`: answers by how far the turn is, so that any process can go on with it."""

    def __init__(self, *answers: Any, pause: float = 0.0) -> None:
        self.answers: Sequence[Completion | Exception | Callable[[], Completion]] = answers
        self.pause = pause
        self.sent: list[list[Json]] = []
        self.closed = 0

    async def stream(self, *, messages: Sequence[Json], **_others: Any) -> AsyncGenerator[Delta | Completion, None]:
        self.sent.append(list(messages))
        question = max(index for index, message in enumerate(messages) if message["role"] == "user")
        answer = self.answers[sum(message["role"] == "assistant" for message in messages[question:])]
        try:
            if isinstance(answer, Exception):
                yield Delta("text", "half an ")
                raise answer
            if callable(answer):
                answer = answer()
            for kind, text in (("thinking", answer.thinking), ("text", answer.text)):
                for word in text.split(" ") if text else ():
                    await asyncio.sleep(self.pause)
                    yield Delta(kind, word + " ")  # type: ignore[arg-type]
            yield answer
        finally:
            self.closed += 1


def put_on_stage(monkeypatch: pytest.MonkeyPatch, *answers: Any, pause: float = 0.0) -> StagedClient:
    """Let every turn of this process talk to a script."""
    client = StagedClient(*answers, pause=pause)
    monkeypatch.setattr(driving, "client", client)
    return client


def makes_tag(call_id: str = "w", name: str = "Paid") -> Completion:
    """An answer that asks to create a tag."""
    return asks((call_id, "create_tag", f'{{"name": "{name}"}}'))


def waits_for(turn_id: Any, *statuses: str, seconds: float = 10.0) -> Turn:
    """The turn once it has one of these states, and once that was told to those who listen (which comes after it)."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        turn = Turn.objects.get(pk=turn_id)
        if turn.status in statuses and not 0 < last_seq(turn.pk) < turn.event_seq:
            return turn
        time.sleep(0.02)
    raise AssertionError(f"still {turn.status} after {seconds} s, expected {statuses}")


def call_of(turn: Turn, call_id: str = "w") -> ToolCall:
    return ToolCall.objects.get(turn=turn, call_id=call_id)


__all__ = ["StagedClient", "asks", "call_of", "make_document", "makes_tag", "put_on_stage", "says", "waits_for"]
