"""Faults of a provider seen through a whole turn: its status, its last event, and what a person reads on the page."""

import json
from typing import Any

import pytest

from agent.models import Thread, Turn
from agent.selectors import turn_events
from agent.services import cancel_turn, create_thread, start_turn
from documents.models import Document
from llm import client
from tests.agent.staging import make_document, waits_for
from tests.conftest import Person, make_person
from tests.fakes.provider import FakeProvider
from tests.fakes.steps import Call, Fault, Step

pytestmark = pytest.mark.django_db(transaction=True)
ENDED = ("waiting", "done", "failed", "cancelled", "interrupted", "expired")
OPENAI, ANTHROPIC = "gpt-4o-mini", "claude-sonnet-4-5"
LONG = "Half of the answer, and then much more of it all"
READS = Call("list_tags", {}, "toolu_1")


@pytest.fixture
def alice(transactional_db: None) -> Person:
    return make_person("alice@example.com")


@pytest.fixture
def document(alice: Person) -> Document:
    return make_document(alice.actor)


@pytest.fixture
def thread(alice: Person, document: Document) -> Thread:
    return create_thread(actor=alice.actor, document_id=document.pk)


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "_FIRST_PAUSE", 0.0)


def asked(person: Person, thread: Thread, model: str = OPENAI) -> Turn:
    """A question asked and answered, or failed."""
    document_id = thread.document_id
    turn = start_turn(actor=person.actor, document_id=document_id, thread_id=thread.pk, text="Total?", model=model)
    return waits_for(turn.pk, *ENDED, seconds=20)


def page_of(person: Person, thread: Thread) -> str:
    """What the person reads, without its markup's quoting."""
    page = person.client().get(f"/documents/{thread.document_id.hex}/agent?thread={thread.pk.hex}")
    assert page.status_code == 200
    return page.content.decode().replace("&#x27;", "'")


def last_event(person: Person, turn: Turn) -> Any:
    return turn_events(actor=person.actor, turn_id=turn.pk, document_id=turn.document_id).events[-1].event


def check_valid_history(messages: list[dict[str, Any]]) -> None:
    """Every call of an assistant's message is followed by its result, in either protocol."""
    for position, message in enumerate(messages):
        if message["role"] != "assistant":
            continue
        content = message.get("content")
        blocks = content if isinstance(content, list) else []
        calls = [call["id"] for call in message.get("tool_calls") or ()]
        calls += [block["id"] for block in blocks if block["type"] == "tool_use"]
        answers = []
        for later in messages[position + 1 :]:
            if later["role"] == "assistant":
                break
            parts = later["content"] if isinstance(later["content"], list) else []
            answers += [part["tool_use_id"] for part in parts if part["type"] == "tool_result"]
            answers += [later["tool_call_id"]] if later["role"] == "tool" else []
        assert sorted(answers) == sorted(calls)


@pytest.mark.parametrize("model", [OPENAI, ANTHROPIC])
@pytest.mark.parametrize("status", [429, 500])
def test_a_provider_that_recovers_is_not_noticed(
    alice: Person, thread: Thread, fake_provider: FakeProvider, model: str, status: int
) -> None:
    fake_provider.add(Step(fault=Fault("status", status=status)), Step(text="It is 12."))
    turn = asked(alice, thread, model)
    assert (turn.status, turn.outcome["text"]) == ("done", "It is 12.")
    assert "It is 12." in page_of(alice, thread)


@pytest.mark.parametrize(
    ("fault", "code", "words"),
    [
        (Fault("status", status=500), "model_failed", "had an error of its own"),
        (Fault("status", status=429), "model_rate_limited", "too many requests"),
        (Fault("hang_up"), "model_unreachable", "could not be reached"),
        (Fault("empty_choices"), "model_reply_empty", "sent an empty answer"),
    ],
)
def test_a_provider_that_stays_broken_ends_the_turn_with_a_sentence_and_trying_again_helps(
    alice: Person, thread: Thread, fake_provider: FakeProvider, settings: Any, fault: Fault, code: str, words: str
) -> None:
    settings.MODEL_RETRIES = 0
    fake_provider.add(Step(text="never said", fault=fault))
    turn = asked(alice, thread)
    assert (turn.status, turn.error_code, turn.retryable) == ("failed", code, True)
    event = last_event(alice, turn)
    assert (event.type, event.code, event.retryable) == ("error", code, True)
    assert words in event.error
    assert event.error in page_of(alice, thread)
    fake_provider.add(Step(text="It is 12."))
    assert asked(alice, thread).status == "done"
    check_valid_history(fake_provider.received[-1].json["messages"])


@pytest.mark.parametrize("model", [OPENAI, ANTHROPIC])
def test_an_answer_that_is_cut_in_the_middle_keeps_what_was_said(
    alice: Person, thread: Thread, fake_provider: FakeProvider, model: str
) -> None:
    fake_provider.add(Step(text="Let me look.", calls=(READS,)), Step(text=LONG, fault=Fault("cut", after=5)))
    turn = asked(alice, thread, model)
    assert (turn.status, turn.error_code, turn.retryable) == ("failed", "model_stream_broken", True)
    _, _, kept = turn.messages.order_by("position")
    assert kept.content.startswith("Half of the ")
    page = page_of(alice, thread)
    assert "Half of the " in page
    assert "broke off in the middle" in page
    fake_provider.add(Step(text="It is 12.", expect=("Half of the ",)))
    assert asked(alice, thread, model).status == "done"
    check_valid_history(fake_provider.received[-1].json["messages"])


@pytest.mark.parametrize("model", [OPENAI, ANTHROPIC])
def test_malformed_arguments_go_back_to_the_model_which_mends_them(
    alice: Person, thread: Thread, fake_provider: FakeProvider, model: str
) -> None:
    broken = Call("create_tag", '{"name": "Pa', "toolu_1")
    good = Call("create_tag", {"name": "Paid"}, "toolu_2")
    fake_provider.add(Step(calls=(broken,)), Step(calls=(good,), expect=("invalid_arguments",)))
    turn = asked(alice, thread, model)
    assert turn.status == "waiting"
    assert [(row.call_id, row.status) for row in turn.tool_calls.order_by("created_at")] == [
        ("toolu_1", "failed"),
        ("toolu_2", "waiting"),
    ]
    check_valid_history(fake_provider.received[-1].json["messages"])
    cancel_turn(actor=alice.actor, document_id=thread.document_id, turn_id=turn.pk)


def test_a_call_in_a_fence_waits_on_a_card_like_any_other(
    alice: Person, thread: Thread, fake_provider: FakeProvider
) -> None:
    fenced = json.dumps({"name": "create_tag", "arguments": {"name": "Paid"}})
    fake_provider.add(Step(text=f"```json\n{fenced}\n```"))
    turn = asked(alice, thread)
    call = turn.tool_calls.get()
    assert (turn.status, call.name, call.arguments, call.status) == (
        "waiting",
        "create_tag",
        {"name": "Paid"},
        "waiting",
    )
    assert "```" not in turn.messages.get(role="assistant").content


@pytest.mark.parametrize("model", [OPENAI, ANTHROPIC])
def test_an_answer_at_the_length_limit_is_kept_but_a_cut_call_is_an_error(
    alice: Person, thread: Thread, fake_provider: FakeProvider, model: str
) -> None:
    fake_provider.add(Step(text="The first half", finish="length"))
    turn = asked(alice, thread, model)
    assert (turn.status, turn.outcome["text"]) == ("done", "The first half")
    cut = Call("create_tag", '{"name": "Pa', "toolu_1")
    fake_provider.add(Step(text="I will tag it.", calls=(cut,), finish="length"))
    turn = asked(alice, thread, model)
    assert (turn.status, turn.error_code, turn.tool_calls.count()) == ("failed", "model_reply_cut", 0)
    assert "length limit before it was complete" in page_of(alice, thread)


@pytest.mark.parametrize("model", [OPENAI, ANTHROPIC])
def test_stop_hangs_up_on_the_provider_within_a_second(
    alice: Person, thread: Thread, fake_provider: FakeProvider, model: str
) -> None:
    fake_provider.add(Step(text="word " * 2000, piece=5, delay=0.02))
    document_id = thread.document_id
    turn = start_turn(actor=alice.actor, document_id=document_id, thread_id=thread.pk, text="Talk", model=model)
    assert fake_provider.wait_asked(timeout=10)
    cancel_turn(actor=alice.actor, document_id=document_id, turn_id=turn.pk)
    assert fake_provider.wait_gone(timeout=1.0)
    turn = waits_for(turn.pk, *ENDED)
    assert (turn.status, last_event(alice, turn).result.status) == ("cancelled", "cancelled")
