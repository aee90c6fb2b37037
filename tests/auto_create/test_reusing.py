"""Where a schema fits and a prompt for it is there, the agent runs that prompt instead of making another one."""

import time
from typing import Any

import pytest

from agent import auto_create as worker
from agent import runner
from agent.reviewing import reject
from documents import auto_create, reviewing
from documents.fitting import fitting_prompt, fitting_schema
from documents.models import Document, Extraction
from documents.proposals import auto_create_facts
from documents.results import current_result, set_verified
from documents.services import delete_document
from prompts_app.config import PromptConfig
from prompts_app.models import Prompt, PromptRevision
from prompts_app.services import create_prompt, revise_prompt
from schemas_app.models import Schema
from tags_app.services import create_tag
from tests.auto_create.making import asked_for, attempt_of, proposed
from tests.auto_create.scripts import calls, makes_prompt, makes_schema, on_stage, says
from tests.conftest import Person

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("warm_litellm")]


@pytest.fixture
def mine(alice: Person) -> PromptRevision:
    """Alice's prompt: one that the agent proposed for such a document, and that she accepted."""
    document = proposed(alice)
    reviewing.accept(actor=alice.actor, document_id=document.pk)
    revision = attempt_of(document).prompt_revision
    assert revision is not None
    return revision


def revids_of(document: Document) -> list[Any]:
    """Prompt revisions of the results that stand."""
    rows = Extraction.objects.filter(document=document, withdrawn_at=None, superseded_by=None)
    return list(rows.values_list("prompt_revision_id", flat=True))


def test_the_prompt_that_is_there_is_run_and_proposed(alice: Person, mine: PromptRevision) -> None:
    document = proposed(alice, name="another.pdf")
    attempt = attempt_of(document)
    assert (Schema.objects.count(), Prompt.objects.count()) == (1, 1)
    assert (attempt.prompt_revision, attempt.reused_schema, attempt.reused_prompt) == (mine, True, True)
    assert revids_of(document) == [mine.pk]
    page = alice.client().get(f"/documents/{document.pk.hex}").content.decode()
    assert f"Your prompt <b>{mine.prompt.name}</b>" in page
    assert reviewing.accept(actor=alice.actor, document_id=document.pk).counted
    assert revids_of(document) == [mine.pk]


def test_rejecting_takes_back_the_result_and_leaves_the_prompt(alice: Person, mine: PromptRevision) -> None:
    document = proposed(alice, name="another.pdf")
    outcome = reject(actor=alice.actor, document_id=document.pk)
    assert (outcome.counted, outcome.kept) == (True, ())
    assert revids_of(document) == []
    assert Prompt.objects.get().deleted_at is None


def test_a_result_that_somebody_checked_stays_and_is_named(alice: Person, mine: PromptRevision) -> None:
    document = proposed(alice, name="another.pdf")
    result = current_result(actor=alice.actor, document_id=document.pk)
    set_verified(actor=alice.actor, document_id=document.pk, extraction_id=result.pk)
    assert reject(actor=alice.actor, document_id=document.pk).kept == (mine.prompt.name,)
    assert revids_of(document) == [mine.pk]


def test_only_an_ordinary_prompt_of_exactly_that_schema_fits(alice: Person, mine: PromptRevision) -> None:
    document, _ = asked_for(alice, name="another.pdf")
    schema = fitting_schema(actor=alice.actor, document_id=document.pk)
    assert schema is not None

    def fitting() -> PromptRevision | None:
        return fitting_prompt(actor=alice.actor, document_id=document.pk, schema=schema)

    assert fitting() == mine
    Prompt.objects.update(pending_review=True)
    assert fitting() is None
    Prompt.objects.update(pending_review=False)
    tag = create_tag(actor=alice.actor, name="Receipts")
    tagged = revise_prompt(actor=alice.actor, prompt_id=mine.prompt_id, tag_ids=[tag.pk.hex]).revision
    assert fitting() == tagged
    document.tags.add(tag)  # then it runs by itself
    assert fitting() is None
    textless = {"ocr_text": False}
    revise_prompt(actor=alice.actor, prompt_id=mine.prompt_id, tag_ids=[])
    assert fitting() is not None
    create_prompt(actor=alice.actor, config=PromptConfig(
        name=mine.prompt.name, content="Read.", schema_id=schema.schema_id.hex, include=textless,
    ))  # fmt: skip
    assert fitting() is None


def test_no_other_prompt_of_somebody_else_may_be_run(
    alice: Person, mine: PromptRevision, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = create_prompt(actor=alice.actor, config=PromptConfig(name="Other", content="Spend a lot.")).revision
    document, run = asked_for(alice, name="another.pdf")
    on_stage(monkeypatch, calls("run_extraction", {"prompt_revid": other.pk.hex}), says("Done"))
    worker.propose(run.pk)
    attempt = attempt_of(document)
    assert (attempt.status, attempt.error_code, attempt.prompt_revision) == ("failed", "nothing_extracted", None)
    assert revids_of(document) == []


def test_a_model_that_makes_its_own_all_the_same_leaves_no_result_of_the_other(
    alice: Person, mine: PromptRevision, monkeypatch: pytest.MonkeyPatch
) -> None:
    document, run = asked_for(alice, name="another.pdf")
    first = calls("run_extraction", {"prompt_revid": mine.pk.hex})
    script = on_stage(monkeypatch, first, makes_schema("Mine"), makes_prompt, calls("run_extraction"), says("Done"))
    worker.propose(run.pk)
    attempt = attempt_of(document)
    assert "create neither" in str(script.sent[0])
    assert mine.prompt.name in str(script.sent[0])
    assert (attempt.status, attempt.reused_prompt) == ("proposed", False)
    assert revids_of(document) == [attempt.prompt_revision_id]


@pytest.mark.parametrize("how", ["stopped", "deleted"])
def test_an_attempt_that_fails_after_all_takes_its_result_back(
    how: str, alice: Person, mine: PromptRevision, monkeypatch: pytest.MonkeyPatch
) -> None:
    document, run = asked_for(alice, name="another.pdf")
    claim = auto_create.claim_proposal(run_id=run.pk)
    assert claim is not None
    on_stage(monkeypatch, calls("run_extraction", {"prompt_revid": mine.pk.hex}), hangs=True)
    loaded = worker._begin(claim)
    facts = auto_create_facts(actor=alice.actor, documents=[Document.objects.get(pk=document.pk)])[document.pk]
    assert (facts.status, facts.prompt_revid) == ("running", None)
    ended = runner.launch_new(loaded)
    while not revids_of(document) and not ended.done():
        time.sleep(0.02)
    assert auto_create.extractions_cost(run.pk) == 0
    run.refresh_from_db()
    if how == "deleted":
        delete_document(actor=alice.actor, document_id=document.pk)
    type(run).objects.filter(pk=run.pk).update(cancel_requested=True)
    worker._end(claim, loaded.turn.pk, worker._watch(claim, loaded.turn.pk, ended))
    assert attempt_of(document).error_code == "cancelled"
    assert revids_of(document) == []
