"""Results for programs that wait: several at once, and one that hangs up."""

import asyncio
import json
from functools import partial
from typing import Any

import pytest
from asgiref.sync import async_to_sync

from documents import obtaining
from documents.errors import ExtractionActive
from documents.extraction import begin_extraction
from documents.models import Document, Extraction
from documents.obtaining import obtain_result
from prompts_app.models import PromptRevision
from tests.conftest import Person
from tests.documents.making import RECEIPT, make_document, make_prompt
from tests.fakes.provider import FakeProvider
from tests.fakes.steps import Fault, Step

pytestmark = pytest.mark.django_db(transaction=True)
SLOWLY = Step(text=json.dumps({"number": "2468"}), structured=True, fault=Fault("slow_headers", seconds=0.6))


@pytest.fixture
def receipt(alice: Person) -> Document:
    return make_document(alice, *RECEIPT)


@pytest.fixture
def prompt(alice: Person) -> PromptRevision:
    return make_prompt(alice)


def asking(person: Person, document: Document, prompt: PromptRevision) -> Any:
    return partial(obtain_result, actor=person.actor, document_id=document.pk.hex, prompt_revid=prompt.pk.hex)


def test_those_who_ask_at_once_get_the_same_result_and_the_model_is_asked_once(
    alice: Person, receipt: Document, prompt: PromptRevision, fake_provider: FakeProvider
) -> None:
    fake_provider.add(SLOWLY)
    ask = asking(alice, receipt, prompt)

    async def together() -> list[Extraction]:
        return await asyncio.gather(*(ask(force=False) for _ in range(4)))

    assert len({result.pk for result in async_to_sync(together)()}) == 1
    assert len(fake_provider.received) == 1


def test_whoever_insists_waits_for_the_run_before_and_gets_one_of_their_own(
    alice: Person, receipt: Document, prompt: PromptRevision, fake_provider: FakeProvider
) -> None:
    fake_provider.add(SLOWLY, SLOWLY)
    ask = asking(alice, receipt, prompt)

    async def together() -> list[Extraction]:
        return await asyncio.gather(*(ask(force=True) for _ in range(2)))

    assert len({result.pk for result in async_to_sync(together)()}) == 2
    assert Extraction.objects.filter(superseded_by=None).count() == 1


def test_a_run_goes_on_when_whoever_asked_hangs_up(
    alice: Person, receipt: Document, prompt: PromptRevision, fake_provider: FakeProvider
) -> None:
    fake_provider.add(SLOWLY)
    ask = asking(alice, receipt, prompt)

    async def hang_up_and_ask_again() -> Extraction:
        first = asyncio.create_task(ask(force=False))
        assert await asyncio.to_thread(fake_provider.wait_asked)
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        result: Extraction = await ask(force=False)
        return result

    assert async_to_sync(hang_up_and_ask_again)().llm_result == {"number": "2468"}
    assert len(fake_provider.received) == 1


def test_nobody_waits_for_ever(
    alice: Person, receipt: Document, prompt: PromptRevision, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(obtaining, "PATIENCE_SECONDS", 0)
    begin_extraction(actor=alice.actor, document_id=receipt.pk, prompt_revid=prompt.pk.hex)
    with pytest.raises(ExtractionActive):
        async_to_sync(asking(alice, receipt, prompt))(force=False)
