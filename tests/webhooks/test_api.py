"""Webhooks over JSON: the wire's shapes, secrets shown once and to nobody else, refusals that write nothing."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from core.sealing import unseal
from organizations.models import AuditEntry
from tests.api import Api, api_of
from tests.conftest import Person
from tests.webhooks.making import make_webhook, tell
from tests.webhooks.receiver import Receiver
from webhooks.models import Delivery, Webhook
from webhooks.processing import deliver_due

URL = "https://example.com/hook?key=of-mine"
NEW = {"name": "Bookkeeping", "url": URL, "events": ["llm.completed", "document.uploaded"]}
HEADER = {"auth_type": "header", "auth_header_name": "X-Key", "auth_header_value": "for you only"}
BAD: list[tuple[Any, int]] = [
    ({}, 422),
    ({"url": 5}, 422),
    ({"url": URL, "events": "all"}, 422),
    ({"url": URL, "events": ["x"] * 51}, 422),
    ({"url": URL, "enabled": "perhaps"}, 422),
    (b'{"url": "https://example.com/\\u0000"}', 422),
    ({"url": ""}, 400),
    ({"url": "ftp://example.com/"}, 400),
    ({"url": "https://"}, 400),
    ({"url": "https://user:secret@example.com/"}, 400),
    ({"url": "https://example.com:99999/"}, 400),
    ({"url": "https://[::1/"}, 400),
    ({"url": "https://exa mple.com/"}, 400),
    ({"url": "https://example.com\\@127.0.0.1/"}, 400),
    ({"url": "https://ex%61mple.com/"}, 400),
    ({"url": "https://müller.example/"}, 400),
    ({"url": "https://example.com/" + "x" * 2000}, 400),
    ({"url": "http://10.0.0.1/"}, 400),
    ({"url": "http://[::ffff:10.0.0.1]/"}, 400),
    ({"url": "http://[fe80::1%25eth0]/"}, 400),
    ({"url": URL, "events": ["document.deleted"]}, 400),
    ({"url": URL, "name": "x" * 201}, 400),
    ({"url": URL, "name": "a\nb"}, 400),
    ({"url": URL, "auth_type": "none"}, 400),
    ({"url": URL, "auth_type": "header"}, 400),
    ({"url": URL, **HEADER, "auth_header_name": "Host"}, 400),
    ({"url": URL, **HEADER, "auth_header_name": "X-DocRouter-Event"}, 400),
    ({"url": URL, **HEADER, "auth_header_name": "X Key"}, 400),
    ({"url": URL, **HEADER, "auth_header_value": "a\r\nX-Other: b"}, 400),
    ({"url": URL, "secret": "too short"}, 400),
    ({"url": URL, "secret": "x" * 201}, 400),
]


@pytest.fixture
def api(alice: Person) -> Api:
    return api_of(alice)


def test_a_webhook_is_made_read_changed_and_deleted(api: Api, alice: Person) -> None:
    made = api.post("webhooks", NEW)
    secret = made.pop("generated_secret")
    assert secret.startswith("whs_")
    assert unseal(bytes(Webhook.objects.get().sealed_secret)) == secret
    read = api.get(f"webhooks/{made['id']}")
    assert read.pop("generated_secret") is None
    assert read == made
    assert (read["events"], read["enabled"]) == (["document.uploaded", "llm.completed"], True)
    assert (read["auth_type"], read["secret_set"], read["auth_header_set"]) == ("hmac", True, False)
    changed = api.put(f"webhooks/{made['id']}", {"enabled": False, "events": []})
    assert (changed["name"], changed["enabled"], len(changed["events"])) == ("Bookkeeping", False, 6)
    assert secret not in str(api.get("webhooks"))
    renewed = api.put(f"webhooks/{made['id']}", {"secret": ""})["generated_secret"]
    assert renewed.startswith("whs_")
    assert renewed != secret
    assert api.delete(f"webhooks/{made['id']}") == {"message": "Webhook deleted successfully"}
    assert api.get("webhooks") == {"webhooks": [], "total_count": 0, "skip": 0}
    assert api.error("get", f"webhooks/{made['id']}") == (404, "Webhook not found")
    actions = list(
        AuditEntry.objects.filter(target_type="webhook").order_by("created_at").values_list("action", flat=True)
    )
    assert actions == ["webhook.created", "webhook.updated", "webhook.secret_rotated", "webhook.deleted"]


@pytest.mark.parametrize(("body", "status"), BAD)
def test_what_cannot_be_a_webhook_is_refused_and_writes_nothing(api: Api, body: Any, status: int) -> None:
    before = AuditEntry.objects.count()
    answer = api.raw("post", "webhooks", body)
    assert (answer.status_code, bool(answer.json()["detail"])) == (status, True)
    assert "for you only" not in answer.content.decode()
    assert (Webhook.objects.count(), AuditEntry.objects.count()) == (0, before)


def test_a_header_value_never_goes_to_another_server(api: Api) -> None:
    made = api.post("webhooks", {**NEW, **HEADER})
    assert "for you only" not in str(made)
    place = f"webhooks/{made['id']}"
    assert api.put(place, {"url": "https://example.com/other"})["auth_header_set"]
    status, detail = api.error("put", place, {"url": "https://example.org/other"})
    assert (status, "another server" in detail) == (400, True)
    assert api.get(place)["url"] == "https://example.com/other"
    moved = api.put(place, {"url": "https://example.org/other", "auth_header_value": "a new one"})
    assert moved["url"] == "https://example.org/other"


def test_a_member_sees_the_server_but_neither_the_path_nor_answers(
    api: Api, alice: Person, bob: Person, receiver: Receiver
) -> None:
    webhook = make_webhook(alice, f"{receiver.url}?key=of-mine")
    delivery = tell(alice)
    deliver_due(webhook.pk)
    of_bob = api_of(bob)
    [shown] = of_bob.get("webhooks")["webhooks"]
    assert shown["url"] == receiver.url.removesuffix("/hook") + "/…"
    path = f"webhooks/deliveries/{delivery.pk.hex}"
    assert [attempt["answer"] for attempt in of_bob.get(path)["log"]] == [None]
    assert [attempt["answer"] for attempt in api.get(path)["log"]] == ["thanks"]


def test_a_member_does_not_see_which_approval_waits(api: Api, alice: Person, bob: Person) -> None:
    make_webhook(alice, "https://example.com/hook", events=["approval.waiting"])
    facts = {"document": {"document_id": "1" * 32}, "turn": {"thread_id": "2" * 32}, "calls": [{"name": "create_tag"}]}
    path = f"webhooks/deliveries/{tell(alice, 'approval.waiting', **facts).pk.hex}"
    assert {"turn", "calls"} <= api.get(path)["payload"].keys()
    seen = api_of(bob).get(path)["payload"]
    assert (seen["document"], seen.keys() & {"turn", "calls"}) == (facts["document"], set())


def test_the_log_is_paged_filtered_and_replayed(api: Api, alice: Person, receiver: Receiver) -> None:
    webhook = make_webhook(alice, receiver.url)
    other = make_webhook(alice, "https://example.com/other", events=["llm.error"])
    receiver.will_answer(404)
    first = tell(alice)
    tell(alice)
    deliver_due(webhook.pk)
    tell(alice, "llm.error")
    assert api.get("webhooks/deliveries?limit=1&skip=1")["total_count"] == 4
    found = api.get(f"webhooks/deliveries?webhook_id={webhook.pk.hex}&status=failed")["deliveries"]
    assert [row["id"] for row in found] == [first.pk.hex]
    assert (found[0]["attempts"], found[0]["max_attempts"], found[0]["last_http_status"]) == (1, 4, 404)
    assert (found[0]["document_id"], found[0]["last_error"]) == ("1" * 32, "The server answered 404.")
    assert api.get(f"webhooks/deliveries?webhook_id={other.pk.hex}")["total_count"] == 1
    assert api.get("webhooks/deliveries?status=nonsense&event_type=none")["deliveries"] == []
    assert api.error("get", "webhooks/deliveries?webhook_id=nonsense") == (404, "Webhook not found")
    again = api.post(f"webhooks/deliveries/{first.pk.hex}/retry")
    assert again["status"] == "enqueued"
    deliver_due(webhook.pk)
    row = api.get(f"webhooks/deliveries/{again['delivery_id']}")
    assert (row["status"], row["replay_of"], row["event_id"]) == ("delivered", first.pk.hex, first.event_id.hex)
    assert row["payload"]["document"]["document_name"] == "Rechnung März.pdf"
    api.put(f"webhooks/{webhook.pk.hex}", {"enabled": False})
    off = (400, "This webhook is switched off. Switch it on first.")
    assert api.error("post", f"webhooks/deliveries/{first.pk.hex}/retry") == off
    assert api.error("post", f"webhooks/{webhook.pk.hex}/test") == off


def test_a_test_is_sent_whatever_the_webhook_listens_for(api: Api, alice: Person, receiver: Receiver) -> None:
    webhook = make_webhook(alice, receiver.url, events=["llm.error"])
    queued = api.post(f"webhooks/{webhook.pk.hex}/test")
    deliver_due(webhook.pk)
    [got] = receiver.received
    assert got.headers["X-DocRouter-Event"] == "webhook.test"
    assert got.headers["X-DocRouter-Delivery"] == queued["delivery_id"]


def test_nothing_of_another_organization_is_reached(alice: Person, charlie: Person) -> None:
    webhook = make_webhook(alice, "https://example.com/hook")
    delivery = tell(alice)
    api = api_of(charlie)
    assert api.error("get", f"webhooks/{webhook.pk.hex}") == (404, "Webhook not found")
    assert api.error("put", f"webhooks/{webhook.pk.hex}", {"enabled": False}) == (404, "Webhook not found")
    assert api.error("delete", f"webhooks/{webhook.pk.hex}") == (404, "Webhook not found")
    assert api.error("post", f"webhooks/{webhook.pk.hex}/test") == (404, "Webhook not found")
    assert api.error("get", f"webhooks/deliveries/{delivery.pk.hex}") == (404, "Delivery not found")
    assert api.error("post", f"webhooks/deliveries/{delivery.pk.hex}/retry") == (404, "Delivery not found")
    assert api.get("webhooks/deliveries")["total_count"] == 0
    assert api.get(f"webhooks/deliveries?webhook_id={webhook.pk.hex}")["total_count"] == 0
    assert Webhook.objects.get().enabled


def test_there_are_at_most_20(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("webhooks.services.MAX_WEBHOOKS", 1)
    api.post("webhooks", NEW)
    assert api.error("post", "webhooks", NEW) == (400, "An organization has at most 1 webhooks.")


@pytest.mark.parametrize("path", ["webhooks?limit=100", "webhooks/deliveries?limit=100"])
def test_a_list_costs_the_same_for_3_and_for_30(api: Api, alice: Person, path: str) -> None:
    counts = []
    for total in (3, 30):
        for number in range(Webhook.objects.count(), total):
            changes = {
                "name": f"{number}",
                "url": "https://example.com/",
                "sealed_secret": b"x",
                "events": ["llm.error"],
            }
            Webhook.objects.create(organization=alice.organization, **changes)
        for _ in range(total - Delivery.objects.count()):
            webhook = Webhook.objects.first()
            Delivery.objects.create(organization=alice.organization, webhook=webhook, event_id=webhook.pk, event="x")
        with CaptureQueriesContext(connection) as queries:
            assert api.get(path)["total_count"] == total
        counts.append(len(queries))
    assert counts[0] == counts[1]
