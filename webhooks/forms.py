"""The form of a webhook. Services check what the values mean."""

from typing import Any

from django import forms

from core.errors import DomainError
from webhooks.addresses import MAX_HEADER_VALUE, MAX_URL
from webhooks.events import EVENTS
from webhooks.models import Webhook
from webhooks.services import WebhookChanges

_FIELDS = {"auth_header_name": "header_name", "auth_header_value": "header_value"}


class WebhookForm(forms.Form):
    """Where to, about what, and how the receiver can tell that it was us. A kept header's value is never shown."""

    name = forms.CharField(max_length=200, required=False, help_text="How you call it.")
    url = forms.CharField(
        label="Address",
        max_length=MAX_URL,
        widget=forms.URLInput(attrs={"placeholder": "https://example.com/docrouter", "autocomplete": "off"}),
        help_text="A public address. Every event is sent there by POST.",
    )
    events = forms.MultipleChoiceField(
        choices=list(EVENTS.items()),
        initial=list(EVENTS),
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose at least one event."},
    )
    auth_type = forms.ChoiceField(
        label="The receiver knows us by",
        choices=[("hmac", "A signature with a secret"), ("header", "A fixed header")],
        initial="hmac",
        help_text="The secret of the signature is made for you. The two fields below are for a fixed header.",
    )
    header_name = forms.CharField(label="Name of the header", max_length=100, required=False)
    header_value = forms.CharField(
        label="Value of the header",
        max_length=MAX_HEADER_VALUE,
        required=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )
    enabled = forms.BooleanField(label="Switched on", required=False, initial=True)

    def __init__(self, *arguments: Any, webhook: Webhook | None = None, **options: Any) -> None:
        if webhook is not None:
            options["initial"] = _initial(webhook)
        super().__init__(*arguments, **options)
        if webhook is not None and webhook.sealed_header_value:
            self.fields["header_value"].help_text = "Leave it empty to keep the present one."

    def changes(self) -> WebhookChanges:
        """What was typed."""
        typed = self.cleaned_data
        return WebhookChanges(
            name=typed["name"],
            url=typed["url"],
            events=typed["events"],
            enabled=typed["enabled"],
            auth_type=typed["auth_type"],
            auth_header_name=typed["header_name"],
            auth_header_value=typed["header_value"] or None,
        )

    def tell(self, problem: DomainError) -> None:
        """A rule said no: the sentence goes beside the field that it names."""
        names = [_FIELDS.get(name, name) for name in problem.fields]
        self.add_error(next((name for name in names if name in self.fields), None), problem.detail)


def _initial(webhook: Webhook) -> dict[str, Any]:
    return {
        "name": webhook.name,
        "url": webhook.url,
        "events": webhook.events,
        "auth_type": webhook.auth_type,
        "header_name": webhook.header_name,
        "enabled": webhook.enabled,
    }
