"""Pages of webhooks, for admins: the list, one with its deliveries, its form, and what was sent."""

import json
from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from core.errors import DomainError
from core.sealing import SealBroken, seal, unseal
from organizations.doors import MemberRequest, member_page
from organizations.services import require_admin
from webhooks import selectors, services
from webhooks.events import EVENTS
from webhooks.forms import WebhookForm
from webhooks.models import Delivery, Webhook
from webhooks.services import WebhookChanges

PAGE_SIZE = 25
SHOWN_ONCE = "webhook_secret"
KINDS = (("", "All"), ("pending", "On their way"), ("delivered", "Delivered"), ("failed", "Failed"))


def admin_page(view: Callable[..., HttpResponseBase]) -> Callable[..., Any]:
    """Let admins of the organization through. Others are told."""

    @member_page
    @never_cache
    @wraps(view)
    def guarded(request: MemberRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        require_admin(actor=request.actor)
        return view(request, *args, **kwargs)

    return guarded


@require_GET
@admin_page
def webhooks_page(request: MemberRequest) -> HttpResponse:
    """All of them."""
    return render(request, "webhooks/list.html", {"found": selectors.list_webhooks(actor=request.actor)})


@require_GET
@admin_page
def webhook_page(request: MemberRequest, webhook_id: str) -> HttpResponse:
    """One, with what was sent to it; right after its secret was made, with that."""
    webhook = selectors.get_webhook(actor=request.actor, webhook_id=webhook_id)
    status, skip = request.GET.get("status", ""), request.GET.get("skip", "")
    found = selectors.list_deliveries(
        actor=request.actor,
        webhook_id=webhook.pk,
        status=status if status in Delivery.Status.values else None,
        skip=int(skip) if skip.isdecimal() and len(skip) < 9 else 0,
        limit=PAGE_SIZE,
    )
    context = {
        "webhook": webhook,
        "listens": [EVENTS.get(event, event) for event in webhook.events],
        "found": found,
        "status": status,
        "kinds": KINDS,
        "secret": _take_secret(request, webhook),
    }
    return render(request, "webhooks/detail.html", context)


@require_http_methods(["GET", "POST"])
@admin_page
def create_page(request: MemberRequest) -> HttpResponseBase:
    """The form of a new one."""
    form = WebhookForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            webhook, secret = services.create_webhook(actor=request.actor, changes=form.changes())
        except DomainError as problem:
            form.tell(problem)
        else:
            _keep_secret(request, webhook, secret)
            return redirect("webhooks:detail", webhook.pk.hex)
    return _form_page(request, form, {"heading": "New webhook"})


@require_http_methods(["GET", "POST"])
@admin_page
def edit_page(request: MemberRequest, webhook_id: str) -> HttpResponseBase:
    """The form of one that exists."""
    webhook = selectors.get_webhook(actor=request.actor, webhook_id=webhook_id)
    form = WebhookForm(request.POST or None, webhook=webhook)
    if request.method == "POST" and form.is_valid():
        try:
            services.update_webhook(actor=request.actor, webhook_id=webhook.pk, changes=form.changes())
        except DomainError as problem:
            form.tell(problem)
        else:
            return redirect("webhooks:detail", webhook.pk.hex)
    return _form_page(request, form, {"heading": "Edit webhook", "webhook": webhook})


@require_http_methods(["GET", "POST"])
@admin_page
def delete_page(request: MemberRequest, webhook_id: str) -> HttpResponseBase:
    """The question, and the deed."""
    webhook = selectors.get_webhook(actor=request.actor, webhook_id=webhook_id)
    if request.method == "POST":
        services.delete_webhook(actor=request.actor, webhook_id=webhook.pk)
        messages.success(request, "The webhook was deleted.")
        return redirect("webhooks:list")
    return render(request, "webhooks/delete.html", {"webhook": webhook})


@require_http_methods(["GET", "POST"])
@admin_page
def secret_page(request: MemberRequest, webhook_id: str) -> HttpResponseBase:
    """Make a new secret; the former one signs as well for a day."""
    webhook = selectors.get_webhook(actor=request.actor, webhook_id=webhook_id)
    if request.method == "POST":
        changes = WebhookChanges(secret="")
        webhook, secret = services.update_webhook(actor=request.actor, webhook_id=webhook.pk, changes=changes)
        _keep_secret(request, webhook, secret or "")
        return redirect("webhooks:detail", webhook.pk.hex)
    return render(request, "webhooks/secret.html", {"webhook": webhook})


@require_POST
@admin_page
def test_page(request: MemberRequest, webhook_id: str) -> HttpResponseBase:
    """Send a test, and show what becomes of it."""
    delivery = services.send_test(actor=request.actor, webhook_id=webhook_id)
    return redirect("webhooks:delivery", delivery.pk.hex)


@require_GET
@admin_page
def delivery_page(request: MemberRequest, delivery_id: str) -> HttpResponse:
    """What was sent, and every try. What the server answered is shown as text."""
    delivery = selectors.get_delivery(actor=request.actor, delivery_id=delivery_id)
    webhook = selectors.get_webhook(actor=request.actor, webhook_id=delivery.webhook_id)
    context = {
        "delivery": delivery,
        "webhook": webhook,
        "tries": selectors.tries(delivery),
        "body": json.dumps(delivery.payload, indent=2, ensure_ascii=False),
    }
    return render(request, "webhooks/delivery.html", context)


@require_POST
@admin_page
def retry_page(request: MemberRequest, delivery_id: str) -> HttpResponseBase:
    """Send it once more, and show what becomes of it."""
    again = services.retry_delivery(actor=request.actor, delivery_id=delivery_id)
    return redirect("webhooks:delivery", again.pk.hex)


def _keep_secret(request: HttpRequest, webhook: Webhook, secret: str) -> None:
    """For the next page only, and sealed: sessions are rows."""
    request.session[SHOWN_ONCE] = [webhook.pk.hex, seal(secret).decode()]


def _take_secret(request: HttpRequest, webhook: Webhook) -> str:
    webhook_id, sealed = request.session.pop(SHOWN_ONCE, ("", ""))
    try:
        return unseal(sealed.encode()) if webhook_id == webhook.pk.hex else ""
    except SealBroken:
        return ""


def _form_page(request: HttpRequest, form: WebhookForm, context: dict[str, object]) -> HttpResponse:
    return render(request, "webhooks/form.html", {"form": form, **context}, status=422 if form.errors else 200)
