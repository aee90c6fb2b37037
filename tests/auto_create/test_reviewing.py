"""What people decide about a proposal."""

from typing import Any

import pytest
from asgiref.sync import async_to_sync
from kombu.exceptions import OperationalError

from agent.reviewing import reject
from docrouter.celery import app
from documents import reviewing, tasks
from documents.errors import CountChanged, NothingProposed
from documents.extraction import run_extraction
from documents.models import AutoCreate, Document, Event, Extraction, Run
from documents.panel import extraction_panel
from documents.spreading import preview_tag, spread
from prompts_app.config import PromptConfig
from prompts_app.models import Prompt
from prompts_app.selectors import prompts_for_tags
from prompts_app.services import create_prompt, revise_prompt
from schemas_app.models import Schema
from schemas_app.services import create_schema
from tags_app.services import create_tag
from tests.agent.rows import INVOICE
from tests.auto_create.making import asked_for, attempt_of, proposed
from tests.conftest import Person
from tests.documents.making import RECEIPT, make_document, make_prompt

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("warm_litellm")]


def types_of(document: Document) -> list[str]:
    rows = Event.objects.filter(document=document, type__startswith="document.auto_create.").order_by("seq")
    return [kind.removeprefix("document.auto_create.") for kind in rows.values_list("type", flat=True)]


def test_accepting_makes_schema_and_prompt_ordinary(alice: Person, bob: Person) -> None:
    document = proposed(alice)

    first = reviewing.accept(actor=bob.actor, document_id=document.pk)
    again = reviewing.accept(actor=alice.actor, document_id=document.pk)

    assert (first.counted, again.counted) == (True, False)
    assert (again.attempt.status, again.attempt.decided_by_name) == ("accepted", "Bob")
    assert not Schema.objects.get().pending_review
    assert not Prompt.objects.get().pending_review
    assert types_of(document) == ["requested", "started", "proposed", "accepted"]
    document.refresh_from_db()
    assert (document.auto_create_status, document.state) == ("accepted", "llm_completed")


def test_rejecting_takes_away_what_this_run_made_and_nothing_else(alice: Person) -> None:
    other = make_prompt(alice)
    document = proposed(alice)

    outcome = reject(actor=alice.actor, document_id=document.pk)

    assert (outcome.counted, outcome.kept) == (True, ())
    assert list(Schema.objects.filter(deleted_at=None).values_list("name", flat=True)) == ["Receipt"]
    assert list(Prompt.objects.filter(deleted_at=None)) == [other.prompt]
    assert Extraction.objects.get().withdrawn_at is not None
    document.refresh_from_db()
    assert (document.auto_create_status, document.state) == ("rejected", "ocr_completed")
    late = reviewing.accept(actor=alice.actor, document_id=document.pk)
    assert (late.counted, late.attempt.status) == (False, "rejected")


def test_what_somebody_else_uses_by_now_survives_a_rejection(alice: Person) -> None:
    document, elsewhere = proposed(alice), make_document(alice, *RECEIPT, name="other.pdf")
    attempt = attempt_of(document)
    assert attempt.schema_revision is not None
    schema_id = attempt.schema_revision.schema_id.hex
    create_prompt(actor=alice.actor, config=PromptConfig(name="Mine", content="Read.", schema_id=schema_id))

    outcome = reject(actor=alice.actor, document_id=document.pk)

    assert len(outcome.kept) == 1
    schema = Schema.objects.get(pk=schema_id)
    assert (schema.deleted_at, schema.pending_review) == (None, False)
    assert list(Prompt.objects.filter(deleted_at=None).values_list("name", flat=True)) == ["Mine"]
    assert elsewhere.pk


def test_a_pending_prompt_does_not_run_on_other_documents(alice: Person) -> None:
    document = proposed(alice)
    attempt = attempt_of(document)
    assert attempt.prompt_revision is not None
    tag = create_tag(actor=alice.actor, name="Receipts")
    revise_prompt(actor=alice.actor, prompt_id=attempt.prompt_revision.prompt_id, tag_ids=[tag.pk.hex])

    assert list(prompts_for_tags(actor=alice.actor, tag_ids=[tag.pk])) == []
    reviewing.accept(actor=alice.actor, document_id=document.pk)
    assert len(prompts_for_tags(actor=alice.actor, tag_ids=[tag.pk])) == 1


def test_accept_and_tag_counts_first_and_then_runs_on_the_others(alice: Person) -> None:
    document = proposed(alice)
    tag = create_tag(actor=alice.actor, name="Receipts")
    others = [make_document(alice, *RECEIPT, name=f"{number}.pdf") for number in range(3)]
    for other in others[:2]:
        other.tags.add(tag)
    preview = preview_tag(actor=alice.actor, attempt=attempt_of(document), tag_id=tag.pk)
    assert preview.count == 2

    with pytest.raises(CountChanged) as refused:
        reviewing.accept_and_tag(actor=alice.actor, document_id=document.pk, tag_id=tag.pk, count=None)
    assert refused.value.extra == {"documents": 2}
    assert attempt_of(document).status == "proposed"
    outcome = reviewing.accept_and_tag(actor=alice.actor, document_id=document.pk, tag_id=tag.pk, count=2)
    assert outcome.counted
    prompt = Prompt.objects.get()
    assert (prompt.latest_version, list(document.tags.all())) == (2, [tag])
    latest = prompt.revisions.get(version=2)
    assert spread(actor=alice.actor, prompt_revid=latest.pk, tag_id=tag.pk) == 2
    assert spread(actor=alice.actor, prompt_revid=latest.pk, tag_id=tag.pk) == 0
    runs = Run.objects.filter(kind="extract", phase="queued")
    assert {run.document_id for run in runs} == {other.pk for other in others[:2]}
    assert tasks.spread.name == "documents.tasks.spread"


def test_without_a_broker_the_others_get_the_prompt_at_once(alice: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*_: Any, **__: Any) -> None:
        raise OperationalError

    document, tag = proposed(alice), create_tag(actor=alice.actor, name="Receipts")
    other = make_document(alice, *RECEIPT, name="other.pdf")
    other.tags.add(tag)
    monkeypatch.setattr(app, "send_task", away)
    assert reviewing.accept_and_tag(actor=alice.actor, document_id=document.pk, tag_id=tag.pk, count=1).counted
    assert Run.objects.get(kind="extract", phase="queued").document_id == other.pk


def test_nothing_can_be_decided_before_it_is_proposed(alice: Person) -> None:
    plain, (working, _run) = make_document(alice, *RECEIPT), asked_for(alice)

    for document in (plain, working):
        for decide in (reviewing.accept, reviewing.reject):
            with pytest.raises(NothingProposed):
                decide(actor=alice.actor, document_id=document.pk)
    assert AutoCreate.objects.get(document=working).status == "pending"


def test_try_again_makes_one_new_attempt_however_often_it_is_pressed(alice: Person) -> None:
    document = proposed(alice)
    reject(actor=alice.actor, document_id=document.pk)

    one = reviewing.try_again(actor=alice.actor, document_id=document.pk)
    two = reviewing.try_again(actor=alice.actor, document_id=document.pk)

    assert one.pk == two.pk
    assert AutoCreate.objects.filter(document=document).count() == 2
    assert Run.objects.filter(document=document, kind="propose").exclude(phase__in=Run.ENDED).count() == 1


def test_who_takes_the_name_of_a_pending_schema_keeps_it_after_a_rejection(alice: Person, bob: Person) -> None:
    document = proposed(alice)
    attempt = attempt_of(document)
    assert attempt.schema_revision is not None
    schema = attempt.schema_revision.schema
    create_schema(actor=bob.actor, name=schema.name, response_format=INVOICE)

    reject(actor=alice.actor, document_id=document.pk)

    schema.refresh_from_db()
    assert (schema.deleted_at, schema.pending_review, schema.latest_version) == (None, False, 2)


def test_the_list_of_prompts_offers_a_pending_one_on_its_own_document_only(alice: Person) -> None:
    document, other = proposed(alice), make_document(alice, *RECEIPT, name="other.pdf")

    assert len(extraction_panel(actor=alice.actor, document_id=document.pk).prompts) == 2
    assert len(extraction_panel(actor=alice.actor, document_id=other.pk).prompts) == 1


def test_what_was_refined_in_between_is_what_is_accepted(alice: Person) -> None:
    document = proposed(alice)
    before = attempt_of(document)
    assert before.prompt_revision is not None
    refined = revise_prompt(actor=alice.actor, prompt_id=before.prompt_revision.prompt_id, content="Read it better.")
    found = async_to_sync(run_extraction)(
        actor=alice.actor, document_id=document.pk, prompt_revid=refined.revision.pk.hex
    )

    attempt = reviewing.accept(actor=alice.actor, document_id=document.pk).attempt

    assert (attempt.prompt_revision, attempt.extraction_id) == (refined.revision, found.pk)
