"""The main job with the offline model and the real tools: every write waits for a person and runs as it was shown."""

from typing import Any

import pytest

from agent.models import ToolCall, Turn
from agent.services import Decision, create_thread, decide, start_turn
from documents.results import current_result
from schemas_app.presentation import field_rows
from schemas_app.selectors import list_schemas
from tests.agent.staging import waits_for
from tests.conftest import Person, make_person
from tests.documents.making import RECEIPT, make_document

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("warm_litellm")]
OFFLINE = "docrouter/offline"
ENDED = ("waiting", "done", "failed", "cancelled", "interrupted", "expired")


@pytest.fixture
def alice(transactional_db: None) -> Person:
    return make_person("alice@example.com")


def approve_everything(person: Person, turn: Turn) -> list[str]:
    """Approve card after card; returns the names of the writes in the order in which they ran."""
    ran: list[str] = []
    for _ in range(12):
        turn = waits_for(turn.pk, *ENDED, seconds=30)
        if turn.status != "waiting":
            break
        waiting = ToolCall.objects.filter(turn=turn, status="waiting").order_by("position")
        ran += [call.name for call in waiting]
        decisions = [Decision(call_id=call.call_id, approved=True) for call in waiting]
        decide(actor=person.actor, document_id=turn.document_id, turn_id=turn.pk, decisions=decisions)
    assert turn.status == "done", (turn.status, turn.error_message, ran)
    return ran


def ask(person: Person, document: Any, thread: Any, text: str) -> list[str]:
    turn = start_turn(actor=person.actor, document_id=document.pk, thread_id=thread.pk, text=text, model=OFFLINE)
    ran = approve_everything(person, turn)
    failed = ToolCall.objects.filter(turn=turn, success=False).values_list("name", "result")
    assert list(failed) == []
    return ran


def test_set_up_run_and_correct_an_extraction(alice: Person) -> None:
    document = make_document(alice, *RECEIPT)
    thread = create_thread(actor=alice.actor, document_id=document.pk)
    ran = ask(alice, document, thread, "Set up extraction for this document")
    assert [name for name in ran if name in ("create_schema", "create_prompt", "run_extraction")] == [
        "create_schema",
        "create_prompt",
        "run_extraction",
    ]
    result = current_result(actor=alice.actor, document_id=document.pk)
    assert 4950 in result.updated_llm_result.values()
    schema = list_schemas(actor=alice.actor).rows[0]
    shown = [row.name for row in field_rows(schema.response_format) if row.depth == 0]
    proposed = ToolCall.objects.get(name="create_schema").arguments_text
    assert shown == sorted(shown, key=lambda name: proposed.index(f'"{name}":'))
    ran = ask(alice, document, thread, "Set the total to 4951")
    assert ran == ["update_extraction_field"]
    edited = current_result(actor=alice.actor, document_id=document.pk)
    assert 4951 in edited.updated_llm_result.values()
