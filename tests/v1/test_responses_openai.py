"""OpenAI's own Python client, asked to speak to a document: whole answers, streams, conversations, errors."""

import json
from collections.abc import Iterator
from typing import Any

import httpx
import openai
import pytest
from asgiref.sync import async_to_sync
from django.test import Client
from openai import OpenAI
from openai._streaming import SSEDecoder
from pydantic import BaseModel
from pytest_django import Settings

from agent.api.v1 import streams
from agent.models import Response
from documents.models import Document
from tests.conftest import Person, make_person
from tests.documents.making import RECEIPT, make_document, response_format
from tests.fakes.provider import FakeProvider
from tests.fakes.steps import Fault, Step
from tests.v1.asking import FAKE, streamed, use_fake
from tests.v1.calling import v1_of

pytestmark = pytest.mark.django_db(transaction=True)
TOTAL = "Total: $4,950.00"
QUESTION = "What is the total?"


class Receipt(BaseModel):
    """What a program wants to know."""

    number: str
    total: float


def into_django(request: httpx.Request) -> httpx.Response:
    """Carry a request of the client into Django, and the answer back."""
    answer: Any = Client().generic(
        request.method,
        request.url.raw_path.decode(),
        request.read(),
        content_type=request.headers.get("Content-Type", ""),
        headers={"Authorization": request.headers["Authorization"]},
    )
    content = async_to_sync(streamed)(answer) if answer.streaming else answer.content
    return httpx.Response(answer.status_code, headers=dict(answer.items()), content=content)


@pytest.fixture
def alice(transactional_db: None, settings: Settings) -> Person:
    use_fake(settings)
    return make_person("alice@example.com")


@pytest.fixture
def document(alice: Person) -> Document:
    return make_document(alice, *RECEIPT)


@pytest.fixture
def client(alice: Person, document: Document) -> Iterator[OpenAI]:
    address = f"http://testserver/v1/documents/{document.pk.hex}"
    carried = httpx.Client(transport=httpx.MockTransport(into_django))
    with OpenAI(base_url=address, api_key=v1_of(alice).token, http_client=carried, max_retries=0) as made:
        yield made


def test_a_response_is_created(client: OpenAI, document: Document) -> None:
    response = client.responses.create(model="docrouter/offline", input=QUESTION)
    assert response.output_text == TOTAL
    assert (response.status, response.model, response.error) == ("completed", "docrouter/offline", None)
    message: Any = response.output[0]
    annotation = message.content[0].annotations[0]
    assert (annotation.type, annotation.filename, annotation.quote) == ("file_citation", document.name, TOTAL)
    assert response.usage is not None
    assert response.usage.total_tokens == response.usage.input_tokens + response.usage.output_tokens
    extra: Any = response.model_extra
    assert extra["citations"][0]["page"] == 1
    type(response).model_validate(response.model_dump())  # all that its types demand is there


def test_a_response_is_retrieved_by_who_asked_and_by_nobody_else(
    client: OpenAI, alice: Person, document: Document
) -> None:
    made = client.responses.create(model="docrouter/offline", input=QUESTION)
    again = client.responses.retrieve(made.id)
    assert again == made
    other, stranger = (
        v1_of(make_person("bob@example.com", organization=alice.organization)),
        v1_of(make_person("charlie@example.com")),
    )
    place = f"documents/{document.pk.hex}/responses"
    assert v1_of(alice).get(f"{place}/{made.id.removeprefix('resp_')}")["id"] == made.id
    assert other.error("get", f"{place}/{made.id}") == (404, "response_not_found")
    assert stranger.error("get", f"{place}/{made.id}") == (404, "document_not_found")
    elsewhere = make_document(alice, "x").pk.hex
    assert v1_of(alice).error("get", f"documents/{elsewhere}/responses/{made.id}") == (404, "response_not_found")
    for unknown in ("resp_", "nonsense", "0" * 32, "%00", "resp_" * 2 + made.id):
        assert v1_of(alice).error("get", f"{place}/{unknown}") == (404, "response_not_found")
    assert v1_of(alice).error("get", f"{place}/{made.id}?stream=true") == (400, "not_supported")


def test_a_response_that_failed_or_still_runs_is_retrieved_as_it_stands(
    client: OpenAI, fake_provider: FakeProvider
) -> None:
    fake_provider.add(Step(fault=Fault("status", status=500)))
    with pytest.raises(openai.APIStatusError):
        client.responses.create(model=FAKE, input=QUESTION)
    row = Response.objects.get()
    failed = client.responses.retrieve(row.pk.hex)
    assert (failed.status, failed.output) == ("failed", [])
    assert failed.error is not None
    assert (failed.error.code, failed.error.message) == ("server_error", row.error_message)
    Response.objects.update(status="in_progress", error_code="", completed_at=None, usage={})
    running = client.responses.retrieve(row.pk.hex)
    assert (running.status, running.error, running.usage) == ("in_progress", None, None)


def test_a_conversation_goes_on_from_its_own_output(client: OpenAI, fake_provider: FakeProvider) -> None:
    fake_provider.add(Step(text=f"It is $4,950.00 [[p1: {TOTAL}]]."), Step(text="By Contoso [[p1: Contoso Ltd]]."))
    conversation: list[Any] = [{"role": "developer", "content": "Be brief"}, {"role": "user", "content": QUESTION}]
    first = client.responses.create(model=FAKE, input=conversation, instructions="In English")
    conversation += [item.model_dump() for item in first.output]
    conversation.append({"role": "user", "content": [{"type": "input_text", "text": "From whom?"}]})
    second = client.responses.create(model=FAKE, input=conversation, temperature=0.2, store=False)
    assert (first.output_text, second.output_text) == ("It is $4,950.00.", "By Contoso.")
    sent = [(one["role"], one["content"]) for one in fake_provider.received[1].json["messages"][2:]]
    assert sent == [
        ("user", "Be brief"), ("user", QUESTION), ("assistant", "It is $4,950.00."), ("user", "From whom?"),
    ]  # fmt: skip


@pytest.mark.parametrize("model", ["docrouter/offline", FAKE])
def test_a_response_streams(client: OpenAI, fake_provider: FakeProvider, model: str) -> None:
    if model == FAKE:
        fake_provider.add(Step(text=f"{TOTAL} [[p1: {TOTAL}]] [[p1: invented]]", piece=5))
    events: list[Any] = list(client.responses.create(model=model, input=QUESTION, stream=True))
    assert [event.sequence_number for event in events] == list(range(len(events)))
    kinds = [event.type for event in events]
    assert kinds[:4] == [
        "response.created", "response.in_progress", "response.output_item.added", "response.content_part.added",
    ]  # fmt: skip
    assert kinds[-4:] == [
        "response.output_text.done", "response.content_part.done", "response.output_item.done", "response.completed",
    ]  # fmt: skip
    said = "".join(event.delta for event in events if event.type == "response.output_text.delta")
    added = [event.annotation for event in events if event.type == "response.output_text.annotation.added"]
    assert said == TOTAL
    assert [one["quote"] for one in added] == [TOTAL]
    whole = events[-1].response
    assert (whole.output_text, whole.id) == (TOTAL, events[0].response.id)
    for event in events:
        type(event).model_validate(event.model_dump())


def test_the_clients_own_helper_for_streams_puts_the_response_together(client: OpenAI) -> None:
    with client.responses.stream(model="docrouter/offline", input=QUESTION) as stream:
        for _ in stream:
            pass
        assert stream.get_final_response().output_text == TOTAL


def test_a_structured_response_is_created(client: OpenAI) -> None:
    wanted = response_format({"total": {"type": "number"}})
    form: Any = {"format": {"type": "json_schema", **wanted["json_schema"]}}
    response = client.responses.create(model="docrouter/offline", input="Read it", text=form)
    assert response.output_text == '{"total": 4950}'
    parsed = client.responses.parse(model="docrouter/offline", input="Read it", text_format=Receipt)
    assert parsed.output_parsed == Receipt(number="2468", total=4950)


def test_a_stream_that_fails_says_so(client: OpenAI, fake_provider: FakeProvider) -> None:
    fake_provider.add(Step(fault=Fault("status", status=500)))
    events: list[Any] = list(client.responses.create(model=FAKE, input=QUESTION, stream=True))
    assert events[-1].type == "response.failed"
    assert events[-1].response.error.code == "server_error"


def test_what_is_refused_is_the_clients_own_error(client: OpenAI, alice: Person) -> None:
    with pytest.raises(openai.BadRequestError) as unknown:
        client.responses.create(model="nobody/knows", input=QUESTION)
    assert unknown.value.code == "invalid_model"
    with pytest.raises(openai.BadRequestError):
        client.responses.create(model=FAKE, input=QUESTION, previous_response_id="resp_1")
    with pytest.raises(openai.NotFoundError):
        client.with_options(base_url=f"http://testserver/v1/documents/{'0' * 32}").responses.create(
            model=FAKE, input=QUESTION
        )
    with pytest.raises(openai.AuthenticationError):
        client.with_options(api_key="org_wrong").responses.create(model=FAKE, input=QUESTION)


def test_a_sign_of_life_between_two_events_is_no_event_for_the_client() -> None:
    sent = streams._frame(0, "response.created", {"a": 1}) + streams._ALIVE + streams._frame(1, "response.done", {})
    events = list(SSEDecoder().iter_bytes(iter([sent])))
    assert [event.json() for event in events] == [json.loads(event.data) for event in events]
    assert len(events) == 2
