"""What happens by itself once a document is read: the prompts of its tags, once for each read."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.utils import timezone

from docrouter.celery import app
from documents import admission, pipeline, processing, services
from documents.errors import ExtractionStopped
from documents.extraction import (
    begin_extraction,
    interrupt_lost_extractions,
    perform_extraction,
)
from documents.models import Document, Event, Extraction, Run
from documents.reaping import requeue_dead_runs
from documents.services import UploadedFile
from llm.catalog import OFFLINE_MODEL
from organizations.models import AuditEntry, Membership
from prompts_app.config import PromptConfig
from prompts_app.models import PromptRevision
from prompts_app.services import create_prompt, delete_prompt
from schemas_app.services import create_schema
from tags_app.models import Tag
from tags_app.services import create_tag
from tests.conftest import Person
from tests.data import make
from tests.documents.conftest import StartWorker, wait_for
from tests.documents.making import RECEIPT, RECEIPT_FIELDS, make_document, response_format

pytestmark = pytest.mark.django_db
with_threads = pytest.mark.django_db(transaction=True)


@pytest.fixture
def invoices(alice: Person) -> Tag:
    return create_tag(actor=alice.actor, name="Invoices")


def tagged_prompt(
    person: Person, name: str, tags: Sequence[Tag], *, model: str = OFFLINE_MODEL, content: str = "Read the receipt."
) -> PromptRevision:
    saved = create_schema(actor=person.actor, name=name, response_format=response_format(RECEIPT_FIELDS))
    config = PromptConfig(
        name=name,
        content=content,
        schema_id=saved.revision.schema_id.hex,
        model=model,
        tag_ids=[tag.pk.hex for tag in tags],
    )
    return create_prompt(actor=person.actor, config=config).revision


def read_document(person: Person, *tags: Tag) -> Document:
    """A document that was just read: nothing has run on it yet."""
    document = make_document(person, *RECEIPT)
    document.tags.set(tags)
    Document.objects.filter(pk=document.pk).update(uploaded_by=person.user)
    document.refresh_from_db()
    return document


def switch_default_prompt_on(person: Person) -> None:
    person.organization.default_prompt_enabled = True
    person.organization.save()


def queued(document: Document) -> list[PromptRevision | None]:
    runs = Run.objects.filter(document=document, kind="extract").order_by("created_at", "id")
    return [run.prompt_revision for run in runs]


@with_threads
def test_from_the_upload_to_the_values_step_by_step(alice: Person, invoices: Tag, warm_litellm: None) -> None:
    prompt = tagged_prompt(alice, "Receipt", [invoices])
    data = make.pdf(RECEIPT)
    upload = UploadedFile(name="a.pdf", data=data, tag_ids=[invoices.pk])
    document = services.upload_documents(actor=alice.actor, files=[upload])[0].document
    read = Run.objects.get(document=document)
    assert processing.parse_document(read.pk) == document.pk
    (run_id,) = pipeline.queue_prompts(document.pk)
    pipeline.extract(run_id)
    pipeline.extract(run_id)
    document.refresh_from_db()
    assert (document.state, document.phase) == ("llm_completed", "complete")
    made = Extraction.objects.get()
    assert (made.prompt_revision, made.run_id, made.llm_result["total"]) == (prompt, run_id, 4950)
    types = [event.type for event in Event.objects.filter(document=document).order_by("seq")]
    assert types[-4:] == ["run.completed", "extraction.queued", "extraction.started", "extraction.completed"]
    entry = AuditEntry.objects.get(action="extraction.created")
    assert (entry.user, entry.via, entry.actor_name) == (alice.user, "task", "Alice")


@pytest.mark.slow
@with_threads
def test_tagged_prompts_run_on_real_workers_and_one_that_fails_spoils_nothing(
    alice: Person, invoices: Tag, start_worker: StartWorker
) -> None:
    switch_default_prompt_on(alice)
    good = tagged_prompt(alice, "Receipt", [invoices])
    bad = tagged_prompt(alice, "Other", [invoices], model="gpt-4o")
    tagged_prompt(alice, "Elsewhere", [create_tag(actor=alice.actor, name="Letters")])
    start_worker(
        "ingest", "llm", OPENAI_API_KEY="none", OPENAI_API_BASE="http://127.0.0.1:9/v1", MODEL_RETRIES="0",
        DEFAULT_CHAT_MODEL=OFFLINE_MODEL,
    )  # fmt: skip
    upload = UploadedFile(name="a.pdf", data=make.pdf(RECEIPT), tag_ids=[invoices.pk])
    untagged = UploadedFile(name="b.pdf", data=make.pdf(("Receipt",)))

    document, other = (r.document for r in services.upload_documents(actor=alice.actor, files=[upload, untagged]))

    wait_for(document, "llm_completed", seconds=180)
    runs = {run.prompt_revision: run for run in Run.objects.filter(document=document, kind="extract")}
    assert {prompt: (run.phase, run.error_code) for prompt, run in runs.items()} == {
        None: ("error", "model_unreachable"),
        good: ("complete", ""),
        bad: ("error", "model_unreachable"),
    }
    assert document.phase == "complete"
    assert Extraction.objects.get(document=document).prompt_revision == good
    wait_for(other, "llm_failed")
    assert queued(other) == [None]
    told = [event.type for event in Event.objects.filter(document=document, type__startswith="extraction.")]
    assert sorted(told) == sorted(
        ["extraction.queued", "extraction.started"] * 3 + ["extraction.failed"] * 2 + ["extraction.completed"]
    )


def test_the_latest_revision_of_each_prompt_that_shares_a_tag_runs_and_the_built_in_one_first(
    alice: Person, invoices: Tag
) -> None:
    letters = create_tag(actor=alice.actor, name="Letters")
    switch_default_prompt_on(alice)
    both = tagged_prompt(alice, "Both", [invoices, letters])
    tagged_prompt(alice, "Receipt", [invoices])
    latest = tagged_prompt(alice, "Receipt", [invoices], content="Read it again.")
    gone = tagged_prompt(alice, "Gone", [invoices])
    tagged_prompt(alice, "Moved", [invoices])
    tagged_prompt(alice, "Moved", [letters], content="Read letters.")
    delete_prompt(actor=alice.actor, prompt_id=gone.prompt_id)
    document = read_document(alice, invoices)

    ids = pipeline.queue_prompts(document.pk)

    assert queued(document) == [None, both, latest]
    assert [Run.objects.get(pk=run_id).prompt_revision for run_id in ids] == [None, both, latest]
    document.refresh_from_db()
    assert (document.state, document.phase) == ("llm_processing", "extracting")


def test_without_tags_and_without_the_built_in_prompt_nothing_runs(alice: Person, invoices: Tag) -> None:
    tagged_prompt(alice, "Receipt", [invoices])
    document = read_document(alice)
    assert pipeline.queue_prompts(document.pk) == []
    document.refresh_from_db()
    assert document.state == "ocr_completed"


def test_prompts_run_once_for_each_read_however_often_its_message_comes(alice: Person, invoices: Tag) -> None:
    tagged_prompt(alice, "Receipt", [invoices])
    document = read_document(alice, invoices)
    assert len(pipeline.queue_prompts(document.pk)) == 1
    Run.objects.filter(kind="extract").update(phase="complete")
    tagged_prompt(alice, "Later", [invoices])
    assert pipeline.queue_prompts(document.pk) == []

    again = services.reparse(actor=alice.actor, document_id=document.pk)
    assert pipeline.queue_prompts(document.pk) == []
    Run.objects.filter(pk=again.pk).update(phase="complete")
    assert len(pipeline.queue_prompts(document.pk)) == 2


def test_a_read_for_the_text_only_runs_no_prompts(alice: Person, invoices: Tag) -> None:
    tagged_prompt(alice, "Receipt", [invoices])
    document = read_document(alice, invoices)
    Run.objects.filter(document=document).update(ocr_only=True)
    assert pipeline.queue_prompts(document.pk) == []
    assert queued(document) == []


def test_a_document_in_the_trash_runs_nothing_and_what_was_queued_ends(alice: Person, invoices: Tag) -> None:
    tagged_prompt(alice, "Receipt", [invoices])
    document, other = read_document(alice, invoices), read_document(alice, invoices)
    (run_id,) = pipeline.queue_prompts(document.pk)
    for one in (document, other):
        services.delete_document(actor=alice.actor, document_id=one.pk)
    assert pipeline.queue_prompts(other.pk) == []

    assert pipeline._claim(run_id) == (None, None)

    assert Run.objects.get(pk=run_id).phase == "cancelled"


def test_what_was_stopped_before_its_turn_came_is_not_asked(alice: Person, invoices: Tag) -> None:
    tagged_prompt(alice, "Receipt", [invoices])
    document = read_document(alice, invoices)
    (run_id,) = pipeline.queue_prompts(document.pk)
    services.cancel_run(actor=alice.actor, run_id=run_id)
    assert pipeline._claim(run_id)[1] is None
    document.refresh_from_db()
    assert document.state == "ocr_completed"


def test_a_prompt_that_somebody_runs_at_this_moment_is_not_run_beside_it(alice: Person, invoices: Tag) -> None:
    prompt = tagged_prompt(alice, "Receipt", [invoices])
    document = read_document(alice, invoices)
    begin_extraction(actor=alice.actor, document_id=document.pk, prompt_revid=prompt.pk.hex)
    assert pipeline.queue_prompts(document.pk) == []


@with_threads
def test_a_new_read_stops_what_still_works_on_the_text_of_the_one_before(alice: Person, invoices: Tag) -> None:
    tagged_prompt(alice, "Receipt", [invoices])
    document = read_document(alice, invoices)
    (old,) = pipeline.queue_prompts(document.pk)
    actor, epoch = pipeline._claim(old)
    assert epoch == 1
    Run.objects.create(
        organization=alice.organization, document=document, version=document.current_version, phase="complete"
    )

    (new,) = pipeline.queue_prompts(document.pk)

    stopped = Run.objects.get(pk=old)
    assert (stopped.phase, stopped.error_message) == ("cancelled", "The document was read again.")
    assert new != old
    document.refresh_from_db()
    assert document.state == "llm_processing"
    with pytest.raises(ExtractionStopped):
        async_to_sync(perform_extraction)(actor=actor, run_id=old, epoch=epoch)


def test_the_pipeline_goes_on_for_those_who_have_left(alice: Person, bob: Person, invoices: Tag) -> None:
    tagged_prompt(alice, "Receipt", [invoices])
    left, gone = read_document(bob, invoices), read_document(bob, invoices)
    Membership.objects.filter(user=bob.user).delete()
    Document.objects.filter(pk=gone.pk).update(uploaded_by=None)
    shown = {}
    for document in (left, gone):
        (run_id,) = pipeline.queue_prompts(document.pk)
        actor, epoch = pipeline._claim(run_id)
        assert actor is not None
        assert epoch == 1
        shown[document.pk] = (actor.user_id, actor.name, actor.role, actor.via)
    assert shown == {
        left.pk: (bob.user.pk, "Bob", "user", "task"),
        gone.pk: (alice.user.pk, "Bob", "user", "task"),
    }


def test_a_worker_that_died_is_replaced_until_the_attempts_are_used_up(
    alice: Person, invoices: Tag, settings: Any
) -> None:
    settings.RUN_ATTEMPTS = 2
    tagged_prompt(alice, "Receipt", [invoices])
    document = read_document(alice, invoices)
    (run_id,) = pipeline.queue_prompts(document.pk)
    for attempt in (1, 2):
        assert pipeline._claim(run_id)[1] == attempt
        assert pipeline._claim(run_id)[1] is None
        assert requeue_dead_runs() == []
        Run.objects.filter(pk=run_id).update(lease_until=timezone.now() - timedelta(seconds=1))
        assert interrupt_lost_extractions() == 0
        assert requeue_dead_runs() == [run_id]

    assert pipeline._claim(run_id)[1] is None

    run = Run.objects.get(pk=run_id)
    assert (run.phase, run.error_code, run.retryable) == ("error", "gave_up", True)
    document.refresh_from_db()
    assert document.state == "llm_failed"


def test_a_run_by_hand_is_ended_by_the_reaper_and_never_taken_by_a_worker(alice: Person) -> None:
    document = read_document(alice)
    run = begin_extraction(actor=alice.actor, document_id=document.pk)
    Run.objects.filter(pk=run.pk).update(lease_until=timezone.now() - timedelta(seconds=1))
    assert pipeline._claim(run.pk)[1] is None
    assert requeue_dead_runs() == []
    assert interrupt_lost_extractions() == 1


@with_threads
def test_a_late_worker_has_lost_its_epoch(alice: Person, invoices: Tag) -> None:
    tagged_prompt(alice, "Receipt", [invoices])
    (run_id,) = pipeline.queue_prompts(read_document(alice, invoices).pk)
    actor, first = pipeline._claim(run_id)
    Run.objects.filter(pk=run_id).update(lease_until=timezone.now() - timedelta(seconds=1))
    assert pipeline._claim(run_id)[1] == 2
    with pytest.raises(ExtractionStopped):
        async_to_sync(perform_extraction)(actor=actor, run_id=run_id, epoch=first)
    assert Run.objects.get(pk=run_id).phase == "extracting"


def test_lost_messages_are_sent_again(alice: Person, invoices: Tag) -> None:
    tagged_prompt(alice, "Receipt", [invoices])
    document = read_document(alice, invoices)
    assert processing.take_reads_without_prompts() == []
    Run.objects.filter(document=document).update(
        completed_at=timezone.now() - timedelta(minutes=1), updated_at=timezone.now() - timedelta(minutes=1)
    )
    assert processing.take_reads_without_prompts() == [document.pk]
    assert processing.take_reads_without_prompts() == []
    (run_id,) = pipeline.queue_prompts(document.pk)
    Run.objects.filter(pk=run_id).update(admitted_at=timezone.now())
    assert admission.take_back_unclaimed() == 0
    Run.objects.filter(pk=run_id).update(admitted_at=timezone.now() - timedelta(minutes=1))
    assert admission.take_back_unclaimed() == 1
    assert Run.objects.get(pk=run_id).admitted_at is None


@with_threads
def test_a_prompt_that_was_deleted_since_fails_its_run_and_nothing_else(alice: Person, invoices: Tag) -> None:
    prompt = tagged_prompt(alice, "Receipt", [invoices])
    document = read_document(alice, invoices)
    (run_id,) = pipeline.queue_prompts(document.pk)
    delete_prompt(actor=alice.actor, prompt_id=prompt.prompt_id)
    pipeline.extract(run_id)
    run = Run.objects.get(pk=run_id)
    assert (run.phase, run.error_code) == ("error", "prompt_not_found")


def test_the_pipeline_s_tasks_go_to_the_workers_that_wait_for_models() -> None:
    router = app.amqp.router
    for name, queue in {"queue_prompts": "llm", "extract": "llm", "parse": "ingest"}.items():
        assert router.route({}, f"documents.tasks.{name}")["queue"].name == queue
