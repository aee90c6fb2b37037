"""The verifier in docs/webhooks.md, run as it is written, against a delivery as it is sent."""

import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Person
from tests.webhooks.making import SECRET, make_webhook, tell
from tests.webhooks.receiver import Received, Receiver
from webhooks import services
from webhooks.events import EVENTS, TEST
from webhooks.processing import deliver_due

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "webhooks.md").read_text()


@pytest.fixture
def is_genuine() -> Callable[..., bool]:
    found = re.search(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert found is not None
    names: dict[str, Any] = {}
    exec(found[1], names)  # noqa: S102 - the page's own code
    return names["is_genuine"]  # type: ignore[no-any-return]  # it says so


@pytest.fixture
def got(alice: Person, receiver: Receiver) -> Received:
    webhook = make_webhook(alice, receiver.url)
    tell(alice)
    deliver_due(webhook.pk)
    return receiver.received[0]


def test_the_documented_verifier_accepts_what_we_send_and_nothing_else(
    is_genuine: Callable[..., bool], got: Received
) -> None:
    assert is_genuine(SECRET, got.headers, got.body)
    assert not is_genuine(SECRET + "x", got.headers, got.body)
    assert not is_genuine(SECRET, got.headers, got.body + b" ")
    for changed in (
        {"X-DocRouter-Timestamp": str(int(time.time()) + 1)},
        {"X-DocRouter-Signature": "sha256=" + "0" * 64},
        {"X-DocRouter-Signature": ""},
    ):
        assert not is_genuine(SECRET, {**got.headers, **changed}, got.body)


def test_the_documented_verifier_refuses_what_is_old(
    is_genuine: Callable[..., bool], got: Received, monkeypatch: pytest.MonkeyPatch
) -> None:
    later = time.time() + 301
    monkeypatch.setattr(time, "time", lambda: later)
    assert not is_genuine(SECRET, got.headers, got.body)


def test_the_documented_verifier_knows_both_secrets_after_a_change(
    is_genuine: Callable[..., bool], alice: Person, receiver: Receiver
) -> None:
    webhook = make_webhook(alice, receiver.url)
    changes = services.WebhookChanges(secret="")
    _, new = services.update_webhook(actor=alice.actor, webhook_id=webhook.pk, changes=changes)
    tell(alice)
    deliver_due(webhook.pk)
    [got] = receiver.received
    assert is_genuine(SECRET, got.headers, got.body)
    assert is_genuine(new, got.headers, got.body)


def test_the_page_names_every_event() -> None:
    assert re.findall(r"^\| `(\S+)` \|", PAGE, re.MULTILINE) == [*EVENTS, TEST]
