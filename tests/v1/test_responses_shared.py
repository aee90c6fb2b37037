"""Questions through a link: what is hidden stays hidden from the model, what a link allows is all that is given."""

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any, Literal

import pytest
from asgiref.sync import async_to_sync
from django.db import connection
from django.db.models import F
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from agent.answers.asked import Asked, Draft, Job
from agent.answers.services import begin_shared_response, fail_response, finish_response
from agent.models import Response
from documents.models import Document, ShareLink
from documents.sharing.errors import ShareAnswersUsedUp
from documents.sharing.services import MadeLink, create_share_link, open_for_asking, open_share, revoke_share_link
from tests.conftest import Person, make_person
from tests.documents.sharing import result_of, shared_document
from tests.fakes.provider import FakeProvider
from tests.fakes.steps import Fault, Step
from tests.v1.asking import FAKE, events_of, streamed, use_fake

pytestmark = pytest.mark.django_db(transaction=True)
IBAN = "DE02120300000000202051"
LINES = ("Contoso Ltd", "Receipt No.: 2468", f"IBAN: {IBAN}", "Total: $4,950.00")
QUESTION = {"input": "What is the total?"}


@pytest.fixture
def alice(transactional_db: None, settings: Settings) -> Person:
    use_fake(settings)
    return make_person("alice@example.com")


@pytest.fixture
def document(alice: Person) -> Document:
    document = shared_document(alice, LINES)
    result_of(alice, document, {"number": "2468", "iban": IBAN, "total": 4950})
    return document


def link_to(alice: Person, document: Document, role: Literal["view", "ask"] = "ask", **more: Any) -> MadeLink:
    return create_share_link(actor=alice.actor, document_id=document.pk, role=role, **more)


def ask(made: MadeLink, body: object = None, **headers: str) -> Any:
    """The response of a question with the link's token, unless headers say something else."""
    sent = headers or {"X-Share-Token": made.token}
    address = f"/v1/shares/{made.link.pk.hex}/responses"
    data = json.dumps(QUESTION if body is None else body).encode()
    return Client().generic("POST", address, data, content_type="application/json", headers=sent)


def code_of(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["code"]


def test_somebody_with_the_link_gets_an_answer_with_its_citation(alice: Person, document: Document) -> None:
    made = link_to(alice, document)
    answer = ask(made)
    assert answer.status_code == 200, answer.content
    said = answer.json()
    assert (said["answer"], said["citations"][0]["quote"], said["runIdUsed"]) == (
        "Total: $4,950.00", "Total: $4,950.00", None,
    )  # fmt: skip
    row = Response.objects.get()
    assert (row.share_id, row.author_id, row.via) == (made.link.pk, None, "share")
    assert answer["Referrer-Policy"] == "no-referrer"
    made.link.refresh_from_db()
    assert (made.link.views, made.link.answers) == (1, 1)

    again = ask(made, **{"X-Share-Ticket": answer["X-Share-Ticket"]})
    assert again.status_code == 200
    made.link.refresh_from_db()
    assert (made.link.views, made.link.answers) == (1, 2)
    streaming = ask(made, QUESTION | {"stream": True}, **{"X-Share-Ticket": answer["X-Share-Ticket"]})
    events = events_of(async_to_sync(streamed)(streaming).decode())
    assert events[-1][0] == "response.completed"


def test_what_is_hidden_reaches_neither_the_model_nor_the_answer(
    alice: Person, document: Document, fake_provider: FakeProvider, settings: Settings
) -> None:
    settings.DEFAULT_EXTRACTION_MODEL = FAKE
    made = link_to(alice, document, redact_paths=["iban"])
    fake_provider.add(Step(text=f"The IBAN is hidden [[p1: {IBAN}]] [[p1: Total: $4,950.00]]."))
    answer = ask(made, {"input": "What is the IBAN?", "model": "docrouter/offline"})
    assert answer.status_code == 200, answer.content
    assert IBAN not in answer.content.decode()
    assert [one["quote"] for one in answer.json()["citations"]] == ["Total: $4,950.00"]
    sent = fake_provider.received[0].body.decode()
    assert IBAN not in sent
    assert "Total: $4,950.00" in sent

    settings.DEFAULT_EXTRACTION_MODEL = "docrouter/offline"
    for question in ("What is the IBAN?", "Where does it say DE02?", f"Is it {IBAN[:10]}?"):
        plain = ask(made, {"input": question})
        assert "20300000000202051" not in plain.content.decode()


def test_a_link_says_no_as_it_should(alice: Person, document: Document) -> None:
    made = link_to(alice, document)
    assert code_of(ask(made, **{"X-Share-Token": "wrong"})) == (401, "share_token_invalid")
    assert code_of(ask(made, **{"X-Share-Ticket": "wrong"})) == (401, "share_token_invalid")
    assert code_of(ask(made, Authorization="Bearer x")) == (401, "share_token_invalid")
    assert code_of(ask(link_to(alice, document, "view"))) == (403, "share_role")
    locked = link_to(alice, document, password="a long enough secret")
    assert ask(locked).status_code == 401
    opened = ask(locked, **{"X-Share-Token": locked.token, "X-Share-Password": "a long enough secret"})
    assert opened.status_code == 200
    assert code_of(ask(made, QUESTION | {"runId": "0" * 32})) == (400, "not_supported")
    assert ask(made, {}).status_code == 422
    made.link.refresh_from_db()
    assert (made.link.views, made.link.answers) == (0, 0)

    expired = link_to(alice, document)
    ShareLink.objects.filter(pk=expired.link.pk).update(expires_at=timezone.now() - timedelta(seconds=1))
    assert ask(expired).status_code == 410
    revoke_share_link(actor=alice.actor, document_id=document.pk, share_id=made.link.pk)
    assert ask(made).status_code == 410
    once = link_to(alice, document, max_views=1)
    assert ask(once).status_code == 200
    assert ask(once).status_code == 410


def test_answers_and_their_cost_are_counted_against_the_link(
    alice: Person, document: Document, fake_provider: FakeProvider, settings: Settings
) -> None:
    settings.CHAT_MODELS = ["gpt-4o-mini"]
    settings.DEFAULT_EXTRACTION_MODEL = "gpt-4o-mini"
    made = link_to(alice, document)
    fake_provider.add(Step(fault=Fault("status", status=500)))
    assert ask(made).status_code == 503
    made.link.refresh_from_db()
    assert (made.link.answers, made.link.cost_usd) == (0, Decimal(0))

    fake_provider.add(Step(text="Five.", usage=(1_000_000, 1_000)))
    assert ask(made).status_code == 200
    made.link.refresh_from_db()
    assert (made.link.answers, made.link.cost_usd) == (1, Decimal("0.15060000"))
    ShareLink.objects.filter(pk=made.link.pk).update(cost_usd=made.link.max_cost_usd)
    assert ask(made).status_code == 410
    ShareLink.objects.filter(pk=made.link.pk).update(cost_usd=0, answers=made.link.max_answers)
    assert ask(made).status_code == 410


def test_answers_on_their_way_at_once_do_not_pass_the_cap(
    alice: Person, document: Document, settings: Settings
) -> None:
    settings.CHAT_MODELS, settings.DEFAULT_EXTRACTION_MODEL = ["gpt-4o-mini"], "gpt-4o-mini"
    made, asked = link_to(alice, document), Asked(text="What is the total?")
    ticket = open_share(share_id=made.link.pk.hex, token=made.token).ticket

    def begin(_: int = 0) -> Job | None:
        try:
            return begin_shared_response(view=open_for_asking(share_id=made.link.pk, ticket=ticket), asked=asked)
        except ShareAnswersUsedUp:
            return None
        finally:
            connection.close()

    first = begin()
    assert first is not None
    assert 0 < first.booked < Decimal("0.01")
    cap = first.booked * 3 + first.booked / 2
    ShareLink.objects.filter(pk=made.link.pk).update(max_cost_usd=cap)
    with ThreadPoolExecutor(8) as pool:
        jobs = [job for job in pool.map(begin, range(8)) if job is not None]
    assert len(jobs) == 2
    made.link.refresh_from_db()
    assert made.link.cost_usd == first.booked * 3 <= cap

    spent = Draft(text="Five.", cost_usd=Decimal("0.0001"))
    for job in (first, *jobs):
        finish_response(job=job, draft=spent)
    made.link.refresh_from_db()
    assert made.link.cost_usd == Decimal("0.0003")
    again = begin()
    assert again is not None
    fail_response(job=again, draft=Draft(), problem=None)
    made.link.refresh_from_db()
    assert made.link.cost_usd == Decimal("0.0003")


def test_a_link_with_little_left_shows_fewer_pages_or_refuses(alice: Person, settings: Settings) -> None:
    settings.CHAT_MODELS, settings.DEFAULT_EXTRACTION_MODEL = ["gpt-4o-mini"], "gpt-4o-mini"
    long = shared_document(alice, *[(f"river garden stone {page} " * 40, f"Total: {page}") for page in range(20)])
    made, asked = link_to(alice, long), Asked(text="What is the total?")
    view = open_for_asking(share_id=made.link.pk, token=made.token)
    whole = begin_shared_response(view=view, asked=asked)
    some = begin_shared_response(view=replace(view, cost_left_usd=whole.booked * Decimal("0.8")), asked=asked)
    assert 1 <= len(some.source.content.pages) < len(whole.source.content.pages) == 20
    ShareLink.objects.update(max_cost_usd=F("cost_usd") + Decimal("0.0000001"))
    with pytest.raises(ShareAnswersUsedUp):
        begin_shared_response(view=replace(view, cost_left_usd=Decimal("0.0000001")), asked=asked)
