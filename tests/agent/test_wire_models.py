"""The main job with models behind litellm: OpenAI's and Anthropic's protocol, cards approved one by one."""

import json
from typing import Any

import pytest

from agent.models import ToolCall, Turn
from agent.services import Decision, create_thread, decide, start_turn
from documents.results import current_result
from tests.agent.staging import make_document, waits_for
from tests.agent.test_provider_faults import check_valid_history
from tests.conftest import make_person
from tests.fakes import main_job
from tests.fakes.fixtures import fake_provider, warm_litellm
from tests.fakes.provider import FakeProvider
from tests.fakes.steps import Step

__all__ = ["fake_provider", "warm_litellm"]
pytestmark = pytest.mark.django_db(transaction=True)
ENDED = ("done", "failed", "cancelled", "interrupted", "expired")


@pytest.mark.parametrize("model", ["gpt-4o-mini", "claude-sonnet-4-5"])
def test_the_main_job_with_a_large_model(
    model: str, transactional_db: None, fake_provider: FakeProvider, settings: Any
) -> None:
    settings.DEFAULT_EXTRACTION_MODEL = model
    fake_provider.add(*main_job.main_job_steps())
    alice = make_person("alice@example.com")
    document = make_document(alice.actor, text="Invoice\nTotal 12.50")
    thread = create_thread(actor=alice.actor, document_id=document.pk)
    turn = start_turn(
        actor=alice.actor, document_id=document.pk, thread_id=thread.pk, text=main_job.QUESTION, model=model
    )
    approved = []
    while (turn := waits_for(turn.pk, "waiting", *ENDED, seconds=20)).status == "waiting":
        card = ToolCall.objects.get(turn=turn, status="waiting")
        approved.append(card.name)
        decision = Decision(call_id=card.call_id, approved=True, arguments_hash=card.arguments_hash)
        decide(actor=alice.actor, document_id=document.pk, turn_id=turn.pk, decisions=[decision])
    assert (turn.status, turn.error_code, turn.outcome["text"]) == ("done", "", main_job.SUMMARY)
    assert approved == ["create_schema", "create_prompt", "run_extraction"]
    assert current_result(actor=alice.actor, document_id=document.pk).updated_llm_result == main_job.VALUES
    assert (turn.usage["prompt_tokens"], turn.cost_usd > 0) == (6 * 11, True)
    if model.startswith("claude"):
        _signatures_went_back(turn, fake_provider)
    fake_provider.add(Step(text="The total is 12.50.", expect=(main_job.SUMMARY, "toolu_run")))
    after = start_turn(actor=alice.actor, document_id=document.pk, thread_id=thread.pk, text="And the total?")
    after = waits_for(after.pk, *ENDED, seconds=20)
    assert (after.status, after.model, after.outcome["text"]) == ("done", model, "The total is 12.50.")
    messages = fake_provider.received[-1].json["messages"]
    check_valid_history(messages)
    if model.startswith("claude"):
        _signatures_are(turn, messages)


def _signatures_went_back(turn: Turn, fake: FakeProvider) -> None:
    """Byte for byte, each in the place of its answer, through the database and back."""
    asked = [request for request in fake.received if b"toolu_read" in request.body]
    last = max(asked, key=lambda request: len(request.body))
    _signatures_are(turn, last.json["messages"], open_answers=1)
    for row in turn.messages.filter(role="assistant").order_by("position")[:5]:
        assert json.dumps(row.thinking_blocks[0]["signature"]).encode() in last.body


def _signatures_are(turn: Turn, messages: list[dict[str, Any]], *, open_answers: int = 0) -> None:
    """The blocks that each answer of the turn was stored with stand first in each answer that is sent."""
    sent = [message["content"][0] for message in messages if message["role"] == "assistant"]
    answers = turn.messages.filter(role="assistant").order_by("position")
    assert sent == [row.thinking_blocks[0] for row in answers][: 6 - open_answers]
    assert len(sent) == 6 - open_answers
