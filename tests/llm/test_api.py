"""Models, providers and plain model calls over JSON: the shapes of three generations of clients, and refusals."""

import asyncio
import json
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection
from django.test import AsyncClient
from django.test.utils import CaptureQueriesContext
from docrouter_sdk.models.llm import ListLLMModelsResponse

from core.threads import in_thread
from llm import providers
from llm.api.bodies import CompletionBody
from llm.api.runs import run
from llm.catalog import OFFLINE_MODEL
from llm.models import PlainCall, Provider
from llm.services import PlainCaller
from organizations.models import AuditEntry
from tests.api import Api, account_api_of, api_of
from tests.conftest import Person
from tests.fakes.provider import FakeProvider
from tests.fakes.steps import Fault, Step

KEY = "sk-proj-" + "k3y" * 12
ANTHROPIC = "claude-sonnet-4-5"
EMBEDDING = "text-embedding-3-small"
SAID = [{"role": "user", "content": "Say hello"}]
RUN = {"model": "gpt-4o-mini", "messages": SAID}


@pytest.fixture(autouse=True)
def in_database(settings: Any) -> Iterator[Any]:
    """Rows count here, and no test knows those of another."""
    settings.PROVIDERS_IN_DATABASE = True
    settings.MODEL_PROVIDER_KEYS, settings.MODEL_API_BASES, settings.CHAT_MODELS = {}, {}, []
    settings.DEFAULT_CHAT_MODEL = settings.DEFAULT_EXTRACTION_MODEL = ""
    providers.forget()
    yield settings
    providers.forget()


@pytest.fixture
def root(alice: Person) -> Person:
    """Alice, who also runs the deployment."""
    alice.user.is_system_admin = True
    alice.user.save()
    return alice


@pytest.fixture
def api(root: Person) -> Api:
    return account_api_of(root)


# --- models ---------------------------------------------------------------------------------------------------


def test_without_providers_the_built_in_model_is_what_everybody_can_use(bob: Person) -> None:
    answer = account_api_of(bob).get("llm/models")
    assert answer["models"] == answer["chat_models"]
    assert [model["id"] for model in answer["models"]] == [OFFLINE_MODEL]
    assert answer["embedding_models"] == []
    assert api_of(bob).get("llm/models") == {"models": [OFFLINE_MODEL]}


def test_the_models_read_in_all_generations_of_clients(api: Api, in_database: Any) -> None:
    in_database.MODEL_PROVIDER_KEYS = {"openai": KEY}
    in_database.CHAT_MODELS = ["ollama/at-home"]
    answer = api.get("llm/models")
    read = ListLLMModelsResponse(**answer)
    assert {"gpt-4o-mini", "ollama/at-home", OFFLINE_MODEL} <= {model.id for model in read.models}
    mini = next(model for model in answer["chat_models"] if model["id"] == "gpt-4o-mini")
    assert mini == {
        "id": "gpt-4o-mini",
        "name": "gpt-4o-mini",
        "provider": "openai",
        "description": "gpt-4o-mini by OpenAI",
        "max_tokens": 16384,
        "cost_per_1m_input_tokens": 0.15,
        "cost_per_1m_output_tokens": 0.6,
        "litellm_model": "gpt-4o-mini",
        "litellm_provider": "openai",
        "max_input_tokens": 128000,
        "max_output_tokens": 16384,
        "input_cost_per_token": 1.5e-07,
        "output_cost_per_token": 6e-07,
        "provider_name": "openai",
        "provider_display_name": "OpenAI",
    }
    assert answer["embedding_models"][0] == {
        "litellm_model": EMBEDDING,
        "litellm_provider": "openai",
        "max_input_tokens": 8191,
        "dimensions": 1536,
        "input_cost_per_token": 2e-08,
        "input_cost_per_token_batches": 1e-08,
    }


@pytest.mark.parametrize(
    ("query", "has", "lacks"),
    [
        ("", "gpt-4o-mini", ANTHROPIC),
        ("provider_name=anthropic", None, "gpt-4o-mini"),
        ("provider_name=anthropic&provider_enabled=False", ANTHROPIC, "gpt-4o-mini"),
        ("provider_enabled=true", "gpt-4o-mini", ANTHROPIC),
        ("provider_enabled=false", ANTHROPIC, "gpt-4o-mini"),
        ("llm_enabled=false", "gpt-3.5-turbo", None),
        ("llm_enabled=false&provider_enabled=true", "gpt-3.5-turbo", ANTHROPIC),
        ("chat_agent_only=true", "gpt-4o-mini", ANTHROPIC),
        ("ocr_only=1&llm_enabled=0", "mistral/mistral-ocr-latest", "gpt-4o-mini"),
        ("provider_name=nobody", None, "gpt-4o-mini"),
    ],
)
def test_the_models_can_be_narrowed(api: Api, in_database: Any, query: str, has: str | None, lacks: str | None) -> None:
    in_database.MODEL_PROVIDER_KEYS = {"openai": KEY}
    names = [model["litellm_model"] for model in api.get(f"llm/models?{query}")["chat_models"]]
    assert has is None or has in names
    assert lacks is None or lacks not in names


@pytest.mark.parametrize(
    ("query", "status"),
    [("provider_enabled=maybe", 422), ("llm_enabled=2", 422), ("provider_name=%00", 422), ("ocr_only=", 422)],
)
def test_a_query_that_cannot_be_is_refused(api: Api, query: str, status: int) -> None:
    assert api.raw("get", f"llm/models?{query}").status_code == status


def test_two_wishes_that_contradict_are_told_in_one_sentence(api: Api) -> None:
    told = api.error("get", "llm/models?ocr_only=true&chat_agent_only=true")
    assert told == (422, "Use only one of ocr_only or chat_agent_only")


def test_the_organizations_list_can_leave_embeddings_out(alice: Person, in_database: Any) -> None:
    in_database.MODEL_PROVIDER_KEYS = {"openai": KEY}
    api = api_of(alice)
    assert EMBEDDING in api.get("llm/models")["models"]
    assert EMBEDDING not in api.get("llm/models?exclude_embeddings=True")["models"]
    assert EMBEDDING not in api.get("llm/models?chat_only=true")["models"]


# --- providers ------------------------------------------------------------------------------------------------


def test_a_provider_is_configured_and_its_key_never_comes_back(api: Api, alice: Person) -> None:
    before = api.get("llm/providers")["providers"]
    names = [provider["display_name"] for provider in before]
    assert names == sorted(names, key=str.casefold)
    wanted = {"anthropic", "azure", "azure_ai", "bedrock", "docrouter", "gemini", "groq", "mistral", "openai"}
    assert {provider["name"] for provider in before} == wanted | {"openrouter", "vertex_ai", "xai"}
    assert [provider["name"] for provider in before if provider["enabled"]] == ["docrouter"]
    change = {"litellm_models_enabled": ["gpt-4o", EMBEDDING], "enabled": True, "token": KEY}
    answer = api.put("llm/provider/openai", change | {"litellm_models_chat_agent": None})
    assert answer == {"message": "LLM provider config updated successfully"}
    entry = AuditEntry.objects.get(action="provider.configured")
    assert (entry.organization_id, entry.user_id, entry.via) == (None, alice.user.pk, "api")
    assert (entry.target_type, entry.target_id) == ("provider", "openai")
    assert entry.data == {"changed": ["enabled", "models_enabled", "token"]}
    raw = api.raw("get", "llm/providers").content.decode()
    assert KEY not in raw
    openai = next(provider for provider in json.loads(raw)["providers"] if provider["name"] == "openai")
    assert openai["token"] == KEY[:16] + "******"
    assert openai["token_created_at"].endswith("Z")
    assert openai["litellm_models_enabled"] == ["gpt-4o", EMBEDDING]
    assert len(openai["litellm_models_available"]) > 50
    assert api.put("llm/provider/openai", {"token": ""})
    cleared = next(provider for provider in api.get("llm/providers")["providers"] if provider["name"] == "openai")
    assert (cleared["token"], cleared["token_created_at"], cleared["enabled"]) == (None, None, True)


BAD_PROVIDERS: list[tuple[str, Any, int]] = [
    ("openai", b"", 422),
    ("openai", b"[]", 422),
    ("openai", b"{", 422),
    ("openai", {"litellm_models_enabled": "gpt-4o"}, 422),
    ("openai", {"litellm_models_enabled": [5]}, 422),
    ("openai", {"litellm_models_enabled": [None]}, 422),
    ("openai", {"litellm_models_enabled": ["gpt-4o"] * 2001}, 422),
    ("openai", {"enabled": "maybe"}, 422),
    ("openai", {"token": 5}, 422),
    ("openai", b'{"token": "a\\u0000b"}', 422),
    ("openai", b'{"token": "\\ud800"}', 422),
    ("openai", {"token": "k" * 20_000}, 400),
    ("openai", {"token": "two\nlines"}, 400),
    ("openai", {"token": "sk-proj-12345678******"}, 400),
    ("openai", {"litellm_models_enabled": ["gpt-99"]}, 400),
    ("openai", {"litellm_models_chat_agent": [EMBEDDING]}, 400),
    ("openai", {"api_base": "ftp://example.com", "token": KEY}, 400),
    ("openai", {"api_base": "https://example.com"}, 400),
    ("docrouter", {"enabled": False}, 400),
    ("nobody", {"enabled": True}, 400),
    ("OPENAI", {"enabled": True}, 400),
    ("x" * 500, {"enabled": True}, 400),
    ("%00", {"enabled": True}, 400),
]


@pytest.mark.parametrize(("name", "body", "status"), BAD_PROVIDERS)
def test_a_change_that_cannot_be_is_refused_and_nothing_is_written(api: Api, name: str, body: Any, status: int) -> None:
    answer = api.raw("put", f"llm/provider/{name}", body)
    assert (answer.status_code, bool(answer.json()["detail"])) == (status, True)
    assert not Provider.objects.exists()
    assert not AuditEntry.objects.filter(action="provider.configured").exists()


def test_the_words_for_what_is_not_there_are_the_references(api: Api) -> None:
    assert api.error("put", "llm/provider/nope", {}) == (400, "Provider 'nope' not found")
    told = api.error("put", "llm/provider/openai", {"litellm_models_enabled": ["m"]})
    assert told == (400, "Model 'm' is not available for provider 'openai'")


def test_a_list_costs_the_same_for_1_and_for_11_providers(api: Api) -> None:
    counts = []
    for names in (["openai"], ["anthropic", "azure", "gemini", "groq", "mistral", "xai", "bedrock"]):
        for name in names:
            api.put(f"llm/provider/{name}", {"enabled": True, "token": KEY})
        with CaptureQueriesContext(connection) as queries:
            api.get("llm/providers")
        counts.append(len(queries))
    assert counts[0] == counts[1]


# --- plain calls ----------------------------------------------------------------------------------------------


async def _post(root: Person, path: str, body: Any) -> tuple[int, str, str]:
    """Status, content type and the whole body, streamed or not, in one event loop."""
    api = await in_thread(lambda: account_api_of(root))
    answer: Any = await AsyncClient().post(
        f"/v0/account/{path}", json.dumps(body), content_type="application/json",
        headers={"Authorization": f"Bearer {api.token}"},
    )  # fmt: skip
    content = b"".join([part async for part in answer]) if answer.streaming else answer.content
    return answer.status_code, answer["Content-Type"], content.decode()


async def booked() -> list[PlainCall]:
    """What was written down of plain calls."""
    return await in_thread(lambda: list(PlainCall.objects.all()))


def _frames(text: str) -> list[dict[str, Any]]:
    assert text.endswith("\n\n")
    return [json.loads(frame.removeprefix("data: ")) for frame in text.split("\n\n") if frame]


@pytest.fixture
def fake(fake_provider: FakeProvider, settings: Any) -> FakeProvider:
    settings.MODEL_PROVIDER_KEYS = {"openai": KEY, "anthropic": KEY}
    bases = {"openai": fake_provider.openai_base, "anthropic": fake_provider.anthropic_base}
    settings.MODEL_API_BASES = bases
    return fake_provider


@pytest.mark.django_db(transaction=True)
async def test_an_answer_is_as_openai_says_it(root: Person, fake: FakeProvider) -> None:
    fake.add(Step(text="Hello.", usage=(9, 3)))
    status, _, text = await _post(root, "llm/run", RUN | {"max_tokens": 20})
    answer = json.loads(text)
    assert status == 200
    assert (answer["object"], answer["model"]) == ("chat.completion", "gpt-4o-mini")
    message = {"role": "assistant", "content": "Hello."}
    assert answer["choices"] == [{"index": 0, "message": message, "finish_reason": "stop"}]
    assert answer["usage"] == {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12}
    assert isinstance(answer["created"], int)
    sent = fake.received[0].json
    assert (sent["temperature"], sent["max_tokens"], sent["messages"]) == (0.7, 20, SAID)
    (call,) = await booked()
    assert (call.user_id, call.organization_id, call.model) == (root.user.pk, None, "gpt-4o-mini")
    assert (call.usage, call.error_code) == ({"prompt_tokens": 9, "completion_tokens": 3}, "")
    assert call.cost_usd == Decimal("0.00000315"), "9 tokens in, 3 out, at its price"


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("model", ["gpt-4o-mini", ANTHROPIC])
@pytest.mark.parametrize("temperature", [0, 1.5])
async def test_the_temperature_that_was_asked_for_is_sent(
    root: Person, fake: FakeProvider, model: str, temperature: float
) -> None:
    temperature = min(temperature, 1) if model == ANTHROPIC else temperature
    fake.add(Step(text="Hello."))
    status, _, text = await _post(root, "llm/run", RUN | {"model": model, "temperature": temperature})
    assert status == 200, text
    assert fake.received[0].json["temperature"] == temperature
    assert "thinking" not in fake.received[0].json


@pytest.mark.django_db(transaction=True)
async def test_an_answer_streams_in_frames(root: Person, fake: FakeProvider) -> None:
    fake.add(Step(text="One\ntwo — and “three”.", thinking="Hm.", delay=0.02))
    status, kind, text = await _post(root, "llm/run", RUN | {"stream": True})
    assert (status, kind) == (200, "text/plain; charset=utf-8")
    *chunks, last = _frames(text)
    assert text.endswith('data: {"chunk":"","done":true}\n\n')
    assert last == {"chunk": "", "done": True}
    assert len(chunks) > 1
    assert not any(chunk["done"] for chunk in chunks)
    assert "".join(chunk["chunk"] for chunk in chunks) == "One\ntwo — and “three”."
    assert [(call.kind, call.error_code, bool(call.cost_usd)) for call in await booked()] == [("chat", "", True)]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("stream", [False, True])
async def test_a_failure_before_the_first_word_is_a_plain_problem(
    root: Person, fake: FakeProvider, stream: bool
) -> None:
    fake.add(Step(fault=Fault("status", status=401, message=f"Incorrect API key provided: {KEY}")))
    status, kind, text = await _post(root, "llm/run", RUN | {"stream": stream})
    assert (status, kind) == (503, "application/json")
    assert json.loads(text)["code"] == "model_key_refused"
    assert KEY not in text
    assert [call.error_code for call in await booked()] == ["model_key_refused"]


@pytest.mark.django_db(transaction=True)
async def test_a_failure_in_the_middle_is_the_last_frame(root: Person, fake: FakeProvider) -> None:
    fake.add(Step(text="Hello there, this will break.", fault=Fault("cut", after=3)))
    status, _, text = await _post(root, "llm/run", RUN | {"stream": True})
    *chunks, last = _frames(text)
    assert status == 200
    assert chunks
    assert all("chunk" in chunk for chunk in chunks)
    assert last == {"error": "The answer broke off in the middle."}
    assert [call.error_code for call in await booked()] == ["model_stream_broken"]


@pytest.mark.django_db(transaction=True)
async def test_a_reader_who_leaves_hangs_up_on_the_provider(root: Person, fake: FakeProvider) -> None:
    fake.add(Step(text="Nobody hears the end of this, which is a long one.", delay=0.2))
    caller = PlainCaller(root.user.pk, "Root")
    answer: Any = await run(CompletionBody.model_validate(RUN | {"stream": True}), caller)

    async def read() -> None:
        async for _ in answer:
            pass

    reading = asyncio.create_task(read())
    await asyncio.sleep(0.3)
    reading.cancel()  # as the server does when the client has gone
    with pytest.raises(asyncio.CancelledError):
        await reading
    assert await asyncio.to_thread(fake.wait_gone)
    assert [(call.error_code, call.cost_usd) for call in await booked()] == [("cancelled", None)]


@pytest.mark.django_db(transaction=True)
async def test_a_temperature_that_the_model_does_not_take_is_the_callers_to_change(
    root: Person, fake: FakeProvider
) -> None:
    status, _, text = await _post(root, "llm/run", RUN | {"model": "gpt-5-mini", "temperature": 0.2})
    assert (status, json.loads(text)["code"]) == (400, "model_request_refused")
    fake.add(Step(text="Hello."))
    status, _, text = await _post(root, "llm/run", RUN | {"model": "gpt-5-mini"})
    assert status == 200, text
    assert "temperature" not in fake.received[0].json


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("stream", [False, True])
async def test_the_built_in_model_answers_too(root: Person, stream: bool) -> None:
    status, _, text = await _post(root, "llm/run", {"model": OFFLINE_MODEL, "messages": SAID, "stream": stream})
    assert status == 200
    said = (
        "".join(frame["chunk"] for frame in _frames(text))
        if stream
        else json.loads(text)["choices"][0]["message"]["content"]
    )
    assert said


@pytest.mark.django_db(transaction=True)
def test_an_organizations_address_does_the_same(root: Person, warm_litellm: None) -> None:
    answer = api_of(root).post("llm/run", {"model": OFFLINE_MODEL, "messages": SAID})
    assert answer["choices"][0]["message"]["content"]
    call = PlainCall.objects.get()
    assert call.organization_id == root.organization.pk
    assert call.cost_usd == 0


BAD_RUNS: list[tuple[Any, int]] = [
    (b"", 422),
    (b"{}", 422),
    (b'{"model": "gpt-4o-mini", "messages": [{"role": "user", "content": "a\\u0000"}]}', 422),
    (RUN | {"model": 5}, 422),
    (RUN | {"messages": []}, 422),
    (RUN | {"messages": "hello"}, 422),
    (RUN | {"messages": [{"role": "tool", "content": "x"}]}, 422),
    (RUN | {"messages": [{"role": "user"}]}, 422),
    (RUN | {"messages": [{"role": "user", "content": None}]}, 422),
    (RUN | {"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}, 422),
    (RUN | {"messages": SAID * 1001}, 422),
    (RUN | {"max_tokens": 0}, 422),
    (RUN | {"max_tokens": 10**30}, 422),
    (RUN | {"temperature": -1}, 422),
    (RUN | {"temperature": 2.1}, 422),
    (RUN | {"temperature": "hot"}, 422),
    (RUN | {"stream": "perhaps"}, 422),
    (RUN | {"model": ""}, 400),
    (RUN | {"model": "gpt-99"}, 400),
    (RUN, 400),
    (RUN | {"model": EMBEDDING}, 400),
    (RUN | {"model": "docrouter/online"}, 400),
    (RUN | {"model": "m" * 10_000}, 400),
]


@pytest.mark.parametrize(("body", "status"), BAD_RUNS)
def test_a_call_that_cannot_be_is_refused(api: Api, body: Any, status: int) -> None:
    answer = api.raw("post", "llm/run", body)
    assert answer.status_code == status, answer.content
    if status == 400:
        assert answer.json()["detail"] == f"Invalid model: {body['model'][:100]}"


# --- embeddings -----------------------------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
async def test_an_embedding_model_can_be_tried(root: Person, fake: FakeProvider) -> None:
    status, _, text = await _post(root, "llm/test/embedding", {"model": EMBEDDING, "input": "Payment is due."})
    answer = json.loads(text)
    assert (status, answer["model"], answer["dimensions"]) == (200, EMBEDDING, 8)
    assert len(answer["embedding"]) == 8
    assert answer["usage"] == {"prompt_tokens": 5, "completion_tokens": 0, "total_tokens": 5}
    assert fake.received[0].headers["authorization"] == f"Bearer {KEY}"
    (call,) = await booked()
    assert (call.kind, call.model, call.usage["prompt_tokens"]) == ("embedding", EMBEDDING, 5)
    assert call.cost_usd == Decimal("0.0000001")


@pytest.mark.django_db(transaction=True)
async def test_an_embedding_that_fails_is_a_plain_problem(root: Person, fake: FakeProvider) -> None:
    fake.embedding_fault = Fault("status", status=401, message=f"Incorrect API key provided: {KEY}")
    status, _, text = await _post(root, "llm/test/embedding", {"model": EMBEDDING, "input": "x"})
    assert status == 503
    assert KEY not in text
    assert [(call.kind, call.error_code) for call in await booked()] == [("embedding", "model_key_refused")]


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"model": EMBEDDING}, 422),
        ({"model": EMBEDDING, "input": ""}, 422),
        ({"model": EMBEDDING, "input": ["x"]}, 422),
        ({"model": EMBEDDING, "input": "x" * 100_001}, 422),
        ({"model": EMBEDDING, "input": "x"}, 400),
        ({"model": OFFLINE_MODEL, "input": "x"}, 400),
        ({"model": "gpt-4o-mini", "input": "x"}, 400),
        ({"model": "", "input": "x"}, 400),
    ],
)
def test_a_trial_that_cannot_be_is_refused(api: Api, body: Any, status: int) -> None:
    answer = api.raw("post", "llm/test/embedding", body)
    assert answer.status_code == status
    if status == 400:
        assert answer.json()["detail"] == f"Invalid model: {body['model']}"
