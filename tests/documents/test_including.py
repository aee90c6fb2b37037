"""What of a document goes to the model: its text unless the prompt leaves it out, and never nothing at all."""

import json
from typing import Any

import pytest
from asgiref.sync import async_to_sync

from documents.errors import NothingToExtract
from documents.extraction import run_extraction
from documents.models import Document, Extraction, Run
from prompts_app.config import PromptConfig
from prompts_app.models import PromptRevision
from prompts_app.services import create_prompt
from schemas_app.services import create_schema
from tests.conftest import Person
from tests.documents.making import RECEIPT, RECEIPT_FIELDS, make_document, response_format
from tests.fakes.provider import FakeProvider
from tests.fakes.steps import Step

pytestmark = pytest.mark.django_db(transaction=True)
ANSWER = {"total": 4950, "number": "2468", "date": "2020-08-20", "iban": ""}


@pytest.fixture
def receipt(alice: Person) -> Document:
    return make_document(alice, *RECEIPT)


def including(person: Person, *, model: str = "gpt-4o-mini", **include: Any) -> PromptRevision:
    saved = create_schema(actor=person.actor, name="Receipt", response_format=response_format(RECEIPT_FIELDS))
    config = PromptConfig(
        name="Receipt", content="Read it.", schema_id=saved.revision.schema_id.hex, model=model, include=include
    )
    return create_prompt(actor=person.actor, config=config).revision


def run(person: Person, document: Document, prompt: PromptRevision) -> Extraction:
    return async_to_sync(run_extraction)(actor=person.actor, document_id=document.pk, prompt_revid=prompt.pk.hex)


def sees(fake_provider: FakeProvider, text: str) -> bool:
    return text.encode() in fake_provider.received[-1].body


def test_the_text_stays_away_when_the_prompt_leaves_it_out(
    alice: Person, receipt: Document, fake_provider: FakeProvider
) -> None:
    Document.objects.update(metadata={"source": "by mail"})
    fake_provider.add(Step(text=json.dumps(ANSWER), structured=True, repeat=2))
    run(alice, receipt, including(alice, ocr_text=True, metadata_keys=["source"]))
    assert (sees(fake_provider, "Receipt No.: 2468"), sees(fake_provider, "by mail")) == (True, True)
    run(alice, receipt, including(alice, ocr_text=False, metadata_keys=["source"]))
    assert (sees(fake_provider, "Receipt No.: 2468"), sees(fake_provider, "by mail")) == (False, True)


def test_a_prompt_that_gives_the_model_nothing_asks_none(
    alice: Person, receipt: Document, fake_provider: FakeProvider
) -> None:
    for revision in (including(alice, ocr_text=False), including(alice, ocr_text=False, metadata_keys=["absent"])):
        with pytest.raises(NothingToExtract):
            run(alice, receipt, revision)
    offline = including(alice, model="docrouter/offline", ocr_text=False, pdf=False)
    with pytest.raises(NothingToExtract):
        run(alice, receipt, offline)
    assert fake_provider.received == []
    assert set(Run.objects.filter(kind="extract").values_list("error_code", flat=True)) == {"nothing_to_extract"}


def test_the_built_in_model_reads_the_pages_in_place_of_the_file(alice: Person, receipt: Document) -> None:
    found = run(alice, receipt, including(alice, model="docrouter/offline", ocr_text=False, pdf=True))
    assert found.llm_result["total"] == 4950
