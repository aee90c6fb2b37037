"""From the wish at upload to a proposal."""

import pytest

from agent.models import Thread, Turn
from documents.models import Event, Extraction, Run
from prompts_app.models import Prompt
from schemas_app.models import Schema
from tests.auto_create.making import attempt_of, proposed
from tests.conftest import Person


@pytest.mark.usefixtures("warm_litellm")
@pytest.mark.django_db(transaction=True)
def test_a_document_is_set_up_by_itself_and_proposed(alice: Person) -> None:
    document = proposed(alice)

    attempt, run = attempt_of(document), Run.objects.get(document=document, kind="propose")
    schema, prompt, result = Schema.objects.get(), Prompt.objects.get(), Extraction.objects.get()
    assert (attempt.status, run.phase, run.attempts) == ("proposed", "complete", 1)
    assert (schema.made_by_run, schema.pending_review) == (run.pk, True)
    assert (prompt.made_by_run, prompt.pending_review) == (run.pk, True)
    assert attempt.schema_revision is not None
    assert attempt.schema_revision.schema == schema
    assert attempt.prompt_revision is not None
    assert attempt.prompt_revision.prompt == prompt
    assert (attempt.extraction, attempt.reused_schema) == (result, False)
    assert 4950 in result.llm_result.values()
    assert (document.state, document.phase) == ("llm_completed", "complete")
    turn = Turn.objects.get(pk=attempt.turn_id)
    assert (turn.status, turn.thread_id) == ("done", attempt.thread_id)
    assert Thread.objects.get(pk=attempt.thread_id).shared
    types = list(Event.objects.filter(document=document).order_by("seq").values_list("type", flat=True))
    assert types == [
        "document.auto_create.requested", "run.queued", "document.auto_create.started", "turn.started",
        "extraction.started", "extraction.completed", "turn.done", "document.auto_create.proposed",
    ]  # fmt: skip
