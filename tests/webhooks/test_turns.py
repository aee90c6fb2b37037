"""A turn of the agent that begins to wait is told when it does, and one that ends is not."""

from typing import Any

import pytest

from agent.services import start_turn
from tests.agent.staging import make_document, makes_tag, put_on_stage, says, waits_for
from tests.conftest import Person, make_person
from tests.webhooks.making import make_webhook
from webhooks import services
from webhooks.models import Delivery

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def alice(transactional_db: None) -> Person:
    return make_person("alice@example.com")


def test_a_turn_that_waits_for_a_person_is_told_once(alice: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(services.tasks.deliver, "delay", lambda _: None)
    make_webhook(alice, "https://example.com/hook", events=["approval.waiting"])
    document = make_document(alice.actor)
    put_on_stage(monkeypatch, makes_tag(), says("Done"))
    turn = waits_for(start_turn(actor=alice.actor, document_id=document.pk, text="Tag it").pk, "waiting")
    told: dict[str, Any] = Delivery.objects.get().payload
    assert told["turn"]["turn_id"] == turn.pk.hex
    assert told["document"]["document_name"] == "invoice.pdf"
    assert [call["name"] for call in told["calls"]] == ["create_tag"]
    assert "Paid" not in str(told)


def test_a_turn_that_ends_by_itself_is_not_told(alice: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    make_webhook(alice, "https://example.com/hook", events=["approval.waiting"])
    put_on_stage(monkeypatch, says("It is an invoice"))
    document = make_document(alice.actor)
    waits_for(start_turn(actor=alice.actor, document_id=document.pk, text="What is it?").pk, "done")
    assert not Delivery.objects.exists()
