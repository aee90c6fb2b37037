"""No word of a document, of a question or of a model's answer, and no secret, ever reaches a log."""

import copy
import logging
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
import structlog
from django.conf import settings
from django.test import Client

from agent.services import start_turn
from docrouter.logging import configure
from documents.extraction import begin_extraction
from documents.sharing.services import create_share_link
from tests.agent.rows import make_thread
from tests.agent.staging import asks, put_on_stage, waits_for
from tests.belongings import readable_document
from tests.conftest import PASSWORD, Person

SECRET = "Quisquiliae"


class Everything(logging.Handler):
    """All that any logger of the process says, formatted as it would be written, tracebacks included."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        ours = structlog.stdlib.ProcessorFormatter
        formatters = [one.formatter for one in logging.getLogger().handlers if isinstance(one.formatter, ours)]
        self.lines += [formatter.format(copy.copy(record)) for formatter in formatters]


@pytest.fixture
def heard(monkeypatch: pytest.MonkeyPatch) -> Iterator[Everything]:
    handler, root = Everything(), logging.getLogger()
    root.addHandler(handler)
    monkeypatch.setattr(root, "level", logging.INFO)
    yield handler
    root.removeHandler(handler)


def test_the_ear_hears(heard: Everything) -> None:
    structlog.get_logger("any").warning("thing.happened", word=SECRET)
    assert SECRET in "\n".join(heard.lines)


@pytest.mark.django_db(transaction=True)
def test_a_whole_conversation_leaves_no_word_in_the_log(
    alice: Person, heard: Everything, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = readable_document(alice, SECRET)
    thread = make_thread(alice.actor, document, title=SECRET)
    answers = (
        asks(("r", "get_ocr_text", "{}"), ("bad", SECRET, SECRET), ("w", "create_tag", f'{{"name": "{SECRET}"}}')),
        RuntimeError(f"the provider said {SECRET}"),
    )
    put_on_stage(monkeypatch, *answers)
    turn = start_turn(actor=alice.actor, document_id=document.pk, text=SECRET, thread_id=thread.pk, auto_approve=True)
    ended = waits_for(turn.pk, "failed", "done")
    assert ended.status == "failed"
    assert heard.lines
    assert [line for line in heard.lines if SECRET in line] == []


def bursts(**_: object) -> None:
    try:
        raise KeyError(SECRET)
    except KeyError as problem:
        raise ValueError(f"a bug met {SECRET}") from problem


@pytest.mark.parametrize("is_json", [True, False])
def test_an_exception_tells_where_and_not_what(is_json: bool) -> None:
    before = structlog.get_config()
    text = StringIO()
    try:
        configure({"level": "INFO", "json": is_json})
        handler = logging.StreamHandler(text)
        handler.setFormatter(logging.getLogger().handlers[0].formatter)
        logger = logging.Logger("alone")
        logger.addHandler(handler)
        for burst in (bursts, lambda: Path("/nowhere/at-all").read_text()):
            try:
                burst()
            except (ValueError, OSError):
                logger.exception("It went wrong")
    finally:
        configure(settings.LOGGING)
        structlog.configure(**before)
    assert "KeyError" in text.getvalue()
    assert "bursts" in text.getvalue()
    assert "/nowhere/at-all" in text.getvalue(), "what the machine says helps"
    assert SECRET not in text.getvalue()


@pytest.mark.django_db
def test_pages_and_forms_leave_no_word_in_the_log(
    alice: Person, nobody: Client, heard: Everything, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = readable_document(alice, SECRET)
    client = alice.client()
    client.get(f"/documents/{document.pk.hex}/find", {"q": SECRET})
    client.get("/documents", {"q": SECRET, "tag": SECRET})
    client.post(f"/documents/{document.pk.hex}/agent/send", {"text": SECRET, "model": SECRET})
    client.post("/schemas/new", {"name": SECRET, "response_format": SECRET})
    nobody.post("/sign-in", {"username": "alice@example.com", "password": PASSWORD + SECRET})
    client.raise_request_exception = False
    monkeypatch.setattr("documents.views.viewer.find_places", bursts)
    assert client.get(f"/documents/{document.pk.hex}/find", {"q": SECRET}).status_code == 500
    nobody.get("/metrics", headers={"Authorization": f"Bearer {SECRET}"})
    begin_extraction(actor=alice.actor, document_id=document.pk)
    assert any("ValueError" in line and "bursts" in line for line in heard.lines), "where it happened is told"
    said = [line for line in heard.lines if SECRET in line or PASSWORD in line]
    assert said == []


def test_no_address_of_a_link_or_publication_is_in_the_log(alice: Person, heard: Everything, settings: Any) -> None:
    """Tokens stand in paths and query strings: of answers, of refusals, of what is not there."""
    settings.RATE_LIMIT_SCALE = 1
    settings.RATE_LIMITS = settings.RATE_LIMITS | {"public": 6}
    document = readable_document(alice, SECRET)
    made = create_share_link(actor=alice.actor, document_id=document.pk, role="ask", max_views=1)
    start, token = f"/s/{made.link.pk.hex}", made.token
    client = Client(raise_request_exception=False)
    for place in (
        f"{start}/{token}",
        f"{start}/{token}x",
        f"{start}/{token}/x",
        f"{start}/pages/9/image?ticket={token}",
    ):
        for method in (client.get, client.post, client.put):
            method(place)
    for rest in ("", "/responses", "/nothing"):
        client.get(f"/v1/shares/{made.link.pk.hex}{rest}?token={token}")
        client.post(f"/v1/shares/{made.link.pk.hex}{rest}?token={token}", b"{", content_type="application/json")
    client.get(f"/p/{token}.json")
    client.get(f"/p/{token}")
    assert token not in "\n".join(heard.lines)
