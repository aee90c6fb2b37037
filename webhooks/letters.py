"""The letter to an organization's admins when a webhook of theirs was switched off by itself."""

import structlog
from django.conf import settings
from django.urls import reverse
from django.utils.translation import gettext as _

from core.ids import show_id
from organizations.errors import LetterNotSent
from organizations.letters.mail import send_letter
from organizations.letters.selectors import emails_of_admins
from webhooks.models import Webhook
from webhooks.selectors import server_of

log = structlog.get_logger(__name__)


def tell_switched_off(webhook: Webhook) -> int:
    """After the commit that switched it off. A mail server that fails is no reason to try again: the webhook's page
    says it too. Returns: how many letters went out."""
    site = settings.PUBLIC_URL.rstrip("/")
    context = {
        "webhook": webhook,
        "server": server_of(webhook),
        "link": site + reverse("webhooks:detail", args=[show_id(webhook.pk)]) if site else "",
    }
    count = 0
    for email in emails_of_admins(organization_id=webhook.organization_id):
        try:
            send_letter(to=email, subject=_("A webhook was switched off"), template="webhook_off", context=context)
        except LetterNotSent:
            log.warning("webhook.admins_not_told", webhook_id=show_id(webhook.pk))
            break
        count += 1
    return count
