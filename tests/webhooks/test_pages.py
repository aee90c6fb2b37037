"""Pages of webhooks: for admins, without JavaScript, the secret once, and a stranger's answer as text."""

import pytest
from django.test import Client
from django.urls import reverse

from core.sealing import unseal
from tests.conftest import Person
from tests.webhooks.making import SECRET, make_webhook, tell
from tests.webhooks.receiver import Receiver
from webhooks.models import Delivery, Webhook
from webhooks.processing import deliver_due

FORM = {"name": "Bookkeeping", "url": "https://example.com/hook", "events": ["llm.error"], "auth_type": "hmac"}


@pytest.fixture
def browser(alice: Person) -> Client:
    return alice.client()


def page(browser: Client, name: str, *ids: object) -> str:
    answer = browser.get(reverse(f"webhooks:{name}", args=[getattr(one, "hex", one) for one in ids]))
    assert answer.status_code == 200
    return answer.content.decode()


def test_a_webhook_is_made_and_its_secret_shown_on_the_next_page_only(browser: Client) -> None:
    made = browser.post(reverse("webhooks:create"), {**FORM, "enabled": "on"})
    webhook = Webhook.objects.get()
    secret = unseal(bytes(webhook.sealed_secret))
    assert (made.status_code, made["Location"]) == (302, reverse("webhooks:detail", args=[webhook.pk.hex]))
    assert secret not in str(browser.session.items())
    shown = browser.get(made["Location"])
    assert secret in shown.content.decode()
    assert "no-store" in shown["Cache-Control"]
    assert secret not in page(browser, "detail", webhook.pk)
    assert "Bookkeeping" in page(browser, "list")
    browser.post(reverse("webhooks:secret", args=[webhook.pk.hex]))
    webhook.refresh_from_db()
    renewed = unseal(bytes(webhook.sealed_secret))
    assert renewed != secret
    assert renewed in page(browser, "detail", webhook.pk)


def test_the_secret_is_not_shown_on_the_page_of_another_webhook(browser: Client, alice: Person) -> None:
    other = make_webhook(alice, "https://example.com/other")
    browser.post(reverse("webhooks:create"), FORM)
    made = Webhook.objects.exclude(pk=other.pk).get()
    assert unseal(bytes(made.sealed_secret)) not in page(browser, "detail", other.pk)


def test_a_form_says_beside_the_field_what_is_wrong(browser: Client) -> None:
    answer = browser.post(reverse("webhooks:create"), {**FORM, "url": "http://10.0.0.1/"})
    assert answer.status_code == 422
    assert "private or reserved network" in answer.context["form"].errors["url"][0]
    answer = browser.post(reverse("webhooks:create"), {**FORM, "auth_type": "header", "header_name": "X-Key"})
    assert "header_value" in answer.context["form"].errors
    assert browser.post(reverse("webhooks:create"), {**FORM, "events": []}).status_code == 422
    assert Webhook.objects.count() == 0


def test_an_edit_keeps_the_header_and_never_shows_it(browser: Client, alice: Person) -> None:
    header = {"auth_type": "header", "auth_header_name": "X-Key", "auth_header_value": "for you only"}
    webhook = make_webhook(alice, "https://example.com/hook", **header)
    assert "for you only" not in page(browser, "edit", webhook.pk) + page(browser, "detail", webhook.pk)
    form = {**FORM, "auth_type": "header", "header_name": "X-Key"}
    assert browser.post(reverse("webhooks:edit", args=[webhook.pk.hex]), form).status_code == 302
    webhook.refresh_from_db()
    assert (webhook.name, webhook.enabled) == ("Bookkeeping", False)
    assert unseal(bytes(webhook.sealed_header_value)) == "for you only"
    moved = browser.post(reverse("webhooks:edit", args=[webhook.pk.hex]), {**form, "url": "https://evil.example/"})
    assert (moved.status_code, "for you only" in moved.content.decode()) == (422, False)


def test_what_a_server_answered_is_shown_as_text_and_sent_again(
    browser: Client, alice: Person, receiver: Receiver
) -> None:
    webhook = make_webhook(alice, receiver.url)
    receiver.will_answer(404, b"<script>alert(1)</script>")
    delivery = tell(alice, document={"document_name": "<img src=x onerror=alert(2)>.pdf"})
    deliver_due(webhook.pk)
    shown = page(browser, "delivery", delivery.pk)
    assert "&lt;script&gt;alert(1)" in shown
    assert "<script>alert(1)" not in shown
    assert "<img src=x" not in shown + page(browser, "detail", webhook.pk)
    assert SECRET not in shown
    again = browser.post(reverse("webhooks:retry", args=[delivery.pk.hex]))
    deliver_due(webhook.pk)
    assert "Delivered" in browser.get(again["Location"]).content.decode()
    test = browser.post(reverse("webhooks:test", args=[webhook.pk.hex]))
    assert "Not tried yet" in browser.get(test["Location"]).content.decode()


def test_the_log_is_filtered_and_paged(browser: Client, alice: Person) -> None:
    webhook = make_webhook(alice, "https://example.com/hook")
    for _ in range(27):
        tell(alice)
    assert Delivery.objects.count() == 27
    path = reverse("webhooks:detail", args=[webhook.pk.hex])
    assert browser.get(path).context["found"].last == 25
    assert browser.get(f"{path}?skip=25&status=pending").context["found"].rows[-1].status == "pending"
    assert browser.get(f"{path}?status=failed").context["found"].rows == []
    assert browser.get(f"{path}?status=%27&skip=-1").status_code == 200


def test_only_admins_are_led_there(alice: Person, bob: Person) -> None:
    link = f'href="{reverse("webhooks:list")}"'
    assert link in alice.client().get(reverse("tags:list")).content.decode()
    assert link not in bob.client().get(reverse("tags:list")).content.decode()
