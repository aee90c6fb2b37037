"""The gate in front of every model: what must stay gets no key, so nothing is sent."""

from typing import Any

import pytest

from core.ids import new_id
from llm import client, embeddings
from llm.catalog import OFFLINE_MODEL, require_chat_model, usable_extraction_model
from llm.errors import NeverSendToModel
from llm.sources import Sources
from tests.fakes.provider import FakeProvider
from tests.fakes.steps import Step
from tests.llm.conftest import ANTHROPIC, OPENAI, QUESTION, ask

KEPT, FREE = Sources((new_id(),), local_only=True), Sources((new_id(),), local_only=False)


async def stream(model: str, about: Sources) -> None:
    await ask(model, about=about)


async def complete(model: str, about: Sources) -> None:
    await client.complete(model=model, messages=QUESTION, about=about)


async def structured(model: str, about: Sources) -> None:
    await client.complete(model=model, messages=QUESTION, about=about, response_format={"type": "json_object"})


async def embed(_model: str, about: Sources) -> None:
    await embeddings.embed(model="text-embedding-3-small", text="Smith", about=about)


@pytest.mark.parametrize("model", [OPENAI, ANTHROPIC, "ollama/at-home", "openai/docrouter/offline"])
@pytest.mark.parametrize("way", [stream, complete, structured, embed])
async def test_what_must_stay_is_sent_to_no_model_but_the_built_in_one(
    way: Any, model: str, fake_provider: FakeProvider
) -> None:
    with pytest.raises(NeverSendToModel) as refused:
        await way(model, KEPT)
    assert refused.value.status == 403
    assert not refused.value.retryable
    assert fake_provider.received == []


async def test_the_built_in_model_is_told_and_others_of_what_is_free(fake_provider: FakeProvider) -> None:
    for way in (stream, complete, structured):
        await way(OFFLINE_MODEL, KEPT)
    assert fake_provider.received == []
    fake_provider.add(Step(text="Yes."))
    await complete(OPENAI, FREE)
    await embed("", FREE)
    assert len(fake_provider.received) == 2


def test_where_nobody_chose_what_must_stay_is_for_the_built_in_model(fake_provider: FakeProvider) -> None:
    assert require_chat_model(None, about=KEPT) == OFFLINE_MODEL != require_chat_model(None, about=FREE)
    assert usable_extraction_model("gpt-4o-mini", about=KEPT) == ("gpt-4o-mini", OFFLINE_MODEL)
    assert usable_extraction_model("gpt-4o-mini", about=FREE) == ("gpt-4o-mini", "gpt-4o-mini")
    assert usable_extraction_model("mistral/unusable", about=KEPT)[1] == OFFLINE_MODEL
    assert usable_extraction_model("gpt-4o", about=KEPT)[1] == "gpt-4o", "somebody chose it: refused when it is asked"
    with pytest.raises(NeverSendToModel):
        require_chat_model("gpt-4o-mini", about=KEPT)
