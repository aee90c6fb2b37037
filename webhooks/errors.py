"""What can go wrong with webhooks, in sentences for a person."""

from core.errors import Conflict, Invalid, LimitReached, NotFound


class WebhookNotFound(NotFound):
    code = "webhook_not_found"
    detail = "Webhook not found"


class DeliveryNotFound(NotFound):
    code = "delivery_not_found"
    detail = "Delivery not found"


class WebhookInvalid(Invalid):
    code = "webhook_invalid"
    detail = "This webhook is not valid."


class WebhookOff(Conflict):
    """Nothing is sent to a webhook that is switched off, by whomever."""

    code = "webhook_off"
    status = 400
    detail = "This webhook is switched off. Switch it on first."


class TooManyWebhooks(LimitReached):
    code = "too_many_webhooks"
    status = 400


class AddressRefused(Exception):
    """A name leads into a network that nobody may be sent to. Its words go into the delivery log."""
