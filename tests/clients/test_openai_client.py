"""OpenAI's own Python client against the product as it is deployed: the built-in model and a scripted one."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
from openai import OpenAI

from tests.clients.conftest import EMAIL, ORGANIZATION, PASSWORD
from tests.data import make
from tests.fakes.provider import FakeProvider
from tests.fakes.steps import Step
from tests.live import running

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("openai")]
SECONDS = 60
FAKE = "openai/local"
TOTAL = "Total due: 1,250.00 EUR"
QUESTION = "What is the total?"
PDF = make.pdf(make.INVOICE, ("Terms of payment", "The warranty lasts two years"))


@dataclass(frozen=True)
class Asked:
    """A client that speaks to a document, and the scripted model behind it."""

    client: OpenAI
    http: httpx.Client
    document_id: str
    fake: FakeProvider


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asked]:
    commands = (
        ("create_user", "--email", EMAIL, "--password", PASSWORD, "--name", "Ada", "--admin"),
        ("create_organization", "--name", ORGANIZATION, "--owner", EMAIL),
        ("create_token", "--email", EMAIL, "--name", "program", "--organization", ORGANIZATION),
    )
    with FakeProvider() as fake:
        knobs = {
            "OPENAI_API_KEY": "sk-of-the-tests",
            "OPENAI_API_BASE": fake.openai_base,
            "CHAT_MODELS": FAKE,
            "DEFAULT_CHAT_MODEL": "docrouter/offline",
            "DEFAULT_EXTRACTION_MODEL": "docrouter/offline",
        }
        with running(tmp_path_factory.mktemp("openai"), "openai", *commands, **knobs) as (site, printed):
            headers = {"Authorization": f"Bearer {printed[-1]}"}
            with httpx.Client(base_url=f"{site.url}/v1/", headers=headers, timeout=30) as http:
                document_id = uploaded(http)
                base = f"{site.url}/v1/documents/{document_id}"
                with OpenAI(base_url=base, api_key=printed[-1], max_retries=0) as client:
                    yield Asked(client, http, document_id, fake)


def uploaded(http: httpx.Client) -> str:
    """A document that a worker has read."""
    made = http.post("documents", files={"file": ("invoice.pdf", PDF, "application/pdf")})
    assert made.status_code == 201, made.text
    document_id = str(made.json()["documentId"])
    deadline = time.monotonic() + SECONDS
    while (phase := http.get(f"documents/{document_id}").json()["phase"]) != "complete":
        assert phase != "error"
        assert time.monotonic() < deadline, phase
        time.sleep(0.3)
    return document_id


def test_the_built_in_model_answers_whole_and_streamed(asked: Asked) -> None:
    response = asked.client.responses.create(model="docrouter/offline", input=QUESTION)
    extra: Any = response.model_extra
    assert "1,250.00 EUR" in response.output_text
    assert [(one["page"], one["quote"], one["verified"]) for one in extra["citations"]] == [(1, TOTAL, True)]
    events: list[Any] = list(asked.client.responses.create(model="docrouter/offline", input=QUESTION, stream=True))
    assert events[-1].type == "response.completed"
    assert events[-1].response.output_text == response.output_text
    second: Any = asked.client.responses.create(model="docrouter/offline", input="How long does the warranty last?")
    assert [one["page"] for one in second.citations] == [2]
    none: Any = asked.client.responses.create(model="docrouter/offline", input="What is the CEO's shoe size?")
    assert none.citations == []


def test_a_scripted_model_streams_as_it_speaks(asked: Asked) -> None:
    asked.fake.add(Step(text=f"{TOTAL} [[p1: {TOTAL}]] and so on [[p2: invented]]", piece=6, delay=0.05))
    began, moments, said = time.monotonic(), [], ""
    for event in asked.client.responses.create(model=FAKE, input=QUESTION, stream=True):
        if event.type == "response.output_text.delta":
            moments.append(time.monotonic() - began)
            said += event.delta
    assert said == f"{TOTAL} and so on"
    assert moments[-1] - moments[0] > 0.1, "the pieces come as they are said, not all at the end"


def test_whoever_hangs_up_pays_for_the_whole_answer(asked: Asked) -> None:
    asked.fake.add(Step(text="word " * 40, piece=10, delay=0.03))
    with asked.client.responses.create(model=FAKE, input=QUESTION, stream=True) as stream:
        for event in stream:
            if event.type == "response.output_text.delta":
                break
    request = asked.fake.received[-1]
    deadline = time.monotonic() + 10
    while not request.finished and time.monotonic() < deadline:
        time.sleep(0.05)
    assert request.finished
    assert request.gone_at is None


def test_our_own_stream_comes_in_frames(asked: Asked) -> None:
    body = {"input": QUESTION}
    with asked.http.stream("POST", f"documents/{asked.document_id}/responses:stream", json=body) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        kinds = [line.removeprefix("event: ") for line in answer.iter_lines() if line.startswith("event: ")]
    assert set(kinds) == {"response.delta", "response.citation", "response.completed"}
    assert kinds[-1] == "response.completed"
