"""What an attempt may cost, last and do: past a limit it ends clearly, and nothing of it stays."""

import pytest
from django.utils import timezone
from pytest_django import Settings

from agent import auto_create as worker
from agent.models import Turn
from documents import auto_create
from documents.models import AutoCreate, Document, Extraction, Run
from documents.services import cancel_run
from llm.errors import ModelFailed
from prompts_app.models import Prompt
from schemas_app.models import Schema
from schemas_app.services import create_schema
from tests.auto_create.making import asked_for, attempt_of, proposed
from tests.auto_create.scripts import SETS_UP, calls, extracts, makes_prompt, makes_schema, on_stage, says
from tests.conftest import Person
from tests.documents.making import RECEIPT, make_document

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("warm_litellm")]


def ended(document: Document) -> tuple[str, str]:
    attempt = attempt_of(document)
    document.refresh_from_db()
    assert document.auto_create_status == attempt.status
    return attempt.status, attempt.error_code


def nothing_is_left() -> bool:
    live = [*Schema.objects.filter(deleted_at=None), *Prompt.objects.filter(deleted_at=None)]
    return not live and not Extraction.objects.filter(withdrawn_at=None).exists()


def test_rounds_cost_time_and_a_failing_model_end_an_attempt_without_a_trace(
    alice: Person, monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    reads = [calls("list_tags")] * 11

    document, run = asked_for(alice)
    script = on_stage(monkeypatch, makes_schema(), *reads)
    worker.propose(run.pk)
    assert (len(script.sent), ended(document)) == (12, ("failed", "nothing_extracted"))
    assert nothing_is_left()

    settings.AUTO_CREATE_SECONDS = 0.7
    document, run = asked_for(alice)
    on_stage(monkeypatch, makes_schema(), hangs=True)
    worker.propose(run.pk)
    assert ended(document) == ("failed", "took_too_long")
    settings.AUTO_CREATE_SECONDS = 60
    assert Turn.objects.get(pk=attempt_of(document).turn_id).status == "cancelled"
    assert nothing_is_left()

    document, run = asked_for(alice)
    on_stage(monkeypatch, makes_schema(), ModelFailed())
    worker.propose(run.pk)
    assert ended(document) == ("failed", ModelFailed.code)
    assert attempt_of(document).retryable
    assert nothing_is_left()

    settings.AUTO_CREATE_MAX_COST = 0.02
    document, run = asked_for(alice)
    on_stage(monkeypatch, *SETS_UP)
    worker.propose(run.pk)
    assert ended(document) == ("failed", "cost_limit_reached")
    assert nothing_is_left()


def test_what_was_extracted_before_a_limit_is_proposed(
    alice: Person, monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    settings.AUTO_CREATE_SECONDS = 1.5
    document, run = asked_for(alice)
    on_stage(monkeypatch, *SETS_UP, hangs=True)

    worker.propose(run.pk)

    assert ended(document) == ("proposed", "")


def test_after_two_refinements_nothing_can_be_changed_any_more(alice: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    document, run = asked_for(alice)
    late = calls("update_prompt", {"prompt_id": "0" * 32, "content": "Read more."})
    script = on_stage(monkeypatch, *SETS_UP, extracts(5), late, says("Done."))

    worker.propose(run.pk)

    assert ended(document) == ("proposed", "")
    assert Extraction.objects.filter(withdrawn_at=None, superseded_by=None).count() == 1
    assert Extraction.objects.count() == 3
    assert {"update_schema", "run_extraction"} <= set(script.offered[3])
    assert not {name for name in script.offered[4] if name.startswith(("create", "update", "run"))}
    calls_made = Turn.objects.get(pk=attempt_of(document).turn_id).tool_calls.order_by("message__position", "position")
    refused = [call.result for call in calls_made]
    codes = [result["code"] for result in refused if result and "error" in result]
    assert codes == ["no_refinements_left"] * 3 + ["unknown_tool"]


def test_a_tool_that_always_asks_here_ends_the_attempt(
    alice: Person, monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    settings.AGENT_NEVER_AUTO_APPROVED = ["create_prompt"]
    document, run = asked_for(alice)
    on_stage(monkeypatch, makes_schema(), makes_prompt)

    worker.propose(run.pk)

    assert ended(document) == ("failed", "tool_not_allowed")
    assert "create_prompt" in attempt_of(document).error_message
    assert nothing_is_left()


def test_a_name_that_exists_gets_a_number_and_a_schema_that_fits_is_used_again(alice: Person) -> None:
    first = attempt_of(proposed(alice)).schema_revision
    assert first is not None
    other = attempt_of(proposed(alice)).schema_revision
    assert other is not None
    assert other.schema.name == f"{first.schema.name} 2"

    Schema.objects.update(pending_review=False)
    again = attempt_of(proposed(alice))

    assert again.reused_schema
    assert again.schema_revision is not None
    assert again.schema_revision.schema_id in (first.schema_id, other.schema_id)
    assert Schema.objects.count() == 2
    assert Prompt.objects.filter(made_by_run=again.run_id).count() == 1


def test_an_attempt_of_a_lost_worker_begins_anew_and_leaves_no_orphans(alice: Person, settings: Settings) -> None:
    document, run = asked_for(alice)
    claim = auto_create.claim_proposal(run_id=run.pk)
    assert claim is not None
    lost = worker._begin(claim).turn
    made = create_schema(actor=claim.actor, name="Orphan", response_format={
        "type": "json_schema", "json_schema": {"name": "o", "schema": {"type": "object", "properties": {}}},
    })  # fmt: skip
    assert auto_create.claim_proposal(run_id=run.pk) is None
    Run.objects.filter(pk=run.pk).update(lease_until=timezone.now())

    worker.propose(run.pk)

    assert ended(document) == ("proposed", "")
    lost.refresh_from_db()
    assert lost.status == "interrupted"
    assert Schema.objects.get(pk=made.revision.schema_id).deleted_at is not None
    assert Schema.objects.filter(deleted_at=None).count() == 1
    run.refresh_from_db()
    assert (run.attempts, run.phase) == (2, "complete")


def test_an_attempt_that_nobody_wants_or_that_never_ends_is_given_up(alice: Person, settings: Settings) -> None:
    tired, run = asked_for(alice)
    Run.objects.filter(pk=run.pk).update(attempts=settings.RUN_ATTEMPTS)
    worker.propose(run.pk)
    assert ended(tired) == ("failed", "gave_up")

    stopped, run = asked_for(alice)
    cancel_run(actor=alice.actor, run_id=run.pk)
    assert ended(stopped) == ("failed", "cancelled")

    deleted, run = asked_for(alice)
    Document.objects.filter(pk=deleted.pk).update(deleted_at=timezone.now())
    worker.propose(run.pk)
    assert ended(deleted) == ("failed", "cancelled")
    assert nothing_is_left()


def test_a_document_that_cannot_be_read_is_not_set_up(alice: Person) -> None:
    document = make_document(alice, phase="parsing")
    auto_create.request(actor=alice.actor, document=document)
    read = Run.objects.get(document=document)
    assert auto_create.queue_forgotten() == 0
    assert ended(document) == ("pending", "")

    Run.objects.filter(pk=read.pk).update(phase="error", error_code="unreadable_file", error_message="It is damaged.")
    auto_create.after_read(run_id=read.pk)

    assert ended(document) == ("failed", "not_read")
    assert attempt_of(document).error_message == "The document could not be read: It is damaged."
    assert not Run.objects.filter(document=document, kind="propose").exists()


def test_an_attempt_that_was_forgotten_after_reading_gets_its_run(alice: Person) -> None:
    document = make_document(alice, *RECEIPT)
    AutoCreate.objects.create(organization=alice.organization, document=document, requested_by=alice.user)

    assert auto_create.queue_forgotten() == 1
    assert auto_create.queue_forgotten() == 0
    assert Run.objects.get(document=document, kind="propose").pool == "llm"
